//! Names of new recordings.

use crate::time;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Returns `stereopsis_2026-11-21_10-30-05.mcap` in the current folder, or with `_2`, `_3`, … if that exists.
pub fn default_name(now: SystemTime) -> PathBuf {
    default_name_in(Path::new(""), now)
}

/// Returns [`default_name`] in another folder.
pub fn default_name_in(folder: &Path, now: SystemTime) -> PathBuf {
    free_name(&folder.join(format!("stereopsis_{}.mcap", time::for_file_name(now))))
}

/// Returns this name, or the first with `_2`, `_3`, … that does not exist.
pub fn free_name(path: &Path) -> PathBuf {
    let numbered = |k: u32| {
        let mut name = path.file_stem().unwrap_or_default().to_owned();
        name.push(format!("_{k}"));
        let mut numbered = path.with_file_name(name);
        if let Some(extension) = path.extension() {
            numbered.as_mut_os_string().push(".");
            numbered.as_mut_os_string().push(extension);
        }
        numbered
    };
    let taken = |path: &PathBuf| path.symlink_metadata().is_ok();
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
        for expected in ["desk.left.mcap", "desk.left_2.mcap", "desk.left_3.mcap"] {
            let free = free_name(&path);
            assert_eq!(free, folder.path().join(expected));
            std::fs::write(free, "").unwrap();
        }
        let name = default_name(UNIX_EPOCH);
        assert!(name.display().to_string().starts_with("stereopsis_19"), "{}", name.display());
        assert_eq!(name.extension().unwrap(), "mcap");
    }
}
