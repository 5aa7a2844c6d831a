//! Origin of a setting.

use std::path::PathBuf;

/// Origin of a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Command line.
    Flag,
    /// Settings file.
    File {
        /// Path of the file.
        path: PathBuf,
        /// Number of the line, from 1.
        line: usize,
    },
    /// Recording.
    Recording(PathBuf),
}

impl Origin {
    /// Returns the precedence: higher ones win.
    pub(super) fn layer(&self) -> u8 {
        match self {
            Self::Recording(_) => 0,
            Self::File { .. } => 1,
            Self::Flag => 2,
        }
    }
}
