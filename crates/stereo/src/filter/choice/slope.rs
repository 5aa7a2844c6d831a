//! Slopes of the disparity around a pixel, along columns and rows.

use crate::map::{DisparityMap, INVALID, ON_PLANE, reason};
use stereopsis_base::image::Image;

/// Distance from a pixel to each of the two pixels whose disparities give the change, px.
pub const SPAN: i32 = 4;
/// Radius and stride of the window of changes that a slope is the mean of: every third pixel within 6 px.
pub const CHANGES: (i32, i32) = (6, 3);
/// Smallest number of changes along columns, or along rows.
pub const MIN_CHANGES: i32 = 4;
/// Largest change, 1/16 px.
pub const MAX_CHANGE: i32 = 64;
/// Twice the largest distance of the pixel's disparity from the middle of the two others, 1/16 px; beyond it lies an edge.
pub const MAX_BEND: i32 = 12;
/// Fraction bits of a slope, below 1/16 px.
pub const SLOPE_BITS: u32 = 6;

/// Slope of a disparity, 1/1024 px per px.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Slope {
    /// Change from column to column.
    pub across: i16,
    /// Change from row to row.
    pub down: i16,
}

impl Slope {
    /// Computes the slope from the sums of changes along columns and rows, and their numbers.
    #[inline(always)]
    pub fn of(sums: [i32; 2], counts: [i32; 2]) -> Self {
        let [across, down] = [0, 1].map(|axis| {
            let is_known = counts[axis] >= MIN_CHANGES;
            if is_known { ((sums[axis] << SLOPE_BITS) / (2 * SPAN * counts[axis])) as i16 } else { 0 }
        });
        Self { across, down }
    }

    /// Returns the change of a disparity over `columns` and `rows`, 1/16 px.
    #[inline(always)]
    pub fn ahead(self, columns: i32, rows: i32) -> i32 {
        Self::rounded(self.growth(columns, rows))
    }

    /// Returns the change of a disparity over `columns` and `rows`, before it is [rounded](Self::rounded).
    #[inline(always)]
    pub fn growth(self, columns: i32, rows: i32) -> i32 {
        i32::from(self.across) * columns + i32::from(self.down) * rows
    }

    /// Rounds a change to 1/16 px.
    #[inline(always)]
    pub fn rounded(growth: i32) -> i32 {
        (growth + (1 << (SLOPE_BITS - 1))) >> SLOPE_BITS
    }
}

/// Returns the change of disparity between two pixels, with a third one in their middle; `None` at an edge or a hole.
#[inline(always)]
fn change(before: i16, here: i16, behind: i16) -> Option<i32> {
    if before == INVALID || here == INVALID || behind == INVALID {
        return None;
    }
    let [before, here, behind] = [before, here, behind].map(i32::from);
    let is_even = (before + behind - 2 * here).abs() <= MAX_BEND && (behind - before).abs() <= MAX_CHANGE;
    is_even.then_some(behind - before)
}

pub(super) fn slanted(map: &DisparityMap) -> Image<i16> {
    let (width, height) = map.size();
    Image::from_fn(width, height, |x, y| {
        let reasons = map.reasons.at(x, y);
        let is_slanted = reasons & reason::FILLED == 0 || is_on_plane(reasons);
        if is_slanted { map.values.at(x, y) } else { INVALID }
    })
}

pub(super) fn slope_at(slanted: &Image<i16>, (x, y): (usize, usize)) -> Slope {
    let (width, height) = slanted.size();
    let at = |x: i32, y: i32| {
        let is_inside = x >= 0 && y >= 0 && x < width as i32 && y < height as i32;
        if is_inside { slanted.at(x as usize, y as usize) } else { INVALID }
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

#[inline(always)]
pub(super) fn is_on_plane(reasons: u8) -> bool {
    reasons & ON_PLANE == ON_PLANE
}
