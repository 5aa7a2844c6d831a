//! Error of reading a recording.

/// Reason why a recording, or a part of it, cannot be read. The text names the file and the remedy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// The file cannot be read at all, or is no recording of pairs.
    #[error("{0}")]
    File(String),
    /// A part is damaged; others may be readable.
    #[error("{0}")]
    Damaged(String),
}
