//! Fill: pixels without a disparity get that of the background, because occluded surfaces lie behind.

use super::planes::Fillable;
use super::{band, black_border, planes};
use crate::map::{DisparityMap, INVALID, reason};
use crate::params::words::Fill;
use stereopsis_base::image::{Image, PictureRef};

impl Fill {
    /// Returns the number of nearest disparities on each side of a hole that enter the median.
    pub const fn values_per_side(self) -> usize {
        match self {
            Self::None => 0,
            Self::Background => 1,
            Self::Interpolate | Self::Planes => 3,
        }
    }
}

/// Fills the holes of the map of one image.
pub fn fill(map: &mut DisparityMap, picture: PictureRef<'_>, kind: Fill, fillable: &Fillable) {
    if kind == Fill::Planes {
        planes::fill_planes(map, &picture.luma.to_u8(), fillable);
        band::fill_bands(map, fillable);
    }
    if kind != Fill::None {
        fill_rows(map, kind.values_per_side());
        black_border::empty(map);
    }
}

/// Fills each hole of a row with the smaller of two medians: of the `per_side` nearest valid disparities on the left, and on the right.
///
/// Of two values the larger one is the median; a missing side is left out. An empty row takes the nearest row above that is not empty,
/// else below. The reason stays, marked as filled. Windows see both surfaces at the edge of a hole, so a wrong disparity there is
/// common: one value per side spreads it over the hole, three do not.
pub fn fill_rows(map: &mut DisparityMap, per_side: usize) {
    let (width, height) = map.size();
    let before = map.values.clone();
    let filled_row = |y: usize| -> Option<Vec<i16>> {
        let row = before.row(y);
        row.iter().find(|&&v| v != INVALID)?;
        let value = |x: usize| {
            if row[x] != INVALID {
                return row[x];
            }
            let sides = [nearest_median(row[..x].iter().rev(), per_side), nearest_median(row[x..].iter(), per_side)];
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

fn nearest_median<'a>(side: impl Iterator<Item = &'a i16>, count: usize) -> Option<i16> {
    let mut nearest: Vec<i16> = side.copied().filter(|&v| v != INVALID).take(count).collect();
    nearest.sort_unstable();
    nearest.get(nearest.len() / 2).copied()
}
