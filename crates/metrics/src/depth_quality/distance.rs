//! Distance between the points of two pixels.

use super::plane::{DisparityPlaneFit, flat_inliers};
use super::rms;
use super::sight::{Sample, measured_px, point_mm, samples};
use crate::quantity::{Measured, Missing};
use crate::region::Region;
use glam::DVec3;
use stereopsis_base::geometry::{Geometry, Uncertainty};
use stereopsis_stereo::DisparityMap;

/// Step of a stored disparity, px.
pub const STEP_PX: f64 = 1.0 / 16.0;
/// Number of standard deviations that bound 95 of 100 errors.
const BOUND_SIGMAS: f64 = 2.0;
/// Radius of the window around a point in which the scatter of matching is measured, px.
const SCATTER_RADIUS: usize = 8;
/// Smallest number of pixels on one plane with a point for a measurement of their scatter.
const MIN_SCATTER_PIXELS: usize = 30;

/// Distance between two points, and the parts of its error; 95 of 100 errors are smaller than each of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Distance {
    /// Distance, mm.
    pub distance_mm: f64,
    /// Change of the distance by one step of 1/16 px in both disparities, independently, mm.
    pub error_mm: f64,
    /// Error by the quantisation of disparities: half a step at both points, mm.
    pub quantisation_mm: f64,
    /// Error by the scatter of matching around both points, mm.
    pub matching_mm: Measured,
    /// Error of the calibration's focal length and baseline, mm.
    pub calibration_mm: Measured,
    /// Total error: all known parts, added as independent errors, mm.
    pub total_mm: f64,
}

/// Measures the distance in space between the points of two pixels `(x, y)`; `step_px` is the step of the disparities.
///
/// # Errors
/// No calibration, a pixel outside the image or without a measured disparity, or one at or behind infinity.
pub fn distance(
    map: &DisparityMap,
    geometry: Option<&Geometry>,
    pixels: [(usize, usize); 2],
    step_px: f64,
) -> Result<Distance, Missing> {
    let geometry = geometry.ok_or(Missing::Calibration)?;
    let [a, b] = pixels.map(|pixel| end(map, geometry, pixel));
    let ((a, a_per_px), (b, b_per_px)) = (a?, b?);
    let along = (b - a).try_normalize();
    // P is proportional to 1 / (d + doffs), so dP/dd = -P / (d + doffs), of which the part along the line changes its length
    let moved = |per_px: DVec3| along.map_or(per_px.length(), |along| per_px.dot(along).abs());
    let moved_mm = [moved(a_per_px), moved(b_per_px)];
    let of_px = |[a_px, b_px]: [f64; 2]| (a_px * moved_mm[0]).hypot(b_px * moved_mm[1]);
    let quantisation_mm = of_px([step_px / 2.0; 2]);
    let [at_a, at_b] = pixels.map(|pixel| scatter_px(map, pixel));
    let matching_mm = at_a.and_then(|at_a| Ok(BOUND_SIGMAS * of_px([at_a, at_b?])));
    let calibration_mm = match geometry.uncertainty {
        _ if geometry.estimated => of_estimate(map, geometry, pixels, a.distance(b)),
        None => Err(Missing::Uncertainty),
        // a longer baseline scales all lengths, a longer focal length only depth
        Some(Uncertainty { focal_percent, baseline_percent }) => {
            let deeper_mm = along.map_or(0.0, |along| (b.z - a.z) * along.z);
            Ok((baseline_percent * a.distance(b)).hypot(focal_percent * deeper_mm) / 100.0)
        }
    };
    let known = [Ok(quantisation_mm), matching_mm, calibration_mm].into_iter().filter_map(Result::ok);
    Ok(Distance {
        distance_mm: a.distance(b),
        error_mm: of_px([STEP_PX; 2]),
        quantisation_mm,
        matching_mm,
        calibration_mm,
        total_mm: known.fold(0.0, f64::hypot),
    })
}

