//! Values that threads hand on in a fixed order, without locks: [`Turns`] for one value, [`Track`] for a row of them along
//! which one thread follows another.
//!
//! The only shared mutable memory of the engine. Each value has the number of the turn that may come next. A thread
//! touches a value only from the moment at which it has read its own number there (which acquires what the last one
//! released) until it writes the next number; and no two threads have the same number at once. Numbers only grow, and
//! none of them can be [`TAKEN`] or [`SPOILT`].
//!
//! Who panics stops those who come later: they panic too instead of waiting for ever. Only who forgets what it holds
//! ([`std::mem::forget`]) lets them wait.

#![allow(unsafe_code, reason = "values shared between threads; see the proof above and at each place")]

use std::cell::UnsafeCell;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicU64, Ordering};

/// Somebody has the value. Above all numbers: turns have 32 bits, and nobody counts runners up to here.
const TAKEN: u64 = u64::MAX;
/// A holder panicked: nobody gets a turn any more.
const SPOILT: u64 = u64::MAX - 1;
/// Looks before a waiting thread lets others run.
const PATIENCE: usize = 2_000;

/// Waits until `came`; looks in between whether there is a reason to give up, which panics.
#[inline]
fn wait(came: impl Fn() -> bool, look: impl Fn()) {
    let mut looks = 0;
    while !came() {
        look();
        looks += 1;
        if looks < PATIENCE {
            std::hint::spin_loop();
        } else {
            std::thread::yield_now();
        }
    }
}

/// A value with the number of the next turn.
struct Numbered<T> {
    turn: AtomicU64,
    value: UnsafeCell<T>,
}

impl<T> Numbered<T> {
    fn new(value: T) -> Self {
        Self { turn: AtomicU64::new(0), value: UnsafeCell::new(value) }
    }
}

/// A value that belongs to one thread after another.
pub(super) struct Turns<T>(Numbered<T>);

// SAFETY: threads get the value one at a time, see above.
unsafe impl<T: Send + Sync> Sync for Turns<T> {}

impl<T> Turns<T> {
    pub(super) fn new(value: T) -> Self {
        Self(Numbered::new(value))
    }

    /// The value at its turn number `turn`; waits until the turns before have been taken and given back.
    ///
    /// # Panics
    /// A holder before has panicked, or somebody else has had this turn.
    pub(super) fn take(&self, turn: u32) -> Held<'_, T> {
        let now = &self.0.turn;
        let number = u64::from(turn);
        wait(
            // the exchange lets one of several with the same number through
            || now.compare_exchange(number, TAKEN, Ordering::Acquire, Ordering::Relaxed).is_ok(),
            || match now.load(Ordering::Relaxed) {
                SPOILT => panic!("another thread of this pair panicked"),
                TAKEN => {}
                next => assert!(next <= number, "turn {turn} is over: {next} is the next one"),
            },
        );
        Held { value: &self.0, next: number + 1 }
    }
}

/// A value while it is somebody's turn; dropped, it goes on to the next.
pub(super) struct Held<'a, T> {
    value: &'a Numbered<T>,
    /// The number of the turn after this one.
    next: u64,
}

impl<T> Deref for Held<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        // SAFETY: only the exchange in `take` makes a `Held`, and it has put TAKEN, which is no turn's number, in place of
        // this turn's. Until `self` is dropped no other exchange succeeds, so nobody else has a reference.
        unsafe { &*self.value.value.get() }
    }
}

impl<T> DerefMut for Held<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as above, and `self` is borrowed alone.
        unsafe { &mut *self.value.value.get() }
    }
}

impl<T> Drop for Held<'_, T> {
    fn drop(&mut self) {
        let next = if std::thread::panicking() { SPOILT } else { self.next };
        self.value.turn.store(next, Ordering::Release);
    }
}

/// Values along which runners go, one behind the other: each has a value and a look at the one after it, and leaves it
/// to the next runner.
pub(super) struct Track<T> {
    values: Vec<Numbered<T>>,
    runners: AtomicU64,
    /// The first runner that gave up: nobody passes it. Above all numbers while there is none.
    given_up: AtomicU64,
}

// SAFETY: a value belongs to one runner at a time, see above.
unsafe impl<T: Send + Sync> Sync for Track<T> {}

