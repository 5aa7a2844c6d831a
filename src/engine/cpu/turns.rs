//! Values that threads hand on in a fixed order, without locks: whoever's turn it is has the value to himself.
//!
//! The only unsafe code of the engine. Its proof: the value is touched only through a [`Held`], a `Held` exists only
//! while `turn` is `TAKEN`, and the step from a number to `TAKEN` is one compare-and-exchange, which only one thread can
//! win. The exchange acquires what the last holder's drop released.

#![allow(unsafe_code, reason = "a cell shared between threads; see the proof above")]

use std::cell::UnsafeCell;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicUsize, Ordering};

const TAKEN: usize = usize::MAX;
/// A holder panicked: nobody gets a turn any more.
const SPOILT: usize = usize::MAX - 1;
/// Looks before a waiting thread lets others run.
const PATIENCE: usize = 2_000;

/// A value that belongs to one thread after another.
pub(super) struct Turns<T> {
    turn: AtomicUsize,
    value: UnsafeCell<T>,
}

// SAFETY: threads get the value one at a time (see above), so it only has to be movable between them.
unsafe impl<T: Send + Sync> Sync for Turns<T> {}

impl<T> Turns<T> {
    pub(super) fn new(value: T) -> Self {
        Self { turn: AtomicUsize::new(0), value: UnsafeCell::new(value) }
    }

    /// The value, which nobody else can have.
    pub(super) fn get(&mut self) -> &mut T {
        self.value.get_mut()
    }

    /// The value, with turn 0 to come.
    pub(super) fn restart(&mut self) -> &mut T {
        *self.turn.get_mut() = 0;
        self.value.get_mut()
    }

    /// The value at its turn number `turn`; waits until the turns before have been taken and given back.
    ///
    /// # Panics
    /// A holder before has panicked.
    #[inline]
    pub(super) fn take(&self, turn: usize) -> Held<'_, T> {
        let mut looks = 0;
        while self.turn.compare_exchange_weak(turn, TAKEN, Ordering::Acquire, Ordering::Relaxed).is_err() {
            assert!(self.turn.load(Ordering::Relaxed) != SPOILT, "another thread of this pair panicked");
            looks += 1;
            if looks < PATIENCE {
                std::hint::spin_loop();
            } else {
                std::thread::yield_now();
            }
        }
        Held { turns: self, turn }
    }
}

/// A value while it is somebody's turn; dropped, it goes on to the next.
pub(super) struct Held<'a, T> {
    turns: &'a Turns<T>,
    turn: usize,
}

impl<T> Deref for Held<'_, T> {
    type Target = T;
    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: `turn` is TAKEN by this `Held`, so nobody else has a reference.
        unsafe { &*self.turns.value.get() }
    }
}

impl<T> DerefMut for Held<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as above, and `self` is borrowed alone.
        unsafe { &mut *self.turns.value.get() }
    }
}

impl<T> Drop for Held<'_, T> {
    #[inline]
    fn drop(&mut self) {
        let next = if std::thread::panicking() { SPOILT } else { self.turn + 1 };
        self.turns.turn.store(next, Ordering::Release);
    }
}
