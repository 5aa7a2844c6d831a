//! The progress bar of commands that work on pairs; hidden without a terminal.

use crate::console;
use crate::recording::Progress;
use indicatif::{ProgressBar, ProgressStyle};

/// A bar for this many pairs; hidden for `None`.
pub(super) fn pair_bar(pairs: Option<u64>) -> ProgressBar {
    let bar = pairs.map_or_else(ProgressBar::hidden, ProgressBar::new);
    match ProgressStyle::with_template("{bar:40} {pos}/{len} pairs, {per_sec}, {eta} left") {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

/// The bar of a task over all pairs of a recording. It is removed when it is dropped.
pub(super) struct PairBar {
    bar: ProgressBar,
    is_quiet: bool,
}

impl PairBar {
    /// A bar; hidden and without messages if `is_quiet`.
    pub(super) fn new(is_quiet: bool) -> Self {
        Self { bar: pair_bar((!is_quiet).then_some(0)), is_quiet }
    }
}

impl Progress for PairBar {
    fn begin(&self, pairs: u64, done: u64) {
        self.bar.set_length(pairs);
        self.bar.set_position(done);
        // the pairs of a run before are no measure of this run's speed
        self.bar.reset_eta();
    }

    fn done(&self) {
        self.bar.inc(1);
    }

    fn note(&self, text: &str) {
        if !self.is_quiet {
            self.bar.suspend(|| console::say(text));
        }
    }
}

impl Drop for PairBar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
