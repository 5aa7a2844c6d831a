//! Names of new recordings.

use super::{RecordError, Split, disk};
use crate::{part, time};
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use stereopsis_base::files;

/// Returns `stereopsis_2026-11-21_10-30-05.mcap` in a folder, or with `_2`, `_3`, … if that exists.
pub fn default_name(folder: &Path, now: SystemTime) -> PathBuf {
    free_name(&folder.join(format!("stereopsis_{}.mcap", time::for_file_name(now))))
}

/// Refuses the name of a recording that will be split, where files have the names of its further parts.
pub(super) fn check_parts(path: &Path, split: Option<Split>) -> Result<(), RecordError> {
    let splits = split.is_some() || disk::max_file_bytes(files::folder_of(path)).is_some();
    match part::beside(path).first().filter(|_| splits) {
        Some((_, there)) => {
            let (there, path, free) = (there.clone(), path.to_owned(), free_name(path));
            Err(RecordError::PartExists { there, path, free })
        }
        None => Ok(()),
    }
}

/// Returns this name, or the first with `_2`, `_3`, … that does not exist and has no parts beside it.
pub fn free_name(path: &Path) -> PathBuf {
    let numbered = |k: u32| part::suffixed(path, &format!("_{k}"));
    // parts that were left by a recording of this name stand in the way of a new one
    let taken = |path: &PathBuf| path.symlink_metadata().is_ok() || !part::beside(path).is_empty();
    let names = std::iter::once(path.to_owned()).chain((2..).map(numbered));
    names.into_iter().find(|name| !taken(name)).unwrap_or_else(|| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::UNIX_EPOCH;

    #[test]
    fn numbers_names_that_exist() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("desk.left.mcap");
        assert_eq!(free_name(&path), path);
        std::fs::write(folder.path().join("desk.left_2_part004.mcap"), "").unwrap();
        for expected in ["desk.left.mcap", "desk.left_3.mcap", "desk.left_4.mcap"] {
            let free = free_name(&path);
            assert_eq!(free, folder.path().join(expected));
            std::fs::write(free, "").unwrap();
        }
        let name = default_name(Path::new(""), UNIX_EPOCH);
        assert!(name.display().to_string().starts_with("stereopsis_19"), "{}", name.display());
        assert_eq!(name.extension().unwrap(), "mcap");
    }
}
