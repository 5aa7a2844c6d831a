//! Exchange of tasks between two threads, so that no thread waits for a slower one: it takes over the task that it waits for, and
//! the slower thread goes on with the one behind it.

use super::wavefront::Pause;
use parking_lot::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// Meeting place of the thread of a task and the thread that waits for it.
pub(super) struct Handover<T> {
    /// Polls of the thread that waits. One that the system has stopped does not poll, and is given nothing.
    polls: AtomicU32,
    /// Task of the thread that waits, or the one that it has been given.
    task: Mutex<Option<T>>,
    /// Whether the thread that waits may fetch the task.
    is_given: AtomicBool,
}

impl<T> Default for Handover<T> {
    fn default() -> Self {
        Self { polls: AtomicU32::new(0), task: Mutex::new(None), is_given: AtomicBool::new(false) }
    }
}

impl<T> Handover<T> {
    /// Number of polls so far, for [`Self::is_asked`].
    pub(super) fn polls(&self) -> u32 {
        self.polls.load(Ordering::Relaxed)
    }

    /// Whether a thread has polled since the last call.
    #[inline]
    pub(super) fn is_asked(&self, polls: &mut u32) -> bool {
        self.polls() != std::mem::replace(polls, self.polls())
    }

    /// Gives `task` to the thread that waits and returns the task of that one. Returns `task` itself if no thread waits any more.
    pub(super) fn give(&self, task: T) -> T {
        let place = self.task.try_lock().filter(|place| place.is_some() && !self.is_given.load(Ordering::Relaxed));
        let Some(mut place) = place else { return task };
        self.is_given.store(true, Ordering::Relaxed);
        place.replace(task).expect("the task of the thread that waits")
    }

    /// Offers `task` until the wait `is_over`, and returns it, or until another one has been given for it, and returns that.
    pub(super) fn ask(&self, task: T, is_over: impl Fn() -> bool) -> T {
        if let Some(given) = self.task.lock().replace(task) {
            return given; // by this thread, to one that has not fetched it; that gets its own task back
        }
        let mut pause = Pause::default();
        while !self.is_given.load(Ordering::Relaxed) && !is_over() {
            self.polls.store(self.polls().wrapping_add(1), Ordering::Relaxed); // no other thread polls
            pause.rest();
        }
        let mut place = self.task.lock();
        self.is_given.store(false, Ordering::Relaxed);
        place.take().expect("the task that was offered, or the one that was given")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_for_which_no_thread_waits_stays() {
        let handover = Handover::default();
        let mut polls = handover.polls();
        assert!(!handover.is_asked(&mut polls));
        assert_eq!(handover.give(1), 1);
        assert_eq!(handover.ask(2, || true), 2);
        assert_eq!(handover.give(3), 3);
    }

    #[test]
    fn two_threads_exchange_their_tasks_and_none_is_lost() {
        let rounds = if cfg!(miri) { 20 } else { 2_000 };
        let handover = Handover::default();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for round in 0..rounds {
                    assert_eq!(handover.ask(2 * round, || false), 2 * round + 1);
                }
            });
            for round in 0..rounds {
                let mut polls = handover.polls();
                while !handover.is_asked(&mut polls) {
                    std::thread::yield_now();
                }
                // the last exchange may not have ended
                let mut got = handover.give(2 * round + 1);
                while got == 2 * round + 1 {
                    got = handover.give(got);
                }
                assert_eq!(got, 2 * round);
            }
        });
    }

    #[test]
    fn a_task_that_nobody_has_fetched_is_taken_back() {
        let (handover, stopped) = (Handover::default(), std::sync::Barrier::new(2));
        std::thread::scope(|scope| {
            // offers a task, and is then stopped until the other thread has taken its own back
            let waiting = scope.spawn(|| {
                handover.ask("behind", || {
                    stopped.wait();
                    true
                })
            });
            while handover.give("before") == "before" {
                std::thread::yield_now();
            }
            assert_eq!(handover.ask("behind", || false), "before");
            stopped.wait();
            assert_eq!(waiting.join().unwrap(), "behind");
        });
    }
}
