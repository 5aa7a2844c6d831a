//! Opens a source and determines its calibration: that of the user, its own, or an estimate from its first pairs.

use super::known_distances::FitError;
use super::masked::{MaskedSource, read_masks};
use super::{known_distances, open};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use stereopsis_base::remedy::{Remedy, option};
use stereopsis_calibration::{CalibrationError, CalibrationNote, matches_for_range};
use stereopsis_frame::engine::EngineError;
use stereopsis_frame::{CaptureError, Next, PairSource, RawPair, SourceInfo, SourceOptions, SourceSpec};
use stereopsis_recording::ReadError;
use stereopsis_settings::rig::{Calibrated, CalibrationChoice, RectifyChoice};
use stereopsis_settings::settings::Settings;

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
    /// Error of matching the pairs that have places at known distances.
    #[error("{source_name}: the disparities of the known distances cannot be measured: {error}")]
    Engine {
        /// Name of the source.
        source_name: String,
        /// Error of the engine.
        error: EngineError,
    },
}

impl OpenError {
    /// Returns the options with which the user can do something about an error of the calibration.
    pub fn remedies(&self) -> Vec<Remedy> {
        match self {
            Self::Capture(_) | Self::Recording(_) | Self::Engine { .. } | Self::SelfCalibration { .. } => Vec::new(),
            Self::Calibration { error, .. } => error.remedies(),
        }
    }
}

/// Remark on a calibration that is not used.
const OWN_CALIBRATION: &str =
    "the images are rectified, with a calib.txt beside them: the calibration that was given is not used";
/// Number of pairs of an estimate.
pub const ESTIMATE_PAIRS: usize = 6;
/// Number of pairs of an estimate from a folder, whose images are often different views.
const ESTIMATE_FOLDER_PAIRS: usize = 24;
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
    opened.calibrated.add_note(&note);
    Ok(opened)
}

/// Opens `spec` like [`open_corrected`] for matching with `settings`, which take the range that cameras which look towards each other need,
/// unless one was said.
///
/// # Errors
/// [`OpenError`]
pub fn open_to_match(
    spec: &SourceSpec,
    options: &SourceOptions,
    choice: &CalibrationChoice,
    settings: &mut Settings,
) -> Result<CalibratedSource, OpenError> {
    let mut opened = open_corrected(spec, options, choice)?;
    let info = opened.source.info();
    let camera = info.is_camera.then_some(&mut opened.source);
    find_range(spec, options, (&mut opened.calibrated, &info), camera, settings)?;
    Ok(opened)
}

/// Finds the search range of cameras that look towards each other in the first pairs, those of `camera` or of files that are opened once more,
/// and adds it to the remarks on the calibration.
pub(super) fn find_range(
    spec: &SourceSpec,
    options: &SourceOptions,
    (calibrated, info): (&mut Calibrated, &SourceInfo),
    camera: Option<&mut Box<dyn PairSource>>,
    settings: &mut Settings,
) -> Result<(), CaptureError> {
    let preparation = &calibrated.preparation;
    let Some(geometry) = preparation.geometry(info) else { return Ok(()) };
    let extent_px = geometry.axis.extent((info.width, info.height));
    if !settings.awaits_range(extent_px, &geometry) {
        return Ok(());
    }
    let pairs = if let Some(camera) = camera {
        first_pairs(camera.as_mut(), ESTIMATE_PAIRS)?
    } else {
        let swapped_views = preparation.swapped;
        let once = SourceOptions { watched: false, looped: false, two_sizes: true, swapped_views, ..options.clone() };
        first_pairs(open(spec, &once)?.as_mut(), ESTIMATE_PAIRS)?
    };
    let (mut found, mut of_frame) = (Vec::new(), None);
    for pair in &pairs {
        // a pair that cannot be prepared is named where it is matched, and so is a range that does not fit
        let Ok(frame) = preparation.prepare(pair, info, Instant::now()).map(Arc::new) else { continue };
        let Some(geometry) = frame.geometry else { continue };
        let in_rows = frame.in_rows();
        found.extend(matches_for_range(&in_rows.left.luma, &in_rows.right.luma, -geometry.doffs_px));
        of_frame.get_or_insert((frame.extent_px(), geometry));
    }
    if let Some((extent_px, geometry)) = of_frame
        && let Ok(sentence) = settings.take_range(&found, extent_px, &geometry)
    {
        calibrated.add_note(&sentence);
    }
    Ok(())
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
    options.swapped_views = choice.swap_pictures;
    // an estimate requires several pairs, and a watched source may deliver only one
    let estimates = choice.rectify() == RectifyChoice::Auto;
    let reads = estimates || !choice.known.is_empty();
    let first =
        SourceOptions { watched: options.watched && !reads, looped: options.looped && !reads, ..options.clone() };
    let masks = read_masks(&choice.mask)?;
    let is_cut = options.both_views.is_some() || matches!(spec, SourceSpec::WebcamSideBySide(_));
    let open = |options: &SourceOptions| -> Result<Box<dyn PairSource>, CaptureError> {
        let source = open(spec, options)?;
        if *spec == SourceSpec::Scene && masks.is_none() {
            return Ok(source); // all of it is scene
        }
        let masked = MaskedSource::new(source, masks.clone(), is_cut);
        masked.check(!options.two_sizes)?;
        Ok(Box::new(masked))
    };
    let mut source = open(&first)?;
    let inputs = [source.files(), choice.files.clone()].concat();
    let info = source.info();
    let wanted = if matches!(spec, SourceSpec::Folder(_)) { ESTIMATE_FOLDER_PAIRS } else { ESTIMATE_PAIRS };
    let pairs = if reads { first_pairs(source.as_mut(), wanted)? } else { Vec::new() };
    let calibrated = if estimates { choice.estimate(&pairs, &info) } else { known(spec, &*source, choice) };
    let calibrated = calibrated.map_err(FitError::Calibration);
    let calibrated = calibrated.and_then(|calibrated| known_distances::fitted(calibrated, choice, &pairs, &info));
    if reads && !info.is_camera {
        source = open(&options)?; // back to the first pair
    }
    let (calibrated, failed) = match calibrated {
        Ok(calibrated) => (calibrated, None),
        Err(error) => {
            let failed = match error {
                FitError::Calibration(error) => OpenError::Calibration { source_name: info.name, error },
                FitError::Engine(error) => OpenError::Engine { source_name: info.name, error },
            };
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
    let swapped_views = choice.swap_pictures;
    let mut options =
        SourceOptions { watched: false, looped: false, two_sizes: true, swapped_views, ..options.clone() };
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

/// Returns the first `wanted` pairs of a source, or all of a short one.
fn first_pairs(source: &mut dyn PairSource, wanted: usize) -> Result<Vec<Arc<RawPair>>, CaptureError> {
    let is_camera = source.info().is_camera;
    let mut pairs = Vec::new();
    let mut last = Instant::now();
    while pairs.len() < wanted && last.elapsed() < PAIR_TIMEOUT {
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
