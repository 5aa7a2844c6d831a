//! Progress of a task over all pairs of a recording.

/// Receives the progress of a task.
pub trait Progress: Sync {
    /// The task has this many pairs, of which `done` are done.
    fn begin(&self, pairs: u64, done: u64);
    /// One more pair is done.
    fn done(&self);
    /// A message for the user.
    fn note(&self, text: &str);
}
