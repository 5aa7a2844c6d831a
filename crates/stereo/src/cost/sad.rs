//! Sum of absolute differences over a window, Leu et al. 2010, relation (3).
//!
//! Each pixel of the window has its own partner, clamped into the right image; the window is clamped into the left image. Before
//! paths the sum is replaced by the rounded mean, which fits in a byte.

use super::clamped::partner;
use super::comparison::{Comparison, Cost, ExposureTolerance};
use crate::params::words::Penalties;
use crate::volume::Volume;
use std::ops::RangeInclusive;
use stereopsis_base::image::Image;

/// Cost: sum of absolute differences of brightness.
pub const SAD: Cost = Cost {
    comparison: Comparison::WindowedDifference,
    penalties: Penalties { p1: 8, p2: 30, p2_min: 13, p2_alpha: 20 },
    parameters: &["sad-window"],
    exposure: ExposureTolerance::Equal,
};

/// Computes the exact sum over `window` x `window` px around left `(x, y)` at disparity `d` px.
pub fn sum_at((left, right): (&Image<u8>, &Image<u8>), (x, y): (usize, usize), d: i32, window: u32) -> u32 {
    let (width, height) = left.size();
    let r = (window / 2) as isize;
    let mut sum = 0;
    for dy in -r..=r {
        for dx in -r..=r {
            let xl = (x as isize + dx).clamp(0, width as isize - 1) as usize;
            let yl = (y as isize + dy).clamp(0, height as isize - 1) as usize;
            sum += u32::from(left.at(xl, yl).abs_diff(right.at(partner(xl, d, width), yl)));
        }
    }
    sum
}

/// Computes the exact sums over `window` x `window` px for all pixels and `disparities`, px.
pub fn sum_volume(left: &Image<u8>, right: &Image<u8>, window: u32, disparities: &RangeInclusive<i32>) -> Volume<u32> {
    let (width, height) = left.size();
    Volume::from_fn(width, height, disparities.clone().count(), |x, y, i| {
        sum_at((left, right), (x, y), disparities.start() + i as i32, window)
    })
}

/// Returns the rounded mean of a sum over the window, 0 to 255.
pub fn mean(sum: u32, window: u32) -> u8 {
    let pixels = window * window;
    ((sum + pixels / 2) / pixels) as u8
}
