//! From costs to both maps: the two sweeps on all threads.
//!
//! Each row is visited once by each sweep. Whoever comes first leaves the sums of its directions in the volume; whoever
//! comes second adds its own and chooses the winners at once. So the sweeps begin at the top and at the bottom, meet in the
//! middle and finish each other's half, and every sum is written once and read once.
//!
//! Threads take rows one after another, of the sweep in which they began if they can. Rows of a sweep follow each other
//! like runners: the next row may go wherever the row before has passed ([`super::turns`]), so that any number of threads
//! works on a sweep, and the order of the sums never depends on them.

use super::aligned::Aligned;
use super::cells::Cell;
use super::courses::Sweep;
use super::lane::{Excess, Lane};
use super::level::fit;
use super::maps::WinnerMaps;
use super::simd::{SimdLevel, on_level};
use super::sweep::{Cells, Job, Row, Scratch, Visit, room, visit};
use super::turns::{Runner, Turns};
use super::walk::PIECE;
use crate::engine::EngineError;
use std::sync::{Mutex, PoisonError};

/// What is kept from pair to pair.
#[derive(Default)]
pub(super) struct Workspace<L, E> {
    volume: Aligned<E>,
    /// For each sweep and pass.
    cells: Vec<Vec<Cells<L>>>,
    /// For each thread.
    scratch: Vec<Mutex<Scratch<L>>>,
}

impl<L: Lane, E: Excess<L>> Workspace<L, E> {
    /// Bytes that it holds on to.
    pub(super) fn bytes(&mut self) -> usize {
        let cells = self.cells.iter_mut().flatten().flat_map(Cells::values).map(|cell| cell.bytes()).sum::<usize>();
        let scratch = self.scratch.iter_mut().map(|s| s.get_mut().unwrap_or_else(PoisonError::into_inner).bytes());
        self.volume.bytes() + cells + scratch.sum::<usize>()
    }

    /// Both maps; the right one only `with_right`.
    pub(super) fn run(
        &mut self,
        level: SimdLevel,
        job: &Job<'_, L>,
        sweeps: &[Sweep],
        with_right: bool,
    ) -> Result<WinnerMaps, EngineError> {
        let (width, height) = job.luma.size();
        let range = job.range;
        let row_len = width * range.stride;
        let once = sweeps.len() == 1 && sweeps[0].passes.len() == 1; // nothing waits for anything
        let row_lens = |y: usize| match job.windows {
            _ if once => 0,
            None => row_len,
            Some(windows) => windows.row_len(y),
        };
        fit(&mut self.volume, (0..height).map(row_lens).sum(), (width, height), range)?;
        self.restart(level, sweeps, width, job);

        let mut maps = WinnerMaps::empty(width, height, job.params, with_right);
        let mut volume = &mut self.volume[..];
        let rows: Vec<_> = maps
            .rows()
            .into_iter()
            .enumerate()
            .map(|(y, map)| {
                let (of_row, rest) = std::mem::take(&mut volume).split_at_mut(row_lens(y));
                volume = rest;
                Turns::new(Row { volume: of_row, map })
            })
            .collect();
        let order = Mutex::new(Order { sweeps: sweeps.len(), height, taken: [0; 2] });
        rayon::broadcast(|thread| {
            let mut scratch = self.scratch[thread.index()].lock().unwrap_or_else(PoisonError::into_inner);
            let alone = thread.num_threads() % 2 == 1 && thread.index() + 1 == thread.num_threads();
            let own = (!alone).then_some(thread.index() % 2);
            loop {
                let mut order = order.lock().unwrap_or_else(PoisonError::into_inner);
                let Some((s, v)) = order.next(own) else { break };
                // in the order of the rows, so that each runner's number is its row
                let mut runners: Vec<Runner<'_, Cell<L>>> = self.cells[s].iter().map(Cells::enter).collect();
                drop(order);
                debug_assert!(runners.iter().all(|runner| runner.number() == v as u64));
                let (first, last) = order_of(s, v, height, sweeps.len());
                let y = if sweeps[s].down { v } else { height - 1 - v };
                let mut row = rows[y].take(u32::from(!first));
                let todo = (&sweeps[s], &mut runners[..]);
                on_level!(level, simd => visit(simd, job, todo, Visit { v, first, last }, &mut row, &mut scratch));
            }
        });
        drop(rows);
        Ok(maps)
    }

