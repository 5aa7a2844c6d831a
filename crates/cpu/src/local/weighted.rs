//! Weighted means over a window or over the crosses of both images. The left weights belong to one pixel, the right ones are
//! prepared for all partners of a row, and both are multiplied for a register of candidates.

use super::arms::{Arms, DOWN, LEFT, RIGHT, UP};
use super::{LocalAggregation, RowOutput, strips};
use crate::codes::reverse;
use crate::costs::Costs;
use crate::input::Range;
use crate::simd::on_level;
use fearless_simd::Simd;
use fearless_simd::prelude::*;
use std::ops::RangeInclusive;
use stereopsis_stereo::local::{LocalSettings, WeightTables};

impl LocalAggregation<'_> {
    /// Computes means in sixteenths, rounded down. The costs have to be a volume.
    pub(super) fn weighted<R: Send, O: RowOutput<R>>(&self, output: &O, rows: Vec<R>) {
        let Costs::Volume(costs) = self.costs else { return };
        let (width, height) = self.left.size();
        let arms = self.params.aggregation.has_arms().then(|| Arms::of(self));
        let reach = self.params.local_reach();
        let products = Products::new(self.params);
        let pitch = width + self.range.stride;
        let worker = || WeightBuffers::new(width, pitch, reach);
        let pair = WeightedInput { local: self, costs, arms: arms.as_ref(), products: &products, reach };
        let strip = height.div_ceil(8 * rayon::current_num_threads()).max(1);
        strips(output, rows, strip, worker, |worker, y, _, out| {
            let extent = pair.extent(y);
            match pair.arms {
                None => pair.weigh_right(worker, y, &extent),
                Some(arms) => pair.weigh_crosses(worker, y, &extent, arms),
            }
            on_level!(self.level, simd => pair.sum_row::<_, R, O>(simd, worker, y, &extent, output, out));
        });
    }
}

/// Weight of each brightness step at each offset: `[(|dy| (reach + 1) + |dx|) 256 + step]`.
struct Products {
    weights: Vec<u8>,
    reach: usize,
}

impl Products {
    fn new(params: &stereopsis_stereo::StereoParams) -> Self {
        let tables = WeightTables::new(&LocalSettings::of(params));
        let side = tables.reach as isize + 1;
        let offsets = (0..side).flat_map(|dy| (0..side).map(move |dx| (dx, dy)));
        let weights = offsets.flat_map(|offset| (0..=255).map(move |step| (offset, step)));
        let weights = weights.map(|(offset, step)| tables.weight(step, offset) as u8);
        Self { weights: weights.collect(), reach: tables.reach }
    }

    #[inline(always)]
    fn of(&self, dx: isize, dy: isize) -> &[u8; 256] {
        let offset = dy.unsigned_abs() * (self.reach + 1) + dx.unsigned_abs();
        &self.weights.as_chunks::<256>().0[offset]
    }
}

struct WeightedInput<'a> {
    local: &'a LocalAggregation<'a>,
    costs: &'a [u8],
    arms: Option<&'a Arms>,
    products: &'a Products,
    reach: usize,
}

/// Range of the offsets that some pixel of a row needs.
struct OffsetRange {
    rows: RangeInclusive<isize>,
    columns: RangeInclusive<isize>,
}

impl OffsetRange {
    fn offsets(&self) -> impl Iterator<Item = (isize, isize)> {
        self.rows.clone().flat_map(|dy| self.columns.clone().map(move |dx| (dx, dy)))
    }
}

struct WeightBuffers {
    pitch: usize,
    reach: usize,
    /// Weights of the right image for each offset of the row, in the order of [`crate::codes`].
    right: Vec<u8>,
    weights: Vec<u8>,
    steps: Vec<u8>,
    neighbours: Vec<Neighbour>,
    sums: Vec<u32>,
    totals: Vec<u32>,
}

impl WeightBuffers {
    fn new(width: usize, pitch: usize, reach: usize) -> Self {
        let stride = pitch - width;
        Self {
            pitch,
            reach,
            right: Vec::new(),
            weights: vec![0; width],
            steps: vec![0; width],
            neighbours: Vec::new(),
            sums: vec![0; stride],
            totals: vec![0; stride],
        }
    }

    /// Returns the position in `right` of the weights of an offset.
    #[inline(always)]
    fn place(&self, dx: isize, dy: isize) -> usize {
        let (side, reach) = (2 * self.reach + 1, self.reach as isize);
        ((dy + reach) as usize * side + (dx + reach) as usize) * self.pitch
    }
}

/// Pixel of the region around another one, with a weight in the left image.
#[derive(Clone, Copy)]
struct Neighbour {
    costs: usize,
    right: usize,
    weight: u8,
    dx: i8,
    dy: i8,
}

