//! Reasons why a recording is not recomputed.

use stereopsis_base::files::WriteError;

/// Reason why a recording was not recomputed, or not to its end. The part that was written stays for the next run.
#[derive(Debug, thiserror::Error)]
pub enum RecomputeError {
    /// The parameters do not fit these images, or the recording lacks what the wanted streams require.
    #[error("{0}")]
    Usage(String),
    /// The new recording cannot be begun.
    #[error(transparent)]
    Begin(WriteError),
    /// The run was stopped; the text names the complete part.
    #[error("stopped after {done} of {pairs} pairs; what is complete is in {part}: the same command goes on there")]
    Stopped {
        /// Number of pairs in the new recording.
        done: u64,
        /// Number of pairs of the old recording.
        pairs: u64,
        /// Path of the unfinished recording.
        part: String,
    },
    /// A file exists already, a recording cannot be read or continued, or the engine failed.
    #[error("{0}")]
    Failed(String),
}
