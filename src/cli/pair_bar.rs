//! The progress bar of tasks over all pairs of a recording.

use crate::console;
use crate::recording::Progress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A progress bar, which is removed when it is dropped.
pub(super) struct PairBar {
    bar: ProgressBar,
    is_quiet: bool,
}

impl PairBar {
    /// A bar; hidden and without messages if `is_quiet`.
    pub(super) fn new(is_quiet: bool) -> Self {
        let bar = ProgressBar::new(0);
        if is_quiet {
            bar.set_draw_target(ProgressDrawTarget::hidden());
        }
        Self { bar, is_quiet }
    }
}

impl Progress for PairBar {
    fn begin(&self, pairs: u64, done: u64) {
        if let Ok(style) = ProgressStyle::with_template("{bar:40} {pos}/{len} pairs, {per_sec}, {eta} left") {
            self.bar.set_style(style);
        }
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
