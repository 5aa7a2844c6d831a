//! Progress of tasks that work on pairs: a bar on a terminal, a counter for a window, and a request to stop.

use indicatif::{ProgressBar, ProgressStyle};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use stereopsis_base::console;

/// Returns a bar for a number of pairs; a hidden one for `None`.
pub fn pair_bar(pairs: Option<u64>) -> ProgressBar {
    let bar = pairs.map_or_else(ProgressBar::hidden, ProgressBar::new);
    match ProgressStyle::with_template("{bar:40} {pos}/{len} pairs, {per_sec}, {eta} left") {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

/// Returns a sentence on the pairs of a recording that cannot be read, with the number of one and the reason; `None` for no pairs.
pub fn unreadable(pairs: u64, example: Option<(u64, impl fmt::Display)>) -> Option<String> {
    let why = example.map_or_else(String::new, |(pair, why)| format!("; pair {pair}: {why}"));
    (pairs > 0).then(|| format!("{} cannot be read{why}", console::counted(pairs, "pair")))
}

/// Progress of a task, shared with the window that shows it and may stop it.
#[derive(Debug, Default)]
pub struct Counter {
    pairs: AtomicU64,
    done: AtomicU64,
    /// Pairs done by an earlier run.
    before: AtomicU64,
    stop: AtomicBool,
}

impl Counter {
    /// Returns the number of pairs of the task; 0 until it has begun.
    pub fn pairs(&self) -> u64 {
        self.pairs.load(Ordering::Relaxed)
    }

    /// Returns the number of pairs that are done, including those of an earlier run.
    pub fn done(&self) -> u64 {
        self.done.load(Ordering::Relaxed)
    }

    /// Returns the number of pairs that an earlier run had done.
    pub fn before(&self) -> u64 {
        self.before.load(Ordering::Relaxed)
    }

    /// Requests that the task ends after the pairs in work.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Returns whether the task ends early.
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// Progress of a task over all pairs of a recording. Dropping it removes its bar.
pub struct Progress {
    bar: ProgressBar,
    is_quiet: bool,
    counter: Arc<Counter>,
}

impl Progress {
    /// Creates a progress with a bar; hidden and without messages if `is_quiet`.
    pub fn new(is_quiet: bool) -> Self {
        Self { bar: pair_bar((!is_quiet).then_some(0)), is_quiet, counter: Arc::default() }
    }

    /// Creates a progress without a bar, read through a counter.
    pub fn watched(counter: Arc<Counter>) -> Self {
        Self { bar: pair_bar(None), is_quiet: true, counter }
    }

    /// Sets the number of pairs of the task, of which `done` are done.
    pub fn begin(&self, pairs: u64, done: u64) {
        self.counter.done.store(done, Ordering::Relaxed);
        self.counter.before.store(done, Ordering::Relaxed);
        self.counter.pairs.store(pairs, Ordering::Relaxed);
        self.bar.set_length(pairs);
        self.bar.set_position(done);
        // the pairs of an earlier run are no measure of this run's speed
        self.bar.reset_eta();
    }

    /// Counts a pair as done.
    pub fn done(&self) {
        self.counter.done.fetch_add(1, Ordering::Relaxed);
        self.bar.inc(1);
    }

    /// Returns whether the task has to end early.
    pub fn is_stopped(&self) -> bool {
        self.counter.is_stopped()
    }

    /// Says a sentence above the bar, unless it is quiet.
    pub fn note(&self, text: &str) {
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
