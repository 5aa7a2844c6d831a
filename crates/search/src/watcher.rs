//! Observer of a running search.

use super::error::JournalError;
use super::progress::SearchProgress;
use super::trial::Trial;
use std::time::Duration;

/// Observer of a search.
pub trait Watcher {
    /// Returns whether the search must end.
    fn is_stopped(&self) -> bool {
        false
    }

    /// Receives a tried setting with the time of the search.
    ///
    /// # Errors
    /// The reason to end.
    fn tried(&mut self, _trial: &Trial, _elapsed: Duration) -> Result<(), JournalError> {
        Ok(())
    }

    /// Receives the progress of the search.
    fn reached(&mut self, _progress: SearchProgress) {}
}