impl WeightedInput<'_> {
    /// Returns the offsets that row `y` needs: the whole window, or as far as the arms in the rows of its crosses reach.
    fn extent(&self, y: usize) -> OffsetRange {
        let reach = self.reach as isize;
        let Some(arms) = self.arms else { return OffsetRange { rows: -reach..=reach, columns: -reach..=reach } };
        let longest = |kind, y| arms.left(kind, y).iter().copied().max().unwrap_or(0);
        let (up, down) = (longest(UP, y), longest(DOWN, y));
        let rows = y - usize::from(up)..=y + usize::from(down);
        let to_left = rows.clone().map(|y| longest(LEFT, y)).max().unwrap_or(0);
        let to_right = rows.map(|y| longest(RIGHT, y)).max().unwrap_or(0);
        OffsetRange {
            rows: -isize::from(up)..=isize::from(down),
            columns: -isize::from(to_left)..=isize::from(to_right),
        }
    }

    /// Computes the weights of the right image around row `y`, for windows.
    fn weigh_right(&self, worker: &mut WeightBuffers, y: usize, extent: &OffsetRange) {
        let LocalAggregation { level, range, right: picture, .. } = *self.local;
        let (width, height) = picture.size();
        worker.right.resize((2 * self.reach + 1).pow(2) * worker.pitch, 0);
        let own = picture.row(y);
        for (dx, dy) in extent.offsets() {
            let other = picture.row(y.saturating_add_signed(dy).min(height - 1));
            let WeightBuffers { steps, weights, .. } = worker;
            on_level!(level, _ => shifted_steps(own, other, dx, steps));
            let products = self.products.of(dx, dy);
            for x in 0..width {
                weights[x] = products[usize::from(steps[x])];
            }
            let place = worker.place(dx, dy);
            reverse(&worker.weights, range, &mut worker.right[place..][..worker.pitch]);
        }
    }

    /// Computes the weights of the right image around row `y`, for crosses: only where the arms of its pixels reach.
    fn weigh_crosses(&self, worker: &mut WeightBuffers, y: usize, extent: &OffsetRange, arms: &Arms) {
        let LocalAggregation { range, right: picture, .. } = *self.local;
        let width = picture.width();
        worker.right.resize((2 * self.reach + 1).pow(2) * worker.pitch, 0);
        let own = picture.row(y);
        let within = |a: u8, b: u8, limits: &RangeInclusive<isize>| {
            (-isize::from(a)).max(*limits.start())..=isize::from(b).min(*limits.end())
        };
        for place in 0..worker.pitch {
            let x = (width as i64 - 1 - i64::from(range.min) - place as i64).clamp(0, width as i64 - 1) as usize;
            for dy in within(arms.right(UP, y)[place], arms.right(DOWN, y)[place], &extent.rows) {
                let row = y.wrapping_add_signed(dy);
                let pixels = picture.row(row);
                for dx in within(arms.right(LEFT, row)[place], arms.right(RIGHT, row)[place], &extent.columns) {
                    let step = own[x].abs_diff(pixels[x.wrapping_add_signed(dx)]);
                    let to = worker.place(dx, dy) + place;
                    worker.right[to] = self.products.of(dx, dy)[usize::from(step)];
                }
            }
        }
    }

    #[inline(always)]
    fn sum_row<S: Simd, R, O: RowOutput<R>>(
        &self,
        simd: S,
        worker: &mut WeightBuffers,
        y: usize,
        extent: &OffsetRange,
        output: &O,
        out: &mut [O::Number],
    ) {
        let Range { stride, .. } = self.local.range;
        let len = <S::u8s as SimdBase<S>>::LEN;
        for (x, out) in out.chunks_exact_mut(stride).enumerate() {
            self.find_neighbours(worker, (x, y), extent);
            let mut b = 0;
            while b + len <= stride {
                match self.arms {
                    None => self.sum_block::<S, false>(simd, worker, (x, y), b),
                    Some(_) => self.sum_block::<S, true>(simd, worker, (x, y), b),
                }
                b += len;
            }
            means(&mut worker.sums, &worker.totals);
            output.keep(&worker.sums, out);
        }
    }

    /// Finds the pixels of the region around left `(x, y)` that have a weight, row after row.
    #[inline(always)]
    fn find_neighbours(&self, worker: &mut WeightBuffers, (x, y): (usize, usize), extent: &OffsetRange) {
        let picture = self.local.left;
        let stride = self.local.range.stride;
        let (width, height) = picture.size();
        let own = picture.at(x, y);
        worker.neighbours.clear();
        let rows = match self.arms {
            None => extent.rows.clone(),
            Some(arms) => -isize::from(arms.left(UP, y)[x])..=isize::from(arms.left(DOWN, y)[x]),
        };
        for dy in rows {
            let row = y.saturating_add_signed(dy).min(height - 1);
            let columns = match self.arms {
                None => extent.columns.clone(),
                Some(arms) => -isize::from(arms.left(LEFT, row)[x])..=isize::from(arms.left(RIGHT, row)[x]),
            };
            let pixels = picture.row(row);
            for dx in columns {
                let column = x.saturating_add_signed(dx).min(width - 1);
                let weight = self.products.of(dx, dy)[usize::from(own.abs_diff(pixels[column]))];
                if weight > 0 {
                    let costs = (row * width + column) * stride;
                    let right = worker.place(dx, dy) + width - 1 - x;
                    worker.neighbours.push(Neighbour { costs, right, weight, dx: dx as i8, dy: dy as i8 });
                }
            }
        }
    }

    /// Sums a register of candidates from number `b` on, with their weights. With `CROSS` a neighbour counts only where the partner's
    /// arms reach as well.
    #[inline(always)]
    fn sum_block<S: Simd, const CROSS: bool>(
        &self,
        simd: S,
        worker: &mut WeightBuffers,
        (x, y): (usize, usize),
        b: usize,
    ) {
        let WeightBuffers { right, neighbours, sums, totals, .. } = worker;
        let (len, half) = (<S::u8s as SimdBase<S>>::LEN, <S::u16s as SimdBase<S>>::LEN);
        let partner = self.local.left.width() - 1 - x + b;
        let none = S::u8s::splat(simd, 0);
        let zero = S::u32s::splat(simd, 0);
        let (mut sum, mut total) = ([zero; 4], [zero; 4]);
        // a row of at most 61 weights of at most 252 fits into 16 bits
        let mut of_row = [S::u16s::splat(simd, 0); 2];
        let mut row = i8::MIN;
        let (mut to_left, mut to_right) = (none, none);
        for &Neighbour { costs, right: place, weight, dx, dy } in neighbours.iter() {
            if dy != row {
                row = dy;
                total = with_row::<S>(total, of_row);
                of_row = [S::u16s::splat(simd, 0); 2];
                if CROSS && let Some(arms) = self.arms {
                    let there = y.saturating_add_signed(isize::from(dy));
                    let reach = |kind, y| S::u8s::from_slice(simd, &arms.right(kind, y)[partner..][..len]);
                    let reaches = reach(if dy < 0 { UP } else { DOWN }, y).simd_ge(dy.unsigned_abs());
                    // one more than the arm, so that 0 marks a partner outside
                    let one = S::u8s::splat(simd, 1);
                    to_left = reaches.select(reach(LEFT, there) + one, none);
                    to_right = reaches.select(reach(RIGHT, there) + one, none);
                }
            }
            let mut theirs = S::u8s::from_slice(simd, &right[place + b..][..len]);
            if CROSS {
                let reach = if dx < 0 { to_left } else { to_right };
                theirs = reach.simd_gt(dx.unsigned_abs()).select(theirs, none);
            }
            let (low, high) = theirs.widen();
            let weight = u16::from(weight);
            let weights = [(low * weight) >> 8, (high * weight) >> 8];
            let (low, high) = S::u8s::from_slice(simd, &self.costs[costs + b..][..len]).widen();
            let (first, second) = (weights[0] * low).widen();
            let (third, fourth) = (weights[1] * high).widen();
            of_row = [of_row[0] + weights[0], of_row[1] + weights[1]];
            sum = [sum[0] + first, sum[1] + second, sum[2] + third, sum[3] + fourth];
        }
        total = with_row::<S>(total, of_row);
        for n in 0..4 {
            sum[n].store_slice(&mut sums[b + n * half / 2..][..half / 2]);
            total[n].store_slice(&mut totals[b + n * half / 2..][..half / 2]);
        }
    }
}

