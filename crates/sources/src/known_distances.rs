//! Depth of a source fitted to places at known distances, whose disparities are measured in its first pairs.

use std::sync::Arc;
use std::time::Instant;
use stereopsis_base::console::counted;
use stereopsis_calibration::{CalibrationError, DepthFitError, KnownDepth, matches, range_of};
use stereopsis_frame::engine::{Engine, EngineChoice, EngineError, EngineSettings, Job, run};
use stereopsis_frame::{Frame, RawPair, SourceInfo};
use stereopsis_settings::rig::{Calibrated, CalibrationChoice, FittedDepth, KnownPlace};
use stereopsis_stereo::{DisparityMap, StereoParams};

/// Reason why depth is not fitted.
pub(crate) enum FitError {
    Calibration(CalibrationError),
    Engine(EngineError),
}

impl<E: Into<CalibrationError>> From<E> for FitError {
    fn from(err: E) -> Self {
        Self::Calibration(err.into())
    }
}

/// Radius of the square of pixels whose middle disparity is that of a place, px.
const RADIUS_PX: usize = 2;

/// Fits the depth of `calibrated` to the known places of the choice, if it has some.
///
/// # Errors
/// A place is outside the image or has no disparity, or the distances do not determine the depth.
pub(crate) fn fitted(
    mut calibrated: Calibrated,
    choice: &CalibrationChoice,
    pairs: &[Arc<RawPair>],
    source: &SourceInfo,
) -> Result<Calibrated, FitError> {
    if choice.known.is_empty() {
        return Ok(calibrated);
    }
    let known = measured(&calibrated, &choice.known, pairs, source)?;
    let geometry = choice.fit_depth(&calibrated.preparation, source, &known)?;
    let words = known.first().and_then(|known| geometry.depth_words(known.disparity_px)).unwrap_or_default();
    let places = counted(known.len() as u64, "known distance");
    calibrated.add_note(&format!("depth is fitted to {places}: the first place is at {words}"));
    calibrated.preparation.geometry = Some(geometry);
    calibrated.fitted = Some(FittedDepth::of(&geometry));
    Ok(calibrated)
}

/// Measures the disparity of each place in the first pair that has one there.
fn measured(
    calibrated: &Calibrated,
    places: &[KnownPlace],
    pairs: &[Arc<RawPair>],
    source: &SourceInfo,
) -> Result<Vec<KnownDepth>, FitError> {
    let factor = calibrated.preparation.scale.factor();
    let mut found = vec![None; places.len()];
    let mut engine = None;
    for pair in pairs {
        let frame = Arc::new(calibrated.preparation.prepare(pair, source, Instant::now())?);
        let size @ (width, height) = frame.size();
        for &KnownPlace { pixel: (x, y), .. } in places {
            if x >= width || y >= height {
                return Err(DepthFitError::Outside { x, y, size }.into());
            }
        }
        let Some(map) = map_of(&mut engine, frame).map_err(FitError::Engine)? else { continue };
        for (found, place) in found.iter_mut().zip(places) {
            *found = found.or_else(|| map.median_around_px(place.pixel, RADIUS_PX));
        }
        if found.iter().all(Option::is_some) {
            break;
        }
    }
    let known = found.into_iter().zip(places).map(|(found, &KnownPlace { pixel: (x, y), distance_m })| {
        let disparity_px = f64::from(found.ok_or(DepthFitError::NoDisparity { x, y })?) / factor;
        Ok(KnownDepth { disparity_px, depth_m: distance_m })
    });
    known.collect()
}

/// Matches a frame on the CPU with the defaults, in the range of points visible in both images.
fn map_of(engine: &mut Option<Box<dyn Engine>>, frame: Arc<Frame>) -> Result<Option<Arc<DisparityMap>>, EngineError> {
    let in_rows = frame.in_rows();
    let infinity_px = frame.geometry.map_or(0.0, |geometry| -geometry.doffs_px);
    let range = range_of(&matches(&in_rows.left.luma, &in_rows.right.luma), infinity_px);
    let params = match range {
        Some((min_disparity, num_disparities)) => {
            StereoParams { min_disparity, num_disparities, ..StereoParams::default() }
        }
        None => StereoParams::default(),
    };
    let engine = if let Some(engine) = engine {
        engine
    } else {
        let settings = EngineSettings { choice: EngineChoice::Cpu, ..EngineSettings::default() };
        engine.insert(stereopsis_engine::open(&settings.into(), None)?.engine)
    };
    let job = Job { frame, params: Arc::new(params), read_back: true, wants_right: false };
    Ok(run(engine.as_mut(), job)?.map)
}
