//! Winners on the CPU: left and right map from one pass over the sums, rows in parallel.
//!
//! A sum and its candidate share a word, `sum << 10 | candidate`: the smallest word is the smallest sum, and of equal
//! sums the smaller disparity. The right row's words are kept in the order of the reversed row of [`super::cost`].

use super::{BLOCK, Range, WinnerMaps};
use crate::image::Image;
use crate::stereo::DisparityMap;
use crate::stereo::disparity::{is_unique, refine};
use crate::stereo::map::{INVALID, SUBPIXEL_STEPS, reason};
use crate::stereo::params::StereoParams;
use multiversion::multiversion;
use rayon::prelude::*;

/// Bits of a candidate's index: there are at most 1024.
const INDEX_BITS: u32 = 10;

/// A sum of 8, 16 or 32 bits, below 2^22.
pub(super) trait Sum: Copy + Into<u32> + Send + Sync {}
impl Sum for u8 {}
impl Sum for u16 {}
impl Sum for u32 {}

/// Both maps; the right one only if the left-right check needs it.
pub(super) fn winners<S: Sum>(
    sums: &[S],
    (width, height): (usize, usize),
    range: Range,
    params: &StereoParams,
) -> WinnerMaps {
    let mut values = Image::filled(width, height, INVALID);
    let mut reasons = Image::filled(width, height, 0);
    let with_right = params.left_right.is_some();
    let mut right = Image::filled(width, if with_right { height } else { 0 }, INVALID);
    // added to what lies beyond the last candidate, so that it cannot win
    let beyond: Vec<u32> = (0..range.stride).map(|i| if i < range.candidates { 0 } else { u32::MAX }).collect();
    let rows = sums.par_chunks(width * range.stride);
    let rows = rows.zip(values.pixels_mut().par_chunks_mut(width)).zip(reasons.pixels_mut().par_chunks_mut(width));
    let scratch = || (vec![0; width], vec![0; width + range.stride]);
    let one_row =
        |(smallest, from_right): &mut (Vec<u32>, Vec<u32>), sums: &[S], values: &mut [i16], reasons: &mut [u8]| {
            if with_right {
                from_right.fill(u32::MAX);
                smallest_words::<S, true>(sums, &beyond, smallest, from_right);
            } else {
                smallest_words::<S, false>(sums, &beyond, smallest, from_right);
            }
            left_row(sums, smallest, range, params, values, reasons);
        };
    if with_right {
        rows.zip(right.pixels_mut().par_chunks_mut(width)).for_each_init(
            scratch,
            |scratch, (((sums, values), reasons), right)| {
                one_row(scratch, sums, values, reasons);
                right_row(&scratch.1, range, right);
            },
        );
    } else {
        rows.for_each_init(scratch, |scratch, ((sums, values), reasons)| one_row(scratch, sums, values, reasons));
    }
    WinnerMaps { left: DisparityMap { values, reasons }, right: with_right.then_some(right) }
}

/// The smallest word of each left pixel, and of each right one.
#[multiversion(targets(
    "x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx2+bmi1+bmi2",
    "x86_64+avx2+bmi1+bmi2",
    "x86_64+sse4.2"
))]
fn smallest_words<S: Sum, const RIGHT: bool>(sums: &[S], beyond: &[u32], left: &mut [u32], right: &mut [u32]) {
    let (width, stride) = (left.len(), beyond.len());
    for (x, (left, sums)) in left.iter_mut().zip(sums.chunks_exact(stride)).enumerate() {
        let right = &mut right[width - 1 - x..][..stride];
        let mut smallest = [u32::MAX; BLOCK];
        let blocks = sums.as_chunks::<BLOCK>().0.iter().zip(beyond.as_chunks::<BLOCK>().0);
        for (block, ((sums, beyond), right)) in blocks.zip(right.as_chunks_mut::<BLOCK>().0).enumerate() {
            for i in 0..BLOCK {
                let word = (sums[i].into() << INDEX_BITS | (block * BLOCK + i) as u32) | beyond[i];
                smallest[i] = smallest[i].min(word);
                if RIGHT {
                    right[i] = right[i].min(word);
                }
            }
        }
        *left = smallest.into_iter().fold(u32::MAX, u32::min);
    }
}

/// Winners of one left row, tested and refined.
fn left_row<S: Sum>(
    sums: &[S],
    smallest: &[u32],
    range: Range,
    params: &StereoParams,
    values: &mut [i16],
    reasons: &mut [u8],
) {
    let mut wide = vec![0; if params.uniqueness > 0 { range.candidates } else { 0 }];
    let pixels = smallest.iter().zip(sums.chunks_exact(range.stride));
    for ((&word, sums), (value, why)) in pixels.zip(values.iter_mut().zip(reasons)) {
        let winner = (word & ((1 << INDEX_BITS) - 1)) as usize;
        if params.uniqueness > 0 {
            wide.iter_mut().zip(sums).for_each(|(wide, &sum)| *wide = sum.into());
            if !is_unique(&wide, winner, params.uniqueness) {
                *why = reason::UNIQUENESS;
                continue;
            }
        }
        let inside = winner > 0 && winner + 1 < range.candidates;
        let fraction = if params.subpixel && inside {
            refine(&[winner - 1, winner, winner + 1].map(|i| sums[i].into()), 1)
        } else {
            0
        };
        *value = (SUBPIXEL_STEPS * params.disparity(winner) + fraction) as i16;
    }
}

/// Disparities of one right row in whole pixels.
fn right_row(words: &[u32], range: Range, values: &mut [i16]) {
    let width = values.len();
    for (x, value) in values.iter_mut().enumerate() {
        let at = width as i64 - 1 - i64::from(range.min) - x as i64;
        let word = usize::try_from(at).ok().and_then(|at| words.get(at)).copied().unwrap_or(u32::MAX);
        if word != u32::MAX {
            let candidate = (word & ((1 << INDEX_BITS) - 1)) as i32;
            *value = (SUBPIXEL_STEPS * (range.min + candidate)) as i16;
        }
    }
}
