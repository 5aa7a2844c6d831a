//! Gates from the map of a coarser level.

use super::{Gate, Gates};
use crate::map::{DisparityMap, INVALID, SUBPIXEL_STEPS};
use crate::params::words::GateBounds;
use std::ops::RangeInclusive;
use stereopsis_base::image::Image;

/// Returns the number of disparities that [`GateBounds::Percentiles`] leave out at either end: 16 of 100.
pub fn percentile_skip(count: usize) -> usize {
    count * 16 / 100
}

/// Computes the gates of images of `size`: pixel `(x, y)` takes the gate of pixel `(x / 2, y / 2)` of a map in whole pixels.
pub fn bounds_from(
    map: &DisparityMap,
    (width, height): (usize, usize),
    bounds: GateBounds,
    disparities: &RangeInclusive<i32>,
) -> Gates {
    let (coarse_width, coarse_height) = map.size();
    let coarse = Image::from_fn(coarse_width, coarse_height, |x, y| match disparities_around(map, x, y, bounds) {
        Some((low, high)) => bounds.gate(low, high, disparities),
        None => Gate::whole(disparities.clone().count()),
    });
    Image::from_fn(width, height, |x, y| coarse.at(x / 2, y / 2))
}

/// Returns the bounds of the valid disparities in the window around a pixel, px; the window is cut at the borders.
fn disparities_around(map: &DisparityMap, x: usize, y: usize, bounds: GateBounds) -> Option<(i32, i32)> {
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
    let skip = match bounds {
        GateBounds::Percentiles => percentile_skip(found.len()),
        GateBounds::Extremes => 0,
    };
    let last = found.len() - 1;
    let mut sorted_at = |n: usize| i32::from(*found.select_nth_unstable(n).1) / SUBPIXEL_STEPS;
    Some((sorted_at(skip), sorted_at(last - skip)))
}
