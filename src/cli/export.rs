//! `export`: a recording as files that every tool reads.

use super::error::refuse;
use super::source_args::TopicArgs;
use super::values::{choice, existing, print_json};
use std::path::PathBuf;
use stereopsis_base::console;
use stereopsis_images::Axes;
use stereopsis_recording::export::{ExportOptions, Exported, Part, Selection};
use stereopsis_recording::{Progress, unreadable};
use stereopsis_sources::open_as_recorded;

/// Arguments of `export`.
#[derive(Debug, clap::Args)]
pub(super) struct ExportArgs {
    /// The recording
    #[arg(value_name = "FILE.mcap", value_parser = existing())]
    recording: PathBuf,
    /// Folder for the files: a new one, an empty one, or one in which the same export was stopped
    #[arg(long, value_name = "DIR")]
    to: PathBuf,
    /// Parts to write [default: all that the recording has, without depth-m and both views in one image]
    #[arg(long, value_name = "WHAT,…", value_delimiter = ',', value_parser = choice(Part::ALL, Part::word, Part::help))]
    what: Option<Vec<Part>>,
    /// Axes of points, from the left camera
    #[arg(long, value_name = "AXES", default_value = "opencv", value_parser = choice(Axes::ALL, Axes::word, Axes::help))]
    axes: Axes,
    /// Disparity in the plane of the screen where both views are looked at, px [default: that of the nearest things]
    #[arg(long, value_name = "PX", allow_negative_numbers = true)]
    screen_px: Option<i32>,
    /// The first pair, by its place in the recording, from 0
    #[arg(long, value_name = "K", default_value_t = 0)]
    from: u64,
    /// Largest number of pairs
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    count: Option<u64>,
    /// Only pairs that were recorded so long after the first one, or later
    #[arg(long, hide_short_help = true, value_name = "SECONDS")]
    from_s: Option<f64>,
    /// Only pairs that were recorded so long after the first one, or earlier
    #[arg(long, hide_short_help = true, value_name = "SECONDS")]
    to_s: Option<f64>,
    /// Every Nth pair
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    every: u64,
    /// Print what was written and what is missing as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    topics: TopicArgs,
}

/// Runs `export`.
///
/// # Errors
/// There is no recording, the folder is not empty, a requested part is missing, or a file cannot be written.
pub(super) fn run(args: &ExportArgs) -> anyhow::Result<()> {
    let selection =
        Selection { from: args.from, count: args.count, from_s: args.from_s, to_s: args.to_s, every: args.every };
    if let (Some(from), Some(to)) = (args.from_s, args.to_s)
        && from > to
    {
        return refuse(format!("--from-s {from} is after --to-s {to}"));
    }
    let mut recording = open_as_recorded(&args.recording, &args.topics.options())?;
    recording.losses.iter().for_each(console::say);
    let options = ExportOptions {
        parts: args.what.clone(),
        selection,
        axes: args.axes,
        screen_px: args.screen_px,
        max_pixels: args.topics.max_pixels,
    };
    let exported = recording.export(&args.to, &options, &Progress::new(args.json))?;
    let example = exported.damaged.iter().next().map(|(pair, why)| (*pair, why));
    let unreadable = unreadable(exported.damaged.len() as u64, example);
    if args.json {
        let mut about = serde_json::json!(exported);
        about["output"] = serde_json::json!(args.to);
        about["remarks"] = recording.losses.into_iter().chain(unreadable).collect();
        return print_json(&about);
    }
    report(args, &exported);
    if let Some(text) = unreadable {
        console::say(&text);
    }
    Ok(())
}

fn report(args: &ExportArgs, exported: &Exported) {
    let Exported { pairs, parts, missing, warnings, .. } = exported;
    let words: Vec<_> = parts.iter().map(|part| part.word()).collect();
    console::line(format_args!("{} -> {}: {}", console::counted(*pairs, "pair"), args.to.display(), words.join(", ")));
    if let Some(screen_px) = exported.screen_px.filter(|_| args.screen_px.is_none()) {
        console::line(format_args!("the plane of the screen is at a disparity of {screen_px} px (--screen-px)"));
    }
    for text in missing {
        console::line(format_args!("left out: {text}"));
    }
    for (text, pairs) in warnings {
        let whose = if *pairs > 0 { format!(" (in {})", console::counted(*pairs, "pair")) } else { String::new() };
        console::say(format_args!("{text}{whose}"));
    }
}
