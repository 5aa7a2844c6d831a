//! First other disparity in a direction from a pixel, for the learned choice. Blocks of pixels without one are skipped by
//! their smallest and largest disparity.

use crate::simd::{SimdLevel, on_level};
use rayon::prelude::*;
use stereopsis_base::image::Image;
use stereopsis_stereo::filter::choice::{Candidate, Chooser, REACH, STEP, Slope};
use stereopsis_stereo::map::INVALID;

const BLOCK: i32 = 8;
/// The axes along which blocks lie; each serves two directions.
const AXES: [(i32, i32); 4] = [(1, 0), (0, 1), (1, 1), (-1, 1)];
/// Columns and rows of padding around an image: blocks reach beyond it, and start beyond it where a direction goes back.
const PAD: usize = 2 * BLOCK as usize;

/// Smallest and largest disparity of the block that starts at each pixel, along each axis.
pub(super) struct Directions {
    pitch: usize,
    extremes: [[Vec<i16>; 2]; AXES.len()],
}

impl Directions {
    pub(super) fn new(level: SimdLevel, trusted: &Image<i16>) -> Self {
        let (width, height) = trusted.size();
        let (pitch, rows) = (width + 2 * PAD, height + 2 * PAD);
        // a missing disparity changes no extreme
        let padded = [i16::MAX, i16::MIN].map(|missing| {
            let mut padded = vec![missing; pitch * rows];
            padded.par_chunks_mut(pitch).skip(PAD).zip(trusted.pixels().par_chunks(width)).for_each(|(row, values)| {
                for (slot, &value) in row[PAD..].iter_mut().zip(values) {
                    *slot = if value == INVALID { missing } else { value };
                }
            });
            padded
        });
        let extremes = AXES.map(|axis| {
            let mut both = [(); 2].map(|()| vec![0; pitch * rows]);
            let [smallest, largest] = &mut both;
            let rows = smallest.par_chunks_mut(pitch).zip(largest.par_chunks_mut(pitch)).enumerate();
            rows.skip(PAD / 2).take(height + PAD / 2).for_each(|(y, (smallest, largest))| {
                on_level!(level, _ => {
                    gather(&padded[0], pitch, y, axis, smallest, Ord::min);
                    gather(&padded[1], pitch, y, axis, largest, Ord::max);
                });
            });
            both
        });
        Self { pitch, extremes }
    }

    /// Implements [`Neighbourhood::first_other`](stereopsis_stereo::filter::choice::Neighbourhood::first_other).
    #[inline(always)]
    pub(super) fn first_other(
        &self,
        chooser: &Chooser<'_>,
        (x, y): (usize, usize),
        own: Candidate,
        (dx, dy): (i32, i32),
    ) -> Option<i32> {
        let (width, height) = chooser.trusted().size();
        let goes_back = dy < 0 || (dy == 0 && dx < 0);
        let axis = if goes_back { (-dx, -dy) } else { (dx, dy) };
        let growth = own.slope.growth(dx, dy);
        let expected = |k: i32| i32::from(own.value) + Slope::rounded(k * growth);
        let [smallest, largest] = &self.extremes[AXES.iter().position(|&other| other == axis)?];
        for first in (1..=REACH).step_by(BLOCK as usize) {
            let at = |k: i32| (x as i32 + k * dx, y as i32 + k * dy);
            let is_inside = |(x, y): (i32, i32)| x >= 0 && y >= 0 && (x as usize) < width && (y as usize) < height;
            if !is_inside(at(first)) {
                return None;
            }
            let start = at(if goes_back { first + BLOCK - 1 } else { first });
            let place = (start.1 + PAD as i32) as usize * self.pitch + (start.0 + PAD as i32) as usize;
            // the expected disparities of the block lie between those at its ends
            let ends = [first, first + BLOCK - 1].map(expected);
            let [least, most] = [smallest[place], largest[place]].map(i32::from);
            if least > ends[0].max(ends[1]) - STEP && most < ends[0].min(ends[1]) + STEP {
                continue;
            }
            for k in first..first + BLOCK {
                let other = at(k);
                if !is_inside(other) {
                    return None;
                }
                if chooser.is_other((x, y), expected(k), (other.0 as usize, other.1 as usize)) {
                    return Some(k);
                }
            }
        }
        None
    }
}

#[inline(always)]
fn gather(
    padded: &[i16],
    pitch: usize,
    y: usize,
    (dx, dy): (i32, i32),
    extremes: &mut [i16],
    more: impl Fn(i16, i16) -> i16,
) {
    let columns = PAD / 2..pitch - PAD / 2;
    let extremes = &mut extremes[columns.clone()];
    for k in 0..BLOCK {
        let from = (y as i32 + k * dy) as usize * pitch + (columns.start as i32 + k * dx) as usize;
        let values = &padded[from..][..extremes.len()];
        for n in 0..extremes.len() {
            extremes[n] = if k == 0 { values[n] } else { more(extremes[n], values[n]) };
        }
    }
}
