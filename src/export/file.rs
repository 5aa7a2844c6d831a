//! What can go wrong with a file of results, and what its name tells.

use crate::files::WriteError;
use std::path::{Path, PathBuf};

/// Why a file was not written. The text says what was tried, on what, and what to do next.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The name ends in something that no writer knows.
    #[error("{path}: cannot tell the format from {ending}; {wanted}", path = .path.display())]
    UnknownFormat {
        /// The file asked for.
        path: PathBuf,
        /// What its name ends in, in words.
        ending: String,
        /// What there is.
        wanted: &'static str,
    },
    /// The file cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// The picture cannot be stored in this format.
    #[error("cannot store the picture in {path}: {cause}", path = .path.display())]
    Encode {
        /// The file asked for.
        path: PathBuf,
        /// What the writer of the format said.
        cause: String,
    },
}

impl ExportError {
    pub(super) fn unknown_format(path: &Path, wanted: &'static str) -> Self {
        let ending = match path.extension() {
            Some(ending) => format!("the ending .{}", ending.display()),
            None => "a name without an ending".to_owned(),
        };
        Self::UnknownFormat { path: path.to_owned(), ending, wanted }
    }

    pub(super) fn encode(path: &Path, cause: &impl ToString) -> Self {
        Self::Encode { path: path.to_owned(), cause: cause.to_string() }
    }
}

/// The ending of a name in small letters, or nothing.
pub(super) fn ending(path: &Path) -> String {
    path.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default()
}
