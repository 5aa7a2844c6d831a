//! Spatial filter: smooths surfaces and keeps edges (RealSense's edge-preserving filter, after Gastal & Oliveira 2011).
//!
//! A running mean goes along each row in both directions, then along each column in both directions, `spatial` times. It restarts at
//! holes and at edges, where the next disparity differs by more than `spatial_delta`.

use super::description::{Filter, Function};
use crate::map::{DisparityMap, INVALID};
use crate::params::StereoParams;

pub(super) const SPATIAL: Filter =
    Filter { size: |params| params.spatial, function: Function::Map(smooth_along_surfaces) };

/// Returns `old + share (new - old)`, rounded half up; `share` in per cent.
pub fn blend(old: i16, new: i16, share_percent: u32) -> i16 {
    let share = share_percent as i32;
    (share * i32::from(new) + (100 - share) * i32::from(old) + 50).div_euclid(100) as i16
}

/// Smooths the disparities in place.
pub fn smooth_along_surfaces(map: &mut DisparityMap, params: &StereoParams) {
    let Some(iterations) = params.spatial else { return };
    let (width, height) = map.size();
    for _ in 0..iterations {
        for y in 0..height {
            run(map, (0..width).map(|x| (x, y)), params);
            run(map, (0..width).rev().map(|x| (x, y)), params);
        }
        for x in 0..width {
            run(map, (0..height).map(|y| (x, y)), params);
            run(map, (0..height).rev().map(|y| (x, y)), params);
        }
    }
}

fn run(map: &mut DisparityMap, line: impl Iterator<Item = (usize, usize)>, params: &StereoParams) {
    let mut mean = INVALID;
    for (x, y) in line {
        let value = map.values.at(x, y);
        let goes_on =
            value != INVALID && mean != INVALID && i32::from(value).abs_diff(i32::from(mean)) <= params.spatial_delta;
        mean = if goes_on { blend(mean, value, params.spatial_alpha) } else { value };
        map.values.set(x, y, mean);
    }
}