impl<T> Default for Track<T> {
    fn default() -> Self {
        Self { values: Vec::new(), runners: AtomicU64::new(0), given_up: AtomicU64::new(u64::MAX) }
    }
}

impl<T: Default> Track<T> {
    /// So many values, and the first runner to come.
    pub(super) fn restart(&mut self, len: usize) -> impl Iterator<Item = &mut T> {
        self.values.resize_with(len, || Numbered::new(T::default()));
        *self.runners.get_mut() = 0;
        *self.given_up.get_mut() = u64::MAX;
        for numbered in &mut self.values {
            *numbered.turn.get_mut() = 0;
        }
        self.values()
    }

    /// All values, which nobody else can have.
    pub(super) fn values(&mut self) -> impl Iterator<Item = &mut T> {
        self.values.iter_mut().map(|numbered| numbered.value.get_mut())
    }

    /// The next runner. It has to go the whole way: one that is dropped before stops all behind it.
    pub(super) fn enter(&self) -> Runner<'_, T> {
        Runner { track: self, number: self.runners.fetch_add(1, Ordering::Relaxed), next: 0, holds: false }
    }
}

/// Somebody on a [`Track`].
pub(super) struct Runner<'a, T> {
    track: &'a Track<T>,
    /// The only one with this number: the counter hands it out once, and nobody counts to the end of 64 bits.
    number: u64,
    /// The value of the next step.
    next: usize,
    /// Whether the value before that is still this runner's.
    holds: bool,
}

impl<T> Runner<'_, T> {
    /// How many have gone before.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// The next value and the one after it; waits until the runner before has left both. The value before is left. Behind
    /// the last value there is nothing more, however often this is asked.
    ///
    /// # Panics
    /// A runner before has given up.
    #[inline]
    pub(super) fn step(&mut self) -> Option<(&mut T, Option<&T>)> {
        let values = &self.track.values;
        if self.holds {
            values[self.next - 1].turn.store(self.number + 1, Ordering::Release);
            self.holds = false;
        }
        let value = values.get(self.next)?;
        let after = values.get(self.next + 1);
        self.wait(value);
        if let Some(after) = after {
            self.wait(after);
        }
        self.next += 1;
        self.holds = true;
        // SAFETY: both have this runner's number, as it has just seen. No other runner has it, and this one writes the
        // next number only in the next step, for which the references must be gone: `self` stays borrowed while they live.
        Some(unsafe { (&mut *value.value.get(), after.map(|after| &*after.value.get())) })
    }

    #[inline]
    fn wait(&self, value: &Numbered<T>) {
        wait(
            || value.turn.load(Ordering::Acquire) == self.number,
            || {
                let given_up = self.track.given_up.load(Ordering::Relaxed);
                assert!(given_up >= self.number, "another thread of this pair panicked, or left its row unfinished");
            },
        );
    }
}

