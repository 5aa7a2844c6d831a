//! Means over the crosses of both images in two passes: along each row as far as both horizontal arms reach, then these sums
//! along the column as far as both vertical arms do. The pixel's own arms bound the loops, and the arms of each candidate's partner
//! mask them.

use super::arms::{Arms, DOWN, LEFT, RIGHT, UP};
use super::{LocalAggregation, RowOutput, strips};
use crate::simd::on_level;
use fearless_simd::Simd;
use fearless_simd::prelude::*;

impl LocalAggregation<'_> {
    pub(super) fn cross<R: Send, O: RowOutput<R>>(&self, output: &O, rows: Vec<R>) {
        let (width, height) = self.left.size();
        let longest = self.params.arms as usize;
        let arms = Arms::of(self);
        let worker = || CrossBuffers::new(width, self.range.stride, (2 * longest + 1).min(height));
        let strip = self.strip_of(longest);
        strips(output, rows, strip, worker, |worker, y, is_first, out| {
            if is_first {
                worker.lines.next = y.saturating_sub(longest);
            }
            while worker.lines.next <= (y + longest).min(height - 1) {
                let row = worker.lines.next;
                let costs = self.costs_of(row, &mut worker.costs);
                on_level!(self.level, simd => worker.lines.sum_along(simd, &arms, row, costs));
                worker.lines.next += 1;
            }
            on_level!(self.level, simd => worker.sum_down::<_, R, O>(simd, &arms, y, output, out));
        });
    }
}

struct CrossBuffers {
    costs: Vec<u8>,
    lines: RowSums,
    sums: Vec<u32>,
    counts: Vec<u16>,
}

/// Ring buffer of the sums along the rows around the current one.
struct RowSums {
    width: usize,
    stride: usize,
    rows: usize,
    next: usize,
    /// Sums along the row, at most 61 x 255.
    sums: Vec<u16>,
    counts: Vec<u8>,
}

impl RowSums {
    #[inline(always)]
    fn at(&self, x: usize, y: usize) -> usize {
        (y % self.rows * self.width + x) * self.stride
    }

    #[inline(always)]
    fn sum_along<S: Simd>(&mut self, simd: S, arms: &Arms, y: usize, costs: &[u8]) {
        let (width, stride, start) = (self.width, self.stride, self.at(0, y));
        let (own_left, own_right) = (arms.left(LEFT, y), arms.left(RIGHT, y));
        let (their_left, their_right) = (arms.right(LEFT, y), arms.right(RIGHT, y));
        let sums = &mut self.sums[start..][..width * stride];
        let counts = &mut self.counts[start..][..width * stride];
        let len = <S::u8s as SimdBase<S>>::LEN;
        let half = <S::u16s as SimdBase<S>>::LEN;
        let zero = S::u8s::splat(simd, 0);
        for x in 0..width {
            let mut b = 0;
            while b + len <= stride {
                let at = x * stride + b;
                let partner = width - 1 - x + b;
                let (mut low, mut high) = S::u8s::from_slice(simd, &costs[at..][..len]).widen();
                let to_left = S::u8s::from_slice(simd, &their_left[partner..][..len]).min(own_left[x]);
                let to_right = S::u8s::from_slice(simd, &their_right[partner..][..len]).min(own_right[x]);
                for k in 1..=own_left[x] {
                    let cost = S::u8s::from_slice(simd, &costs[at - usize::from(k) * stride..][..len]);
                    let (more_low, more_high) = to_left.simd_ge(k).select(cost, zero).widen();
                    (low, high) = (low + more_low, high + more_high);
                }
                for k in 1..=own_right[x] {
                    let cost = S::u8s::from_slice(simd, &costs[at + usize::from(k) * stride..][..len]);
                    let (more_low, more_high) = to_right.simd_ge(k).select(cost, zero).widen();
                    (low, high) = (low + more_low, high + more_high);
                }
                low.store_slice(&mut sums[at..][..half]);
                high.store_slice(&mut sums[at + half..][..half]);
                (to_left + to_right + S::u8s::splat(simd, 1)).store_slice(&mut counts[at..][..len]);
                b += len;
            }
        }
    }
}

impl CrossBuffers {
    fn new(width: usize, stride: usize, rows: usize) -> Self {
        let row = width * stride;
        let lines = RowSums { width, stride, rows, next: 0, sums: vec![0; rows * row], counts: vec![0; rows * row] };
        Self { costs: vec![0; row], lines, sums: vec![0; stride], counts: vec![0; stride] }
    }

