//! Opens a source and determines its calibration: that of the user, its own, or an estimate from its first pairs.

use super::open;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use stereopsis_base::remedy::{Remedy, option};
use stereopsis_calibration::{CalibrationError, CalibrationNote};
use stereopsis_frame::{CaptureError, Next, PairSource, RawPair, SourceOptions, SourceSpec};
use stereopsis_recording::ReadError;
use stereopsis_settings::rig::{Calibrated, CalibrationChoice, RectifyChoice};

/// Open source and the preparation of its frames.
pub struct CalibratedSource {
    /// Source of raw pairs.
    pub source: Box<dyn PairSource>,
    /// Preparation of frames.
    pub calibrated: Calibrated,
    /// All files that the source reads; outputs must not overwrite them.
    pub inputs: Vec<PathBuf>,
}

/// Error of opening a source with its calibration.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Error of the source.
    #[error(transparent)]
    Capture(#[from] CaptureError),
    /// Error of the recording.
    #[error(transparent)]
    Recording(#[from] ReadError),
    /// A rig is to be corrected by pairs that can be read only once.
    #[error(
        "{source_name}: a rig is corrected by cameras and pipes in live alone, while it runs ({}); its window keeps the correction in a rig file \
         (Rig, Save rig), which is used everywhere ({})",
        option("self-calibrate"),
        option("rig")
    )]
    SelfCalibration {
        /// Name of the source.
        source_name: String,
    },
    /// Error of the calibration for this source.
    #[error("{source_name}: {error}")]
    Calibration {
        /// Name of the source.
        source_name: String,
        /// Error of the calibration.
        error: CalibrationError,
    },
}

impl OpenError {
    /// Returns the options with which the user can do something about an error of the calibration.
    pub fn remedies(&self) -> Vec<Remedy> {
        match self {
            Self::Capture(_) | Self::Recording(_) | Self::SelfCalibration { .. } => Vec::new(),
            Self::Calibration { error, .. } => error.remedies(),
        }
    }
}

/// Remark on a calibration that is not used.
const OWN_CALIBRATION: &str =
    "the images are rectified, with a calib.txt beside them: the calibration that was given is not used";
/// Number of pairs of an estimate.
pub const ESTIMATE_PAIRS: usize = 6;
/// Interval between the pairs of an estimate, so that the scene can change.
pub const PAIR_INTERVAL: Duration = Duration::from_millis(200);
/// Timeout of the pairs by which a rig is corrected.
const SELF_CALIBRATION_TIMEOUT: Duration = Duration::from_mins(1);
/// Timeout of the first pairs.
const PAIR_TIMEOUT: Duration = Duration::from_secs(6);

/// Opens `spec` and determines the preparation of its frames; may block for seconds.
///
/// # Errors
/// [`OpenError`]
pub fn open_calibrated(
    spec: &SourceSpec,
    options: &SourceOptions,
    choice: &CalibrationChoice,
) -> Result<CalibratedSource, OpenError> {
    let (opened, failed) = open_in_any_case(spec, options, choice)?;
    failed.map_or(Ok(opened), Err)
}

/// Opens `spec` like [`open_calibrated`]; where the choice asks for that, the rig is corrected by the pairs of `spec` first.
///
/// # Errors
/// [`OpenError`]; among them that the pairs of `spec` can be read only once, or come only in time.
pub fn open_corrected(
    spec: &SourceSpec,
    options: &SourceOptions,
    choice: &CalibrationChoice,
) -> Result<CalibratedSource, OpenError> {
    if choice.self_calibrate && (spec.is_live() || *spec == SourceSpec::Pipe) {
        return Err(OpenError::SelfCalibration { source_name: spec.to_string() });
    }
    let Some((choice, note)) = self_calibrated(spec, options, choice)? else {
        return open_calibrated(spec, options, choice);
    };
    let mut opened = open_calibrated(spec, options, &choice)?;
    let notes: Vec<_> = opened.calibrated.note.into_iter().chain([note]).collect();
    opened.calibrated.note = Some(notes.join("; "));
    Ok(opened)
}

/// Opens `spec` like [`open_calibrated`]; if the calibration fails, returns the source uncalibrated, with the error.
///
/// # Errors
/// The source cannot be opened.
pub fn open_in_any_case(
    spec: &SourceSpec,
    options: &SourceOptions,
    choice: &CalibrationChoice,
) -> Result<(CalibratedSource, Option<OpenError>), CaptureError> {
    let mut options = options.clone();
    options.cameras.calibrated = choice.rectify() != RectifyChoice::Off;
    options.two_sizes = choice.rectify() == RectifyChoice::Calibration;
    // an estimate requires several pairs, and a watched source may deliver only one
    let estimates = choice.rectify() == RectifyChoice::Auto;
    let first = SourceOptions {
        watched: options.watched && !estimates,
        looped: options.looped && !estimates,
        ..options.clone()
    };
    let mut source = open(spec, &first)?;
    let inputs = [source.files(), choice.files.clone()].concat();
    let info = source.info();
    let calibrated = if estimates {
        let pairs = first_pairs(source.as_mut())?;
        if !info.is_camera {
            source = open(spec, &options)?; // back to the first pair
        }
        choice.estimate(&pairs, &info)
    } else {
        known(spec, &*source, choice)
    };
    let (calibrated, failed) = match calibrated {
        Ok(calibrated) => (calibrated, None),
        Err(error) => {
            let failed = OpenError::Calibration { source_name: info.name, error };
            (choice.uncalibrated(), Some(failed))
        }
    };
    Ok((CalibratedSource { source, calibrated, inputs }, failed))
}

