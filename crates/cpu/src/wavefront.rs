//! Shared mutable memory of the engine, without locks: [`SequencedCell`] for one value that threads access in a fixed order, and
//! [`Wavefront`] for the blocks of a row, which the threads of successive rows pass through one behind the other.
//!
//! Proof: each value has a progress counter, the number of the next access. A thread touches a value only after it has read its own
//! number there (which acquires the writes that the last access released) and until it writes the next number. No two threads have
//! the same number at once. Counters only grow, and no access has the number [`LOCKED`] or [`POISONED`]. Threads may hand a guard or
//! a cursor to each other, if the means of doing so orders the accesses before and after.
//!
//! After a panic of a thread the later threads panic too instead of waiting for ever. They wait for ever only if a thread forgets its
//! guard or cursor ([`std::mem::forget`]).

#![allow(unsafe_code, reason = "values shared between threads; see the proof above and at each place")]

use std::cell::UnsafeCell;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Mark of a value that a thread holds. It is above all numbers: accesses have 32 bits, and rows are fewer.
const LOCKED: u64 = u64::MAX;
/// Mark of a value whose holder panicked: there are no further accesses.
const POISONED: u64 = u64::MAX - 1;
/// Number of polls before a waiting thread yields: about as long as one or two blocks take. Where threads share a core, it may wait
/// for the thread that it keeps from running.
const SPINS: usize = 64;
/// Number of yields before a waiting thread sleeps.
const YIELDS: usize = 32;
/// Time of a sleep: about as long as a row takes. The system moves a thread that it has stopped, for another program or stage, to a core
/// without work, and a core whose thread only yields is never without.
const NAP: Duration = Duration::from_micros(50);

#[derive(Default)]
pub(super) struct Pause {
    polls: usize,
}

impl Pause {
    #[inline]
    pub(super) fn rest(&mut self) {
        self.polls += 1;
        if self.polls < SPINS {
            std::hint::spin_loop();
        } else if self.polls < SPINS + YIELDS {
            std::thread::yield_now();
        } else {
            std::thread::sleep(NAP);
        }
    }
}

struct ProgressCell<T> {
    progress: AtomicU64,
    value: UnsafeCell<T>,
}

impl<T> ProgressCell<T> {
    fn new(value: T) -> Self {
        Self { progress: AtomicU64::new(0), value: UnsafeCell::new(value) }
    }
}

pub(super) struct SequencedCell<T>(ProgressCell<T>);

// SAFETY: threads get the value one at a time, see above.
unsafe impl<T: Send + Sync> Sync for SequencedCell<T> {}

impl<T> SequencedCell<T> {
    pub(super) fn new(value: T) -> Self {
        Self(ProgressCell::new(value))
    }

    /// Starts access number `access` to the value, after all earlier accesses have ended.
    ///
    /// # Panics
    /// An earlier access has panicked, or this one has taken place before.
    pub(super) fn take(&self, access: u32) -> SequencedGuard<'_, T> {
        let progress = &self.0.progress;
        let number = u64::from(access);
        let mut pause = Pause::default();
        // the exchange succeeds for only one of several with the same number
        while let Err(next) = progress.compare_exchange(number, LOCKED, Ordering::Acquire, Ordering::Relaxed) {
            match next {
                POISONED => panic!("another thread of this pair panicked"),
                LOCKED => {}
                _ => assert!(next <= number, "access {access} is over: {next} is the next one"),
            }
            pause.rest();
        }
        SequencedGuard { value: self, next: number + 1 }
    }
}

/// Access to a [`SequencedCell`]; it ends when the guard is dropped.
pub(super) struct SequencedGuard<'a, T> {
    value: &'a SequencedCell<T>,
    next: u64,
}

impl<T> Deref for SequencedGuard<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        // SAFETY: only the exchange in `take` makes a `SequencedGuard`, and it has put LOCKED, which is the number of no access,
        // in place of this one's. Until `self` is dropped no other exchange succeeds, so no other thread has a reference.
        unsafe { &*self.value.0.value.get() }
    }
}

impl<T> DerefMut for SequencedGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as above, and `self` is borrowed exclusively.
        unsafe { &mut *self.value.0.value.get() }
    }
}

impl<T> Drop for SequencedGuard<'_, T> {
    fn drop(&mut self) {
        let next = if std::thread::panicking() { POISONED } else { self.next };
        self.value.0.progress.store(next, Ordering::Release);
    }
}

/// Values of the blocks of a row. The cursors of successive rows pass through them one behind the other: each holds one value, reads
/// the one after it, and then releases its value to the cursor of the next row.
pub(super) struct Wavefront<T> {
    values: Vec<ProgressCell<T>>,
    rows_started: AtomicU64,
    /// First row whose cursor was dropped early: no later row passes it. Above all rows while there is none.
    aborted_row: AtomicU64,
}

// SAFETY: a value belongs to one cursor at a time, see above.
unsafe impl<T: Send + Sync> Sync for Wavefront<T> {}

