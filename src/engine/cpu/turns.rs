//! Values that threads hand on in a fixed order, without locks: [`Turns`] for one value, [`Track`] for a row of them along
//! which one thread follows another.
//!
//! The only shared mutable memory of the engine. Each value has the number of the turn that may come next. A thread
//! touches a value only from the moment at which it has read its own number there (which acquires what the last one
//! released) until it writes the next number; and no two threads have the same number.

#![allow(unsafe_code, reason = "values shared between threads; see the proof above and at each place")]

use std::cell::UnsafeCell;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicUsize, Ordering};

const TAKEN: usize = usize::MAX;
/// A holder panicked: nobody gets a turn any more.
const SPOILT: usize = usize::MAX - 1;
/// Looks before a waiting thread lets others run.
const PATIENCE: usize = 2_000;

/// A value with the number of the next turn.
struct Numbered<T> {
    turn: AtomicUsize,
    value: UnsafeCell<T>,
}

impl<T> Numbered<T> {
    fn new(value: T) -> Self {
        Self { turn: AtomicUsize::new(0), value: UnsafeCell::new(value) }
    }

    /// Waits for a turn.
    #[inline]
    fn wait(&self, came: impl Fn(&AtomicUsize) -> bool) {
        let mut looks = 0;
        while !came(&self.turn) {
            assert!(self.turn.load(Ordering::Relaxed) != SPOILT, "another thread of this pair panicked");
            looks += 1;
            if looks < PATIENCE {
                std::hint::spin_loop();
            } else {
                std::thread::yield_now();
            }
        }
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
    /// A holder before has panicked.
    pub(super) fn take(&self, turn: usize) -> Held<'_, T> {
        // the exchange lets one of several with the same number through
        self.0.wait(|now| now.compare_exchange(turn, TAKEN, Ordering::Acquire, Ordering::Relaxed).is_ok());
        Held { value: &self.0, turn }
    }
}

/// A value while it is somebody's turn; dropped, it goes on to the next.
pub(super) struct Held<'a, T> {
    value: &'a Numbered<T>,
    turn: usize,
}

impl<T> Deref for Held<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        // SAFETY: `turn` is TAKEN by this `Held`, so nobody else has a reference.
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
        let next = if std::thread::panicking() { SPOILT } else { self.turn + 1 };
        self.value.turn.store(next, Ordering::Release);
    }
}

/// Values along which runners go, one behind the other: each has a value and a look at the one after it, and leaves it
/// to the next runner.
#[derive(Default)]
pub(super) struct Track<T> {
    values: Vec<Numbered<T>>,
    runners: AtomicUsize,
}

// SAFETY: a value belongs to one runner at a time, see above.
unsafe impl<T: Send + Sync> Sync for Track<T> {}

impl<T: Default> Track<T> {
    /// So many values, and the first runner to come.
    pub(super) fn restart(&mut self, len: usize) -> impl Iterator<Item = &mut T> {
        self.values.resize_with(len, || Numbered::new(T::default()));
        *self.runners.get_mut() = 0;
        self.values.iter_mut().map(|numbered| {
            *numbered.turn.get_mut() = 0;
            numbered.value.get_mut()
        })
    }

    /// All values, which nobody else can have.
    pub(super) fn values(&mut self) -> impl Iterator<Item = &mut T> {
        self.values.iter_mut().map(|numbered| numbered.value.get_mut())
    }

    /// The next runner.
    pub(super) fn enter(&self) -> Runner<'_, T> {
        Runner { track: self, number: self.runners.fetch_add(1, Ordering::Relaxed), at: 0, entered: false }
    }
}

/// Somebody on a [`Track`].
pub(super) struct Runner<'a, T> {
    track: &'a Track<T>,
    /// The only one with this number, since the counter hands it out once.
    number: usize,
    at: usize,
    /// Whether the value at `at` belongs to this runner.
    entered: bool,
}

impl<T> Runner<'_, T> {
    /// How many have gone before.
    pub(super) fn number(&self) -> usize {
        self.number
    }

    /// The next value and the one after it; waits until the runner before has left both. The value before is left.
    ///
    /// # Panics
    /// A runner before has panicked.
    #[inline]
    pub(super) fn step(&mut self) -> Option<(&mut T, Option<&T>)> {
        let values = &self.track.values;
        let come = |turn: &AtomicUsize| turn.load(Ordering::Acquire) == self.number;
        if self.entered {
            values[self.at].turn.store(self.number + 1, Ordering::Release);
            self.at += 1;
        } else if let Some(first) = values.first() {
            first.wait(come);
        }
        self.entered = self.at < values.len();
        let value = values.get(self.at)?;
        let after = values.get(self.at + 1);
        if let Some(after) = after {
            after.wait(come);
        }
        // SAFETY: both have this runner's number: the first since the step before or since the start, the second since
        // just now. No other runner has it, and `self` stays borrowed while the references live.
        Some(unsafe { (&mut *value.value.get(), after.map(|after| &*after.value.get())) })
    }
}

impl<T> Drop for Runner<'_, T> {
    /// Who gives up on the way spoils it for those behind, who would wait for ever.
    fn drop(&mut self) {
        for value in self.track.values.get(self.at..).unwrap_or_default() {
            value.turn.store(SPOILT, Ordering::Release);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    /// Runners add to what they find, in an order that shows if one had overtaken another or seen half of it.
    #[test]
    fn runners_follow_each_other_and_see_what_the_one_before_left() {
        let mut track = Track::<u64>::default();
        for len in [1, 2, 7] {
            assert_eq!(track.restart(len).count(), len);
            track.values().for_each(|value| *value = 1);
            let track = &track;
            std::thread::scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(|| {
                        for _ in 0..50 {
                            let mut runner = track.enter();
                            let number = runner.number() as u64;
                            while let Some((value, after)) = runner.step() {
                                assert!(after.is_none_or(|after| *after == *value));
                                *value = value.wrapping_mul(31).wrapping_add(number);
                            }
                        }
                    });
                }
            });
            let expected = (0..200).fold(1_u64, |value, number| value.wrapping_mul(31).wrapping_add(number));
            assert!(track.values.iter().all(|value| unsafe { *value.value.get() } == expected));
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
        assert!(catch_unwind(AssertUnwindSafe(|| drop(turns.take(6)))).is_err());

        let mut track = Track::<u8>::default();
        assert_eq!(track.restart(3).count(), 3);
        drop(track.enter());
        assert!(catch_unwind(AssertUnwindSafe(|| track.enter().step().is_some())).is_err());
    }
}