/// Number of views, from the beginning of files or a recording, by which a rig is corrected, and their distance in a source of many pairs.
const SELF_CALIBRATION_PAIRS: usize = 40;

/// Returns the choice by which a rig of files or a recording is corrected by its own pairs, and what was found; `None` where that is not
/// asked for, or the calibration fails, which is told when it is applied.
fn self_calibrated(
    spec: &SourceSpec,
    options: &SourceOptions,
    choice: &CalibrationChoice,
) -> Result<Option<(CalibrationChoice, String)>, CaptureError> {
    if !choice.self_calibrate || choice.rectify() != RectifyChoice::Calibration {
        return Ok(None);
    }
    let mut options = SourceOptions { watched: false, looped: false, two_sizes: true, ..options.clone() };
    options.cameras.calibrated = true;
    let mut source = open(spec, &options)?;
    let info = source.info();
    if info.is_rectified && info.geometry.is_some() {
        return Ok(None);
    }
    let step = info.num_pairs.map_or(1, |pairs| (pairs as usize).div_ceil(SELF_CALIBRATION_PAIRS)).max(1);
    let (mut pairs, mut number, begun) = (Vec::new(), 0, Instant::now());
    while pairs.len() < SELF_CALIBRATION_PAIRS && begun.elapsed() < SELF_CALIBRATION_TIMEOUT {
        match source.next(Duration::from_millis(50))? {
            Next::Pair(pair) => {
                if number % step == 0 {
                    pairs.push(Arc::from(pair));
                }
                number += 1;
            }
            Next::Waiting => {}
            Next::End => break,
        }
    }
    Ok(choice.self_calibrated(&pairs, &info).ok())
}

/// Returns the calibration of the source or of the user, without an estimate from images.
fn known(
    spec: &SourceSpec,
    source: &dyn PairSource,
    choice: &CalibrationChoice,
) -> Result<Calibrated, CalibrationError> {
    let info = source.info();
    // the user's options take precedence over the calibration in a recording
    let recorded = source.calibration().filter(|_| !info.is_rectified && choice.is_unset());
    let calibrated = match recorded {
        Some(recorded) => {
            let swapped = recorded.swapped != choice.swap_pictures;
            let mut note = CalibrationNote { scale: choice.scale.to_string(), swapped, ..recorded.clone() };
            if choice.rows.is_some() {
                (note.rows, note.row_field) = (choice.rows, choice.row_field);
            }
            if choice.swap_pictures && !note.rectifies {
                note.geometry = note.geometry.map(|geometry| geometry.swapped());
            }
            if !choice.crop().is_default() && note.rectifies {
                // another crop has another geometry
                (note.crop, note.geometry) = (choice.crop(), None);
            }
            Calibrated::from_note(&note, &info).and_then(|calibrated| choice.standing(calibrated, &info))
        }
        None => choice.apply(&info),
    };
    let mut calibrated = calibrated?;
    let is_files = matches!(spec, SourceSpec::Files { .. } | SourceSpec::Folder(_));
    if is_files && info.is_rectified && info.geometry.is_some() && !choice.files.is_empty() {
        calibrated.note = Some(format!("{}: {OWN_CALIBRATION}", info.name));
    }
    Ok(calibrated)
}

/// Returns the first [`ESTIMATE_PAIRS`] pairs of a source, or all of a short one.
fn first_pairs(source: &mut dyn PairSource) -> Result<Vec<Arc<RawPair>>, CaptureError> {
    let is_camera = source.info().is_camera;
    let mut pairs = Vec::new();
    let mut last = Instant::now();
    while pairs.len() < ESTIMATE_PAIRS && last.elapsed() < PAIR_TIMEOUT {
        match source.next(Duration::from_millis(50))? {
            // skip the first images of a camera, which are dark
            Next::Pair(_) if is_camera && last.elapsed() < PAIR_INTERVAL => {}
            Next::Pair(pair) => {
                pairs.push(Arc::from(pair));
                last = Instant::now();
            }
            Next::Waiting => {}
            Next::End => break,
        }
    }
    Ok(pairs)
}
