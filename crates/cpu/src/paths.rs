//! From costs to both maps: two sweeps over the rows, on all threads.
//!
//! Each sweep processes each row once. The first sweep over a row stores the sums of its directions in the volume; the second adds
//! its own and chooses the winners at once. The sweeps begin at the top and at the bottom, meet in the middle and finish each other's
//! half, so that every sum is written once and read once.
//!
//! Threads take rows one after the other, of the sweep in which they began if possible. The rows of a sweep form a wavefront
//! ([`super::wavefront`]): a row may proceed to each block that the row before has finished. Any number of threads can share a
//! sweep, and the order of the sums never depends on them. A thread that catches up with a slower one exchanges rows with it
//! ([`super::handover`]).

use super::aligned::AlignedArray;
use super::handover::Handover;
use super::input::BLOCK;
use super::lane::{Increment, Lane};
use super::maps::WinnerMaps;
use super::scan::Sweep;
use super::simd::{SimdLevel, on_level};
use super::sweep::{PathStates, Row, RowTask, Scratch, SweepInput, room};
use super::wavefront::SequencedCell;
use parking_lot::Mutex;
use stereopsis_frame::engine::EngineError;

/// Buffers, kept from pair to pair.
#[derive(Default)]
pub(super) struct Workspace<L, E> {
    volume: AlignedArray<E>,
    states: Vec<Vec<PathStates<L>>>,
    /// Buffers for each thread; they go with their row where rows are exchanged.
    scratch: Vec<Scratch<L, E>>,
}

impl<L: Lane, E: Increment<L>> Workspace<L, E> {
    pub(super) fn bytes(&mut self) -> usize {
        let states =
            self.states.iter_mut().flatten().flat_map(PathStates::values).map(|state| state.bytes()).sum::<usize>();
        self.volume.bytes() + states + self.scratch.iter().map(Scratch::bytes).sum::<usize>()
    }

    pub(super) fn volume_bytes(&self) -> usize {
        self.volume.bytes()
    }

    pub(super) fn run(
        &mut self,
        level: SimdLevel,
        input: &SweepInput<'_>,
        sweeps: &[Sweep],
        with_right: bool,
    ) -> Result<WinnerMaps, EngineError> {
        let (width, height) = input.luma.size();
        let range = input.range;
        let row_len = width * range.stride;
        let once = sweeps.len() == 1; // no sums wait for another sweep
        let row_lens = |y: usize| match input.windows {
            _ if once => 0,
            None => row_len,
            Some(windows) => windows.row_len(y),
        };
        let len = (0..height).map(row_lens).sum();
        self.volume.resize_volume(len, (width, height), range, input.windows.is_none())?;
        self.restart(level, sweeps, width, input);

        let mut maps = WinnerMaps::empty(width, height, input.params, with_right);
        let mut volume = &mut self.volume[..];
        let rows: Vec<_> = maps
            .rows()
            .into_iter()
            .enumerate()
            .map(|(y, map)| {
                let (of_row, rest) = std::mem::take(&mut volume).split_at_mut(row_lens(y));
                volume = rest;
                SequencedCell::new(Row { volume: of_row, map })
            })
            .collect();
        let scheduler = Mutex::new(RowScheduler { sweeps: sweeps.len(), height, taken: [0; 2] });
        let scratch = Mutex::new(self.scratch.iter_mut().collect::<Vec<_>>());
        // one between each row of a sweep and the next
        let handovers: Vec<Vec<Handover<RowTask<'_, '_, L, E>>>> =
            sweeps.iter().map(|_| (0..height).map(|_| Handover::default()).collect()).collect();
        rayon::broadcast(|thread| {
            let mut scratch = scratch.lock().pop().expect("as many as threads");
            let alone = thread.num_threads() % 2 == 1 && thread.index() + 1 == thread.num_threads();
            let own = (!alone).then_some(thread.index() % 2);
            loop {
                let mut scheduler = scheduler.lock();
                let Some((s, v)) = scheduler.next(own) else { break };
                // under the lock of the scheduler, so that each cursor has the number of its row
                let cursors: Vec<_> = self.states[s].iter().map(PathStates::start_row).collect();
                drop(scheduler);
                debug_assert!(cursors.iter().all(|cursor| cursor.row() == v as u64));
                let (first, last) = order_of(s, v, height, sweeps.len());
                let row = rows[sweeps[s].y(v, height)].take(u32::from(!first));
                let mut task = RowTask { sweep: &sweeps[s], v, first, last, cursors, row, scratch, place: (0, 0) };
                loop {
                    let next = &handovers[s][task.v];
                    let mut polls = next.polls();
                    if on_level!(level, simd => task.proceed(simd, input, || next.is_asked(&mut polls))) {
                        break;
                    }
                    let is_over = task.end_of_wait();
                    task = if is_over() { next.give(task) } else { handovers[s][task.v - 1].ask(task, is_over) };
                }
                scratch = task.scratch;
            }
        });
        drop(handovers);
        drop(rows);
        Ok(maps)
    }

    fn restart(&mut self, level: SimdLevel, sweeps: &[Sweep], width: usize, input: &SweepInput<'_>) {
        let room = room(input.range, input.windows, level.bytes() / size_of::<L>());
        self.states.resize_with(sweeps.len(), Vec::new);
        for (states, sweep) in self.states.iter_mut().zip(sweeps) {
            states.resize_with(sweep.passes.len(), PathStates::default);
            for (states, pass) in states.iter_mut().zip(&sweep.passes) {
                let blocks = if pass.directions.is_empty() { 0 } else { width.div_ceil(BLOCK) };
                states.restart(blocks).for_each(|state| state.restart(pass.directions.len(), room));
            }
        }
        self.scratch.resize_with(rayon::current_num_threads(), Scratch::default);
        self.scratch.iter_mut().for_each(|scratch| scratch.restart(input));
    }
}

/// Returns whether sweep `s` is the first to process its row `v`, and whether it is the last. Of two sweeps the first one goes down.
fn order_of(s: usize, v: usize, height: usize, sweeps: usize) -> (bool, bool) {
    let first = sweeps == 1 || v < if s == 0 { height / 2 } else { height - height / 2 };
    (first, sweeps == 1 || !first)
}

struct RowScheduler {
    sweeps: usize,
    height: usize,
    /// Number of rows of each sweep that have been taken.
    taken: [usize; 2],
}

impl RowScheduler {
    /// Returns the next row for a thread with its own sweep, or for one that helps the slower sweep. All rows that a row depends on
    /// were taken before, by threads that work on them, so that no thread waits for ever.
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
    fn each_sweep_takes_every_row_once_after_its_dependencies() {
        for (height, sweeps) in [(1, 1), (1, 2), (2, 2), (7, 2), (8, 2), (9, 1)] {
            for threads in [vec![None], vec![Some(0), Some(1)], vec![Some(1)], vec![Some(0), Some(1), None]] {
                let mut scheduler = RowScheduler { sweeps, height, taken: [0; 2] };
                let mut visits = vec![0; height];
                for own in threads.iter().cycle() {
                    let Some((s, v)) = scheduler.next(*own) else { break };
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
