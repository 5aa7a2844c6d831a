//! Disparity to metres: `z = f T / (d + doffs)`, the only floats of the algorithm.

use super::map::{DisparityMap, INVALID, SUBPIXEL_STEPS};
use crate::frame::Geometry;
use crate::image::Image;

/// Depth of a stored disparity in metres; NaN without a disparity, and at or behind infinity.
pub fn depth_m(value: i16, geometry: &Geometry) -> f32 {
    if value == INVALID {
        return f32::NAN;
    }
    geometry.depth_m(f64::from(value) / f64::from(SUBPIXEL_STEPS)).map_or(f32::NAN, |z| z as f32)
}

/// Depth of every pixel in metres, NaN where there is none.
pub fn depth_map(map: &DisparityMap, geometry: &Geometry) -> Image<f32> {
    map.values.map(|&value| depth_m(value, geometry))
}

/// Millimetres for a 16-bit file: rounded half up, 0 for no depth and for more than 65.535 m.
pub fn millimetres(depth_m: f32) -> u16 {
    let mm = (f64::from(depth_m) * 1000.0 + 0.5).floor();
    if mm.is_finite() && (0.0..=65_535.0).contains(&mm) { mm as u16 } else { 0 }
}
