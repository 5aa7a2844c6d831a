//! Winners of a block, left and right, while its totals lie in the innermost cache.
//!
//! Totals have 16 bits. Small totals become keys, a total and the number of its pixel in one value. The smallest key of some pixels is
//! then the right winner among them, and a left winner needs only one minimum for each register.

use super::aligned::AlignedArray;
use super::disparity_windows::DisparityWindow;
use super::input::{BLOCK, Range};
use super::maps::MapRow;
use super::vector::Vector;
use fearless_simd::Simd;
use fearless_simd::prelude::*;
use stereopsis_stereo::Subpixel;
use stereopsis_stereo::map::{INVALID, SUBPIXEL_STEPS, reason};
use stereopsis_stereo::params::StereoParams;

/// Missing candidate, in totals without numbers.
const NONE: u16 = u16::MAX;
/// Number of values between the pixels of a block: the longest register has 32, and reaches beyond by a block at most.
const PAD: usize = 64;

/// Form of the totals of a block: `total << bits | number`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TotalForm {
    /// Bits of the number of a pixel; 0 for totals alone.
    pub(super) bits: u32,
    pub(super) none: u16,
}

impl Default for TotalForm {
    fn default() -> Self {
        Self { bits: 0, none: NONE }
    }
}

impl TotalForm {
    /// Chooses keys if they are positive `i16` and have room for the numbers of the groups of `candidates`, else totals alone.
    pub(super) fn of(largest_total: u32, candidates: usize) -> Self {
        let keys = |bits: u32| Self { bits, none: i16::MAX as u16 >> bits << bits };
        let fits = |form: &Self| {
            // numbered groups may make a key smaller by a number
            candidates <= GROUP * form.pixels() && largest_total + 1 < u32::from(form.none >> form.bits)
        };
        [BLOCK.ilog2(), BLOCK.ilog2() - 1].map(keys).into_iter().find(fits).unwrap_or_default()
    }

    /// Returns the number of pixels that have different numbers.
    fn pixels(self) -> usize {
        1 << self.bits
    }

    #[inline(always)]
    pub(super) fn number(self, t: usize) -> u16 {
        (t & (self.pixels() - 1)) as u16
    }

    /// Returns the total in a key, [`NONE`] for a missing candidate.
    #[inline(always)]
    fn total(self, key: u16) -> u16 {
        if key == self.none { NONE } else { key >> self.bits }
    }
}

/// Totals of a block, with missing candidates between the pixels.
#[derive(Default)]
pub(super) struct BlockTotals {
    totals: AlignedArray<u16>,
    window: DisparityWindow,
    pub(super) form: TotalForm,
}

impl BlockTotals {
    /// Prepares windows of at most `longest` candidates.
    pub(super) fn restart(&mut self, longest: usize, form: TotalForm) {
        (self.window, self.form) = (DisparityWindow::NOTHING, form);
        self.totals.resize(PAD + (BLOCK + 1) * (longest + PAD));
        self.totals.fill(form.none);
    }

    fn pitch(&self) -> usize {
        self.window.len + PAD
    }

    /// Returns the room for the totals of this window from the first pixel on, and the distance of pixels.
    pub(super) fn begin(&mut self, window: DisparityWindow) -> (&mut [u16], usize) {
        if self.window.len != window.len {
            self.window.len = window.len;
            let pitch = self.pitch();
            for t in 0..=BLOCK {
                self.totals[t * pitch..][..PAD].fill(self.form.none);
            }
        }
        self.window.first = window.first;
        (&mut self.totals[PAD..], window.len + PAD)
    }

    pub(super) fn bytes(&self) -> usize {
        self.totals.bytes()
    }

    #[inline(always)]
    fn pixel(&self, t: usize) -> &[u16] {
        &self.totals[PAD + t * self.pitch()..][..self.window.len]
    }

