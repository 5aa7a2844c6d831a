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
        for t in 0..BLOCK {
            fractions[t] = match params.subpixel {
                Subpixel::Off => 0,
                Subpixel::Parabola => fraction(below[t] - above[t], below[t] + above[t] - 2 * best[t]),
                Subpixel::Equiangular => fraction(below[t] - above[t], below[t].max(above[t]) - best[t]),
            };
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

/// The first smallest total and its index.
#[inline(always)]
fn smallest<S: Simd>(simd: S, totals: &[u16]) -> (usize, u16) {
    let len = <S::u16s as SimdBase<S>>::LEN;
    let mut least = S::u16s::from_slice(simd, &totals[..len]);
    let mut b = len;
    while b < totals.len() {
        least = least.min(S::u16s::from_slice(simd, &totals[b..][..len]));
        b += len;
    }
    let best = least.reduce_min();
    let best_everywhere = S::u16s::splat(simd, best);
    // from the last to the first, so that the first one stays
    let mut winner = 0;
    while b > 0 {
        b -= len;
        let equal = S::u16s::from_slice(simd, &totals[b..][..len]).simd_eq(best_everywhere).to_bitmask();
        let place = b + equal.trailing_zeros() as usize;
        winner = if equal == 0 { winner } else { place };
    }
    (winner, best)
}

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
        let mut j = 0;
        while j < block.stride + pixels - 1 {
            let mut totals = S::u16s::from_slice(simd, &self.totals[lowest + j..][..len]);
            let mut columns = S::u16s::from_slice(simd, &self.columns[lowest + j..][..len]);
            for n in 0..pixels {
                // From left to right later columns stand for larger disparities, and lose ties.
                let t = if mirrored { pixels - 1 - n } else { n };
                let at = PAD + (start + t) * block.pitch() + j + t + 1 - pixels;
                let mine = S::u16s::from_slice(simd, &block.totals[at..][..len]);
                let wins = if mirrored { mine.simd_le(totals) } else { mine.simd_lt(totals) };
                totals = totals.min(mine);
                columns = wins.select(S::u16s::splat(simd, (first + start + t) as u16), columns);
            }
            totals.store_slice(&mut self.totals[lowest + j..][..len]);
            columns.store_slice(&mut self.columns[lowest + j..][..len]);
            j += len;
        }
    }

    /// Disparities of the row in whole pixels, as in [`crate::stereo::disparity::right_map`].
    #[inline(always)]
    pub(super) fn finish(&self, min_disparity: i32, values: &mut [i16]) {
        for (x, value) in values.iter_mut().enumerate() {
            let place = self.width as i64 - 1 - i64::from(min_disparity) - x as i64;
            let total = usize::try_from(place).ok().and_then(|place| self.totals.get(place));
            *value = match total {
                None | Some(&NONE) => INVALID,
                Some(_) => (SUBPIXEL_STEPS * (i32::from(self.columns[place as usize]) - x as i32)) as i16,
            };
        }
    }
}
