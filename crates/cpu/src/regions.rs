//! Connected regions of a map: runs of pixels in rows, joined into sets. Speckle removal and planes use them.

use super::median::load_some;
use fearless_simd::Simd;
use fearless_simd::prelude::*;
use rayon::prelude::*;
use std::ops::Range;
use stereopsis_stereo::map::INVALID;

#[derive(Clone, Copy)]
pub(super) struct Run {
    pub(super) x: u32,
    pub(super) end: u32,
    pub(super) y: u32,
}

impl Run {
    pub(super) fn columns(self) -> Range<usize> {
        self.x as usize..self.end as usize
    }
}

/// Runs row by row, in disjoint sets: each run points to one with a smaller number, the first of a set to itself.
#[derive(Default)]
pub(super) struct Regions {
    runs: Vec<Run>,
    parent: Vec<u32>,
}

impl Regions {
    /// Finds the regions of `height` rows: `of_strip` finds those of some rows on each thread, then the strips are joined.
    pub(super) fn of_rows(
        height: usize,
        of_strip: impl Fn(Range<usize>) -> Self + Sync,
        belong: impl Fn(Run, Run) -> bool,
    ) -> Self {
        let rows = height.div_ceil(rayon::current_num_threads()).max(1);
        let firsts = (0..height.div_ceil(rows)).into_par_iter().map(|strip| strip * rows);
        let strips: Vec<_> = firsts.map(|first| of_strip(first..height.min(first + rows))).collect();
        let mut regions = Self::default();
        for (strip, of_strip) in strips.into_iter().enumerate() {
            let first = regions.runs.len() as u32;
            regions.runs.extend(of_strip.runs);
            regions.parent.extend(of_strip.parent.iter().map(|run| first + run));
            regions.join_row(strip * rows, &belong);
        }
        regions
    }

    /// Adds the next row: runs of numbers that differ by at most `range` from pixel to pixel, without [`INVALID`], which differs from
    /// all others by more. Runs are joined with those of the row above that share a column and `belong` to the same region.
    #[inline(always)]
    pub(super) fn add_row<S: Simd>(
        &mut self,
        simd: S,
        (y, values): (usize, &[i16]),
        range: i16,
        belong: impl Fn(Run, Run) -> bool,
    ) {
        let mut start = 0;
        let mut end_at = |end: usize| {
            if values.get(start).is_some_and(|&value| value != INVALID) {
                self.parent.push(self.runs.len() as u32);
                self.runs.push(Run { x: start as u32, end: end as u32, y: y as u32 });
            }
            start = end;
        };
        for x in (1..values.len()).step_by(<S::i16s as SimdBase<S>>::LEN) {
            let (before, here) = (load_some(simd, &values[x - 1..]), load_some(simd, &values[x..]));
            let mut ends = far_apart::<S>(before, here, range).to_bitmask();
            while ends != 0 {
                end_at(x + ends.trailing_zeros() as usize);
                ends &= ends - 1;
            }
        }
        end_at(values.len());
        self.join_row(y, belong);
    }

    #[inline(always)]
    fn join_row(&mut self, y: usize, belong: impl Fn(Run, Run) -> bool) {
        let Self { runs, parent } = self;
        let mut above = y.checked_sub(1).map_or(0..0, |y| row(runs, y));
        for run in row(runs, y) {
            while above.start < above.end && runs[above.start].end <= runs[run].x {
                above.start += 1;
            }
            for other in above.clone().take_while(|&other| runs[other].x < runs[run].end) {
                if belong(runs[other], runs[run]) {
                    let (a, b) = (first_of_set(parent, other as u32), first_of_set(parent, run as u32));
                    parent[a.max(b) as usize] = a.min(b);
                }
            }
        }
    }

    /// Returns the runs, for each run the first one of its set, and for each first run the number of pixels of its set, else 0.
    pub(super) fn sets(mut self) -> (Vec<Run>, Vec<u32>, Vec<u32>) {
        let mut pixels = vec![0; self.runs.len()];
        for (run, columns) in self.runs.iter().map(|run| run.columns()).enumerate() {
            let first = first_of_set(&mut self.parent, run as u32);
            self.parent[run] = first;
            pixels[first as usize] += columns.len() as u32;
        }
        (self.runs, self.parent, pixels)
    }
}

/// Returns the first run of a run's set, and shortens the way to it.
fn first_of_set(parent: &mut [u32], mut run: u32) -> u32 {
    while parent[run as usize] != run {
        let grandparent = parent[parent[run as usize] as usize];
        parent[run as usize] = grandparent;
        run = grandparent;
    }
    run
}

pub(super) fn row(runs: &[Run], y: usize) -> Range<usize> {
    let first = |y: usize| runs.partition_point(|run| (run.y as usize) < y);
    first(y)..first(y + 1)
}

/// Returns a mask of the lanes whose numbers differ by more than `limit`.
#[inline(always)]
pub(super) fn far_apart<S: Simd>(a: S::i16s, b: S::i16s, limit: i16) -> S::mask16s {
    a.saturating_sub(b).max(b.saturating_sub(a)).simd_gt(limit)
}
