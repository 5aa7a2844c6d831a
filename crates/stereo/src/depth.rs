//! Disparity to metres: `z = f T / (d + doffs)`, the only floating-point numbers of the algorithm.

use super::map::{DisparityMap, INVALID, SUBPIXEL_STEPS};
use stereopsis_base::geometry::Geometry;
use stereopsis_base::image::Image;

/// Returns the depth of a stored disparity, m; NaN without a disparity, and where `d + doffs` is 0 or less.
pub fn depth_m(value: i16, geometry: &Geometry) -> f32 {
    if value == INVALID {
        return f32::NAN;
    }
    geometry.depth_m(f64::from(value) / f64::from(SUBPIXEL_STEPS)).map_or(f32::NAN, |z| z as f32)
}

/// Computes the depth of every pixel, m; NaN where there is none.
pub fn depth_map(map: &DisparityMap, geometry: &Geometry) -> Image<f32> {
    map.values.map(|&value| depth_m(value, geometry))
}

/// Returns the middle one of the disparities in front of infinity, px, whose depth is the middle one too; `None` if there are none.
pub fn median_px(map: &DisparityMap, geometry: &Geometry) -> Option<f64> {
    let in_front = |value: &i16| depth_m(*value, geometry).is_finite();
    let mut values: Vec<_> = map.values.pixels().iter().copied().filter(in_front).collect();
    let middle = values.len().checked_sub(1)? / 2;
    Some(f64::from(*values.select_nth_unstable(middle).1) / f64::from(SUBPIXEL_STEPS))
}

/// Returns millimetres for a 16-bit file, rounded half up; 0 without a depth and above 65.535 m.
pub fn millimetres(depth_m: f32) -> u16 {
    let mm = (f64::from(depth_m) * 1000.0 + 0.5).floor();
    if mm.is_finite() && (0.0..=65_535.0).contains(&mm) { mm as u16 } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_is_focal_times_baseline_over_disparity() {
        let geometry = Geometry::new(400.0, 0.1, 2.0, [0.0, 0.0]);
        assert!((depth_m(16 * 38, &geometry) - 1.0).abs() < 1e-6);
        assert!((depth_m(0, &geometry) - 20.0).abs() < 1e-6);
        for behind in [-32, -40, INVALID] {
            assert!(depth_m(behind, &geometry).is_nan());
        }
    }

    #[test]
    fn millimetres_round_half_up_and_are_zero_out_of_range() {
        assert_eq!([1.0, 0.0005, 0.0004, 65.535].map(millimetres), [1000, 1, 0, 65_535]);
        assert_eq!([65.54, f32::NAN, f32::INFINITY, -1.0].map(millimetres), [0; 4]);
    }
}
