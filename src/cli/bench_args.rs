//! Flags of `bench`.

use super::UsageError;
use super::bench::{self, BenchOptions};
use super::settings_args::SettingsArgs;
use crate::capture::source::parse_size;
use crate::engine::gpu::AdapterChoice;
use std::io;

/// Arguments of `bench`.
#[derive(Debug, clap::Args)]
pub(super) struct BenchArgs {
    /// Size of each eye; repeat for several
    #[arg(long = "size", value_name = "WxH", value_parser = parse_size, default_value = "640x480")]
    sizes: Vec<(usize, usize)>,
    /// Pairs that are timed for each engine and size
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..))]
    frames: u32,
    /// Print JSON instead of a table
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    settings: SettingsArgs,
}

/// Runs `bench`: the engine asked for, or with `--engine auto` all there are.
///
/// # Errors
/// As [`bench::run`].
pub(super) fn run(args: &BenchArgs) -> anyhow::Result<()> {
    let settings = args.settings.resolve()?;
    if settings.near_m.is_some() {
        return Err(UsageError("--near-m needs a rig; bench has none: give --num-disparities".to_owned()).into());
    }
    let options = BenchOptions {
        engines: vec![settings.engine],
        sizes: args.sizes.clone(),
        frames: args.frames as usize,
        json: args.json,
        threads: settings.threads,
        adapter: settings.adapter.as_deref().map_or(AdapterChoice::Best, AdapterChoice::from_word),
        params: settings.params,
    };
    bench::run(&options, &mut io::stdout().lock())
}