impl<T> Default for Wavefront<T> {
    fn default() -> Self {
        Self { values: Vec::new(), rows_started: AtomicU64::new(0), aborted_row: AtomicU64::new(u64::MAX) }
    }
}

impl<T: Default> Wavefront<T> {
    /// Creates `len` values, before the first row.
    pub(super) fn restart(&mut self, len: usize) -> impl Iterator<Item = &mut T> {
        self.values.resize_with(len, || ProgressCell::new(T::default()));
        *self.rows_started.get_mut() = 0;
        *self.aborted_row.get_mut() = u64::MAX;
        for cell in &mut self.values {
            *cell.progress.get_mut() = 0;
        }
        self.values()
    }

    /// Returns all values, borrowed exclusively.
    pub(super) fn values(&mut self) -> impl Iterator<Item = &mut T> {
        self.values.iter_mut().map(|cell| cell.value.get_mut())
    }
}

impl<T> Wavefront<T> {
    /// Whether the row before has released value `next` and the one after it, as far as these exist.
    #[inline]
    fn is_released(&self, next: usize, row: u64) -> bool {
        // rows release values in their order
        let last = self.values[next..].iter().take(2).next_back();
        last.is_none_or(|last| last.progress.load(Ordering::Acquire) == row)
    }

    /// Whether an earlier row was dropped early.
    #[inline]
    fn is_stopped(&self, row: u64) -> bool {
        self.aborted_row.load(Ordering::Relaxed) < row
    }

    /// Returns the cursor of the next row. It has to pass through all values: one that is dropped before stops all later rows.
    pub(super) fn start_row(&self) -> RowCursor<'_, T> {
        RowCursor { wavefront: self, row: self.rows_started.fetch_add(1, Ordering::Relaxed), next: 0, holds: false }
    }
}

/// Row on its way through a [`Wavefront`].
pub(super) struct RowCursor<'a, T> {
    wavefront: &'a Wavefront<T>,
    /// Number of the row, unique: the counter hands out each number once, and 64 bits do not overflow.
    row: u64,
    next: usize,
    /// Whether this cursor still holds the value before `next`.
    holds: bool,
}

impl<'a, T> RowCursor<'a, T> {
    /// Returns the number of the row, counted from 0 in the order of the sweep.
    pub(super) fn row(&self) -> u64 {
        self.row
    }

    /// Releases the value, and returns whether the next one can be taken; `true` behind the last value.
    ///
    /// # Panics
    /// An earlier row was dropped early.
    #[inline]
    pub(super) fn is_ready(&mut self) -> bool {
        if self.holds {
            self.wavefront.values[self.next - 1].progress.store(self.row + 1, Ordering::Release);
            self.holds = false;
        }
        let is_ready = self.wavefront.is_released(self.next, self.row);
        assert!(
            is_ready || !self.wavefront.is_stopped(self.row),
            "another thread of this pair panicked, or left its row unfinished"
        );
        is_ready
    }

    /// Returns a test for a thread that has lent its cursor: whether its wait is over, because the next value is free or because an
    /// earlier row was dropped early.
    pub(super) fn end_of_wait(&self) -> impl Fn() -> bool + use<'a, T> {
        let (wavefront, next, row) = (self.wavefront, self.next, self.row);
        move || wavefront.is_released(next, row) || wavefront.is_stopped(row)
    }

    /// Releases the value and takes the next one, with a view of the one after it, after the row before has released both. `None` behind
    /// the last value.
    ///
    /// # Panics
    /// An earlier row was dropped early.
    #[inline]
    pub(super) fn advance(&mut self) -> Option<(&mut T, Option<&T>)> {
        let mut pause = Pause::default();
        while !self.is_ready() {
            pause.rest();
        }
        let values = &self.wavefront.values;
        let value = values.get(self.next)?;
        let after = values.get(self.next + 1);
        self.next += 1;
        self.holds = true;
        // SAFETY: both have this row's number: `is_released` has read it from the later one, and the row before released the other
        // one earlier. No other cursor has it, and this one writes the next number only in the next call, for which the references
        // must be gone: `self` stays borrowed while they live.
        Some(unsafe { (&mut *value.value.get(), after.map(|after| &*after.value.get())) })
    }
}

