//! Recording with a calibration, to compute its results again or to export it.

use crate::read::Recording;
use std::path::PathBuf;
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
}
