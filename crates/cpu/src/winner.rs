//! Winners of a block, left and right, while its totals lie in the innermost cache.
//!
//! Totals have 16 bits; the largest value marks a missing candidate.

use super::aligned::Aligned;
use super::input::BLOCK;
use super::input::Range;
use super::maps::MapRow;
use crate::stereo::Subpixel;
use crate::stereo::map::{INVALID, SUBPIXEL_STEPS, reason};
use crate::stereo::params::StereoParams;
use fearless_simd::Simd;
use fearless_simd::prelude::*;

/// A missing candidate.
const NONE: u16 = u16::MAX;
/// Values between the pixels of a block: the longest register has 32, and reaches beyond by a block at most.
const PAD: usize = 64;

/// Totals of a block, with missing candidates between the pixels.
#[derive(Default)]
pub(super) struct BlockTotals {
    totals: Aligned<u16>,
    stride: usize,
}

impl BlockTotals {
    pub(super) fn restart(&mut self, range: Range) {
        self.stride = range.stride;
        self.totals.resize(PAD + BLOCK * self.pitch());
        self.clear();
    }

    /// Marks all candidates as missing.
    pub(super) fn clear(&mut self) {
        self.totals.fill(NONE);
    }

    /// Distance of pixels.
    pub(super) fn pitch(&self) -> usize {
        self.stride + PAD
    }

    /// Totals from the first pixel on.
    pub(super) fn totals(&mut self) -> &mut [u16] {
        &mut self.totals[PAD..]
    }

    pub(super) fn bytes(&self) -> usize {
        self.totals.bytes()
    }

    /// Totals of pixel `t`.
    #[inline(always)]
    fn pixel(&self, t: usize) -> &[u16] {
        &self.totals[PAD + t * self.pitch()..][..self.stride]
    }

    /// Left winners of the first pixels, tested and refined as in [`crate::stereo::disparity::winner_takes_all`].
    #[inline(always)]
    pub(super) fn left<S: Simd>(
        &self,
        simd: S,
        params: &StereoParams,
        largest_sum: Option<u32>,
        MapRow { values, reasons, confidence, .. }: MapRow<'_>,
    ) {
        // the winner and its sum between those of its neighbours
        let (mut winners, mut sums) = ([0_i32; BLOCK], [[0_i32; BLOCK]; 3]);
        for t in 0..values.len() {
            let totals = self.pixel(t);
            let (winner, best) = smallest(simd, totals);
            winners[t] = winner as i32;
            let beside = |inside: bool, at: usize| if inside { totals[at] } else { NONE };
            let below = beside(winner > 0, winner.wrapping_sub(1));
            let above = beside(winner + 1 < totals.len(), winner + 1);
            (sums[0][t], sums[1][t], sums[2][t]) = (below.into(), best.into(), above.into());
        }
        let mut fractions = [0_i32; BLOCK];
        let [below, best, above] = &sums;
        match params.subpixel {
            Subpixel::Off => {}
            Subpixel::Parabola => {
                for t in 0..BLOCK {
                    fractions[t] = fraction(below[t] - above[t], below[t] + above[t] - 2 * best[t]);
                }
            }
            Subpixel::Equiangular => {
                for t in 0..BLOCK {
                    fractions[t] = fraction(below[t] - above[t], below[t].max(above[t]) - best[t]);
                }
            }
        }
        for t in 0..BLOCK {
            let exist = below[t] != i32::from(NONE) && above[t] != i32::from(NONE);
            fractions[t] = if exist { fractions[t] } else { 0 };
        }
        for t in 0..values.len() {
            values[t] = (SUBPIXEL_STEPS * (params.min_disparity + winners[t]) + fractions[t]) as i16;
        }
        if params.uniqueness > 0 || !confidence.is_empty() {
            self.test_rivals(params, (&winners, &sums[1]), values, reasons, confidence);
        }
        if let Some(largest) = largest_sum {
            for t in 0..values.len() {
                if sums[1][t] as u32 > largest {
                    (values[t], reasons[t]) = (INVALID, reason::MATCH);
                }
            }
        }
    }

