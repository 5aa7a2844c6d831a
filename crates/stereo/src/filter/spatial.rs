//! Spatial filter: smooths surfaces and keeps edges (RealSense's edge-preserving filter, after Gastal & Oliveira 2011).
//!
//! A running mean goes along each row in both directions, then along each column in both directions, `spatial` times. It restarts at
//! holes and at edges, where the next disparity differs by more than `spatial_delta`.

use crate::map::{DisparityMap, INVALID};

/// Running mean of disparities that restarts at steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunningMean {
    /// Weight of the next disparity, per cent.
    pub alpha_percent: u32,
    /// Largest difference of the next disparity to the mean, 1/16 px; a larger one is a step.
    pub delta_16th: u32,
}

impl RunningMean {
    /// Returns the mean with the next disparity, rounded half up; `None` at a step, and where either is [`INVALID`].
    pub fn next(self, mean: i16, value: i16) -> Option<i16> {
        let (old, new) = (i32::from(mean), i32::from(value));
        let goes_on = value != INVALID && mean != INVALID && new.abs_diff(old) <= self.delta_16th;
        goes_on.then(|| {
            let share = self.alpha_percent as i32;
            (share * new + (100 - share) * old + 50).div_euclid(100) as i16
        })
    }
}

/// Smooths the disparities in place, `iterations` times.
pub fn smooth_along_surfaces(map: &mut DisparityMap, iterations: u32, mean: RunningMean) {
    let (width, height) = map.size();
    for _ in 0..iterations {
        for y in 0..height {
            run(map, (0..width).map(|x| (x, y)), mean);
            run(map, (0..width).rev().map(|x| (x, y)), mean);
        }
        for x in 0..width {
            run(map, (0..height).map(|y| (x, y)), mean);
            run(map, (0..height).rev().map(|y| (x, y)), mean);
        }
    }
}

fn run(map: &mut DisparityMap, line: impl Iterator<Item = (usize, usize)>, running: RunningMean) {
    let mut mean = INVALID;
    for (x, y) in line {
        let value = map.values.at(x, y);
        mean = running.next(mean, value).unwrap_or(value);
        map.values.set(x, y, mean);
    }
}
