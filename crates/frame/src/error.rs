//! Faults of sources.

use stereopsis_base::threads::Panicked;

/// Error of opening or reading a source. The text names the operation, the object, and the next step for the user.
#[derive(Debug, thiserror::Error)]
pub enum CaptureError {
    /// The words of `--source` are invalid.
    #[error("{0}")]
    Grammar(String),
    /// A file or folder cannot be used.
    #[error("{0}")]
    File(String),
    /// A camera is missing, busy, inaccessible, or lost.
    #[error("{0}")]
    Camera(String),
}

impl From<Panicked> for CaptureError {
    fn from(err: Panicked) -> Self {
        Self::File(err.to_string())
    }
}
