//! The progress bar of tasks that work on pairs; hidden without a terminal.

use crate::console;
use indicatif::{ProgressBar, ProgressStyle};

/// A bar for this many pairs; hidden for `None`.
pub fn pair_bar(pairs: Option<u64>) -> ProgressBar {
    let bar = pairs.map_or_else(ProgressBar::hidden, ProgressBar::new);
    match ProgressStyle::with_template("{bar:40} {pos}/{len} pairs, {per_sec}, {eta} left") {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

/// The progress of a task over all pairs of a recording. Its bar is removed when it is dropped.
pub struct Progress {
    bar: ProgressBar,
    is_quiet: bool,
}

impl Progress {
    /// With a bar; hidden and without messages if `is_quiet`.
    pub fn new(is_quiet: bool) -> Self {
        Self { bar: pair_bar((!is_quiet).then_some(0)), is_quiet }
    }

    /// The task has this many pairs, of which `done` are done.
    pub(super) fn begin(&self, pairs: u64, done: u64) {
        self.bar.set_length(pairs);
        self.bar.set_position(done);
        // the pairs of a run before are no measure of this run's speed
        self.bar.reset_eta();
    }

    /// One more pair is done.
    pub(super) fn done(&self) {
        self.bar.inc(1);
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
