//! Winners among the exact sums of a window, which need more than 16 bits: block matching, SAD without paths.
//!
//! A sum and its candidate share a word, `sum << 10 | candidate`: the smallest word is the smallest sum, and of equal
//! sums the smaller disparity. The right row's words are kept in the order of the reversed rows of [`super::codes`].

use super::Range;
use super::maps::{MapRow, WinnerMaps};
use super::simd::{SimdLevel, on_level};
use crate::stereo::disparity::{confidence, is_unique, refine};
use crate::stereo::gating::{Gate, Gates};
use crate::stereo::map::{SUBPIXEL_STEPS, reason};
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
    gates: Option<&Gates>,
    params: &StereoParams,
) -> WinnerMaps {
    let mut maps = WinnerMaps::empty(width, height, params);
    let with_right = maps.right.is_some();
    let rows = sums.par_chunks(width * range.stride).zip(maps.rows()).enumerate();
    let scratch = || (vec![0; width], vec![0; width + range.stride]);
    rows.for_each_init(scratch, |(smallest, from_right), (y, (sums, row))| {
        from_right.fill(u32::MAX);
        on_level!(level, _ => smallest_words(sums, range.stride, with_right, smallest, from_right));
        if with_right {
            right_row(from_right, range, row.right);
        }
        left_row(sums, smallest, range, gates.map(|gates| gates.row(y)), params, row);
    });
    maps
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
    gates: Option<&[Gate]>,
    params: &StereoParams,
    MapRow { values, reasons, confidence: confidences, .. }: MapRow<'_>,
) {
    let pixels = smallest.iter().zip(sums.chunks_exact(range.stride));
    for (x, (&word, sums)) in pixels.enumerate() {
        let winner = (word & ((1 << INDEX_BITS) - 1)) as usize;
        let gate = gates.map_or(Gate::whole(range.candidates), |gates| gates[x]);
        let (sums, place) = (&sums[gate.range()], winner - usize::from(gate.first));
        if params.uniqueness > 0 && !is_unique(sums, place, params.uniqueness) {
            reasons[x] = reason::UNIQUENESS;
            continue;
        }
        let fraction = if params.subpixel { refine(sums, place) } else { 0 };
        values[x] = (SUBPIXEL_STEPS * params.disparity(winner) + fraction) as i16;
        if let Some(slot) = confidences.get_mut(x) {
            *slot = confidence(sums, place);
        }
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
