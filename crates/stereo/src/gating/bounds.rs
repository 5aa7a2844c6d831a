//! From the map of a coarser level to the gates of the next finer one.

use super::{Gate, GateBounds, Gates};
use crate::image::Image;
use crate::map::{DisparityMap, INVALID, SUBPIXEL_STEPS};
use std::ops::RangeInclusive;

/// How many of `count` disparities [`GateBounds::Percentiles`] leave out at either end: 16 of 100.
pub fn percentile_skip(count: usize) -> usize {
    count * 16 / 100
}

/// Gates of images of `size` in a search over `disparities`, from the coarser level's map: pixel `(x, y)` follows coarser pixel
/// `(x / 2, y / 2)`.
///
/// The map has whole pixels, as coarser levels are matched.
pub fn bounds_from(
    map: &DisparityMap,
    (width, height): (usize, usize),
    bounds: GateBounds,
    disparities: &RangeInclusive<i32>,
) -> Gates {
    let (coarse_width, coarse_height) = map.size();
    let coarse = Image::from_fn(coarse_width, coarse_height, |x, y| match found_around(map, x, y, bounds) {
        Some((low, high)) => bounds.gate(low, high, disparities),
        None => Gate::whole(disparities.clone().count()),
    });
    Image::from_fn(width, height, |x, y| coarse.at(x / 2, y / 2))
}

/// Lower and upper bound of the valid disparities in the window around a pixel, px; `None` where there are none. The window is
/// cut at the borders.
fn found_around(map: &DisparityMap, x: usize, y: usize, bounds: GateBounds) -> Option<(i32, i32)> {
    let (width, height) = map.size();
    let radius = bounds.radius();
    let columns = x.saturating_sub(radius)..(x + radius + 1).min(width);
    let mut found = Vec::<i16>::new();
    for y in y.saturating_sub(radius)..(y + radius + 1).min(height) {
        found.extend(map.values.row(y)[columns.clone()].iter().filter(|&&value| value != INVALID));
    }
    if found.is_empty() {
        return None;
    }
    // the n-th smallest has index n after sorting
    let skip = match bounds {
        GateBounds::Percentiles => percentile_skip(found.len()),
        GateBounds::Extremes => 0,
    };
    let last = found.len() - 1;
    let mut sorted_at = |n: usize| i32::from(*found.select_nth_unstable(n).1) / SUBPIXEL_STEPS;
    Some((sorted_at(skip), sorted_at(last - skip)))
}
