//! Amount of work on the queue: enough that the device stays busy, and so little that a window on the same queue is not delayed.
//!
//! The queue runs submissions in order, never two at a time. A pair is one submission, transfers included, unless it takes longer than
//! [`SUBMISSION_MS`]. More submissions are slower: each costs the device a pause, and directions in different ones never run together.

use super::device::Gpu;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// Maximum time of a submission, ms: a window that draws 60 times a second waits for two of them and keeps its rate.
const SUBMISSION_MS: f64 = 6.0;
/// Minimum number of queued submissions, so that the device stays busy between calls.
const MIN_BACKLOG: usize = 2;
/// Shares of the limit that the work of [`SUBMISSION_MS`] may have; outside them the limit becomes the next power of two. Each change
/// divides dispatches anew.
const FITTING: std::ops::RangeInclusive<f64> = 0.4..=1.0;

/// Limits of submissions, adapted to the time that pairs take.
pub(super) struct Pace {
    max_work: u64,
    min_work: u64,
    is_fixed: bool,
    /// Whether a software adapter draws a window too. It computes within the call that submits, and the window gets its turn only while
    /// nothing is queued.
    yields: bool,
    backlog: Arc<Backlog>,
}

#[derive(Default)]
struct Backlog {
    count: AtomicUsize,
    work: AtomicU64,
    finished: AtomicU64,
}

impl Pace {
    /// Starts with the limit that suits the device, or with `fixed`, which stays.
    pub(super) fn new(gpu: &Gpu, fixed: Option<u64>) -> Self {
        let max_work = fixed.unwrap_or_else(|| gpu.initial_submission_work());
        let min_work = gpu.min_submission_work();
        Self { max_work, min_work, is_fixed: fixed.is_some(), yields: gpu.draws_by_software(), backlog: Arc::default() }
    }

    pub(super) fn max_work(&self) -> u64 {
        self.max_work
    }

    /// Whether a submission of this work may be queued.
    pub(super) fn has_room(&self, work: u64) -> bool {
        let Backlog { count, work: queued, .. } = &*self.backlog;
        let count = count.load(Ordering::Acquire);
        if self.yields {
            return count == 0;
        }
        count < MIN_BACKLOG || queued.load(Ordering::Acquire) + work <= 2 * self.max_work
    }

    /// Counts a submission of this work as queued until the returned function is called.
    pub(super) fn count(&self, work: u64) -> impl FnOnce() + Send + use<> {
        let backlog = Arc::clone(&self.backlog);
        backlog.count.fetch_add(1, Ordering::AcqRel);
        backlog.work.fetch_add(work, Ordering::AcqRel);
        move || {
            backlog.work.fetch_sub(work, Ordering::AcqRel);
            backlog.count.fetch_sub(1, Ordering::AcqRel);
            backlog.finished.fetch_add(1, Ordering::AcqRel);
        }
    }

    /// Returns the number of counted submissions that are done.
    pub(super) fn finished(&self) -> u64 {
        self.backlog.finished.load(Ordering::Acquire)
    }

    /// Adapts the work of submissions to a pair of this work that took `ms`.
    pub(super) fn adapt(&mut self, work: u64, ms: f64) {
        if !self.is_fixed {
            self.max_work = adapted(self.max_work, work, ms).max(self.min_work.next_power_of_two());
        }
    }
}

/// Returns the maximum work of a submission after a pair of `work` took `ms`.
fn adapted(max_work: u64, work: u64, ms: f64) -> u64 {
    let fitting = work as f64 / ms.max(1e-3) * SUBMISSION_MS;
    if FITTING.contains(&(fitting / max_work as f64)) { max_work } else { (fitting as u64).next_power_of_two() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Approximate work of a pair of 640x480 with 128 disparities and 8 paths, and of one of 1280x960.
    const WORK: [u64; 2] = [670 << 20, 2680 << 20];

    #[test]
    fn pair_is_divided_only_if_longer_than_a_submission_may_be() {
        let start = 1 << 31;
        for (work, ms) in [(WORK[0], 0.8), (WORK[0], 2.3), (WORK[0], 5.9), (WORK[1], 2.3), (WORK[1], 5.9)] {
            let max_work = adapted(start, work, ms);
            assert!(max_work >= work, "{work} in {ms} ms: {max_work}");
            assert_eq!(adapted(max_work, work, ms), max_work, "it stays");
        }
        let max_work = adapted(start, WORK[0], 20.0);
        let submission_ms = 20.0 * max_work as f64 / WORK[0] as f64;
        assert!((0.5..=2.0).contains(&(submission_ms / SUBMISSION_MS)), "{submission_ms}");
        assert_eq!(adapted(max_work, WORK[0], 20.0), max_work);
    }

    #[test]
    fn window_on_a_software_adapter_comes_between_submissions() {
        let pace = |yields| Pace { max_work: 100, min_work: 1, is_fixed: true, yields, backlog: Arc::default() };
        for (yields, room) in [(false, [true, true, false]), (true, [true, false, false])] {
            let pace = pace(yields);
            let mut done = Vec::new();
            for has_room in room {
                assert_eq!(pace.has_room(100), has_room, "{yields}, {} queued", done.len());
                done.push(pace.count(100));
            }
            for done in done {
                done();
            }
            assert!(pace.has_room(100));
        }
    }

    #[test]
    fn work_follows_a_slower_clock_but_no_single_times() {
        let max_work = adapted(1 << 31, WORK[0], 12.0);
        for ms in [9.0, 12.0, 14.0] {
            assert_eq!(adapted(max_work, WORK[0], ms), max_work);
        }
        assert!(adapted(max_work, WORK[0], 48.0) < max_work);
        assert!(adapted(max_work, WORK[0], 1.0) > max_work);
    }

    #[test]
    fn finished_submissions_leave_the_queue_and_are_counted() {
        let pace = Pace { max_work: 10, min_work: 1, is_fixed: true, yields: false, backlog: Arc::default() };
        let [first, second] = [pace.count(10), pace.count(9)];
        assert!(!pace.has_room(2) && pace.finished() == 0);
        first();
        assert!(pace.has_room(2) && pace.finished() == 1);
        second();
        assert_eq!(pace.finished(), 2);
    }
}
