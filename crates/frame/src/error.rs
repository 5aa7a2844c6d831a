//! Faults of sources.

use stereopsis_base::threads::Panicked;

/// Cause of a fault: an error of the crate that found it.
pub type Cause = Box<dyn std::error::Error + Send + Sync>;

/// Error of opening or reading a source. The text names the operation, the object, and the next step for the user.
#[derive(Debug, thiserror::Error)]
pub enum CaptureError {
    /// The words of `--source` are invalid.
    #[error("{0}")]
    Grammar(Cause),
    /// A file or folder cannot be used.
    #[error("{0}")]
    File(Cause),
    /// A camera is missing, busy, inaccessible, or lost.
    #[error("{0}")]
    Camera(Cause),
}

impl From<Panicked> for CaptureError {
    fn from(err: Panicked) -> Self {
        Self::File(err.into())
    }
}