/// Returns the error of the distance in an estimated rig: the larger change when both depths are at the same end of their intervals, mm.
fn of_estimate(map: &DisparityMap, geometry: &Geometry, pixels: [(usize, usize); 2], distance_mm: f64) -> Measured {
    let ends = |(x, y): (usize, usize)| {
        let disparity_px = measured_px(map, x, y)?;
        let between_m = geometry.depth_interval_m(disparity_px)?;
        Some(between_m.map(|depth_m| DVec3::from(geometry.point_m(x as f64, y as f64, depth_m)) * 1e3))
    };
    let [a, b] = pixels.map(ends);
    let (a, b) = a.zip(b).ok_or(Missing::Estimate)?;
    let changes = [0, 1].map(|end| (a[end].distance(b[end]) - distance_mm).abs());
    let largest_mm = changes[0].max(changes[1]);
    if largest_mm.is_finite() && !changes[1].is_nan() { Ok(largest_mm) } else { Err(Missing::Estimate) }
}

/// Returns the standard deviation of the disparities around a pixel from the plane through it and most of them, px.
fn scatter_px(map: &DisparityMap, (x, y): (usize, usize)) -> Measured {
    let (left, top) = (x.saturating_sub(SCATTER_RADIUS), y.saturating_sub(SCATTER_RADIUS));
    let region = Region { x: left, y: top, width: x + SCATTER_RADIUS + 1 - left, height: y + SCATTER_RADIUS + 1 - top };
    let samples = samples(map, region.clipped(map.size()));
    let DisparityPlaneFit { plane, inliers } = flat_inliers(&samples).map_err(|_| Missing::Scatter)?;
    let at = |sample: &Sample| (sample.x, sample.y) == (x as f64, y as f64);
    if inliers.len() < MIN_SCATTER_PIXELS || !inliers.iter().any(|&i| at(&samples[i])) {
        return Err(Missing::Scatter);
    }
    Ok(rms(inliers.iter().map(|&i| plane.residual_px(&samples[i]))))
}

