//! Path costs on the CPU, after [`crate::stereo::aggregate::path_costs`].
//!
//! Along the rows: pairs of rows in parallel. From row to row: one sweep from the top and one from the bottom, each with
//! its three directions at once; they meet in the middle and finish each other's half, so that no sum has two writers.

use super::lane::Lane;
use super::{BLOCK, Range};
use crate::image::Image;
use crate::stereo::aggregate::penalty_table;
use crate::stereo::params::StereoParams;
use multiversion::multiversion;
use rayon::prelude::*;

/// Rows whose paths advance together: a path waits for its own last pixel, several at once fill the time.
const ROWS: usize = 2;

/// Sums over all directions.
pub(super) fn sum_paths(costs: &[u8], left: &Image<u8>, params: &StereoParams, range: Range, sums: &mut [u16]) {
    if u8::try_from(params.largest_cost() + params.largest_p2()).is_ok() {
        sum_in::<u8>(costs, left, params, range, sums);
    } else {
        sum_in::<u16>(costs, left, params, range, sums);
    }
}

/// What all directions share.
struct Penalties<L> {
    p1: L,
    p2_of_step: [L; 256],
}

fn sum_in<L: Lane>(costs: &[u8], left: &Image<u8>, params: &StereoParams, range: Range, sums: &mut [u16]) {
    let penalties =
        Penalties { p1: L::from_penalty(params.p1), p2_of_step: penalty_table(params).map(L::from_penalty) };
    let (width, height) = left.size();
    let row_len = width * range.stride;
    let lines = || std::array::from_fn(|_| Line::new(1, range));
    let row_groups = sums.par_chunks_mut(row_len * ROWS).zip(costs.par_chunks(row_len * ROWS));
    row_groups.zip(left.pixels().par_chunks(width * ROWS)).for_each_init(lines, |lines, ((sums, costs), luma)| {
        along_rows(costs, luma, &penalties, range, width, lines, sums);
    });
    if params.paths == 8 {
        sweeps::<L, 3>([-1, 0, 1], costs, left, &penalties, range, sums);
    } else {
        sweeps::<L, 1>([0], costs, left, &penalties, range, sums);
    }
    debug_assert_eq!(sums.len(), row_len * height);
}

/// Path costs of a row of pixels: each has its candidates between two that do not exist.
struct Line<L> {
    data: Vec<L>,
    /// The smallest path cost of each pixel.
    smallest: Vec<L>,
    pitch: usize,
}

impl<L: Lane> Line<L> {
    fn new(width: usize, range: Range) -> Self {
        let pitch = range.stride + 2;
        Self { data: vec![L::MAX; width * pitch], smallest: vec![L::ZERO; width], pitch }
    }

    #[inline(always)]
    fn at(&self, x: usize) -> (&[L], L) {
        (&self.data[x * self.pitch..][..self.pitch], self.smallest[x])
    }
}

/// One pixel of a path: `L = C + min(L', L'(d - 1) + P1, L'(d + 1) + P1, min L' + P2) - min L'`, added to the sums.
/// Gives the smallest path cost. (Closures would not be compiled for the SIMD of their surroundings, so there are none.)
#[inline(always)]
fn step<L: Lane>(
    (previous, least): (&[L], L),
    (p1, p2): (L, L),
    costs: &[u8],
    next: &mut [L],
    sums: &mut [u16],
    candidates: usize,
) -> L {
    let limit = least.plus(p2);
    let mut smallest = [L::MAX; BLOCK];
    let stride = costs.len();
    let below = previous[..stride].as_chunks::<BLOCK>().0.iter();
    let here = previous[1..=stride].as_chunks::<BLOCK>().0;
    let above = previous[2..][..stride].as_chunks::<BLOCK>().0;
    let values = next[1..=stride].as_chunks_mut::<BLOCK>().0;
    let blocks = costs.as_chunks::<BLOCK>().0.iter().zip(sums.as_chunks_mut::<BLOCK>().0).zip(values);
    for (((costs, sums), values), ((below, here), above)) in blocks.zip(below.zip(here).zip(above)) {
        // copies, so that nothing has to be proved about what overlaps
        let (costs, below, here, above, mut total) = (*costs, *below, *here, *above, *sums);
        let mut block = [L::MAX; BLOCK];
        for i in 0..BLOCK {
            let beside = below[i].min(above[i]).plus(p1);
            let best = here[i].min(beside).min(limit);
            block[i] = L::from_cost(costs[i]).plus(best.minus(least));
        }
        for i in 0..BLOCK {
            smallest[i] = smallest[i].min(block[i]);
        }
        for i in 0..BLOCK {
            total[i] = total[i].wrapping_add(block[i].widen());
        }
        *values = block;
        *sums = total;
    }
    if !candidates.is_multiple_of(BLOCK) {
        next[candidates + 1..].fill(L::MAX);
    }
    let mut least = L::MAX;
    for value in smallest {
        least = least.min(value);
    }
    least
}

/// Before the first pixel of a path everything is 0, so that the path starts with its cost.
fn nothing<L: Lane>(range: Range) -> Vec<L> {
    vec![L::ZERO; range.stride + 2]
}

