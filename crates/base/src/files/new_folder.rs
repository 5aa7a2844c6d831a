//! A file and a folder beside it that are replaced together.
//!
//! No system renames a file and a folder in one step. The new folder is therefore written under another name, and one rename decides: that
//! of the file.
//!
//! ```text
//! 1  unsaved-N/new and unsaved-N/deciding, the bytes of the file, are on the disk      rig.toml old   rig-calibration old
//! 2  rig-calibration is renamed to unsaved-N/old                                       rig.toml old   no rig-calibration
//! 3  rig.toml is replaced: this decides                                                rig.toml new   no rig-calibration
//! 4  other files in the old folder move into the new one
//! 5  unsaved-N/new is renamed to rig-calibration                                       rig.toml new   rig-calibration new
//! 6  unsaved-N is removed, and with it the old folder
//! ```
//!
//! A reader finds the old file or the new one at any moment, but never the file of one with the folder of the other. If the program is
//! killed between steps 2 and 5, both folders still exist; [`settle_folder`] continues with step 4 if the file is the new one, else it
//! returns to step 1.

use super::{WriteError, folder_of, make_folder, plain, step, write};
use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// Ending of the name of the folder for one replacement.
const UNSAVED: &str = ".unsaved-";
/// Names in that folder.
const NEW: &str = "new";
const OLD: &str = "old";
const DECIDING: &str = "deciding";

/// Folder that is written to replace another one.
#[derive(Debug)]
pub struct NewFolder {
    file: PathBuf,
    folder: PathBuf,
    unsaved: PathBuf,
}

impl NewFolder {
    /// Prepares a folder that will replace `folder` beside `file`. Nothing is written yet.
    pub fn new(file: &Path, folder: &Path) -> Self {
        let folder = target(folder);
        let named = |number: u32| {
            let mut name = OsString::from(folder.file_name().unwrap_or_default());
            name.push(format!("{UNSAVED}{number}"));
            folder.with_file_name(name)
        };
        let unsaved = (std::process::id()..u32::MAX).map(named).find(|path| !path.exists());
        let unsaved = unsaved.unwrap_or_else(|| named(u32::MAX));
        Self { file: file.to_owned(), folder, unsaved }
    }

    /// Returns the folder to write to.
    pub fn path(&self) -> PathBuf {
        self.unsaved.join(NEW)
    }

    /// Replaces the old folder by this one, and the file by `bytes`. Files of the old folder that this one lacks move into it, except those
    /// for whose paths in the folder `is_old` is true. Returns an error if the file was replaced but the folder is not in its place yet:
    /// [`settle_folder`] completes that.
    ///
    /// # Errors
    /// The file is not plain, or the system fails; file and folder are the old ones.
    pub fn finish(&self, bytes: &[u8], is_old: &dyn Fn(&Path) -> bool) -> Result<Option<WriteError>, WriteError> {
        plain::check_to_write(&self.file).map_err(|err| WriteError::new(&self.file, err))?;
        make_folder(&self.path())?;
        write(&self.unsaved.join(DECIDING), bytes)?;
        sync(&self.unsaved)?;
        if self.folder.exists() {
            rename_folder(&self.folder, &self.unsaved.join(OLD))?;
        }
        if let Err(err) = write(&self.file, bytes) {
            self.put_back()?;
            return Err(err);
        }
        Ok(self.complete(is_old).err())
    }

    /// Moves a folder inside this one to `place` in the old folder, and removes the rest of this one.
    ///
    /// # Errors
    /// The system fails; folders not moved yet stay in [`Self::path`].
    pub fn keep_only(&self, inside: &str, place: &str) -> Result<PathBuf, WriteError> {
        self.put_back()?;
        let kept = self.folder.join(place);
        make_folder(&self.folder)?;
        if kept.exists() {
            rename_folder(&kept, &self.unsaved.join("before"))?;
        }
        rename_folder(&self.path().join(inside), &kept)?;
        self.remove()?;
        Ok(kept)
    }

    /// Removes this folder with its content.
    ///
    /// # Errors
    /// The system fails.
    pub fn remove(&self) -> Result<(), WriteError> {
        self.put_back()?;
        remove_folder(&self.unsaved)
    }

