//! Distance between the points of two pixels.

use super::sight::{Sample, measured_px, point_mm};
use crate::geometry::Geometry;
use crate::quantity::Missing;
use crate::stereo::DisparityMap;
use glam::DVec3;

/// Step of a stored disparity, px.
const STEP_PX: f64 = 1.0 / 16.0;

/// Distance between two points.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Distance {
    /// Distance, mm.
    pub distance_mm: f64,
    /// Its error where both disparities are off by one step of 1/16 px, independently of each other, mm. Errors of the calibration and
    /// wrong matches come on top.
    pub error_mm: f64,
}

/// Distance in space between what two pixels `(x, y)` show.
///
/// # Errors
/// No calibration, a pixel outside the picture or without a measured disparity, or one at or behind infinity.
pub fn distance(
    map: &DisparityMap,
    geometry: Option<&Geometry>,
    pixels: [(usize, usize); 2],
) -> Result<Distance, Missing> {
    let geometry = geometry.ok_or(Missing::Calibration)?;
    let [a, b] = pixels.map(|pixel| end(map, geometry, pixel));
    let ((a, a_per_px), (b, b_per_px)) = (a?, b?);
    let distance_mm = a.distance(b);
    // P is proportional to 1 / (d + doffs), so dP/dd = -P / (d + doffs), of which the part along the line changes its length
    let moved = |per_px: DVec3| match (b - a).try_normalize() {
        Some(along) => per_px.dot(along).abs(),
        None => per_px.length(),
    };
    Ok(Distance { distance_mm, error_mm: STEP_PX * moved(a_per_px).hypot(moved(b_per_px)) })
}

/// The point of a pixel, mm, and its change for 1 px of disparity, mm.
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
        // 2 m away, focal length 500 px: 4 mm a pixel
        let flat = map_of(|_, _| Some(25.0));
        let across = distance(&flat, Some(&RIG), [(10, 20), (60, 20)]).unwrap();
        assert!((across.distance_mm - 200.0).abs() < 1e-6, "{across:?}");
        // from 2 m to 2.5 m through the principal point
        let stepped = map_of(|x, _| Some(if x < 40 { 25.0 } else { 20.0 }));
        let along = distance(&stepped, Some(&RIG), [(39, 30), (40, 30)]).unwrap();
        assert!((along.distance_mm - 500.0).abs() < 0.1, "{along:?}");
        // Z / d for a px of disparity: 80 and 125 mm, a sixteenth of both
        assert!((along.error_mm - 80.0f64.hypot(125.0) / 16.0).abs() < 0.01, "{along:?}");
        assert!(across.error_mm < along.error_mm, "depth moves across little: {across:?}");
        let none = distance(&flat, Some(&RIG), [(10, 20), (10, 20)]).unwrap();
        assert!(none.distance_mm.abs() < 1e-9 && none.error_mm > 1.0, "{none:?}");
    }

    #[test]
    fn what_is_missing_is_said() {
        let map = map_of(|x, _| (x != 7).then_some(25.0));
        let of = |geometry: Option<&Geometry>, pixels| distance(&map, geometry, pixels).unwrap_err();
        assert_eq!(of(None, [(1, 1), (2, 2)]), Missing::Calibration);
        assert_eq!(of(Some(&RIG), [(1, 1), (7, 2)]), Missing::Point { x: 7, y: 2 });
        assert_eq!(of(Some(&RIG), [(1, 1), (700, 2)]), Missing::Point { x: 700, y: 2 });
        let near_infinity = Geometry { doffs_px: -30.0, ..RIG };
        assert_eq!(of(Some(&near_infinity), [(1, 1), (2, 2)]), Missing::Infinity);
        let mut filled = map.clone();
        filled.reasons.set(1, 1, crate::stereo::reason::FILLED);
        let why = distance(&filled, Some(&RIG), [(1, 1), (2, 2)]).unwrap_err();
        assert_eq!(why, Missing::Point { x: 1, y: 1 }, "what was filled was not measured");
    }
}