impl<T> Drop for RowCursor<'_, T> {
    /// Stops the later rows, which would wait for ever, if the cursor is dropped early. The values stay as they are: rows ahead hold some
    /// of them.
    fn drop(&mut self) {
        if self.holds || self.next < self.wavefront.values.len() {
            self.wavefront.aborted_row.fetch_min(self.row, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::mpsc::sync_channel;

    /// Fails instead of waiting for ever.
    fn ends(test: impl FnOnce() + Send + 'static) {
        let (sender, receiver) = sync_channel(1);
        let thread = std::thread::Builder::new().spawn(move || {
            let result = catch_unwind(AssertUnwindSafe(test));
            sender.send(result).expect("a receiver");
        });
        let result = receiver.recv_timeout(Duration::from_secs(20)).expect("an end of the wait");
        thread.unwrap().join().unwrap();
        result.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    }

    fn panic_text<T>(call: impl FnOnce() -> T) -> String {
        let panic = catch_unwind(AssertUnwindSafe(|| drop(call()))).expect_err("a panic");
        let text = panic.downcast_ref::<String>().cloned();
        text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned())).unwrap()
    }

    fn wavefront(len: usize) -> Wavefront<u64> {
        let mut wavefront = Wavefront::default();
        assert_eq!(wavefront.restart(len).count(), len);
        wavefront
    }

    /// Changes the values in each row in a way that shows if a row overtook another one or saw half of its changes.
    #[test]
    fn rows_follow_each_other_and_see_the_changes_of_the_row_before() {
        let times = if cfg!(miri) { 5 } else { 50 };
        let mut wavefront = Wavefront::<u64>::default();
        for len in [1, 2, 7] {
            assert_eq!(wavefront.restart(len).count(), len);
            wavefront.values().for_each(|value| *value = 1);
            let shared = &wavefront;
            std::thread::scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(|| {
                        for _ in 0..times {
                            let mut cursor = shared.start_row();
                            let row = cursor.row();
                            while let Some((value, after)) = cursor.advance() {
                                assert!(after.is_none_or(|after| *after == *value));
                                *value = value.wrapping_mul(31).wrapping_add(row);
                            }
                        }
                    });
                }
            });
            let expected = (0..4 * times).fold(1_u64, |value, row| value.wrapping_mul(31).wrapping_add(row));
            assert!(wavefront.values().all(|value| *value == expected));
        }
    }

    #[test]
    fn accesses_come_in_order_and_a_panic_reaches_waiting_threads() {
        let value = SequencedCell::new(Vec::new());
        std::thread::scope(|scope| {
            for access in [3, 1, 0, 2] {
                let value = &value;
                scope.spawn(move || value.take(access).push(access));
            }
        });
        assert_eq!(*value.take(4), [0, 1, 2, 3]);
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            let _held = value.take(5);
            panic!("on purpose");
        }));
        assert!(panicked.is_err());
        assert!(panic_text(|| value.take(6)).contains("panicked"));
    }

    #[test]
    fn each_access_number_is_granted_once() {
        ends(|| {
            let value = SequencedCell::new(0);
            value.0.progress.store(u32::MAX.into(), Ordering::Relaxed);
            let held = value.take(u32::MAX);
            let now = value.0.progress.load(Ordering::Relaxed);
            assert!(u32::try_from(now).is_err(), "{now} could be taken again");
            drop(held);
            let text = panic_text(|| value.take(u32::MAX));
            assert!(text.contains("access 4294967295 is over"), "{text}");
        });
    }

    #[test]
    fn rows_behind_a_dropped_cursor_panic_and_rows_ahead_go_on() {
        ends(|| {
            for (len, steps) in [(1, 0), (3, 0), (3, 1), (3, 2), (3, 3)] {
                let wavefront = wavefront(len);
                let (mut ahead, mut dropped, mut behind) =
                    (wavefront.start_row(), wavefront.start_row(), wavefront.start_row());
                assert!(ahead.advance().is_some());
                while steps > 0 && ahead.advance().is_some() {}
                for _ in 0..steps {
                    *dropped.advance().unwrap().0 += 1;
                }
                drop(dropped);
                let left = std::iter::from_fn(|| ahead.advance().map(|_| ())).count();
                assert_eq!(left, if steps == 0 { len - 1 } else { 0 }, "the row ahead keeps its values");
                // released values can be taken: all before the held one and its neighbour
                for _ in 2..steps {
                    assert!(behind.advance().is_some());
                }
                assert!(behind.end_of_wait()(), "a thread that has lent its cursor does not wait for ever");
                let text = panic_text(|| behind.advance().is_some());
                assert!(text.contains("left its row unfinished"), "{text}");
                // once more, after a panic that was caught
                assert!(panic_text(|| behind.advance().is_some()).contains("unfinished"));
            }
        });
    }

    #[test]
    fn behind_the_last_value_advance_gives_none_repeatedly() {
        ends(|| {
            for len in 0..3 {
                let wavefront = wavefront(len);
                let (mut first, mut second) = (wavefront.start_row(), wavefront.start_row());
                for cursor in [&mut first, &mut second] {
                    for _ in 0..len {
                        *cursor.advance().unwrap().0 += 1;
                    }
                    assert!((0..3).all(|_| cursor.advance().is_none()));
                }
                drop((first, second));
                let mut third = wavefront.start_row();
                assert_eq!(
                    std::iter::from_fn(|| third.advance().map(|(value, _)| *value)).sum::<u64>(),
                    2 * len as u64
                );
            }
        });
    }

    #[test]
    fn restart_needs_no_access_to_values() {
        ends(|| {
            let mut wavefront = wavefront(2);
            drop((wavefront.start_row(), wavefront.start_row()));
            let _ = wavefront.restart(2);
            let mut cursor = wavefront.start_row();
            assert!(cursor.advance().is_some() && cursor.advance().is_some() && cursor.advance().is_none());
        });
    }
}
