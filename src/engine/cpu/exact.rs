//! Winners among the exact sums of a window, which need more than 16 bits: block matching, SAD without paths.
//!
//! A sum and its candidate share a word, `sum << 10 | candidate`: the smallest word is the smallest sum, and of equal
//! sums the smaller disparity. The right row's words are kept in the order of the reversed rows of [`super::codes`].

use super::simd::{SimdLevel, on_level};
use super::{Range, WinnerMaps};
use crate::image::Image;
use crate::stereo::DisparityMap;
use crate::stereo::disparity::{is_unique, refine};
use crate::stereo::gating::Gates;
use crate::stereo::map::{INVALID, SUBPIXEL_STEPS, reason};
use crate::stereo::params::StereoParams;
use rayon::prelude::*;

/// Bits of a candidate's index: there are at most 1024.
const INDEX_BITS: u32 = 10;
/// Stands for a candidate that there is not; sums are below 2^17.
pub(super) const NONE: u32 = u32::MAX >> INDEX_BITS;

/// Takes away what lies outside the gates.
pub(super) fn gate(sums: &mut [u32], gates: &Gates, range: Range) {
    let pixels = sums.par_chunks_exact_mut(range.stride).zip(gates.pixels());
    pixels.for_each(|(sums, gate)| {
        sums[..gate.first.into()].fill(NONE);
        sums[usize::from(gate.last) + 1..].fill(NONE);
    });
}

/// Both maps; the right one only if the left-right check needs it.
pub(super) fn winners(
    level: SimdLevel,
    sums: &[u32],
    (width, height): (usize, usize),
    range: Range,
    params: &StereoParams,
) -> WinnerMaps {
    let mut values = Image::filled(width, height, INVALID);
    let mut reasons = Image::filled(width, height, 0);
    let with_right = params.left_right.is_some();
    let mut right = Image::filled(width, height, INVALID);
    let rows = values.pixels_mut().par_chunks_mut(width).zip(reasons.pixels_mut().par_chunks_mut(width));
    let rows = sums.par_chunks(width * range.stride).zip(rows.zip(right.pixels_mut().par_chunks_mut(width)));
    let scratch = || (vec![0; width], vec![0; width + range.stride]);
    rows.for_each_init(scratch, |(smallest, from_right), (sums, ((values, reasons), right))| {
        from_right.fill(u32::MAX);
        on_level!(level, _ => smallest_words(sums, range.stride, with_right, smallest, from_right));
        left_row(sums, smallest, range, params, values, reasons);
        if with_right {
            right_row(from_right, range, right);
        }
    });
    WinnerMaps { left: DisparityMap { values, reasons }, right: with_right.then_some(right) }
}

/// The smallest word of each left pixel, and of each right one.
#[inline(always)]
fn smallest_words(sums: &[u32], stride: usize, with_right: bool, left: &mut [u32], right: &mut [u32]) {
    let width = left.len();
    for x in 0..width {
        let sums = &sums[x * stride..][..stride];
        let right = &mut right[width - 1 - x..][..stride];
        let mut smallest = u32::MAX;
        for i in 0..stride {
            smallest = smallest.min(sums[i] << INDEX_BITS | i as u32);
        }
        left[x] = smallest;
        if with_right {
            for i in 0..stride {
                right[i] = right[i].min(sums[i] << INDEX_BITS | i as u32);
            }
        }
    }
}

/// Winners of one left row, tested and refined.
fn left_row(
    sums: &[u32],
    smallest: &[u32],
    range: Range,
    params: &StereoParams,
    values: &mut [i16],
    reasons: &mut [u8],
) {
    let mut rivals = Vec::new();
    let pixels = smallest.iter().zip(sums.chunks_exact(range.stride));
    for ((&word, sums), (value, why)) in pixels.zip(values.iter_mut().zip(reasons)) {
        let sums = &sums[..range.candidates];
        let winner = (word & ((1 << INDEX_BITS) - 1)) as usize;
        if params.uniqueness > 0 {
            // what there is not is no rival
            rivals.clear();
            rivals.extend(sums.iter().map(|&sum| if sum == NONE { u32::MAX } else { sum }));
            if !is_unique(&rivals, winner, params.uniqueness) {
                *why = reason::UNIQUENESS;
                continue;
            }
        }
        let exist = winner > 0 && winner + 1 < sums.len() && sums[winner - 1] != NONE && sums[winner + 1] != NONE;
        let fraction = if params.subpixel && exist { refine(sums, winner) } else { 0 };
        *value = (SUBPIXEL_STEPS * params.disparity(winner) + fraction) as i16;
    }
}

/// Disparities of one right row in whole pixels.
fn right_row(words: &[u32], range: Range, values: &mut [i16]) {
    let width = values.len();
    for (x, value) in values.iter_mut().enumerate() {
        let at = width as i64 - 1 - i64::from(range.min) - x as i64;
        let word = usize::try_from(at).ok().and_then(|at| words.get(at)).copied().unwrap_or(u32::MAX);
        if word >> INDEX_BITS != NONE {
            let candidate = (word & ((1 << INDEX_BITS) - 1)) as i32;
            *value = (SUBPIXEL_STEPS * (range.min + candidate)) as i16;
        }
    }
}
