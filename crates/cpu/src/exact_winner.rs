//! Winners among exact window sums, which need more than 16 bits, row by row as the sums are computed. SAD and local aggregation
//! without paths use them.
//!
//! A sum and its candidate share a word, `sum << 10 | candidate`. The smallest word has the smallest sum, and of equal sums the
//! smaller disparity. The words of the right row are in the order of the reversed rows of [`super::codes`].

use super::input::{LevelInput, Range};
use super::local::RowOutput;
use super::maps::{MapRow, WinnerMaps};
use super::simd::{SimdLevel, on_level};
use stereopsis_stereo::Prior;
use stereopsis_stereo::disparity::{confidence, is_unique};
use stereopsis_stereo::gating::{Gate, Gates};
use stereopsis_stereo::map::{SUBPIXEL_STEPS, reason};
use stereopsis_stereo::params::StereoParams;

/// Bits of a candidate's index: there are at most 1024 candidates.
const INDEX_BITS: u32 = 10;
/// Sum of a missing candidate; other sums are below 2^19.
const NONE: u32 = u32::MAX >> INDEX_BITS;

/// Computes both maps, the right one only `with_right`; `sum` computes the sums.
pub(super) fn winners(
    input: LevelInput<'_>,
    range: Range,
    prior: &Prior,
    with_right: bool,
    sum: impl FnOnce(&Winners<'_>, Vec<MapRow<'_>>),
) -> WinnerMaps {
    let LevelInput { level, left, params, .. } = input;
    let (width, height) = left.size();
    let largest_sum = params.largest_accepted_sum();
    let winners = Winners { level, range, width, gates: prior.gates.as_ref(), params, largest_sum, with_right };
    let mut maps = WinnerMaps::empty(width, height, params, with_right);
    sum(&winners, maps.rows());
    maps.drop_border(params);
    maps
}

pub(super) struct Winners<'a> {
    level: SimdLevel,
    range: Range,
    width: usize,
    gates: Option<&'a Gates>,
    params: &'a StereoParams,
    largest_sum: Option<u32>,
    with_right: bool,
}

pub(super) struct WinnerBuffers {
    sums: Vec<u32>,
    /// Smallest word of each left pixel, and of each right one.
    left: Vec<u32>,
    right: Vec<u32>,
}

impl RowOutput<MapRow<'_>> for Winners<'_> {
    type Number = u32;
    type Scratch = WinnerBuffers;

    fn scratch(&self) -> WinnerBuffers {
        let Range { stride, .. } = self.range;
        let zeros = |len| vec![0; len];
        WinnerBuffers { sums: zeros(self.width * stride), left: zeros(self.width), right: zeros(self.width + stride) }
    }

    fn numbers<'a>(&self, _: &'a mut MapRow<'_>, scratch: &'a mut WinnerBuffers) -> &'a mut [u32] {
        &mut scratch.sums
    }

    #[inline(always)]
    fn keep(&self, sums: &[u32], out: &mut [u32]) {
        out.copy_from_slice(sums);
        out[self.range.candidates..].fill(NONE);
    }

    fn finish(&self, y: usize, row: &mut MapRow<'_>, scratch: &mut WinnerBuffers) {
        let WinnerBuffers { sums, left, right } = scratch;
        let gates = self.gates.map(|gates| gates.row(y));
        for (sums, gate) in sums.chunks_exact_mut(self.range.stride).zip(gates.unwrap_or_default()) {
            sums[..gate.first.into()].fill(NONE);
            sums[usize::from(gate.last) + 1..].fill(NONE);
        }
        right.fill(u32::MAX);
        on_level!(self.level, _ => smallest_words(sums, self.range.stride, self.with_right, left, right));
        if self.with_right {
            right_row(right, self.range, row.right);
        }
        self.left_row(sums, left, gates, row);
    }
}

impl Winners<'_> {
    fn left_row(&self, sums: &[u32], smallest: &[u32], gates: Option<&[Gate]>, row: &mut MapRow<'_>) {
        let Self { range, params, .. } = *self;
        let pixels = smallest.iter().zip(sums.chunks_exact(range.stride));
        for (x, (&word, sums)) in pixels.enumerate() {
            let winner = (word & ((1 << INDEX_BITS) - 1)) as usize;
            let gate = gates.map_or(Gate::whole(range.candidates), |gates| gates[x]);
            let (sums, place) = (&sums[gate.range()], winner - usize::from(gate.first));
            if self.largest_sum.is_some_and(|largest| word >> INDEX_BITS > largest) {
                row.reasons[x] = reason::MATCH;
                continue;
            }
            if params.uniqueness > 0 && !is_unique(sums, place, params.uniqueness) {
                row.reasons[x] = reason::UNIQUENESS;
                continue;
            }
            let fraction = params.subpixel.refine(sums, place);
            row.values[x] = (SUBPIXEL_STEPS * params.disparity(winner) + fraction) as i16;
            if let Some(slot) = row.confidence.get_mut(x) {
                *slot = confidence(sums, place);
            }
        }
    }
}

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

/// Writes the disparities of one right row, in whole pixels.
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
