//! Initial disparities of mutual information, px for each left pixel; `None` where there is no disparity.

use crate::map::{DisparityMap, INVALID, reason, rounded_px};
use std::ops::RangeInclusive;
use stereopsis_base::image::Image;

/// Returns a pseudo-random one of `disparities`, a hash of the coordinates.
pub fn random_disparity(x: u32, y: u32, disparities: &RangeInclusive<i32>) -> i32 {
    let mut h = x.wrapping_mul(0x9E37_79B1) ^ y.wrapping_mul(0x85EB_CA77);
    h = (h ^ (h >> 15)).wrapping_mul(0x2C1B_3C6D);
    h = (h ^ (h >> 12)).wrapping_mul(0x297A_2D39);
    h ^= h >> 15;
    let (first, last) = (*disparities.start(), *disparities.end());
    first + (h % (last - first + 1) as u32) as i32
}

/// Returns the initial disparities: twice those at half the size, else those of the last pair, else random ones. Filled pixels have none.
pub fn start(
    (width, height): (usize, usize),
    coarser: Option<&DisparityMap>,
    last: Option<&DisparityMap>,
    disparities: &RangeInclusive<i32>,
) -> Image<Option<i32>> {
    let measured = |map: &DisparityMap, x, y| {
        let value = map.values.at(x, y);
        (value != INVALID && map.reasons.at(x, y) & reason::FILLED == 0).then(|| rounded_px(i32::from(value)))
    };
    Image::from_fn(width, height, |x, y| match (coarser, last) {
        (Some(map), _) => measured(map, x / 2, y / 2).map(|d| 2 * d),
        (None, Some(map)) => measured(map, x, y),
        (None, None) => Some(random_disparity(x as u32, y as u32, disparities)),
    })
}
