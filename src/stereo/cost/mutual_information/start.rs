//! The guess with which mutual information starts, px for each left pixel; `None` where nothing is known.

use crate::image::Image;
use crate::stereo::map::{DisparityMap, INVALID, SUBPIXEL_STEPS, reason};
use crate::stereo::params::StereoParams;

/// A disparity of the range, drawn for each pixel by hashing its place.
pub fn random_disparity(x: u32, y: u32, params: &StereoParams) -> i32 {
    let mut h = x.wrapping_mul(0x9E37_79B1) ^ y.wrapping_mul(0x85EB_CA77);
    h = (h ^ (h >> 15)).wrapping_mul(0x2C1B_3C6D);
    h = (h ^ (h >> 12)).wrapping_mul(0x297A_2D39);
    h ^= h >> 15;
    params.min_disparity + (h % params.num_disparities) as i32
}

/// What a pixel's partner is taken to be: by the map of the level with half the size, times two; else by the last pair's
/// map, at the size of this level; else by chance. What was filled in was not measured, and does not count.
pub fn start(
    (width, height): (usize, usize),
    coarser: Option<&DisparityMap>,
    last: Option<&DisparityMap>,
    params: &StereoParams,
) -> Image<Option<i32>> {
    let measured = |map: &DisparityMap, x, y| {
        let value = map.values.at(x, y);
        (value != INVALID && map.reasons.at(x, y) & reason::FILLED == 0)
            .then(|| (i32::from(value) + SUBPIXEL_STEPS / 2) >> 4)
    };
    Image::from_fn(width, height, |x, y| match (coarser, last) {
        (Some(map), _) => measured(map, x / 2, y / 2).map(|d| 2 * d),
        (None, Some(map)) => measured(map, x, y),
        (None, None) => Some(random_disparity(x as u32, y as u32, params)),
    })
}