    /// Confidence and uniqueness.
    #[inline(always)]
    fn test_rivals(
        &self,
        params: &StereoParams,
        (winners, sums): (&[i32; BLOCK], &[i32; BLOCK]),
        values: &mut [i16],
        reasons: &mut [u8],
        confidence: &mut [u8],
    ) {
        let mut rivals = [0_i32; BLOCK];
        for t in 0..values.len() {
            rivals[t] = best_rival(self.pixel(t), winners[t] as u16).into();
        }
        for t in 0..confidence.len() {
            confidence[t] = confidence_of(sums[t], rivals[t]);
        }
        for t in 0..values.len() {
            // a winner that is unique beside its best rival is so beside all
            let exists = rivals[t] != i32::from(NONE);
            if exists && rivals[t] * (100 - params.uniqueness as i32) < 100 * sums[t] {
                (values[t], reasons[t]) = (INVALID, reason::UNIQUENESS);
            }
        }
    }
}

/// The first smallest total and its index. Each lane keeps its first smallest total and the register that has it.
#[inline(always)]
fn smallest<S: Simd>(simd: S, totals: &[u16]) -> (usize, u16) {
    let len = <S::u16s as SimdBase<S>>::LEN;
    let mut least = S::u16s::splat(simd, NONE);
    let mut register = S::u16s::splat(simd, 0);
    for (b, totals) in totals.chunks_exact(len).enumerate() {
        let totals = S::u16s::from_slice(simd, totals);
        let keeps = least.simd_le(totals);
        least = least.min(totals);
        register = keeps.select(register, S::u16s::splat(simd, b as u16));
    }
    let best = least.reduce_min();
    let lanes = S::u16s::from_slice(simd, &LANES[..len]);
    let place = register * (len as u16) + lanes;
    let place = least.simd_eq(S::u16s::splat(simd, best)).select(place, S::u16s::splat(simd, NONE));
    (place.reduce_min().into(), best)
}

/// Numbers of the lanes of a register.
const LANES: [u16; 32] = {
    let mut lanes = [0; 32];
    let mut i = 0;
    while i < 32 {
        lanes[i] = i as u16;
        i += 1;
    }
    lanes
};

/// [`Subpixel::refine`] from its difference and q. A float division is exact here: the quotient of two whole numbers of at most 21 and
/// 18 bits, at most 8.5, that is no whole number differs from one by far more than the rounding.
#[inline(always)]
fn fraction(difference: i32, q: i32) -> i32 {
    let q = q.max(1);
    ((difference * 16 + q) as f32 / (2 * q) as f32) as i32
}

/// The smallest total more than 1 px from the winner; [`NONE`] if there is none.
#[inline(always)]
fn best_rival(totals: &[u16], winner: u16) -> u16 {
    let mut best = NONE;
    for i in 0..totals.len() {
        let beside = (i as u16).wrapping_sub(winner).wrapping_add(1) <= 2;
        best = best.min(if beside { NONE } else { totals[i] });
    }
    best
}

/// [`crate::stereo::disparity::confidence`] from the two sums. A float division is exact here, as in [`fraction`]: the
/// numerator is below 2^24, and a quotient that is no whole number differs from one by at least 1 / 2^16, the rounding of
/// numbers up to 255 by at most 1 / 2^17.
#[inline(always)]
fn confidence_of(best: i32, rival: i32) -> u8 {
    let confidence = (((rival - best) * 255) as f32 / rival.max(1) as f32) as i32;
    if rival == i32::from(NONE) { u8::MAX } else { confidence as u8 }
}

/// Winners of the right row so far. Index `j` is right column `width - 1 - min - j`, so that candidates of a left pixel lie
/// side by side: the partner of `(x, i)` is `j = width - 1 - x + i`.
#[derive(Default)]
pub(super) struct RightWinners {
    width: usize,
    /// The smallest total.
    totals: Aligned<u16>,
    /// Its left column.
    columns: Aligned<u16>,
}

