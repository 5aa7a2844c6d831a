//! `stereopsis bench`: how quick the engines are on this machine.

use super::pair_args::PairArgs;
use super::values::{OVERWRITE, positive};
use std::path::PathBuf;
use stereopsis_base::console;
use stereopsis_bench::{PairFolder, Task, run};

/// Arguments of `bench`.
#[derive(Debug, clap::Args)]
pub(super) struct BenchArgs {
    /// Feed pairs at this rate, as a camera does: reports drops, latency and processor load
    #[arg(long, value_name = "HZ", value_parser = positive, conflicts_with = "frames")]
    rate: Option<f64>,
    /// Duration for which pairs are fed, s
    #[arg(long, hide_short_help = true, value_name = "S", default_value_t = 10.0, value_parser = positive, requires = "rate")]
    seconds: f64,
    /// Time every preset on the same pairs, with its paper and its density
    ///
    /// Each runs for 2 s or --frames pairs, whichever ends first. Density is the share of pixels with a disparity.
    #[arg(long, conflicts_with_all = ["rate", "write_pairs"])]
    presets: bool,
    /// Write the timed pairs into this folder, as WxH/left0.png, WxH/right0.png …
    #[arg(long, hide_short_help = true, value_name = "FOLDER")]
    write_pairs: Option<PathBuf>,
    #[arg(long, hide_short_help = true, help = OVERWRITE, requires = "write_pairs")]
    overwrite: bool,
    #[command(flatten)]
    moved: MovedArgs,
    #[command(flatten)]
    pairs: PairArgs,
}

/// Flags that are subcommands of the laboratory now; all of them are refused.
#[derive(Debug, clap::Args)]
struct MovedArgs {
    #[arg(long, hide = true, num_args = 0..=1, default_missing_value = "", value_parser = moved("reproduce banz"))]
    grid: Option<String>,
    #[arg(long, hide = true, num_args = 0..=1, default_missing_value = "", value_parser = moved("reproduce banz"))]
    stages: Option<String>,
    #[arg(long, hide = true, num_args = 0..=1, default_missing_value = "", value_parser = moved("pipeline"))]
    pipeline: Option<String>,
}

fn moved(experiment: &'static str) -> impl Fn(&str) -> anyhow::Result<String> + Clone + Send + Sync {
    move |_| anyhow::bail!("use `stereopsis-lab {experiment}` instead")
}

/// Settings that may be combined with all presets.
const OF_PRESETS: [&str; 5] = ["engine", "threads", "adapter", "min-disparity", "num-disparities"];

/// Runs `bench`.
///
/// # Errors
/// Flags that cannot be combined; errors of [`stereopsis_bench::run`].
pub(super) fn run_args(args: &BenchArgs) -> anyhow::Result<()> {
    let setup = args.pairs.setup((640, 480))?;
    let task = match args.rate {
        Some(rate_hz) => Task::Steady { rate_hz, seconds: args.seconds },
        None if args.presets => Task::Presets,
        None => Task::OneByOne,
    };
    if task == Task::Presets {
        args.pairs.allow_settings(|name| OF_PRESETS.contains(&name), "--presets times the method of each preset")?;
    }
    let folder = args.write_pairs.clone().map(|path| PairFolder { path, overwrite: args.overwrite });
    run(&setup, task, folder.as_ref(), &mut console::Out)
}