impl<T> Drop for Runner<'_, T> {
    /// Who gives up on the way, or before it, says so to those behind, who would wait for ever. The values stay as they
    /// are: some belong to runners ahead.
    fn drop(&mut self) {
        if self.holds || self.next < self.track.values.len() {
            self.track.given_up.fetch_min(self.number, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::mpsc::sync_channel;
    use std::time::Duration;

    /// Fails instead of waiting for ever.
    fn ends(what: impl FnOnce() + Send + 'static) {
        let (sender, receiver) = sync_channel(1);
        let thread = std::thread::Builder::new().spawn(move || {
            let result = catch_unwind(AssertUnwindSafe(what));
            sender.send(result).expect("whoever waits for it");
        });
        let result = receiver.recv_timeout(Duration::from_secs(20)).expect("it waits for ever");
        thread.unwrap().join().unwrap();
        result.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    }

    /// The words of a panic.
    fn refusal<T>(what: impl FnOnce() -> T) -> String {
        let panic = catch_unwind(AssertUnwindSafe(|| drop(what()))).expect_err("a panic");
        let text = panic.downcast_ref::<String>().cloned();
        text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned())).unwrap()
    }

    fn track(len: usize) -> Track<u64> {
        let mut track = Track::default();
        assert_eq!(track.restart(len).count(), len);
        track
    }

    /// Runners add to what they find, in an order that shows if one had overtaken another or seen half of it.
    #[test]
    fn runners_follow_each_other_and_see_what_the_one_before_left() {
        let times = if cfg!(miri) { 5 } else { 50 };
        let mut track = Track::<u64>::default();
        for len in [1, 2, 7] {
            assert_eq!(track.restart(len).count(), len);
            track.values().for_each(|value| *value = 1);
            let shared = &track;
            std::thread::scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(|| {
                        for _ in 0..times {
                            let mut runner = shared.enter();
                            let number = runner.number();
                            while let Some((value, after)) = runner.step() {
                                assert!(after.is_none_or(|after| *after == *value));
                                *value = value.wrapping_mul(31).wrapping_add(number);
                            }
                        }
                    });
                }
            });
            let expected = (0..4 * times).fold(1_u64, |value, number| value.wrapping_mul(31).wrapping_add(number));
            assert!(track.values().all(|value| *value == expected));
        }
    }

    #[test]
    fn turns_come_in_order_and_a_panic_reaches_those_who_wait() {
        let turns = Turns::new(Vec::new());
        std::thread::scope(|scope| {
            for turn in [3, 1, 0, 2] {
                let turns = &turns;
                scope.spawn(move || turns.take(turn).push(turn));
            }
        });
        assert_eq!(*turns.take(4), [0, 1, 2, 3]);
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            let _held = turns.take(5);
            panic!("on purpose");
        }));
        assert!(panicked.is_err());
        assert!(refusal(|| turns.take(6)).contains("panicked"));
    }

    #[test]
    fn no_number_stands_for_a_value_that_is_taken_and_a_turn_comes_once() {
        ends(|| {
            let turns = Turns::new(0);
            turns.0.turn.store(u32::MAX.into(), Ordering::Relaxed);
            let held = turns.take(u32::MAX);
            let now = turns.0.turn.load(Ordering::Relaxed);
            assert!(u32::try_from(now).is_err(), "{now} could be taken again");
            drop(held);
            let text = refusal(|| turns.take(u32::MAX));
            assert!(text.contains("turn 4294967295 is over"), "{text}");
        });
    }

    #[test]
    fn behind_a_runner_that_gives_up_nobody_waits_and_those_ahead_go_on() {
        ends(|| {
            for (len, steps) in [(1, 0), (3, 0), (3, 1), (3, 2), (3, 3)] {
                let track = track(len);
                let (mut ahead, mut gives_up, mut behind) = (track.enter(), track.enter(), track.enter());
                assert!(ahead.step().is_some());
                while steps > 0 && ahead.step().is_some() {}
                for _ in 0..steps {
                    *gives_up.step().unwrap().0 += 1;
                }
                drop(gives_up);
                let left = std::iter::from_fn(|| ahead.step().map(|_| ())).count();
                assert_eq!(left, if steps == 0 { len - 1 } else { 0 }, "nothing was taken from the one ahead");
                // what the runner has left may be had: all before the value that it held and the one beside that
                for _ in 2..steps {
                    assert!(behind.step().is_some());
                }
                let text = refusal(|| behind.step().is_some());
                assert!(text.contains("left its row unfinished"), "{text}");
                // once more, after a panic that was caught
                assert!(refusal(|| behind.step().is_some()).contains("unfinished"));
            }
        });
    }

    #[test]
    fn behind_the_last_value_there_is_nothing_however_often_it_is_asked() {
        ends(|| {
            for len in 0..3 {
                let track = track(len);
                let (mut first, mut second) = (track.enter(), track.enter());
                for runner in [&mut first, &mut second] {
                    for _ in 0..len {
                        *runner.step().unwrap().0 += 1;
                    }
                    assert!((0..3).all(|_| runner.step().is_none()));
                }
                drop((first, second));
                let mut third = track.enter();
                assert_eq!(std::iter::from_fn(|| third.step().map(|(value, _)| *value)).sum::<u64>(), 2 * len as u64);
            }
        });
    }

    #[test]
    fn a_track_begins_anew_whether_its_values_are_looked_at_or_not() {
        ends(|| {
            let mut track = track(2);
            drop((track.enter(), track.enter()));
            let _ = track.restart(2);
            let mut runner = track.enter();
            assert!(runner.step().is_some() && runner.step().is_some() && runner.step().is_none());
        });
    }
}
