//! Files of the program's cache folder: what was measured or compiled before. Losing one costs time and nothing else.

use crate::files;
use std::path::{Path, PathBuf};

/// Where the file of this name lies; `None` where the system has no such folder.
pub(super) fn file(name: &str) -> Option<PathBuf> {
    Some(directories::ProjectDirs::from("", "", "stereopsis")?.cache_dir().join(name))
}

/// Writes the whole file or leaves it as it was, whoever else writes it at the same time.
pub(super) fn replace(file: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let folder = file.parent().map_or(Ok(()), files::make_folder);
    folder.and_then(|()| files::write(file, bytes)).map_err(|err| err.source)
}
