//! Opens a recording with its calibration or another one, to compute its results again or to export it.

use super::open_calibrated;
use std::path::{Path, PathBuf};
use stereopsis_calibration::Crop;
use stereopsis_capture::SourceSpec;
use stereopsis_frame::{Scale, Skew, SourceInfo, SourceOptions, SourceState};
use stereopsis_recording::export::{ExportOptions, Exported, Opened, Part};
use stereopsis_recording::read::Recording;
use stereopsis_recording::recompute::{Input, RecomputeError, RecomputeOptions, Summary};
use stereopsis_recording::{Progress, export, recompute};
use stereopsis_settings::rig::{Calibrated, CalibrationChoice};
use stereopsis_settings::settings::Settings;

/// Open recording with a calibration.
pub struct CalibratedRecording {
    path: PathBuf,
    recording: Recording,
    info: SourceInfo,
    /// Calibration and preparation of frames.
    pub calibrated: Calibrated,
    crop: Crop,
    /// Remarks, such as unused parts of the file with the reasons.
    pub losses: Vec<String>,
    /// Skew of its pairs; `None` for images of both views.
    pub skew: Option<Skew>,
    options: SourceOptions,
}

impl CalibratedRecording {
    /// Opens a recording with the chosen calibration, or without a choice with the recorded one.
    ///
    /// # Errors
    /// The file is no recording, has no pairs, or the calibration does not fit it.
    pub fn open(path: &Path, options: &SourceOptions, choice: &CalibrationChoice) -> anyhow::Result<Self> {
        Self::calibrated(Recording::open_with(path, &options.topics)?, path, options, choice)
    }

    /// Opens a recording at the size at which it was matched, to which its depth belongs.
    ///
    /// # Errors
    /// Errors of [`CalibratedRecording::open`].
    pub fn open_as_recorded(path: &Path, options: &SourceOptions) -> anyhow::Result<Self> {
        let recording = Recording::open_with(path, &options.topics)?;
        let scale = recording.about().and_then(|about| Scale::from_word(&about.calibration.scale)).unwrap_or_default();
        Self::calibrated(recording, path, options, &CalibrationChoice { scale, ..CalibrationChoice::default() })
    }

    fn calibrated(
        recording: Recording,
        path: &Path,
        options: &SourceOptions,
        choice: &CalibrationChoice,
    ) -> anyhow::Result<Self> {
        let SourceOptions { topics, max_pixels, .. } = options.clone();
        let options = SourceOptions { topics, max_pixels, ..SourceOptions::default() };
        let opened = open_calibrated(&SourceSpec::Recording(path.to_owned()), &options, choice)?;
        let (info, SourceState { remarks, skew, .. }) = (opened.source.info(), opened.source.state());
        // only with the recorded calibration, its crop applies
        let recorded = recording.about().filter(|_| choice.is_unset() && choice.crop().is_default());
        let crop = recorded.map_or(choice.crop(), |about| about.calibration.crop);
        let (path, losses) = (path.to_owned(), remarks);
        Ok(Self { path, recording, info, calibrated: opened.calibrated, crop, losses, skew, options })
    }

    /// Replaces the calibration; `crop` is that of its rectification.
    #[must_use]
    pub fn with_calibration(self, calibrated: Calibrated, crop: Crop) -> Self {
        Self { calibrated, crop, ..self }
    }

    /// Returns the number of pairs.
    pub fn pairs(&self) -> u64 {
        self.recording.pairs().len() as u64
    }

    /// Matches every pair again, and writes a new recording.
    ///
    /// # Errors
    /// [`RecomputeError`]
    pub fn recompute(
        self,
        output: &Path,
        settings: &Settings,
        options: &RecomputeOptions,
        progress: &Progress,
    ) -> Result<Summary, RecomputeError> {
        let Self { path, recording, info, calibrated, crop, options: SourceOptions { max_pixels, .. }, .. } = self;
        let input = Input { path: &path, recording, info: &info, calibrated: &calibrated, crop, max_pixels };
        recompute::recompute(input, output, settings, options, progress)
    }

    /// Returns every part of an export, with the reason if the recording cannot provide it.
    pub fn parts(&mut self) -> Vec<(Part, Option<String>)> {
        export::parts(&self.opened())
    }

    /// Writes pairs as files into a folder.
    ///
    /// # Errors
    /// Errors of [`export::export`].
    pub fn export(&mut self, folder: &Path, options: &ExportOptions, progress: &Progress) -> anyhow::Result<Exported> {
        export::export(&mut self.opened(), folder, options, progress)
    }

    fn opened(&mut self) -> Opened<'_> {
        let Self { path, recording, info, calibrated, .. } = self;
        Opened { path, recording, info, calibrated }
    }
}
