//! Faults of the recorder.

use crate::error::PackError;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use stereopsis_base::files::{self, WriteError};

/// Reason why a recording cannot be started, or ended early. The part written until then stays readable.
#[derive(Clone, Debug, thiserror::Error)]
pub enum RecordError {
    /// The file exists.
    #[error("{} exists and is not overwritten; {} is free", path.display(), free.display())]
    Exists {
        /// Path of the file.
        path: PathBuf,
        /// Name that is free.
        free: PathBuf,
    },
    /// A file has the name of a further part.
    #[error("{} exists, which has the name of a part of {}; {} is free", there.display(), path.display(), free.display())]
    PartExists {
        /// Path of the file.
        there: PathBuf,
        /// Path of the recording.
        path: PathBuf,
        /// Name that is free.
        free: PathBuf,
    },
    /// The file cannot be made.
    #[error("{0}")]
    Create(Arc<WriteError>),
    /// Standard output cannot be opened.
    #[error("cannot write {target}: {}", files::cause(error))]
    Stdout {
        /// Name of standard output.
        target: String,
        /// Cause.
        error: Arc<io::Error>,
    },
    /// The system provides no thread.
    #[error("cannot start the recorder's thread: {}", files::cause(.0))]
    NoThread(Arc<io::Error>),
    /// The disk is nearly full.
    #[error("stopped: {0}, and the last ones are kept free")]
    DiskFull(NearlyFull),
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
    Split(Arc<WriteError>),
    /// A pair or result cannot be packed.
    #[error("stopped: {0}")]
    Pack(Arc<PackError>),
    /// A fault of the program ended the thread.
    #[error("stopped: the recorder's thread panicked")]
    Panicked,
}

/// Disk without room for a recording.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{disk} has only {} MB left", left_bytes / 1_000_000)]
pub struct NearlyFull {
    /// Path of the folder.
    pub disk: String,
    /// Free space, bytes.
    pub left_bytes: u64,
}

impl RecordError {
    /// Whether the reader of the pipe closed it, as `head` does.
    pub fn is_closed_pipe(&self) -> bool {
        matches!(self, Self::Write { error, .. } if error.kind() == io::ErrorKind::BrokenPipe)
    }
}

impl From<PackError> for RecordError {
    fn from(err: PackError) -> Self {
        Self::Pack(err.into())
    }
}
