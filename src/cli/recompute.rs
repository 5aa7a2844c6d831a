//! `recompute`: every pair of a recording matched again, into a new recording.

use super::calibration_args::RigArgs;
use super::depth_args::DepthArgs;
use super::error::refuse;
use super::settings_args::SettingsArgs;
use super::short_help::shown;
use super::source_args::TopicArgs;
use super::values::{choice, existing, print_json};
use std::path::PathBuf;
use stereopsis_base::console;
use stereopsis_live::recompute::{RecomputeOptions, Summary, recompute};
use stereopsis_recording::write::Compression;
use stereopsis_recording::{Format, Progress, Streams, unreadable};
use stereopsis_sources::open_recording;
use stereopsis_stereo::Fill;

/// Arguments of `recompute`.
#[derive(Debug, clap::Args)]
#[command(mut_arg("fill", shown))]
pub(super) struct RecomputeArgs {
    /// The recording
    #[arg(value_name = "IN.mcap", value_parser = existing())]
    recording: PathBuf,
    /// New recording; OUT.mcap.part until it is finished
    ///
    /// The same command continues an interrupted run there.
    #[arg(short, long, value_name = "OUT.mcap")]
    output: PathBuf,
    /// Streams of the new recording: some of raw, eyes, rectified, disparity, depth [default: the recorded images and depth; disparity
    /// where there is no calibration]
    #[arg(long, value_name = "STREAM,…")]
    streams: Option<Streams>,
    /// Whose messages it holds [default: the same as IN.mcap]
    #[arg(long, hide_short_help = true, value_name = "WHOSE", value_parser = choice(Format::ALL, Format::word, Format::help))]
    messages: Option<Format>,
    /// Compression of the chunks of the file
    #[arg(long, hide_short_help = true, value_name = "HOW", default_value = "zstd", value_parser = choice(Compression::ALL, Compression::word, Compression::help))]
    compression: Compression,
    /// Depth and disparity keep what --fill puts in; without it holes stay holes
    #[arg(long, hide_short_help = true)]
    filled: bool,
    /// Print what was done as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    depth: DepthArgs,
    #[command(flatten)]
    topics: TopicArgs,
    #[command(flatten)]
    rig: RigArgs,
    #[command(flatten)]
    settings: SettingsArgs,
}

/// Runs `recompute`.
///
/// # Errors
/// There is no recording, a file is in the way, an engine cannot match, or a disk is full; a later run continues after the complete part.
pub(super) fn run(args: &RecomputeArgs) -> anyhow::Result<()> {
    let mut settings = args.settings.resolve()?;
    if args.filled && settings.params.fill == Fill::None {
        return refuse("--filled keeps what --fill puts into holes: give --fill too");
    }
    let choice = args.rig.choice()?;
    let recording = open_recording(&args.recording, &args.topics.options(), &choice, &mut settings)?;
    let (losses, skew) = (recording.losses.clone(), recording.skew);
    losses.iter().for_each(console::say);
    let note = recording.calibrated.remarks();
    note.iter().filter(|_| !args.json).for_each(console::say);
    let options = RecomputeOptions {
        streams: args.streams,
        format: args.messages,
        compression: args.compression,
        filled: args.filled,
        depth_format: args.depth.of_messages(args.messages.unwrap_or(Format::Ros2))?,
    };
    let summary = match recompute(recording, &args.output, &settings, &options, &Progress::new(args.json)) {
        Err(err) if err.is_of_flags() => return refuse(err.to_string()),
        summary => summary?,
    };
    let example = summary.damaged.first().map(|(pair, why)| (*pair, why.as_str()));
    let unreadable = unreadable(summary.left_out, example);
    if args.json {
        let mut about = serde_json::json!(summary);
        about["output"] = serde_json::json!(args.output);
        about["skew_ms"] = skew.map(|skew| 1e3 * skew.mean_s).into();
        about["remarks"] = note.into_iter().chain(losses).chain(unreadable).chain(summary.depth_loss.clone()).collect();
        return print_json(&about);
    }
    report(args, &summary);
    summary.depth_loss.iter().for_each(console::say);
    if let Some(text) = unreadable {
        console::say(format_args!("{}: {text}", args.recording.display()));
    }
    Ok(())
}

fn report(args: &RecomputeArgs, summary: &Summary) {
    let Summary { pairs, results, resumed, bytes, engine, .. } = summary;
    let by = engine.as_ref().map(|engine| format!(" on {} ({})", engine.kind, engine.adapter)).unwrap_or_default();
    let before = if *resumed > 0 { format!(", {resumed} of them by a run before") } else { String::new() };
    console::line(format_args!(
        "{}, {}{by}{before} -> {}, {}",
        console::counted(*pairs, "pair"),
        console::counted(*results, "result"),
        args.output.display(),
        console::bytes(*bytes)
    ));
}