    /// Renames the old folder back to its place, if it was moved away.
    fn put_back(&self) -> Result<(), WriteError> {
        let old = self.unsaved.join(OLD);
        if old.exists() && !self.folder.exists() { rename_folder(&old, &self.folder) } else { Ok(()) }
    }

    fn complete(&self, is_old: &dyn Fn(&Path) -> bool) -> Result<(), WriteError> {
        let (new, old) = (self.path(), self.unsaved.join(OLD));
        if old.exists() {
            carry_over(&old, &new, Path::new(""), is_old)?;
        }
        rename_folder(&new, &self.folder)?;
        remove_folder(&self.unsaved)
    }
}

/// Continues or undoes replacements whose processes were killed. Returns their unfinished folders that contain a folder `precious`; others
/// are removed.
///
/// # Errors
/// The system fails.
pub fn settle_folder(
    file: &Path,
    folder: &Path,
    precious: &str,
    is_old: &dyn Fn(&Path) -> bool,
) -> Result<Vec<PathBuf>, WriteError> {
    let folder = target(folder);
    let mut left = Vec::new();
    for unsaved in unsaved_beside(&folder) {
        let earlier = NewFolder { file: file.to_owned(), folder: folder.clone(), unsaved };
        let bytes = |path: &Path| plain::read(path, plain::MAX_TEXT_BYTES).ok();
        let deciding = || bytes(&earlier.unsaved.join(DECIDING));
        if !folder.exists() && deciding().is_some_and(|new| bytes(file) == Some(new)) {
            earlier.complete(is_old)?;
        }
        earlier.put_back()?;
        // if the folder exists again by other means, nothing is removed
        let is_open = earlier.path().exists() && earlier.unsaved.join(OLD).exists();
        if earlier.path().join(precious).exists() || is_open {
            left.push(earlier.path());
        } else {
            remove_folder(&earlier.unsaved)?;
        }
    }
    Ok(left)
}

/// Moves files and folders of one folder that another lacks into it, except those for which `is_old` is true.
fn carry_over(from: &Path, to: &Path, inside: &Path, is_old: &dyn Fn(&Path) -> bool) -> Result<(), WriteError> {
    let failed = |err| WriteError::new(from, err);
    for entry in fs::read_dir(from.join(inside)).map_err(failed)? {
        let inside = inside.join(entry.map_err(failed)?.file_name());
        let (source, target) = (from.join(&inside), to.join(&inside));
        if is_old(&inside) {
        } else if target.symlink_metadata().is_err() {
            rename(&source, &target)?;
        } else if source.is_dir() && target.is_dir() {
            carry_over(from, to, &inside, is_old)?;
        }
    }
    Ok(())
}

fn target(folder: &Path) -> PathBuf {
    let is_link = folder.symlink_metadata().is_ok_and(|meta| meta.is_symlink());
    if is_link { fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned()) } else { folder.to_owned() }
}

fn unsaved_beside(folder: &Path) -> Vec<PathBuf> {
    let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned() + UNSAVED;
    let is_one = |entry: &fs::DirEntry| {
        let found = entry.file_name().to_string_lossy().into_owned();
        found.strip_prefix(&name).is_some_and(|number| number.parse::<u32>().is_ok())
    };
    let entries = fs::read_dir(folder_of(folder)).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = entries.filter(is_one).map(|entry| entry.path()).collect();
    found.sort();
    found
}

/// Renames a folder; fails if the new name is taken.
fn rename_folder(from: &Path, to: &Path) -> Result<(), WriteError> {
    if to.symlink_metadata().is_ok() {
        return Err(WriteError::new(to, io::ErrorKind::AlreadyExists.into()));
    }
    rename(from, to)
}

fn rename(from: &Path, to: &Path) -> Result<(), WriteError> {
    step().and_then(|()| fs::rename(from, to)).map_err(|err| WriteError::new(to, err))
}

fn remove_folder(folder: &Path) -> Result<(), WriteError> {
    let removed = step().and_then(|()| fs::remove_dir_all(folder));
    removed
        .or_else(|err| if err.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(WriteError::new(folder, err)) })
}

fn sync(folder: &Path) -> Result<(), WriteError> {
    let failed = |err| WriteError::new(folder, err);
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.is_dir() {
            sync(&path)?;
        } else {
            let synced = File::options().write(true).open(&path).and_then(|file| file.sync_all());
            synced.map_err(|err| WriteError::new(&path, err))?;
        }
    }
    Ok(())
}
