//! Slopes: how disparities go on around a pixel.

use super::{Chooser, is_on_plane};
use crate::image::Image;
use crate::map::{DisparityMap, INVALID, reason};

/// A change of disparity is that between the pixels so far on both sides of one, px.
pub const SPAN: i32 = 4;
/// Changes that a slope is the mean of: those of every third pixel within 6 px.
pub const CHANGES: (i32, i32) = (6, 3);
/// Fewest of them, of columns or of rows.
pub const MIN_CHANGES: i32 = 4;
/// Largest change, 1/16 px.
pub const MAX_CHANGE: i32 = 64;
/// Twice the largest distance of the pixel from the middle of the two, 1/16 px: at an edge it is as near as one of them.
pub const MAX_BEND: i32 = 12;
/// Bits by which slopes are finer than 1/16 px.
pub const SLOPE_BITS: u32 = 6;

/// Slope of a disparity along columns and rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Slope {
    /// From column to column.
    pub across: i16,
    /// From row to row.
    pub down: i16,
}

impl Slope {
    /// From sums of changes along columns and rows, and their numbers.
    #[inline(always)]
    pub fn of(sums: [i32; 2], counts: [i32; 2]) -> Self {
        let [across, down] = [0, 1].map(|axis| {
            let is_known = counts[axis] >= MIN_CHANGES;
            if is_known { ((sums[axis] << SLOPE_BITS) / (2 * SPAN * counts[axis])) as i16 } else { 0 }
        });
        Self { across, down }
    }

    /// Change of a disparity over so many columns and rows, 1/16 px.
    #[inline(always)]
    pub fn ahead(self, columns: i32, rows: i32) -> i32 {
        Self::rounded(self.growth(columns, rows))
    }

    /// Change of a disparity over so many columns and rows, before it is [rounded](Self::rounded).
    #[inline(always)]
    pub fn growth(self, columns: i32, rows: i32) -> i32 {
        i32::from(self.across) * columns + i32::from(self.down) * rows
    }

    /// Growth in 1/16 px.
    #[inline(always)]
    pub fn rounded(growth: i32) -> i32 {
        (growth + (1 << (SLOPE_BITS - 1))) >> SLOPE_BITS
    }
}

/// The change of disparity between two pixels with another one in their middle, if no edge lies there.
#[inline(always)]
fn change(before: i16, here: i16, behind: i16) -> Option<i32> {
    if before == INVALID || here == INVALID || behind == INVALID {
        return None;
    }
    let [before, here, behind] = [before, here, behind].map(i32::from);
    let is_even = (before + behind - 2 * here).abs() <= MAX_BEND && (behind - before).abs() <= MAX_CHANGE;
    is_even.then_some(behind - before)
}

/// Disparities that slopes are taken from: those of planes too, but none that was filled along its row.
pub(super) fn slanted(map: &DisparityMap) -> Image<i16> {
    let (width, height) = map.size();
    Image::from_fn(width, height, |x, y| {
        let reasons = map.reasons.at(x, y);
        let is_slanted = reasons & reason::FILLED == 0 || is_on_plane(reasons);
        if is_slanted { map.values.at(x, y) } else { INVALID }
    })
}

impl Chooser<'_> {
    /// The slope around pixel `(x, y)`.
    pub(super) fn slope_at(&self, (x, y): (usize, usize)) -> Slope {
        let (width, height) = self.slanted.size();
        let at = |x: i32, y: i32| {
            let is_inside = x >= 0 && y >= 0 && x < width as i32 && y < height as i32;
            if is_inside { self.slanted.at(x as usize, y as usize) } else { INVALID }
        };
        let (mut sums, mut counts) = ([0; 2], [0; 2]);
        let (radius, stride) = CHANGES;
        for dy in (-radius..=radius).step_by(stride as usize) {
            for dx in (-radius..=radius).step_by(stride as usize) {
                let (x, y) = (x as i32 + dx, y as i32 + dy);
                for (axis, (dx, dy)) in [(SPAN, 0), (0, SPAN)].into_iter().enumerate() {
                    if let Some(change) = change(at(x - dx, y - dy), at(x, y), at(x + dx, y + dy)) {
                        sums[axis] += change;
                        counts[axis] += 1;
                    }
                }
            }
        }
        Slope::of(sums, counts)
    }
}
