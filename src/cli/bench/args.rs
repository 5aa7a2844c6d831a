//! Flags of `bench`.

use super::{BenchOptions, Grid, Task};
use crate::capture::source::parse_size;
use crate::capture::{SourceOptions, SourceSpec};
use crate::cli::UsageError;
use crate::cli::settings_args::SettingsArgs;
use crate::cli::values::positive;
use crate::console;
use crate::engine::gpu::AdapterChoice;
use crate::settings::Word;
use std::path::PathBuf;

/// Arguments of `bench`.
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct BenchArgs {
    /// Pairs to time: a left and a right picture, or a folder of rectified pairs [default: the built-in scene]
    #[arg(num_args = 0..=2, value_name = "PATH", conflicts_with = "sizes")]
    pictures: Vec<PathBuf>,
    /// Size of each eye of the scene; repeat for several [default: 640x480; with --stages 1280x960]
    #[arg(long = "size", value_name = "WxH", value_parser = parse_size)]
    sizes: Vec<(usize, usize)>,
    /// Pairs that are timed for each engine and size, one after the other
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..))]
    frames: u32,
    /// Pairs come at this rate instead, as from a camera: tells drops, latency and the share of the processor
    #[arg(long, value_name = "HZ", value_parser = positive, conflicts_with = "frames")]
    rate: Option<f64>,
    /// How long pairs come
    #[arg(long, value_name = "S", default_value_t = 10.0, value_parser = positive, requires = "rate")]
    seconds: f64,
    #[command(flatten)]
    instead: InsteadArgs,
    /// Write the pairs that are timed as WxH/left0.png, WxH/right0.png and so on into a folder, for other programs
    #[arg(long, value_name = "FOLDER")]
    write_pairs: Option<PathBuf>,
    /// Replace pictures that --write-pairs finds there; what is read is never replaced
    #[arg(long, requires = "write_pairs")]
    overwrite: bool,
    /// Print JSON instead of a table
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    settings: SettingsArgs,
}

/// What is timed instead of a pair after the other with the settings; one of these.
#[derive(Debug, clap::Args)]
#[group(skip)]
#[allow(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
struct InsteadArgs {
    /// Time the sizes and disparities of a paper with its method (`--preset banz2011`) and again with census 5x5, its
    /// times beside: 640x480, 1024x768 and 1280x960 with 64, 128 and 256 disparities, on any engine
    #[arg(long, value_name = "PAPER", value_parser = ["banz"])]
    #[arg(conflicts_with_all = ["pictures", "sizes", "rate", "stages", "pipeline", "write_pairs"])]
    grid: Option<String>,
    /// Time the GPU engine's costs, its paths one after another and together, its sums with winners: share of the
    /// device's bandwidth, what bounds each, and a paper's figures beside (add --preset banz2011 --num-disparities 128)
    #[arg(long, conflicts_with_all = ["rate", "pipeline", "write_pairs"])]
    stages: bool,
    /// Time the GPU engine with one pair at a time and with several in flight, beside upload, computation and read-back
    #[arg(long, conflicts_with_all = ["rate", "write_pairs"])]
    pipeline: bool,
    /// Time every preset on the same pairs, each for 2 s or --frames pairs, whatever ends first, with its paper and its density
    /// beside: the share of pixels that get a disparity
    #[arg(long, conflicts_with_all = ["rate", "grid", "stages", "pipeline", "write_pairs"])]
    presets: bool,
    /// Time constant windows, adaptive weights and crosses at several radii, and predict every other radius from this machine's
    /// bandwidth with the model of Fang et al. 2012
    #[arg(long, conflicts_with_all = ["rate", "grid", "stages", "pipeline", "presets", "write_pairs"])]
    model: bool,
}

/// Settings that the model has itself.
const OF_MODEL: [&str; 5] = ["aggregation", "window", "arms", "paths", "gating"];

/// Settings that may go with a grid.
const OF_GRIDS: [&str; 3] = ["engine", "threads", "adapter"];

/// Settings that may go with all presets.
const OF_PRESETS: [&str; 5] = ["engine", "threads", "adapter", "min-disparity", "num-disparities"];

/// Runs `bench`: the engine asked for, or with `--engine auto` all there are.
///
/// # Errors
/// As [`super::run`].
pub(in crate::cli) fn run_args(args: &BenchArgs) -> anyhow::Result<()> {
    let settings = args.settings.resolve()?;
    if settings.near_m.is_some() {
        return Err(UsageError("--near-m needs a rig; bench has none: give --num-disparities".to_owned()).into());
    }
    let other = |allowed: &[&str]| -> anyhow::Result<Option<Word>> {
        Ok(args.settings.words()?.into_iter().find(|word| !allowed.contains(&word.name.as_str())))
    };
    if args.instead.grid.is_some()
        && let Some(word) = other(&OF_GRIDS)?
    {
        let text = format!("--grid has the method and the disparities of its paper: leave out --{}", word.name);
        return Err(UsageError(text).into());
    }
    if args.instead.presets
        && let Some(word) = other(&OF_PRESETS)?
    {
        let text = format!("--presets times the method of each preset: leave out --{}", word.name);
        return Err(UsageError(text).into());
    }
    if args.instead.model
        && let Some(word) = args.settings.words()?.into_iter().find(|word| OF_MODEL.contains(&word.name.as_str()))
    {
        let text = format!("--model has the aggregators and their radii itself: leave out --{}", word.name);
        return Err(UsageError(text).into());
    }
    let default_sizes = [if args.instead.stages { (1280, 960) } else { (640, 480) }];
    let sizes = if args.sizes.is_empty() { &default_sizes[..] } else { &args.sizes };
    let sources = if args.pictures.is_empty() {
        let of_size = |&size| (SourceSpec::Scene, SourceOptions { size: Some(size), ..SourceOptions::default() });
        sizes.iter().map(of_size).collect()
    } else {
        vec![(SourceSpec::from_paths(&args.pictures)?, SourceOptions::default())]
    };
    let frames = args.frames as usize;
    let task = match args.rate {
        Some(rate_hz) => Task::Steady { rate_hz, seconds: args.seconds },
        None if args.instead.grid.is_some() => Task::Grid { grid: Grid::banz(), frames },
        None if args.instead.stages => Task::Stages { frames },
        None if args.instead.pipeline => Task::Pipeline { frames },
        None if args.instead.model => Task::Model { frames },
        None if args.instead.presets => Task::Presets { frames },
        None => Task::OneByOne { frames },
    };
    let options = BenchOptions {
        engines: vec![settings.engine],
        sources,
        task,
        write_pairs: args.write_pairs.clone(),
        overwrite: args.overwrite,
        json: args.json,
        threads: settings.threads,
        adapter: settings.adapter.as_deref().map_or(AdapterChoice::Best, AdapterChoice::from_word),
        params: settings.params,
    };
    super::run(&options, &mut console::Out)
}
