//! `stereopsis eval`: settings on pairs with truth, with the figures of benchmarks, side by side.

mod inputs;
mod means;
mod recorded;
mod report;
mod run;
mod table;
mod variants;

use super::error::refuse;
use super::settings_args::SettingsArgs;
use super::short_help::shown;
use super::source_args::SceneArgs;
use super::values::{OVERWRITE, choice, print_json};
use inputs::{Input, SceneChoice};
use run::{Evaluation, Plan};
use std::path::PathBuf;
use stereopsis_base::files::Outputs;
use stereopsis_base::{console, files};
use stereopsis_frame::MaxPixels;
use stereopsis_frame::source::parse_size;
use stereopsis_live::headless;
use stereopsis_metrics::TruthRegion;
use variants::Variant;

/// Arguments of `eval`.
#[derive(Debug, clap::Args)]
#[command(mut_arg("fill", shown))]
pub(super) struct EvalArgs {
    /// Folders of pairs with truth in the layouts of data sets, recordings of the built-in scene, or scene for the scene
    /// itself [default: scene]
    #[arg(num_args = 0.., value_name = "PATH")]
    inputs: Vec<PathBuf>,
    /// These presets side by side, built in or your own; flags change all of them
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', conflicts_with = "preset")]
    presets: Vec<String>,
    /// The setting of this file beside the present one; repeat for several
    #[arg(long, value_name = "FILE.toml")]
    compare: Vec<PathBuf>,
    /// Figures of this region alone; repeat for several [default: all that a pair has]
    #[arg(long = "region", value_name = "REGION", value_parser = choice(TruthRegion::ALL, TruthRegion::word, TruthRegion::help))]
    regions: Vec<TruthRegion>,
    /// Write one line for each pair, setting and region as .csv
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Print all figures, parameters and times as JSON
    #[arg(long)]
    json: bool,
    /// Write an image of the errors of each pair and setting into this folder
    ///
    /// Blue is exact, red 4 px or more, white has no disparity, black no truth.
    #[arg(long, value_name = "FOLDER")]
    errors: Option<PathBuf>,
    /// Write the disparity of each pair and setting as .pfm, for other evaluators
    #[arg(long, value_name = "FOLDER")]
    maps: Option<PathBuf>,
    #[arg(long, hide_short_help = true, help = OVERWRITE)]
    overwrite: bool,
    /// Pairs of the scene, or of each recording from its start [default: 4 of the scene, all of recordings]
    #[arg(long, hide_short_help = true, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=100_000))]
    frames: Option<u64>,
    /// Correction of row errors of files before matching; those of the scene stay
    #[arg(long, hide_short_help = true, value_name = "HOW", default_value = "auto", value_parser = ["auto", "off"])]
    rows: String,
    /// Size of the scene's views
    #[arg(long, hide_short_help = true, value_name = "WxH", value_parser = parse_size)]
    size: Option<(usize, usize)>,
    /// Do not read images of more pixels: a few bytes can claim billions
    #[arg(long, hide_short_help = true, value_name = "PIXELS", default_value_t)]
    max_pixels: MaxPixels,
    #[command(flatten)]
    scene: SceneArgs,
    #[command(flatten)]
    settings: SettingsArgs,
}

/// Runs `eval`.
///
/// # Errors
/// There is no pair with truth, a file is damaged or in the way, or an engine cannot match. Earlier results are printed.
pub(super) fn run(args: &EvalArgs) -> anyhow::Result<()> {
    let variants = variants::all(&args.settings, &args.presets, &args.compare)?;
    let scene = SceneChoice { args: args.scene, size: args.size, frames: args.frames };
    let scene_alone = [PathBuf::from(inputs::SCENE)];
    let paths = if args.inputs.is_empty() { &scene_alone[..] } else { &args.inputs };
    let inputs: Vec<_> = paths.iter().map(|path| Input::open(path, &scene)).collect::<Result<_, _>>()?;
    let read = inputs.iter().flat_map(Input::files).chain(args.settings.file().cloned()).chain(args.compare.clone());
    let mut outputs = Outputs::new(read, args.overwrite);
    if let Some(csv) = &args.csv {
        outputs.add(csv)?;
    }
    args.errors.iter().chain(&args.maps).try_for_each(|folder| files::make_folder(folder))?;
    let plan = Plan {
        variants: &variants,
        regions: if args.regions.is_empty() { TruthRegion::ALL } else { &args.regions },
        errors: args.errors.as_deref(),
        maps: args.maps.as_deref(),
        max_pixels: args.max_pixels,
        corrects_rows: args.rows == "auto",
        shows_progress: !args.json,
    };
    let (found, ended) = run::run(&plan, &inputs, outputs, headless::interrupt()?);
    if found.rows.is_empty() {
        ended?;
        if !found.remarks.is_empty() {
            anyhow::bail!("{}", found.remarks.join("\n"));
        }
        let words: Vec<_> = plan.regions.iter().map(|region| region.word()).collect();
        return refuse(format!("--region {}: no pair has it; leave --region out", words.join(" and ")));
    }
    finish(args, &variants, &found)?;
    ended
}

fn finish(args: &EvalArgs, variants: &[Variant], found: &Evaluation) -> anyhow::Result<()> {
    let names: Vec<_> = variants.iter().map(|variant| variant.name.as_str()).collect();
    let means = means::of(found, variants.len());
    if let Some(path) = &args.csv {
        let text = report::csv(found, &means, &names);
        files::write_or_keep(path, text.as_bytes(), args.overwrite)?;
    }
    if args.json {
        return print_json(&report::json(found, &means, variants));
    }
    console::print(&table::text(found, &means, &names))?;
    found.remarks.iter().for_each(console::say);
    for path in args.csv.iter().chain(&args.errors).chain(&args.maps) {
        console::say(format_args!("wrote {}", console::path(path)));
    }
    Ok(())
}