/// Sets the sums of some rows to those of the paths to the right and to the left.
#[multiversion(targets(
    "x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx2+bmi1+bmi2",
    "x86_64+avx2+bmi1+bmi2",
    "x86_64+sse4.2"
))]
fn along_rows<L: Lane>(
    costs: &[u8],
    luma: &[u8],
    penalties: &Penalties<L>,
    range: Range,
    width: usize,
    lines: &mut [Line<L>; 4 * ROWS],
    sums: &mut [u16],
) {
    let stride = range.stride;
    let rows = luma.len() / width;
    sums.fill(0);
    for line in lines.iter_mut() {
        line.data.fill(L::MAX);
        line.smallest.fill(L::ZERO);
    }
    // two lines for each path, the last pixel's and this one's, in turn
    let (even, odd) = lines.split_at_mut(2 * ROWS);
    for line in odd.iter_mut() {
        line.data.fill(L::ZERO);
    }
    for n in 0..width {
        let (last, now) = if n % 2 == 0 { (&*odd, &mut *even) } else { (&*even, &mut *odd) };
        for path in 0..2 * rows {
            let (row, backwards) = (path / 2, path % 2 == 1);
            let x = if backwards { width - 1 - n } else { n };
            let before = if backwards { (x + 1).min(width - 1) } else { x.saturating_sub(1) };
            let at = row * width + x;
            let p2 = penalties.p2_of_step[usize::from(luma[at].abs_diff(luma[row * width + before]))];
            let costs = &costs[at * stride..][..stride];
            let sums = &mut sums[at * stride..][..stride];
            let line = &mut now[path];
            if n == 1 {
                line.data.fill(L::MAX); // it stood for what lies before the path
            }
            let least = step(last[path].at(0), (penalties.p1, p2), costs, &mut line.data, sums, range.candidates);
            line.smallest[0] = least;
        }
    }
}

/// Both sweeps, with paths whose last pixel lies at `from` beside this one in the row before.
fn sweeps<L: Lane, const N: usize>(
    from: [isize; N],
    costs: &[u8],
    left: &Image<u8>,
    penalties: &Penalties<L>,
    range: Range,
    sums: &mut [u16],
) {
    let (width, height) = left.size();
    let row_len = width * range.stride;
    let half = height / 2;
    let sweep = || Sweep::<L, N> {
        from,
        costs,
        left,
        penalties,
        range,
        lines: std::array::from_fn(|_| std::array::from_fn(|_| Line::new(width, range))),
        nothing: nothing(range),
        last_row: None,
    };
    let (mut down, mut up) = rayon::join(sweep, sweep);
    let (top, bottom) = sums.split_at_mut(half * row_len);
    for (first, second) in [(0..half, half..height), (half..height, 0..half)] {
        let is_top = first.start == 0 && first.end == half && second.end == height;
        let (first_sums, second_sums) = if is_top { (&mut *top, &mut *bottom) } else { (&mut *bottom, &mut *top) };
        rayon::join(
            || first.clone().zip(first_sums.chunks_exact_mut(row_len)).for_each(|(y, sums)| down.row(y, sums)),
            || {
                let rows = second.clone().zip(second_sums.chunks_exact_mut(row_len));
                rows.rev().for_each(|(y, sums)| up.row(y, sums));
            },
        );
    }
}

/// Some directions at once, row after row.
struct Sweep<'a, L, const N: usize> {
    from: [isize; N],
    costs: &'a [u8],
    left: &'a Image<u8>,
    penalties: &'a Penalties<L>,
    range: Range,
    /// For each direction the last row's path costs and this one's, in turn.
    lines: [[Line<L>; N]; 2],
    nothing: Vec<L>,
    last_row: Option<usize>,
}

impl<L: Lane, const N: usize> Sweep<'_, L, N> {
    /// Advances to row `y` and adds its path costs to the sums.
    fn row(&mut self, y: usize, sums: &mut [u16]) {
        let row_len = self.left.width() * self.range.stride;
        let costs = &self.costs[y * row_len..][..row_len];
        self.lines.swap(0, 1);
        let [last, now] = &mut self.lines;
        let luma = (self.left.row(y), self.last_row.map(|y| self.left.row(y)));
        let rows = SweepRow { from: self.from, last, now, nothing: &self.nothing, luma };
        from_row(rows, costs, self.penalties, self.range, sums);
        self.last_row = Some(y);
    }
}

/// What a step from one row to the next reads and writes besides costs and sums.
struct SweepRow<'a, L, const N: usize> {
    from: [isize; N],
    last: &'a [Line<L>; N],
    now: &'a mut [Line<L>; N],
    nothing: &'a [L],
    /// Brightness of this row and of the last one.
    luma: (&'a [u8], Option<&'a [u8]>),
}

/// Path costs of one row from those of the row before.
#[multiversion(targets(
    "x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx2+bmi1+bmi2",
    "x86_64+avx2+bmi1+bmi2",
    "x86_64+sse4.2"
))]
fn from_row<L: Lane, const N: usize>(
    row: SweepRow<'_, L, N>,
    costs: &[u8],
    penalties: &Penalties<L>,
    range: Range,
    sums: &mut [u16],
) {
    let SweepRow { from, last, now, nothing, luma: (luma, last_luma) } = row;
    let stride = range.stride;
    let pixels = costs.chunks_exact(stride).zip(sums.chunks_exact_mut(stride)).zip(luma).enumerate();
    for (x, ((costs, sums), &here)) in pixels {
        for k in 0..N {
            let beside = x.wrapping_add_signed(from[k]);
            let (mut previous, mut p2) = ((nothing, L::ZERO), L::ZERO);
            if let Some(last_luma) = last_luma
                && beside < last_luma.len()
            {
                previous = last[k].at(beside);
                p2 = penalties.p2_of_step[usize::from(here.abs_diff(last_luma[beside]))];
            }
            let next = &mut now[k].data[x * (stride + 2)..][..stride + 2];
            let least = step(previous, (penalties.p1, p2), costs, next, sums, range.candidates);
            now[k].smallest[x] = least;
        }
    }
}
