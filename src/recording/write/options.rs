//! Where a recording goes and how it is written; what is in it, [`crate::recording::About`] says.

use crate::choices;
use crate::recording::Format;
use std::fmt;
use std::path::PathBuf;

choices! {
    /// How chunks of a recording are compressed.
    ///
    /// `tools/bench_record.sh` compares them; what it said of one machine is in docs/recordings.md. LZ4 makes noisy raw pictures some 10 %
    /// smaller, Zstandard some 15 % and depth by more than half, both in about the same time. Pictures that are JPEG already
    /// become no smaller by any of them.
    pub enum Compression {
        /// Not at all: least processor time, where the disk is fast and large.
        None = "none",
        /// LZ4: for raw pictures little gain.
        Lz4 = "lz4",
        /// Zstandard at its quickest level: files a quarter smaller, for some ms a pair.
        Zstd = "zstd",
    }
}

/// Where a recording goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A new file; none is ever overwritten.
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

/// How a recording is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordOptions {
    /// In which words.
    pub format: Format,
    /// How chunks are compressed.
    pub compression: Compression,
    /// A source that can wait is held back until there is room, and nothing of it is dropped. Cameras cannot wait.
    pub lossless: bool,
    /// How many bytes of pairs and results may wait to be written.
    pub queue_bytes: usize,
}

impl RecordOptions {
    /// Some seconds of two webcams.
    pub const QUEUE_BYTES: usize = 256 << 20;
}

impl Default for RecordOptions {
    fn default() -> Self {
        Self { format: Format::Ros2, compression: Compression::Zstd, lossless: false, queue_bytes: Self::QUEUE_BYTES }
    }
}
