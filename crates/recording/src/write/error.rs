//! Errors of the recorder.

use std::io;
use std::sync::Arc;
use stereopsis_base::files;

/// Reason why a recording cannot be started, or ended early. The part written until then stays readable.
#[derive(Clone, Debug, thiserror::Error)]
pub enum RecordError {
    /// The file exists or cannot be made, or no thread can be started.
    #[error("{0}")]
    Begin(String),
    /// The disk is nearly full.
    #[error("stopped: {disk} has only {} MB left, and the last ones are kept free", left_bytes / 1_000_000)]
    DiskFull {
        /// Path of the folder.
        disk: String,
        /// Free space, bytes.
        left_bytes: u64,
    },
    /// The file or pipe cannot be written.
    #[error("stopped: cannot write {target}: {}", files::cause(error))]
    Write {
        /// Name of the file or pipe.
        target: String,
        /// Cause.
        error: Arc<io::Error>,
    },
    /// The next file of the recording cannot be made; those before it are whole.
    #[error("stopped: {0}")]
    Split(String),
    /// A pair or result cannot be packed.
    #[error("stopped: {0}")]
    Pack(String),
}

impl RecordError {
    /// Whether the reader of the pipe closed it, as `head` does.
    pub fn is_closed_pipe(&self) -> bool {
        matches!(self, Self::Write { error, .. } if error.kind() == io::ErrorKind::BrokenPipe)
    }
}
