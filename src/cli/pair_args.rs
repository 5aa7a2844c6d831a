//! Flags of the commands that time engines: the pairs, their number, and the parameters.

use super::error::refuse;
use super::settings_args::SettingsArgs;
use super::short_help::shown;
use std::path::PathBuf;
use stereopsis_bench::Setup;
use stereopsis_frame::engine::AdapterChoice;
use stereopsis_frame::source::parse_size;
use stereopsis_frame::{SourceOptions, SourceSpec};

/// Timed pairs.
#[derive(Debug, clap::Args)]
#[command(mut_arg("threads", shown))]
pub struct PairArgs {
    /// Pairs to time: a left and a right image, or a folder of rectified pairs [default: the built-in scene]
    #[arg(num_args = 0.., value_name = "PATH", conflicts_with = "sizes")]
    pictures: Vec<PathBuf>,
    /// Size of each image of the scene; repeat for several [default: 640x480]
    #[arg(long = "size", value_name = "WxH", value_parser = parse_size)]
    sizes: Vec<(usize, usize)>,
    /// Pairs that are timed for each engine and size, one after the other
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..))]
    frames: u32,
    /// Print JSON instead of a table
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    settings: SettingsArgs,
}

impl PairArgs {
    /// Resolves sources and settings.
    ///
    /// # Errors
    /// The settings cannot be read or do not fit together, or need a rig; the paths name no pairs.
    pub fn setup(&self, default_size: (usize, usize)) -> anyhow::Result<Setup> {
        let settings = self.settings.resolve()?;
        if settings.near_m.is_some() {
            return refuse("--near-m needs a rig, and there is none here: give --num-disparities");
        }
        Ok(Setup {
            engine: settings.engine,
            open_source: stereopsis_sources::open,
            sources: sources(&self.pictures, &self.sizes, default_size)?,
            frames: self.frames as usize,
            json: self.json,
            threads: settings.threads,
            adapter: settings.adapter.as_deref().map_or(AdapterChoice::Best, AdapterChoice::from_word),
            model: settings.model_file(),
            params: settings.params,
        })
    }

    /// Fails where a setting is given for which `allowed` is false.
    ///
    /// # Errors
    /// With `why`, and the name of the setting.
    pub fn allow_settings(&self, allowed: impl Fn(&str) -> bool, why: &str) -> anyhow::Result<()> {
        match self.settings.words()?.iter().find(|word| !allowed(&word.name)) {
            Some(word) => refuse(format!("{why}: leave out --{}", word.name)),
            None => Ok(()),
        }
    }
}

/// Returns the pairs that `paths` name, or the scene at each size.
///
/// # Errors
/// The paths name no pairs of files.
pub(super) fn sources(
    paths: &[PathBuf],
    sizes: &[(usize, usize)],
    default_size: (usize, usize),
) -> anyhow::Result<Vec<(SourceSpec, SourceOptions)>> {
    if paths.is_empty() {
        let sizes = if sizes.is_empty() { &[default_size][..] } else { sizes };
        let of_size = |&size| (SourceSpec::Scene, SourceOptions { size: Some(size), ..SourceOptions::default() });
        return Ok(sizes.iter().map(of_size).collect());
    }
    let spec = SourceSpec::from_paths(paths)?;
    if spec.is_live() {
        let text = format!("{spec} is a camera: give images, or time cameras with `stereopsis live --headless --json`");
        return refuse(text);
    }
    Ok(vec![(spec, SourceOptions::default())])
}
