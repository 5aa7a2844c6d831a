//! From sums to disparities: the winner of each pixel, tested and refined, for the left and for the right picture.

mod right;
mod subpixel;
mod uniqueness;

pub use right::right_map;
pub use subpixel::refine;
pub use uniqueness::is_unique;

use super::map::{DisparityMap, INVALID, SUBPIXEL_STEPS, reason};
use super::params::StereoParams;
use super::volume::Volume;
use crate::image::Image;

/// Left map: the smallest sum wins, ties go to the smaller disparity; then uniqueness and sub-pixel.
pub fn winner_takes_all(sums: &Volume<u32>, params: &StereoParams) -> DisparityMap {
    let mut map = DisparityMap {
        values: Image::filled(sums.width, sums.height, INVALID),
        reasons: Image::filled(sums.width, sums.height, 0),
    };
    for y in 0..sums.height {
        for x in 0..sums.width {
            let sums = sums.at(x, y);
            let winner = smallest(sums.iter().copied());
            if !is_unique(sums, winner, params.uniqueness) {
                map.invalidate(x, y, reason::UNIQUENESS);
                continue;
            }
            let whole = SUBPIXEL_STEPS * params.disparity(winner);
            let fraction = if params.subpixel { refine(sums, winner) } else { 0 };
            map.values.set(x, y, (whole + fraction) as i16);
        }
    }
    map
}

/// Index of the first smallest value.
fn smallest(values: impl Iterator<Item = u32>) -> usize {
    let first_smallest = values.enumerate().min_by_key(|&(_, value)| value);
    first_smallest.map_or(0, |(index, _)| index)
}
