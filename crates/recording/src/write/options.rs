//! Options of a recording: target, format, compression. [`crate::About`] describes its content.

use super::{Begins, Split};
use crate::Format;
use std::fmt;
use std::path::PathBuf;
use stereopsis_base::parameter::choices;

choices! {
    /// Compression of chunks.
    ///
    /// `tools/bench_record.sh` compares them, with results of one machine in docs/recordings.md. LZ4 makes noisy raw images some 10 %
    /// smaller, Zstandard some 15 % and depth by more than half, both in about the same time. Images that are JPEG already
    /// become no smaller by any of them.
    pub enum Compression {
        /// Not at all: least processor time, where the disk is fast and large.
        None = "none",
        /// LZ4: for raw images little gain.
        Lz4 = "lz4",
        /// Zstandard at its quickest level: files a quarter smaller, for some ms a pair.
        Zstd = "zstd",
    }
}

/// Target of a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// New file; an existing file is never overwritten.
    File(PathBuf),
    /// Standard output, for a pipe.
    Stdout,
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => path.display().fmt(f),
            Self::Stdout => f.write_str("standard output"),
        }
    }
}

/// Options of a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordOptions {
    /// Format of the messages.
    pub format: Format,
    /// Compression of chunks.
    pub compression: Compression,
    /// Whether a source that can wait is blocked while the queue is full, so that nothing is dropped. Cameras cannot wait.
    pub lossless: bool,
    /// Time of the beginning; at once where no results are recorded.
    pub begins: Begins,
    /// Largest part in one file; further ones follow it. A file also ends where the system takes no larger one.
    pub split: Option<Split>,
    /// Capacity of the queue, bytes.
    pub queue_bytes: usize,
}

impl Default for RecordOptions {
    fn default() -> Self {
        Self {
            format: Format::Ros2,
            compression: Compression::Zstd,
            lossless: false,
            begins: Begins::AtOnce,
            split: None,
            queue_bytes: 256 << 20, // some seconds of two webcams
        }
    }
}
