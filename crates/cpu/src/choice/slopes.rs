//! Slopes of all pixels for the learned choice, from sums of changes. A number has the count of changes in its upper 16 bits and
//! their sum in the lower ones.

use crate::simd::{SimdLevel, on_level};
use rayon::prelude::*;
use stereopsis_base::image::Image;
use stereopsis_stereo::filter::choice::{CHANGES, MAX_BEND, MAX_CHANGE, SPAN, Slope};
use stereopsis_stereo::map::INVALID;

/// Number of one change with sum 0.
const ONE: i32 = 1 << 16;
/// Radius within which changes count, px.
const RADIUS: usize = CHANGES.0 as usize;
const STRIDE: usize = CHANGES.1 as usize;

/// Sums and counts of the changes around each pixel, along rows and along columns, from which [`Slope::of`] makes slopes.
pub(super) struct Slopes {
    width: usize,
    sums: [Vec<i32>; 2],
}

impl Slopes {
    /// Sums the changes of `slanted`, the disparities of which slopes are taken.
    pub(super) fn new(level: SimdLevel, slanted: &Image<i16>) -> Self {
        let (width, height) = slanted.size();
        let pitch = width + 2 * RADIUS;
        let sums = [(SPAN as usize, 0), (0, SPAN as usize)].map(|(dx, dy)| {
            let mut changes = vec![0; pitch * height];
            let inner = dy..height.saturating_sub(dy);
            changes.par_chunks_mut(pitch).enumerate().filter(|(y, _)| inner.contains(y)).for_each(|(y, row)| {
                let count = width.saturating_sub(2 * dx);
                let rows = [
                    slanted.row(y - dy),
                    &slanted.row(y)[dx.min(width)..],
                    &slanted.row(y + dy)[(2 * dx).min(width)..],
                ];
                on_level!(level, _ => find(rows.map(|row| &row[..count]), &mut row[RADIUS + dx..]));
            });
            let mut sums = vec![0; width * height];
            sums.par_chunks_mut(width).enumerate().for_each_init(Vec::new, |columns, (y, row)| {
                on_level!(level, _ => add(&changes, pitch, y, columns, row));
            });
            sums
        });
        Self { width, sums }
    }

    /// Returns the slope around a pixel, as [`Neighbourhood::slope`](stereopsis_stereo::filter::choice::Neighbourhood::slope) specifies.
    #[inline(always)]
    pub(super) fn at(&self, (x, y): (usize, usize)) -> Slope {
        let place = y * self.width + x;
        let both = [self.sums[0][place], self.sums[1][place]];
        // the sum in the lower bits is signed
        let sums = both.map(|both| i32::from(both as i16));
        Slope::of(sums, [(both[0] - sums[0]) / ONE, (both[1] - sums[1]) / ONE])
    }
}

/// Computes the change at each pixel of a row, 0 for none, from the rows or columns before, at and behind the pixel.
#[inline(always)]
fn find([before, here, behind]: [&[i16]; 3], changes: &mut [i32]) {
    for n in 0..here.len() {
        let is_there = (before[n] != INVALID) & (here[n] != INVALID) & (behind[n] != INVALID);
        let [before, here, behind] = [before[n], here[n], behind[n]].map(i32::from);
        let change = behind - before;
        let is_even = ((before + behind - 2 * here).abs() <= MAX_BEND) & (change.abs() <= MAX_CHANGE);
        changes[n] = if is_there & is_even { ONE + change } else { 0 };
    }
}

/// Sums the changes around the pixels of row `y`; `columns` is scratch for the sums of each padded column.
#[inline(always)]
fn add(changes: &[i32], pitch: usize, y: usize, columns: &mut Vec<i32>, sums: &mut [i32]) {
    columns.clear();
    columns.resize(pitch, 0);
    for row in (0..=2 * RADIUS).step_by(STRIDE).filter_map(|dy| (y + dy).checked_sub(RADIUS)) {
        let Some(row) = changes.chunks_exact(pitch).nth(row) else { continue };
        for x in 0..pitch {
            columns[x] += row[x];
        }
    }
    sums.fill(0);
    for dx in (0..=2 * RADIUS).step_by(STRIDE) {
        let columns = &columns[dx..][..sums.len()];
        for x in 0..sums.len() {
            sums[x] += columns[x];
        }
    }
}