fn end(map: &DisparityMap, geometry: &Geometry, (x, y): (usize, usize)) -> Result<(DVec3, DVec3), Missing> {
    let inside = x < map.values.width() && y < map.values.height();
    let disparity_px = inside.then(|| measured_px(map, x, y)).flatten().ok_or(Missing::Point { x, y })?;
    let from_infinity_px = disparity_px + geometry.doffs_px;
    if from_infinity_px <= 0.0 {
        return Err(Missing::Infinity);
    }
    let point = point_mm(&Sample { x: x as f64, y: y as f64, disparity_px }, geometry);
    Ok((point, point / from_infinity_px))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::depth_quality::tests::{RIG, map_of};

    #[test]
    fn a_ruler_across_and_one_along_the_axis() {
        // 2 m away, focal length 500 px: 4 mm per pixel
        let flat = map_of(|_, _| Some(25.0));
        let across = distance(&flat, Some(&RIG), [(10, 20), (60, 20)], STEP_PX).unwrap();
        assert!((across.distance_mm - 200.0).abs() < 1e-6, "{across:?}");
        // from 2 m to 2.5 m through the principal point
        let stepped = map_of(|x, _| Some(if x < 40 { 25.0 } else { 20.0 }));
        let along = distance(&stepped, Some(&RIG), [(39, 30), (40, 30)], STEP_PX).unwrap();
        assert!((along.distance_mm - 500.0).abs() < 0.1, "{along:?}");
        // Z / d for a px of disparity: 80 and 125 mm, a sixteenth of both
        assert!((along.error_mm - 80.0f64.hypot(125.0) / 16.0).abs() < 0.01, "{along:?}");
        assert!(across.error_mm < along.error_mm, "depth moves across little: {across:?}");
        let none = distance(&flat, Some(&RIG), [(10, 20), (10, 20)], STEP_PX).unwrap();
        assert!(none.distance_mm.abs() < 1e-9 && none.error_mm > 1.0, "{none:?}");
    }

    #[test]
    fn the_error_is_the_sum_of_its_parts_and_an_unknown_part_is_named() {
        // 2 and 4 m away, the nearer half rough: off by up to a quarter of a pixel to either side
        let off_px = |x: usize, y: usize| (((7 * x + 3 * y) % 5) as f64 - 2.0) / 8.0;
        let rough = map_of(|x, y| Some(if x >= 40 { 12.5 } else { 25.0 + off_px(x, y) }));
        let exact = Geometry { uncertainty: Some(Uncertainty { focal_percent: 1.0, baseline_percent: 0.5 }), ..RIG };
        let of =
            |geometry: &Geometry, step_px| distance(&rough, Some(geometry), [(30, 30), (60, 30)], step_px).unwrap();
        let found = of(&exact, STEP_PX);
        // Z^2 / (f T) is 80 mm for 1 px at 2 m and 320 at 4 m; laterally the points are close to each other
        let per_px = [80.0, 320.0];
        let near = |found: f64, wanted: f64| assert!((found - wanted).abs() < 0.03 * wanted, "{found} is not {wanted}");
        near(found.quantisation_mm, (per_px[0] / 32.0_f64).hypot(per_px[1] / 32.0));
        near(found.matching_mm.unwrap(), 2.0 * 2.0_f64.sqrt() / 8.0 * per_px[0]);
        near(found.calibration_mm.unwrap(), (0.005 * found.distance_mm).hypot(0.01 * 2000.0));
        let parts = [found.quantisation_mm, found.matching_mm.unwrap(), found.calibration_mm.unwrap()];
        near(found.total_mm, parts.iter().map(|part| part * part).sum::<f64>().sqrt());
        near(of(&exact, 1.0).quantisation_mm, 16.0 * found.quantisation_mm);
        assert_eq!(of(&RIG, STEP_PX).calibration_mm, Err(Missing::Uncertainty));
        near(of(&RIG, STEP_PX).total_mm, parts[0].hypot(parts[1]));
        assert_eq!(of(&Geometry { estimated: true, ..exact }, STEP_PX).calibration_mm, Err(Missing::Estimate));
        // a longer baseline also scales lateral lengths, a longer focal length does not
        let flat = map_of(|_, _| Some(25.0));
        let across = distance(&flat, Some(&exact), [(10, 20), (60, 20)], STEP_PX).unwrap();
        near(across.calibration_mm.unwrap(), 0.005 * 200.0);
        assert!(across.matching_mm.unwrap().abs() < 1e-9, "nothing scatters");
        // around a pixel that differs from its surroundings the scatter is unknown
        let spike = map_of(|x, y| Some(if (x, y) == (30, 30) { 28.0 } else { 25.0 }));
        let spike = distance(&spike, Some(&exact), [(30, 30), (60, 30)], STEP_PX).unwrap();
        assert_eq!(spike.matching_mm, Err(Missing::Scatter));
    }

    #[test]
    fn names_the_missing_data() {
        let map = map_of(|x, _| (x != 7).then_some(25.0));
        let of = |geometry: Option<&Geometry>, pixels| distance(&map, geometry, pixels, STEP_PX).unwrap_err();
        assert_eq!(of(None, [(1, 1), (2, 2)]), Missing::Calibration);
        assert_eq!(of(Some(&RIG), [(1, 1), (7, 2)]), Missing::Point { x: 7, y: 2 });
        assert_eq!(of(Some(&RIG), [(1, 1), (700, 2)]), Missing::Point { x: 700, y: 2 });
        let near_infinity = Geometry { doffs_px: -30.0, ..RIG };
        assert_eq!(of(Some(&near_infinity), [(1, 1), (2, 2)]), Missing::Infinity);
        let mut filled = map.clone();
        filled.reasons.set(1, 1, stereopsis_stereo::reason::FILLED);
        let why = distance(&filled, Some(&RIG), [(1, 1), (2, 2)], STEP_PX).unwrap_err();
        assert_eq!(why, Missing::Point { x: 1, y: 1 }, "what was filled was not measured");
    }
}
