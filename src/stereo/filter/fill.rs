//! Fill: pixels without a disparity take the background's, because what one eye does not see lies behind.

use super::median::median;
use crate::image::Image;
use crate::stereo::map::{DisparityMap, INVALID, reason};
use crate::stereo::params::{Fill, StereoParams};

/// Fills the holes as the parameters ask for, and smooths once more where anything was filled in that way.
pub fn fill(mut map: DisparityMap, params: &StereoParams) -> DisparityMap {
    match params.fill {
        Fill::None => map,
        Fill::Background => {
            fill_background(&mut map);
            median(&map, params.median)
        }
    }
}

/// Per row the smaller of the nearest valid disparities left and right, or the only one; an empty row takes the
/// nearest row above that is not empty, else below. The reason stays, marked as filled.
pub fn fill_background(map: &mut DisparityMap) {
    let (width, height) = map.size();
    let before = map.values.clone();
    let valid = |&&v: &&i16| v != INVALID;
    let filled_row = |y: usize| -> Option<Vec<i16>> {
        let row = before.row(y);
        row.iter().find(valid)?;
        let value = |x: usize| {
            let nearest = [row[..=x].iter().rev().find(valid), row[x..].iter().find(valid)];
            nearest.into_iter().flatten().copied().min().unwrap_or(INVALID)
        };
        Some((0..width).map(value).collect())
    };
    let rows: Vec<_> = (0..height).map(filled_row).collect();
    let nearest_row = |y: usize| {
        let above = (0..=y).rev().find_map(|y| rows[y].as_ref());
        above.or_else(|| (y..height).find_map(|y| rows[y].as_ref()))
    };
    map.values = Image::from_fn(width, height, |x, y| nearest_row(y).map_or(INVALID, |row| row[x]));
    for (i, &value) in before.pixels().iter().enumerate() {
        if value == INVALID && map.values.pixels()[i] != INVALID {
            map.reasons.pixels_mut()[i] |= reason::FILLED;
        }
    }
}
