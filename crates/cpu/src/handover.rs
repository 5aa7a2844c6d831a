//! Exchange of tasks between two threads, so that no thread waits long for a slower one. The waiting thread takes over the task
//! that it waits for, and the slower thread goes on with the task behind it.

use super::wavefront::Pause;
use parking_lot::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// Exchange point between the thread of a task and the thread that waits for that task.
pub(super) struct Handover<T> {
    /// Number of polls by the waiting thread. A thread that the system has stopped does not poll, and receives no task.
    polls: AtomicU32,
    /// Task of the waiting thread, or the task given for it.
    task: Mutex<Option<T>>,
    is_given: AtomicBool,
}

impl<T> Default for Handover<T> {
    fn default() -> Self {
        Self { polls: AtomicU32::new(0), task: Mutex::new(None), is_given: AtomicBool::new(false) }
    }
}

impl<T> Handover<T> {
    pub(super) fn polls(&self) -> u32 {
        self.polls.load(Ordering::Relaxed)
    }

    #[inline]
    pub(super) fn is_asked(&self, polls: &mut u32) -> bool {
        self.polls() != std::mem::replace(polls, self.polls())
    }

    /// Gives `task` to the waiting thread and returns that thread's task; returns `task` itself if no thread waits any more.
    pub(super) fn give(&self, task: T) -> T {
        let place = self.task.try_lock().filter(|place| place.is_some() && !self.is_given.load(Ordering::Relaxed));
        let Some(mut place) = place else { return task };
        self.is_given.store(true, Ordering::Relaxed);
        place.replace(task).expect("the task of the thread that waits")
    }

    /// Offers `task`. Returns it once the wait `is_over`, or returns the task that another thread has given for it.
    pub(super) fn ask(&self, task: T, is_over: impl Fn() -> bool) -> T {
        if let Some(given) = self.task.lock().replace(task) {
            return given; // this thread gave it, and the receiver has not fetched it: that one gets its own task back
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
    fn keeps_a_task_for_which_no_thread_waits() {
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
                let mut got = handover.give(2 * round + 1);
                while got == 2 * round + 1 {
                    got = handover.give(got);
                }
                assert_eq!(got, 2 * round);
            }
        });
    }

    #[test]
    fn takes_back_a_task_that_nobody_fetched() {
        let (handover, stopped) = (Handover::default(), std::sync::Barrier::new(2));
        std::thread::scope(|scope| {
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
