//! Source and calibration together: flags over a rig file.

use super::UsageError;
use super::calibration_args::CalibrationArgs;
use super::source_args::{SourceArgs, TruthArgs};
use crate::capture::{CaptureError, FramePreparation, SourceInfo, SourceOptions, SourceSpec};
use crate::rig::{CalibrationChoice, RigFile};
use crate::settings::{Settings, Word};
use crate::stereo::StereoParams;
use std::path::PathBuf;

/// Pairs per second of the scene and of files.
const DEFAULT_RATE_HZ: f64 = 30.0;

/// What is opened and how it is calibrated.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct InputArgs {
    /// What to open: a left and a right picture, a folder of pairs, or a recording (.mcap) [default: the built-in scene]
    #[arg(num_args = 0..=2, value_name = "PATH", conflicts_with = "source")]
    pictures: Vec<PathBuf>,
    /// Where pairs come from: scene, LEFT,RIGHT, FOLDER, FILE.mcap, - (a recording from a pipe), webcam:0,1, or webcam:0 (one
    /// camera, side by side)
    #[arg(long, value_name = "SOURCE", help_heading = "Source")]
    source: Option<String>,
    /// A rig file: cameras by port, their mode, orientation, controls and calibration; flags win over it
    #[arg(long, value_name = "FILE.toml", help_heading = "Source")]
    pub(super) rig: Option<PathBuf>,
    #[command(flatten)]
    truth: TruthArgs,
    #[command(flatten)]
    options: SourceArgs,
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
        self.options.recording.words(source)
    }

    /// The source that `--source` or the paths name, if any.
    ///
    /// # Errors
    /// They name nothing that can be a source.
    pub(super) fn named_source(&self) -> Result<Option<SourceSpec>, CaptureError> {
        let source = match &self.source {
            Some(words) => SourceSpec::parse(words)?,
            None if self.pictures.is_empty() && !self.truth.is_given() => return Ok(None),
            None => SourceSpec::from_paths(&self.pictures)?,
        };
        self.truth.of(source).map(Some)
    }

    /// Reads the rig file, if one was named; files are looped and watched, and colour is read.
    ///
    /// # Errors
    /// The rig file cannot be used, or flags do not go together.
    pub(super) fn resolve(&self) -> anyhow::Result<Input> {
        let rig = self.rig.as_deref().map(RigFile::read).transpose()?.unwrap_or_default();
        let rate_hz = rig.rate_hz.unwrap_or(DEFAULT_RATE_HZ);
        let mut options = SourceOptions { looped: true, watched: true, color: true, ..SourceOptions::default() };
        rig.fill(&mut options);
        self.options.fill(&mut options, rate_hz);
        Ok(Input { source: rig.source, options, calibration: self.calibration.over(rig.calibration)? })
    }
}

/// Parameters for the frames that will come: `--near-m` needs their geometry.
///
/// # Errors
/// The settings do not fit the frames.
pub(super) fn params_at_start(
    settings: &Settings,
    preparation: &FramePreparation,
    info: &SourceInfo,
) -> anyhow::Result<StereoParams> {
    let geometry = preparation.geometry(info).map(|g| g.scaled(preparation.scale.factor()));
    let (width, _) = preparation.scale.size((info.width, info.height));
    settings.params_for(width, geometry.as_ref()).map_err(|err| UsageError(err.to_string()).into())
}
