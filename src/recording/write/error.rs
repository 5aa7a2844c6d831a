//! Why a recording cannot be started, or ended before its time.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

/// Why a recording cannot be started, or ended before its time. What was written until then stays readable.
#[derive(Clone, Debug, thiserror::Error)]
pub enum RecordError {
    /// The file is there already.
    #[error("{} exists and is not overwritten; {} is free", path.display(), free.display())]
    Exists {
        /// The file.
        path: PathBuf,
        /// The next name that is free.
        free: PathBuf,
    },
    /// The file cannot be made.
    #[error("cannot write {target}: {error}")]
    Create {
        /// The file.
        target: String,
        /// Why.
        error: Arc<io::Error>,
    },
    /// The disk has too little left.
    #[error("stopped: {disk} has only {} MB left, and the last ones are kept free", left_bytes / 1_000_000)]
    DiskFull {
        /// The folder.
        disk: String,
        /// What it has left.
        left_bytes: u64,
    },
    /// The file or the pipe did not take what was written.
    #[error("stopped: cannot write {target}: {error}")]
    Write {
        /// The file.
        target: String,
        /// Why.
        error: Arc<io::Error>,
    },
    /// A pair or result could not be written as asked.
    #[error("stopped: {0}")]
    Pack(String),
    /// The system gave no thread.
    #[error("cannot start the recorder's thread: {0}")]
    Thread(Arc<io::Error>),
}

impl RecordError {
    /// Whether whoever read the pipe has seen enough, as `head` does.
    pub fn is_closed_pipe(&self) -> bool {
        matches!(self, Self::Write { error, .. } if error.kind() == io::ErrorKind::BrokenPipe)
    }
}
