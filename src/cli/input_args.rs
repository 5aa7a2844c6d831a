//! Source and calibration together: flags over a rig file.

use super::UsageError;
use super::calibration_args::CalibrationArgs;
use super::source_args::SourceArgs;
use crate::capture::{CaptureError, Recipe, SourceInfo, SourceOptions, SourceSpec};
use crate::rig::{CalibrationChoice, RigFile};
use crate::settings::{Settings, Word};
use crate::stereo::StereoParams;
use std::path::PathBuf;

/// What is opened and how it is calibrated.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct InputArgs {
    /// A rig file: cameras by port, their mode, orientation, controls and calibration; flags win over it
    #[arg(long, value_name = "FILE.toml", help_heading = "Source")]
    pub(super) rig: Option<PathBuf>,
    #[command(flatten)]
    source: SourceArgs,
    #[command(flatten)]
    calibration: CalibrationArgs,
}

/// What the flags and the rig file say.
pub(super) struct Input {
    /// The rig's cameras, where it has some.
    pub(super) source: Option<SourceSpec>,
    pub(super) options: SourceOptions,
    pub(super) calibration: CalibrationChoice,
}

impl InputArgs {
    /// The parameters that were recorded, where they are asked for.
    ///
    /// # Errors
    /// The source is no file that has some.
    pub(super) fn recorded_words(&self, source: Option<&SourceSpec>) -> anyhow::Result<Vec<Word>> {
        self.source.recording.words(source)
    }

    /// Reads the rig file, if one was named; `default_rate_hz` where nobody says a rate.
    ///
    /// # Errors
    /// The rig file cannot be used, or flags do not go together.
    pub(super) fn resolve(&self, default_rate_hz: f64, looped: bool, color: bool) -> anyhow::Result<Input> {
        let rig = self.rig.as_deref().map(RigFile::read).transpose()?.unwrap_or_default();
        let rate_hz = rig.rate_hz.unwrap_or(default_rate_hz);
        let mut options = SourceOptions { looped, watched: looped, color, ..SourceOptions::default() };
        rig.fill(&mut options);
        self.source.fill(&mut options, rate_hz);
        Ok(Input { source: rig.source, options, calibration: self.calibration.over(rig.calibration)? })
    }
}

/// What `--source` or the paths name, if they name anything.
///
/// # Errors
/// They name nothing that can be a source.
pub(super) fn named_source(words: Option<&str>, paths: &[PathBuf]) -> Result<Option<SourceSpec>, CaptureError> {
    match words {
        Some(words) => SourceSpec::parse(words).map(Some),
        None if paths.is_empty() => Ok(None),
        None => SourceSpec::from_paths(paths).map(Some),
    }
}

/// Parameters for the frames that will come: `--near-m` needs their geometry.
///
/// # Errors
/// The settings do not fit the frames.
pub(super) fn params_at_start(settings: &Settings, recipe: &Recipe, info: &SourceInfo) -> anyhow::Result<StereoParams> {
    let geometry = recipe.geometry(info).map(|g| g.scaled(recipe.scale.factor()));
    let (width, _) = recipe.scale.size((info.width, info.height));
    settings.params_for(width, geometry.as_ref()).map_err(|err| UsageError(err.to_string()).into())
}
