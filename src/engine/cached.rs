//! Files of the program's cache folder: measured times and compiled pipelines. Losing one costs only time.

use crate::files;
use std::path::{Path, PathBuf};

/// Path of the file with this name; `None` where the system has no cache folder.
pub(super) fn file(name: &str) -> Option<PathBuf> {
    Some(directories::ProjectDirs::from("", "", "stereopsis")?.cache_dir().join(name))
}

/// Replaces the whole file or leaves it as it was, also where other processes write it at the same time.
pub(super) fn replace(file: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let folder = file.parent().map_or(Ok(()), files::make_folder);
    folder.and_then(|()| files::write(file, bytes)).map_err(|err| err.source)
}
