//! Files that a run may write: no inputs, none twice, and existing files only with `--overwrite`.

use crate::remedy::option;
use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Reason why a file may not be written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OutputError {
    /// The output is also an input.
    #[error("{} is read by this run and is not overwritten; name another output", .0.display())]
    Input(PathBuf),
    /// The output exists.
    #[error("{} exists and is not overwritten; name another output, or give {}", .0.display(), option("overwrite"))]
    Exists(PathBuf),
    /// Two results of this run have this name.
    #[error("two outputs of this run are {}; give each its own name", .0.display())]
    Twice(PathBuf),
}

/// Identity of a file, equal for all names and links.
#[cfg(unix)]
type Identity = (u64, u64);
// canonical path, which differs between hard links
#[cfg(not(unix))]
type Identity = PathBuf;

#[cfg(unix)]
pub(super) fn identity(path: &Path) -> Option<Identity> {
    fs::metadata(path).ok().map(|meta| identity_of(&meta))
}

#[cfg(unix)]
fn identity_of(meta: &fs::Metadata) -> Identity {
    use std::os::unix::fs::MetadataExt as _;
    (meta.dev(), meta.ino())
}

#[cfg(not(unix))]
pub(super) fn identity(path: &Path) -> Option<Identity> {
    fs::canonicalize(path).ok()
}

/// Whether `path` is still the path of an open file.
#[cfg(unix)]
pub(super) fn is_at(file: &fs::File, path: &Path) -> bool {
    file.metadata().is_ok_and(|meta| identity(path) == Some(identity_of(&meta)))
}

// elsewhere an open file cannot be renamed
#[cfg(not(unix))]
pub(super) fn is_at(_: &fs::File, path: &Path) -> bool {
    path.exists()
}

/// Inputs of a run, and its outputs so far.
#[derive(Debug, Default)]
pub struct Outputs {
    inputs: HashSet<Identity>,
    written: HashSet<PathBuf>,
    overwrite: bool,
}

impl Outputs {
    /// Starts with the existing files among `inputs`; `overwrite` allows existing files as outputs.
    pub fn new<P: AsRef<Path>>(inputs: impl IntoIterator<Item = P>, overwrite: bool) -> Self {
        let inputs = inputs.into_iter().filter_map(|path| identity(path.as_ref())).collect();
        Self { inputs, written: HashSet::new(), overwrite }
    }

    /// Adds a file, or a device, which may be written repeatedly.
    ///
    /// # Errors
    /// The file is an input, a second output has this name, or the file exists without `overwrite`.
    pub fn add(&mut self, path: &Path) -> Result<(), OutputError> {
        if fs::metadata(path).is_ok_and(|meta| !meta.is_file() && !meta.is_dir()) {
            return Ok(());
        }
        if identity(path).is_some_and(|identity| self.inputs.contains(&identity)) {
            return Err(OutputError::Input(path.to_owned()));
        }
        if !self.written.insert(full_name(path)) {
            return Err(OutputError::Twice(path.to_owned()));
        }
        if !self.overwrite && fs::symlink_metadata(path).is_ok() {
            return Err(OutputError::Exists(path.to_owned()));
        }
        Ok(())
    }
}

fn full_name(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| {
        let folder = fs::canonicalize(super::folder_of(path));
        let name = path.file_name().unwrap_or_default();
        folder.map_or_else(|_| path.to_owned(), |folder| folder.join(name))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejects_inputs_as_outputs_by_any_path() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str| folder.path().join(name);
        fs::write(file("left.png"), b"x").unwrap();
        fs::create_dir(file("below")).unwrap();
        fs::hard_link(file("left.png"), file("hard.png")).unwrap();
        let mut ways = vec![file("left.png"), file("below/../left.png")];
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(file("left.png"), file("soft.png")).unwrap();
            ways.extend([file("soft.png"), file("hard.png")]);
        }
        for path in ways {
            for overwrite in [false, true] {
                let mut outputs = Outputs::new([file("left.png"), file("gone.png")], overwrite);
                assert_eq!(outputs.add(&path), Err(OutputError::Input(path.clone())));
            }
        }
    }

    #[test]
    fn existing_outputs_need_overwrite_and_none_is_written_twice() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str| folder.path().join(name);
        fs::write(file("old.pfm"), b"x").unwrap();
        let mut outputs = Outputs::new([file("left.png")], false);
        assert_eq!(outputs.add(&file("old.pfm")), Err(OutputError::Exists(file("old.pfm"))));
        assert_eq!(outputs.add(&file("new.pfm")), Ok(()));
        let mut outputs = Outputs::new([file("left.png")], true);
        assert_eq!(outputs.add(&file("old.pfm")), Ok(()));
        assert_eq!(outputs.add(&file("new.pfm")), Ok(()));
        for again in ["old.pfm", "new.pfm", "./new.pfm"] {
            assert_eq!(outputs.add(&file(again)), Err(OutputError::Twice(file(again))));
        }
    }
}
