//! Fill: pixels without a disparity take the background's, because what one eye does not see lies behind.

use super::median::median;
use crate::choices;
use crate::image::Image;
use crate::stereo::map::{DisparityMap, INVALID, reason};
use crate::stereo::params::StereoParams;

choices! {
    /// Fill of pixels without a disparity.
    pub enum Fill {
        /// They stay invalid.
        None = "none",
        /// The farther one of the nearest valid neighbours in the row.
        Background = "background",
        /// The farther side of the row, each side being the median of its three nearest valid pixels.
        Interpolate = "interpolate",
    }
}

impl Fill {
    /// Number of the nearest disparities on each side of a hole whose median counts.
    pub const fn asked(self) -> usize {
        match self {
            Self::None => 0,
            Self::Background => 1,
            Self::Interpolate => 3,
        }
    }
}

/// Fills the holes as the parameters ask for, and smooths once more where anything was filled in that way.
pub fn fill(mut map: DisparityMap, params: &StereoParams) -> DisparityMap {
    match params.fill {
        Fill::None => map,
        Fill::Background => {
            fill_background(&mut map);
            median(&map, params.median)
        }
        Fill::Interpolate => {
            fill_from_several(&mut map);
            median(&map, params.median)
        }
    }
}

/// Per row the smaller of the nearest valid disparities left and right, or the only one; an empty row takes the
/// nearest row above that is not empty, else below. The reason stays, marked as filled.
pub fn fill_background(map: &mut DisparityMap) {
    fill_rows(map, 1);
}

/// As [`fill_background`], but each side says the median of its three nearest valid disparities (of two the larger one): a
/// single wrong one at the edge of a hole, where windows see both surfaces, does not spread over it.
pub fn fill_from_several(map: &mut DisparityMap) {
    fill_rows(map, 3);
}

/// Fills from the median of at most `asked` disparities on each side.
fn fill_rows(map: &mut DisparityMap, asked: usize) {
    let (width, height) = map.size();
    let before = map.values.clone();
    let filled_row = |y: usize| -> Option<Vec<i16>> {
        let row = before.row(y);
        row.iter().find(|&&v| v != INVALID)?;
        let value = |x: usize| {
            if row[x] != INVALID {
                return row[x];
            }
            let sides = [nearest_median(row[..x].iter().rev(), asked), nearest_median(row[x..].iter(), asked)];
            sides.into_iter().flatten().min().unwrap_or(INVALID)
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

/// Median of the first `asked` valid disparities of a side.
fn nearest_median<'a>(side: impl Iterator<Item = &'a i16>, asked: usize) -> Option<i16> {
    let mut nearest: Vec<i16> = side.copied().filter(|&v| v != INVALID).take(asked).collect();
    nearest.sort_unstable();
    nearest.get(nearest.len() / 2).copied()
}