impl RightWinners {
    pub(super) fn restart(&mut self, width: usize, range: Range) {
        self.width = width;
        for array in [&mut self.totals, &mut self.columns] {
            array.resize(width + range.stride + 2 * PAD);
        }
        self.totals.fill(NONE);
    }

    pub(super) fn bytes(&self) -> usize {
        self.totals.bytes() + self.columns.bytes()
    }

    /// Enters the candidates of a block at column `first`. Blocks come from left to right, or `mirrored` from right to left.
    #[inline(always)]
    pub(super) fn update<S: Simd>(
        &mut self,
        simd: S,
        block: &BlockTotals,
        first: usize,
        pixels: usize,
        mirrored: bool,
    ) {
        let len = <S::u16s as SimdBase<S>>::LEN;
        let mut t = 0;
        while t < pixels {
            // a group has at most as many pixels as a register has numbers: none reaches beyond by more than one register
            let group = len.min(pixels - t);
            let start = if mirrored { pixels - t - group } else { t };
            self.update_group(simd, block, first, start, group, mirrored);
            t += group;
        }
    }

    #[inline(always)]
    fn update_group<S: Simd>(
        &mut self,
        simd: S,
        block: &BlockTotals,
        first: usize,
        start: usize,
        pixels: usize,
        mirrored: bool,
    ) {
        let len = <S::u16s as SimdBase<S>>::LEN;
        let lowest = self.width - first - start - pixels; // place of candidate 0 of the last pixel
        // from left to right later columns stand for larger disparities, and lose ties
        let (first_pixel, step) = if mirrored { (pixels - 1, u16::MAX) } else { (0, 1) };
        let first_column = S::u16s::splat(simd, (first + start + first_pixel) as u16);
        let pitch = block.pitch();
        let totals = &block.totals[PAD + start * pitch + 1 - pixels..];
        let mut j = 0;
        while j < block.stride + pixels - 1 {
            let mine = &totals[j..][..(pixels - 1) * (pitch + 1) + len];
            let theirs = &mut self.totals[lowest + j..][..len];
            let mut totals = S::u16s::from_slice(simd, theirs);
            let mut columns = S::u16s::from_slice(simd, &self.columns[lowest + j..][..len]);
            let mut column = first_column;
            for n in 0..pixels {
                let t = if mirrored { pixels - 1 - n } else { n };
                let mine = S::u16s::from_slice(simd, &mine[t * (pitch + 1)..][..len]);
                let keeps = if mirrored { totals.simd_lt(mine) } else { totals.simd_le(mine) };
                totals = totals.min(mine);
                columns = keeps.select(columns, column);
                column += step;
            }
            totals.store_slice(theirs);
            columns.store_slice(&mut self.columns[lowest + j..][..len]);
            j += len;
        }
    }

    /// Disparities of the row in whole pixels, as in [`crate::stereo::disparity::right_map`].
    #[inline(always)]
    pub(super) fn finish(&self, min_disparity: i32, values: &mut [i16]) {
        // column `x` is at place `last - x`
        let last = self.width as i32 - 1 - min_disparity;
        let (first, end) = ((last + 1 - self.totals.len() as i32).max(0), (last + 1).max(0));
        let [first, end] = [first, end].map(|x| (x as usize).min(values.len()));
        values[..first].fill(INVALID);
        values[end..].fill(INVALID);
        if first >= end {
            return;
        }
        let places = (last as usize + 1 - end)..(last as usize + 1 - first);
        let winners = self.totals[places.clone()].iter().zip(&self.columns[places]).rev();
        for (x, (value, (&total, &column))) in (first..end).zip(values[first..end].iter_mut().zip(winners)) {
            let disparity = SUBPIXEL_STEPS * (i32::from(column) - x as i32);
            *value = if total == NONE { INVALID } else { disparity as i16 };
        }
    }
}