    /// Finds the left winners of the first pixels, and tests and refines them as [`stereopsis_stereo::disparity::winner_takes_all`] specifies.
    #[inline(always)]
    pub(super) fn left<S: Vector>(
        &self,
        simd: S,
        params: &StereoParams,
        largest_sum: Option<u32>,
        MapRow { values, reasons, confidence, .. }: MapRow<'_>,
    ) {
        // the winner and its total between those of its neighbours
        let (mut winners, mut keys, mut sums) = ([0_i32; BLOCK], [[0; BLOCK]; 3], [[0_i32; BLOCK]; 3]);
        for t in 0..values.len() {
            let winner = if self.form.bits == 0 { smallest(simd, self.pixel(t)) } else { self.smallest_key(simd, t) };
            winners[t] = winner as i32;
            // beside the candidates there are missing ones
            let around = &self.totals[PAD - 1 + t * self.pitch() + winner..][..3];
            (keys[0][t], keys[1][t], keys[2][t]) = (around[0], around[1], around[2]);
        }
        for (sums, keys) in sums.iter_mut().zip(&keys) {
            for t in 0..BLOCK {
                sums[t] = self.form.total(keys[t]).into();
            }
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
        let first = params.min_disparity + self.window.first as i32;
        for t in 0..values.len() {
            values[t] = (SUBPIXEL_STEPS * (first + winners[t]) + fractions[t]) as i16;
        }
        if params.uniqueness > 0 || !confidence.is_empty() {
            self.test_rivals(simd, params, (&winners, &sums[1]), values, reasons, confidence);
        }
        if let Some(largest) = largest_sum {
            for t in 0..values.len() {
                if sums[1][t] as u32 > largest {
                    (values[t], reasons[t]) = (INVALID, reason::MATCH);
                }
            }
        }
    }

    /// Finds the winner of pixel `t` from keys, to which the number of each group of eight candidates is added.
    #[inline(always)]
    fn smallest_key<S: Vector>(&self, simd: S, t: usize) -> usize {
        let len = <S::i16s as SimdBase<S>>::LEN;
        let step = (len / GROUP) as i16;
        let mut least = S::i16s::splat(simd, i16::MAX);
        let mut first = S::i16s::from_slice(simd, &GROUPS[..len]);
        let mut four_registers = bytemuck::cast_slice(self.pixel(t)).chunks_exact(4 * len);
        for keys in &mut four_registers {
            let a = S::i16s::from_slice(simd, &keys[..len]);
            let b = S::i16s::from_slice(simd, &keys[len..][..len]);
            let c = S::i16s::from_slice(simd, &keys[2 * len..][..len]);
            let d = S::i16s::from_slice(simd, &keys[3 * len..][..len]);
            least = least.min(a.min(b + step).min(c.min(d + step) + 2 * step) + first);
            first += 4 * step;
        }
        for keys in four_registers.remainder().chunks_exact(len) {
            least = least.min(S::i16s::from_slice(simd, keys) + first);
            first += step;
        }
        let (key, lane) = simd.least_of_blocks(least);
        let group = self.form.number(usize::from(key - self.form.number(t)));
        usize::from(group) * GROUP + lane
    }

    #[inline(always)]
    fn test_rivals<S: Simd>(
        &self,
        simd: S,
        params: &StereoParams,
        (winners, sums): (&[i32; BLOCK], &[i32; BLOCK]),
        values: &mut [i16],
        reasons: &mut [u8],
        confidence: &mut [u8],
    ) {
        let mut rivals = [0_i32; BLOCK];
        for t in 0..values.len() {
            let rival = best_rival(simd, self.pixel(t), winners[t] as u16, self.form.none);
            rivals[t] = self.form.total(rival).into();
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

/// Returns the index of the first smallest total. Each lane keeps its first smallest total and the register that has it.
#[inline(always)]
fn smallest<S: Simd>(simd: S, totals: &[u16]) -> usize {
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
    place.reduce_min().into()
}

/// Number of candidates that share a number in a key.
const GROUP: usize = 8;
const GROUPS: [i16; 32] = {
    let mut groups = [0; 32];
    let mut i = 0;
    while i < 32 {
        groups[i] = (i / GROUP) as i16;
        i += 1;
    }
    groups
};
const LANES: [u16; 32] = {
    let mut lanes = [0; 32];
    let mut i = 0;
    while i < 32 {
        lanes[i] = i as u16;
        i += 1;
    }
    lanes
};

/// Computes [`Subpixel::refine`] from its difference and q. A float division is exact here: the two whole numbers have at most 21 and
/// 18 bits, and a quotient (at most 8.5) that is no whole number differs from one by far more than the rounding.
#[inline(always)]
fn fraction(difference: i32, q: i32) -> i32 {
    let q = q.max(1);
    ((difference * 16 + q) as f32 / (2 * q) as f32) as i32
}

/// Returns the smallest total more than 1 px from the winner, or key of the same pixel; `none` if there is none.
#[inline(always)]
fn best_rival<S: Simd>(simd: S, totals: &[u16], winner: u16, none: u16) -> u16 {
    let len = <S::u16s as SimdBase<S>>::LEN;
    let none = S::u16s::splat(simd, none);
    let mut best = none;
    // places counted from the one before the winner
    let mut place = S::u16s::from_slice(simd, &LANES[..len]) - winner.wrapping_sub(1);
    for totals in totals.chunks_exact(len) {
        let beside = place.simd_le(S::u16s::splat(simd, 2));
        best = best.min(beside.select(none, S::u16s::from_slice(simd, totals)));
        place += len as u16;
    }
    best.reduce_min()
}

/// Computes [`stereopsis_stereo::disparity::confidence`] from the two sums. A float division is exact here, as in [`fraction`]: the
/// numerator is below 2^24. A quotient that is no whole number differs from one by at least 1 / 2^16; numbers up to 255 are rounded
/// by at most 1 / 2^17.
#[inline(always)]
fn confidence_of(best: i32, rival: i32) -> u8 {
    let confidence = (((rival - best) * 255) as f32 / rival.max(1) as f32) as i32;
    if rival == i32::from(NONE) { u8::MAX } else { confidence as u8 }
}

/// Winners of the right row so far. Index `j` is right column `width - 1 - min - j`, so that the candidates of a left pixel lie side
/// by side: the partner of `(x, i)` is `j = width - 1 - x + i`.
#[derive(Default)]
pub(super) struct RightWinners {
    width: usize,
    /// Totals from this one on are those of missing candidates.
    none: u16,
    totals: AlignedArray<u16>,
    columns: AlignedArray<u16>,
}

impl RightWinners {
    pub(super) fn restart(&mut self, width: usize, range: Range, form: TotalForm) {
        (self.width, self.none) = (width, form.none >> form.bits);
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
        // no group reaches beyond its pixels by more than the room between them
        let longest = if block.form.bits == 0 { len } else { block.form.pixels() };
        let groups = pixels.div_ceil(longest);
        for g in 0..groups {
            let start = longest * if mirrored { groups - 1 - g } else { g };
            self.update_group(simd, block, first, start, longest.min(pixels - start), mirrored);
        }
    }

    /// Enters `pixels` pixels of a block from pixel `start` on.
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
        let lowest = self.width - first - start - pixels + block.window.first; // place of the window of the last pixel
        let step = block.pitch() + 1;
        let block_totals = &block.totals[PAD + start * block.pitch() + 1 - pixels..];
        let form = block.form;
        let mut j = 0;
        while j < block.window.len + pixels - 1 {
            let mine = &block_totals[j..][..pixels * step];
            let theirs = &mut self.totals[lowest + j..][..len];
            let mut totals = S::u16s::from_slice(simd, theirs);
            let mut columns = S::u16s::from_slice(simd, &self.columns[lowest + j..][..len]);
            let column = |t: usize| S::u16s::splat(simd, (first + start + t) as u16);
            if form.bits > 0 {
                let mut least = S::i16s::splat(simd, i16::MAX);
                let mut fours = bytemuck::cast_slice(mine).chunks_exact(4 * step);
                for four in &mut fours {
                    for n in 0..4 {
                        least = least.min(S::i16s::from_slice(simd, &four[n * step..][..len]));
                    }
                }
                for mine in fours.remainder().chunks_exact(step) {
                    least = least.min(S::i16s::from_slice(simd, &mine[..len]));
                }
                let key = least.bitcast::<S::u16s>();
                let entry = (key >> form.bits, (key & form.number(usize::MAX)) + column(0));
                enter::<S>(&mut totals, &mut columns, entry, mirrored);
            } else if mirrored {
                for (t, mine) in mine.chunks_exact(step).enumerate().rev() {
                    enter::<S>(&mut totals, &mut columns, (S::u16s::from_slice(simd, &mine[..len]), column(t)), true);
                }
            } else {
                for (t, mine) in mine.chunks_exact(step).enumerate() {
                    enter::<S>(&mut totals, &mut columns, (S::u16s::from_slice(simd, &mine[..len]), column(t)), false);
                }
            }
            totals.store_slice(theirs);
            columns.store_slice(&mut self.columns[lowest + j..][..len]);
            j += len;
        }
    }

    /// Writes the disparities of the row in whole pixels, as [`stereopsis_stereo::disparity::right_map`] specifies.
    #[inline(always)]
    pub(super) fn finish<S: Simd>(&self, simd: S, min_disparity: i32, values: &mut [i16]) {
        // column `x` is at place `last - x`
        let last = self.width as i32 - 1 - min_disparity;
        let (first, end) = ((last + 1 - self.totals.len() as i32).max(0), (last + 1).max(0));
        let [first, end] = [first, end].map(|x| (x as usize).min(values.len()));
        values[..first].fill(INVALID);
        values[end..].fill(INVALID);
        if first >= end {
            return;
        }
        let (len, last) = (<S::u16s as SimdBase<S>>::LEN, last as usize);
        let none = S::u16s::splat(simd, self.none);
        let mut of_lanes = S::u16s::from_slice(simd, &LANES[..len]) + first as u16;
        let mut registers = values[first..end].chunks_exact_mut(len);
        let mut x = first;
        for values in &mut registers {
            let place = last + 1 - x - len;
            let totals = S::u16s::from_slice(simd, &self.totals[place..][..len]).reverse();
            let columns = S::u16s::from_slice(simd, &self.columns[place..][..len]).reverse();
            let disparities = (columns - of_lanes) * SUBPIXEL_STEPS as u16;
            totals
                .simd_ge(none)
                .select(S::u16s::splat(simd, INVALID as u16), disparities)
                .store_slice(bytemuck::cast_slice_mut(values));
            of_lanes += len as u16;
            x += len;
        }
        for value in registers.into_remainder() {
            let (total, column) = (self.totals[last - x], self.columns[last - x]);
            let disparity = SUBPIXEL_STEPS * (i32::from(column) - x as i32);
            *value = if total >= self.none { INVALID } else { disparity as i16 };
            x += 1;
        }
    }
}

/// Enters totals and their columns into those of the right row. From left to right later columns have larger disparities, and lose
/// ties.
#[inline(always)]
fn enter<S: Simd>(totals: &mut S::u16s, columns: &mut S::u16s, (total, column): (S::u16s, S::u16s), mirrored: bool) {
    let keeps = if mirrored { totals.simd_lt(total) } else { totals.simd_le(total) };
    *totals = totals.min(total);
    *columns = keeps.select(*columns, column);
}

#[cfg(test)]
mod tests;