#[inline(always)]
fn with_row<S: Simd>(total: [S::u32s; 4], of_row: [S::u16s; 2]) -> [S::u32s; 4] {
    let ((first, second), (third, fourth)) = (of_row[0].widen(), of_row[1].widen());
    [total[0] + first, total[1] + second, total[2] + third, total[3] + fourth]
}

/// Computes the brightness steps from the pixels of a row to those of another one `dx` columns further, clamped.
#[inline(always)]
fn shifted_steps(own: &[u8], other: &[u8], dx: isize, steps: &mut [u8]) {
    let width = own.len();
    let shift = dx.unsigned_abs().min(width);
    let inside = width - shift;
    let (first, last) = (other[0], other[width - 1]);
    let (from, start) = if dx < 0 { (shift, 0) } else { (0, shift) };
    for x in 0..inside {
        steps[from + x] = own[from + x].abs_diff(other[start + x]);
    }
    let (outside, edge) = if dx < 0 { (0..shift, first) } else { (inside..width, last) };
    for x in outside {
        steps[x] = own[x].abs_diff(edge);
    }
}

/// Replaces each sum by `16 sum / total`. A division of doubles is exact here: the numerator is below 2^32, and a quotient that is
/// no whole number differs from the next one by at least one part in `total`, which is below 2^20.
#[inline(always)]
fn means(sums: &mut [u32], totals: &[u32]) {
    for (sum, &total) in sums.iter_mut().zip(totals) {
        *sum = (f64::from(16 * *sum) / f64::from(total)) as u32;
    }
}
