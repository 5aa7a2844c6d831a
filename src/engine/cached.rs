//! Files of the program's cache folder: what was measured or compiled before. Losing one costs time and nothing else.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Where the file of this name lies; `None` where the system has no such folder.
pub(super) fn file(name: &str) -> Option<PathBuf> {
    Some(directories::ProjectDirs::from("", "", "stereopsis")?.cache_dir().join(name))
}

/// Writes the whole file or leaves it as it was, whoever else writes it at the same time.
pub(super) fn replace(file: &Path, bytes: &[u8]) -> std::io::Result<()> {
    static DRAFTS: AtomicU64 = AtomicU64::new(0);
    file.parent().map_or(Ok(()), std::fs::create_dir_all)?;
    let number = DRAFTS.fetch_add(1, Ordering::Relaxed);
    let draft = file.with_extension(format!("{}-{number}.new", std::process::id()));
    let written = std::fs::write(&draft, bytes).and_then(|()| std::fs::rename(&draft, file));
    if written.is_err() {
        let _ = std::fs::remove_file(&draft); // what was wrong with the draft is told already
    }
    written
}
