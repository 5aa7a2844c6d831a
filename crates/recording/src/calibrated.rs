//! Recording with a calibration, to compute its results again or to export it.

use crate::Progress;
use crate::export::{self, ExportOptions, Exported, Part};
use crate::read::Recording;
use std::path::{Path, PathBuf};
use stereopsis_calibration::Crop;
use stereopsis_frame::{MaxPixels, Skew, SourceInfo};
use stereopsis_settings::rig::Calibrated;

/// Open recording with a calibration.
pub struct CalibratedRecording {
    /// Path of the file.
    pub path: PathBuf,
    /// Open recording.
    pub recording: Recording,
    /// Description of the recording as a source.
    pub info: SourceInfo,
    /// Calibration and preparation of frames.
    pub calibrated: Calibrated,
    /// Part of the images that rectification shows.
    pub crop: Crop,
    /// Remarks, such as unused parts of the file with the reasons.
    pub losses: Vec<String>,
    /// Skew of its pairs; `None` for images of both views.
    pub skew: Option<Skew>,
    /// Limit of pixels; larger images are not read.
    pub max_pixels: MaxPixels,
}

impl CalibratedRecording {
    /// Replaces the calibration; `crop` is that of its rectification.
    #[must_use]
    pub fn with_calibration(self, calibrated: Calibrated, crop: Crop) -> Self {
        Self { calibrated, crop, ..self }
    }

    /// Returns the number of pairs.
    pub fn pairs(&self) -> u64 {
        self.recording.pairs().len() as u64
    }

    /// Returns every part of an export, with the reason if the recording cannot provide it.
    pub fn parts(&self) -> Vec<(Part, Option<String>)> {
        export::parts(self)
    }

    /// Writes pairs as files into a folder.
    ///
    /// # Errors
    /// Errors of [`export::export`].
    pub fn export(&mut self, folder: &Path, options: &ExportOptions, progress: &Progress) -> anyhow::Result<Exported> {
        export::export(self, folder, options, progress)
    }
}
