//! The progress of tasks that work on pairs: a bar on a terminal, a counter for a window, and the way to stop.

use crate::console;
use indicatif::{ProgressBar, ProgressStyle};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// A bar for this many pairs; hidden for `None`.
pub fn pair_bar(pairs: Option<u64>) -> ProgressBar {
    let bar = pairs.map_or_else(ProgressBar::hidden, ProgressBar::new);
    match ProgressStyle::with_template("{bar:40} {pos}/{len} pairs, {per_sec}, {eta} left") {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

/// How far a task is; shared with who watches it and may stop it.
#[derive(Debug, Default)]
pub struct Counter {
    pairs: AtomicU64,
    done: AtomicU64,
    /// Done by a run before.
    before: AtomicU64,
    stop: AtomicBool,
}

impl Counter {
    /// Pairs of the task; 0 until it has begun.
    pub fn pairs(&self) -> u64 {
        self.pairs.load(Ordering::Relaxed)
    }

    /// Pairs that are done, those of a run before among them.
    pub fn done(&self) -> u64 {
        self.done.load(Ordering::Relaxed)
    }

    /// Pairs that a run before had done.
    pub fn before(&self) -> u64 {
        self.before.load(Ordering::Relaxed)
    }

    /// Ends the task after the pairs that are being worked on.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Whether the task ends early.
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// The progress of a task over all pairs of a recording. Its bar is removed when it is dropped.
pub struct Progress {
    bar: ProgressBar,
    is_quiet: bool,
    counter: Arc<Counter>,
}

impl Progress {
    /// With a bar; hidden and without messages if `is_quiet`.
    pub fn new(is_quiet: bool) -> Self {
        Self { bar: pair_bar((!is_quiet).then_some(0)), is_quiet, counter: Arc::default() }
    }

    /// Without a bar, watched through a counter.
    pub fn watched(counter: Arc<Counter>) -> Self {
        Self { bar: pair_bar(None), is_quiet: true, counter }
    }

    /// The task has this many pairs, of which `done` are done.
    pub(super) fn begin(&self, pairs: u64, done: u64) {
        self.counter.done.store(done, Ordering::Relaxed);
        self.counter.before.store(done, Ordering::Relaxed);
        self.counter.pairs.store(pairs, Ordering::Relaxed);
        self.bar.set_length(pairs);
        self.bar.set_position(done);
        // the pairs of a run before are no measure of this run's speed
        self.bar.reset_eta();
    }

    /// One more pair is done.
    pub(super) fn done(&self) {
        self.counter.done.fetch_add(1, Ordering::Relaxed);
        self.bar.inc(1);
    }

    /// Whether the task is to end early.
    pub(super) fn is_stopped(&self) -> bool {
        self.counter.is_stopped()
    }

    /// A message for the user.
    pub(super) fn note(&self, text: &str) {
        if !self.is_quiet {
            self.bar.suspend(|| console::say(text));
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
