//! Exchange of tasks between two threads, so that no thread waits for a slower one: it takes over the task that it waits for, and
//! the slower thread goes on with the one behind it.

use super::wavefront::Pause;
use parking_lot::{Mutex, MutexGuard};
use std::sync::atomic::{AtomicBool, Ordering};

/// Meeting place of the thread of a task and the thread that waits for it.
pub(super) struct Handover<T> {
    /// Whether a task lies here whose thread waits. Changes only under the lock.
    asked: AtomicBool,
    /// The task of the thread that waits, or the one that it gets instead.
    task: Mutex<Option<T>>,
}

impl<T> Default for Handover<T> {
    fn default() -> Self {
        Self { asked: AtomicBool::new(false), task: Mutex::new(None) }
    }
}

impl<T> Handover<T> {
    /// Whether a thread waits to take the task over.
    #[inline]
    pub(super) fn is_asked(&self) -> bool {
        self.asked.load(Ordering::Relaxed)
    }

    /// Gives the task to the thread that waits and returns the task of that one; without such a thread, returns the task itself.
    pub(super) fn give(&self, task: T) -> T {
        let mut place = self.task.lock();
        if !self.is_asked() {
            return task;
        }
        self.asked.store(false, Ordering::Relaxed);
        place.replace(task).expect("the task of the thread that waits")
    }

    /// Offers `task` until it `is_ready`, and returns it, or until it has been exchanged, and returns the other one.
    pub(super) fn ask(&self, task: T, mut is_ready: impl FnMut(&mut T) -> bool) -> T {
        let mut pause = Pause::default();
        let mut place = self.task.lock();
        self.asked.store(true, Ordering::Relaxed);
        if let Some(given) = place.replace(task) {
            return given; // the thread that this task was given to has not come for it
        }
        while self.is_asked() && !place.as_mut().is_some_and(&mut is_ready) {
            MutexGuard::unlocked(&mut place, || pause.rest());
        }
        self.asked.store(false, Ordering::Relaxed);
        place.take().expect("a task")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_that_is_not_asked_for_stays() {
        let handover = Handover::default();
        assert_eq!(handover.give(1), 1);
        assert_eq!(handover.ask(2, |_| true), 2);
        assert!(!handover.is_asked());
        assert_eq!(handover.give(3), 3);
    }

    #[test]
    fn two_threads_exchange_their_tasks() {
        let rounds = if cfg!(miri) { 20 } else { 2_000 };
        let handover = Handover::default();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for round in 0..rounds {
                    assert_eq!(handover.ask(2 * round, |_| false), 2 * round + 1);
                }
            });
            for round in 0..rounds {
                while !handover.is_asked() {
                    std::thread::yield_now();
                }
                assert_eq!(handover.give(2 * round + 1), 2 * round);
            }
        });
    }
}
