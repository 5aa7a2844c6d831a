//! Sum of absolute differences over a window, Leu et al. 2010, relation (3).
//!
//! Each pixel of the window has its own partner, clamped into the right picture; the window is clamped to the left
//! picture. Before paths the rounded mean stands for the sum, so that it fits in a byte.

use super::{Comparison, Cost, ExposureTolerance, Penalties, partner};
use crate::image::Image;
use crate::stereo::Volume;
use crate::stereo::params::StereoParams;

/// Sum of absolute differences of brightness.
pub const SAD: Cost = Cost {
    comparison: Comparison::WindowedDifference,
    penalties: Penalties { p1: 8, p2: 30, p2_min: 13, p2_alpha: 20 },
    parameters: &["sad-window"],
    exposure: ExposureTolerance::Equal,
};

/// Exact sums over `sad_window` x `sad_window` pixels.
pub fn sum_volume(left: &Image<u8>, right: &Image<u8>, params: &StereoParams) -> Volume<u32> {
    let (width, height) = left.size();
    let r = (params.sad_window / 2) as isize;
    Volume::from_fn(width, height, params.num_disparities as usize, |x, y, i| {
        let d = params.disparity(i);
        let mut sum = 0;
        for dy in -r..=r {
            for dx in -r..=r {
                let xl = (x as isize + dx).clamp(0, width as isize - 1) as usize;
                let yl = (y as isize + dy).clamp(0, height as isize - 1) as usize;
                sum += u32::from(left.at(xl, yl).abs_diff(right.at(partner(xl, d, width), yl)));
            }
        }
        sum
    })
}

/// Rounded means over the window, 0 to 255.
pub fn mean_volume(left: &Image<u8>, right: &Image<u8>, params: &StereoParams) -> Volume<u8> {
    let pixels = params.sad_window * params.sad_window;
    sum_volume(left, right, params).map(|&sum| ((sum + pixels / 2) / pixels) as u8)
}
