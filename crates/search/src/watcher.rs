//! What a search tells while it runs.

use super::progress::SearchProgress;
use super::trial::Trial;
use std::time::Duration;

/// Watches a search.
pub trait Watcher {
    /// Whether it shall end.
    fn is_stopped(&self) -> bool {
        false
    }

    /// A setting was tried, after this time.
    ///
    /// # Errors
    /// A reason to end.
    fn tried(&mut self, _trial: &Trial, _elapsed: Duration) -> Result<(), String> {
        Ok(())
    }

    /// How far the search is.
    fn reached(&mut self, _progress: SearchProgress) {}
}