    #[inline(always)]
    fn sum_down<S: Simd, R, O: RowOutput<R>>(
        &mut self,
        simd: S,
        arms: &Arms,
        y: usize,
        output: &O,
        out: &mut [O::Number],
    ) {
        let Self { lines, sums, counts, .. } = self;
        let (width, stride) = (lines.width, lines.stride);
        let (own_up, own_down) = (arms.left(UP, y), arms.left(DOWN, y));
        let (their_up, their_down) = (arms.right(UP, y), arms.right(DOWN, y));
        let len = <S::u8s as SimdBase<S>>::LEN;
        for (x, out) in out.chunks_exact_mut(stride).enumerate() {
            let mut b = 0;
            while b + len <= stride {
                let partner = width - 1 - x + b;
                let up = S::u8s::from_slice(simd, &their_up[partner..][..len]).min(own_up[x]);
                let down = S::u8s::from_slice(simd, &their_down[partner..][..len]).min(own_down[x]);
                let mut column = Column::of(simd, lines, lines.at(x, y) + b);
                for k in 1..=own_up[x] {
                    column.add(simd, lines, lines.at(x, y - usize::from(k)) + b, (up, k));
                }
                for k in 1..=own_down[x] {
                    column.add(simd, lines, lines.at(x, y + usize::from(k)) + b, (down, k));
                }
                column.store(&mut sums[b..][..len], &mut counts[b..][..len]);
                b += len;
            }
            means(sums, counts);
            output.keep(sums, out);
        }
    }
}

/// Sums down a column for a register of candidates.
#[derive(Clone, Copy)]
struct Column<S: Simd> {
    sums: [S::u32s; 4],
    counts: [S::u16s; 2],
}

impl<S: Simd> Column<S> {
    #[inline(always)]
    fn of(simd: S, lines: &RowSums, at: usize) -> Self {
        let zero = S::u32s::splat(simd, 0);
        let none = S::u16s::splat(simd, 0);
        let mut column = Self { sums: [zero; 4], counts: [none; 2] };
        column.add(simd, lines, at, (S::u8s::splat(simd, 1), 1));
        column
    }

    /// Adds one pixel, for the candidates whose arms reach `k` px.
    #[inline(always)]
    fn add(&mut self, simd: S, lines: &RowSums, at: usize, (reach, k): (S::u8s, u8)) {
        let (len, half) = (<S::u8s as SimdBase<S>>::LEN, <S::u16s as SimdBase<S>>::LEN);
        let count = S::u8s::from_slice(simd, &lines.counts[at..][..len]);
        let count = reach.simd_ge(k).select(count, S::u8s::splat(simd, 0));
        let (low, high) = count.widen();
        self.counts = [self.counts[0] + low, self.counts[1] + high];
        let sums = &lines.sums[at..][..len];
        let (low, high) = (S::u16s::from_slice(simd, &sums[..half]), S::u16s::from_slice(simd, &sums[half..]));
        let (reach_low, reach_high) = reach.widen();
        let none = S::u16s::splat(simd, 0);
        let (first, second) = reach_low.simd_ge(u16::from(k)).select(low, none).widen();
        let (third, fourth) = reach_high.simd_ge(u16::from(k)).select(high, none).widen();
        self.sums = [self.sums[0] + first, self.sums[1] + second, self.sums[2] + third, self.sums[3] + fourth];
    }

    #[inline(always)]
    fn store(self, sums: &mut [u32], counts: &mut [u16]) {
        let (half, quarter) = (<S::u16s as SimdBase<S>>::LEN, <S::u32s as SimdBase<S>>::LEN);
        for n in 0..4 {
            self.sums[n].store_slice(&mut sums[n * quarter..][..quarter]);
        }
        for n in 0..2 {
            self.counts[n].store_slice(&mut counts[n * half..][..half]);
        }
    }
}

/// Replaces each sum by `(16 sum + count / 2) / count`. A float division is exact here: with at most 61 x 61 costs of at most 255
/// the numerator is below 2^24. A quotient that is no whole number differs from the next one by at least 1 / 3721; it is below
/// 2^12, so that rounding moves it by at most 1 / 2^13.
#[inline(always)]
fn means(sums: &mut [u32], counts: &[u16]) {
    for (sum, &count) in sums.iter_mut().zip(counts) {
        let count = u32::from(count);
        *sum = ((16 * *sum + count / 2) as i32 as f32 / count as i32 as f32) as i32 as u32;
    }
}
