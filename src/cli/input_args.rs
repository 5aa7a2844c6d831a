//! Source and calibration together: flags over a rig file.

use super::calibration_args::CalibrationArgs;
use super::source_args::SourceArgs;
use crate::capture::{SourceOptions, SourceSpec};
use crate::rig::{CalibrationChoice, RigFile};
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
