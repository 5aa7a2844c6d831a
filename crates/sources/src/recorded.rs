//! Opens a recording with its calibration or another one, to compute its results again or to export it.

use super::calibrated::find_range;
use super::{OpenError, open_calibrated};
use std::path::Path;
use stereopsis_frame::{Scale, SourceOptions, SourceSpec, SourceState};
use stereopsis_recording::CalibratedRecording;
use stereopsis_recording::read::Recording;
use stereopsis_settings::rig::CalibrationChoice;
use stereopsis_settings::settings::Settings;

/// Opens a recording with the chosen calibration, or without a choice with the recorded one, for matching with `settings`, see
/// [`super::open_to_match`].
///
/// # Errors
/// The file is no recording, has no pairs, or the calibration does not fit it.
pub fn open_recording(
    path: &Path,
    options: &SourceOptions,
    choice: &CalibrationChoice,
    settings: &mut Settings,
) -> Result<CalibratedRecording, OpenError> {
    let mut opened = with_calibration(Recording::open_with(path, &options.topics)?, path, options, choice)?;
    let spec = SourceSpec::Recording(path.to_owned());
    find_range(&spec, options, (&mut opened.calibrated, &opened.info), None, settings)?;
    Ok(opened)
}

/// Opens a recording at the size at which it was matched, to which its depth belongs.
///
/// # Errors
/// Errors of [`open_recording`].
pub fn open_as_recorded(path: &Path, options: &SourceOptions) -> Result<CalibratedRecording, OpenError> {
    let recording = Recording::open_with(path, &options.topics)?;
    let scale = recording.about().and_then(|about| Scale::from_word(&about.calibration.scale)).unwrap_or_default();
    with_calibration(recording, path, options, &CalibrationChoice { scale, ..CalibrationChoice::default() })
}

fn with_calibration(
    recording: Recording,
    path: &Path,
    options: &SourceOptions,
    choice: &CalibrationChoice,
) -> Result<CalibratedRecording, OpenError> {
    let SourceOptions { topics, max_pixels, .. } = options.clone();
    let options = SourceOptions { topics, max_pixels, ..SourceOptions::default() };
    let opened = open_calibrated(&SourceSpec::Recording(path.to_owned()), &options, choice)?;
    let (info, SourceState { remarks, skew, .. }) = (opened.source.info(), opened.source.state());
    // only with the recorded calibration, its crop applies
    let recorded = recording.about().filter(|_| choice.is_unset() && choice.crop().is_default());
    let crop = recorded.map_or(choice.crop(), |about| about.calibration.crop);
    let (path, losses) = (path.to_owned(), remarks);
    Ok(CalibratedRecording { path, recording, info, calibrated: opened.calibrated, crop, losses, skew, max_pixels })
}