    /// Room for all that the sweeps keep, before their first rows.
    fn restart(&mut self, level: SimdLevel, sweeps: &[Sweep], width: usize, job: &Job<'_, L>) {
        let room = room(job.range, job.windows, level.bytes() / size_of::<L>());
        self.cells.resize_with(sweeps.len(), Vec::new);
        for (cells, sweep) in self.cells.iter_mut().zip(sweeps) {
            cells.resize_with(sweep.passes.len(), Cells::default);
            for (cells, pass) in cells.iter_mut().zip(&sweep.passes) {
                let pieces = if pass.courses.is_empty() { 0 } else { width.div_ceil(PIECE) };
                cells.restart(pieces).for_each(|cell| cell.restart(pass.courses.len(), room));
            }
        }
        self.scratch.resize_with(rayon::current_num_threads(), Mutex::default);
        for scratch in &mut self.scratch {
            scratch.get_mut().unwrap_or_else(PoisonError::into_inner).restart(width, job.range);
        }
    }
}

/// Whether sweep `s` is the first to come to its row `v`, and whether it is the last. Of two sweeps the first one goes down.
fn order_of(s: usize, v: usize, height: usize, sweeps: usize) -> (bool, bool) {
    let first = sweeps == 1 || v < if s == 0 { height / 2 } else { height - height / 2 };
    (first, sweeps == 1 || !first)
}

/// Which rows have been taken.
struct Order {
    sweeps: usize,
    height: usize,
    /// Rows of each sweep.
    taken: [usize; 2],
}

impl Order {
    /// The next row for a thread with its own sweep, or for one that helps where less is done. Whatever a row waits for
    /// has been taken before by a thread that is at work on it, so that no thread waits for ever.
    fn next(&mut self, own: Option<usize>) -> Option<(usize, usize)> {
        let behind = usize::from(self.taken[1] < self.taken[0]);
        let prefer = own.unwrap_or(behind).min(self.sweeps - 1);
        let s = [prefer, 1 - prefer].into_iter().find(|&s| s < self.sweeps && self.is_ready(s))?;
        self.taken[s] += 1;
        Some((s, self.taken[s] - 1))
    }

    fn is_ready(&self, s: usize) -> bool {
        let v = self.taken[s];
        if v == self.height {
            return false;
        }
        let (first, _) = order_of(s, v, self.height, self.sweeps);
        first || self.taken[1 - s] > self.height - 1 - v
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_taken_once_by_each_sweep_and_never_before_what_it_waits_for() {
        for (height, sweeps) in [(1, 1), (1, 2), (2, 2), (7, 2), (8, 2), (9, 1)] {
            for threads in [vec![None], vec![Some(0), Some(1)], vec![Some(1)], vec![Some(0), Some(1), None]] {
                let mut order = Order { sweeps, height, taken: [0; 2] };
                let mut visits = vec![0; height];
                for own in threads.iter().cycle() {
                    let Some((s, v)) = order.next(*own) else { break };
                    let (first, last) = order_of(s, v, height, sweeps);
                    let y = if s == 0 { v } else { height - 1 - v };
                    assert_eq!(first, visits[y] == 0, "row {v} of sweep {s} of {height}");
                    visits[y] += 1;
                    assert_eq!(last, visits[y] == sweeps);
                }
                assert_eq!(visits, vec![sweeps; height], "{threads:?}");
            }
        }
    }
}
