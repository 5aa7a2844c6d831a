//! File that grows, such as a recording. It is locked until it is dropped, and opening does not truncate it.

use super::outputs::is_at;
use super::{WriteError, plain, rename_new};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

/// Largest number of attempts to open a file while other processes rename it.
const MAX_ATTEMPTS: usize = 100;

/// File that grows at its end, locked against other writers.
#[derive(Debug)]
pub struct Growing {
    path: PathBuf,
    file: File,
}

impl Growing {
    /// Creates a file.
    ///
    /// # Errors
    /// It exists, or cannot be created.
    pub fn create_new(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().read(true).append(true).create_new(true).open(path)?;
        lock(&file)?;
        Ok(Self { path: path.to_owned(), file })
    }

    /// Opens a file, or creates it.
    ///
    /// # Errors
    /// [`io::ErrorKind::WouldBlock`] while another process writes the file; or it is not plain or cannot be opened.
    pub fn open(path: &Path) -> io::Result<Self> {
        for _ in 0..MAX_ATTEMPTS {
            // no truncation: before the lock is taken it may be another process' file
            let file = plain::open_to_write(path, OpenOptions::new().read(true).append(true).create(true))?;
            lock(&file)?;
            // the process that held the lock may have renamed the file
            if is_at(&file, path) {
                return Ok(Self { path: path.to_owned(), file });
            }
        }
        Err(io::ErrorKind::WouldBlock.into())
    }

    /// Returns the path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the size in bytes.
    ///
    /// # Errors
    /// The system fails.
    pub fn len(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    /// Whether the file is empty.
    ///
    /// # Errors
    /// The system fails.
    pub fn is_empty(&self) -> io::Result<bool> {
        Ok(self.len()? == 0)
    }

    /// Returns a handle for reading and for appending.
    ///
    /// # Errors
    /// The system fails.
    pub fn handle(&self) -> io::Result<File> {
        self.file.try_clone()
    }

    /// Truncates the file.
    ///
    /// # Errors
    /// The system fails.
    pub fn clear(&self) -> io::Result<()> {
        self.file.set_len(0)
    }

    /// Syncs the file to the disk, and checks that it still exists, under any name, with exactly the `written` bytes.
    ///
    /// # Errors
    /// The disk fails; or another process deleted, truncated or wrote the file.
    pub fn sync(&self, written: u64) -> io::Result<()> {
        self.file.sync_data()?;
        let meta = self.file.metadata()?;
        if is_deleted(&meta, &self.path) {
            let text = "somebody deleted it while it was written, and what was in it is lost";
            return Err(io::Error::new(io::ErrorKind::NotFound, text));
        }
        if meta.len() != written {
            let text = format!(
                "somebody else changed it while it was written: it has {} bytes instead of {written}, and may be damaged",
                meta.len()
            );
            return Err(io::Error::other(text));
        }
        Ok(())
    }

    /// Renames this file over another one.
    ///
    /// # Errors
    /// The system fails.
    pub fn replace(&mut self, other: &Self) -> io::Result<()> {
        fs::rename(&self.path, &other.path)?;
        self.path.clone_from(&other.path);
        Ok(())
    }

    /// Renames the finished file of `written` bytes to a new name.
    ///
    /// # Errors
    /// Errors of [`Growing::sync`], or the name is taken; then the file keeps its old name.
    pub fn finish(self, to: &Path, written: u64) -> Result<(), WriteError> {
        self.sync(written).map_err(|err| WriteError::new(&self.path, err))?;
        if !is_at(&self.file, &self.path) {
            let text = "somebody moved it while it was written; everything is in it, wherever it is now";
            return Err(WriteError::new(&self.path, io::Error::other(text)));
        }
        rename_new(&self.path, to).map_err(|err| match err.kind() {
            io::ErrorKind::AlreadyExists => {
                let text =
                    format!("it appeared meanwhile and is not overwritten; the result is {}", self.path.display());
                WriteError::new(to, io::Error::new(err.kind(), text))
            }
            _ => WriteError::new(to, err),
        })
    }

    /// Deletes the file.
    pub fn remove(self) {
        if let Err(err) = fs::remove_file(&self.path) {
            log::warn!("cannot remove {}: {err}", self.path.display());
        }
    }
}

#[cfg(unix)]
fn is_deleted(meta: &fs::Metadata, _: &Path) -> bool {
    std::os::unix::fs::MetadataExt::nlink(meta) == 0
}

#[cfg(not(unix))]
fn is_deleted(_: &fs::Metadata, path: &Path) -> bool {
    !path.exists()
}

/// Locks a file, if its file system supports locks.
fn lock(file: &File) -> io::Result<()> {
    match file.try_lock() {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => Err(io::ErrorKind::WouldBlock.into()),
        Err(TryLockError::Error(err)) => {
            log::info!("this file system has no locks ({err}): nothing keeps a second writer away");
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    #[test]
    fn opening_never_waits_or_truncates() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.part");
        let first = Growing::open(&path).unwrap();
        first.handle().unwrap().write_all(b"whole").unwrap();
        assert_eq!(Growing::open(&path).unwrap_err().kind(), io::ErrorKind::WouldBlock);
        assert_eq!(fs::read(&path).unwrap(), b"whole");
        drop(first);
        let again = Growing::open(&path).unwrap();
        assert_eq!(again.len().unwrap(), 5);
        again.finish(&folder.path().join("a"), 5).unwrap();
        assert_eq!(fs::read(folder.path().join("a")).unwrap(), b"whole");
        assert!(!path.exists());
    }

    #[test]
    fn create_new_keeps_existing_files() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        fs::write(&path, b"old").unwrap();
        assert_eq!(Growing::create_new(&path).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read(&path).unwrap(), b"old");
    }

    #[cfg(unix)]
    #[test]
    fn only_plain_files_grow() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("a");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let text = Growing::open(&pipe).unwrap_err().to_string();
        assert_eq!(text, "it is a pipe, and only a plain file is written here: remove it, or choose another name");
        let device = folder.path().join("b");
        std::os::unix::fs::symlink("/dev/null", &device).unwrap();
        assert!(Growing::open(&device).unwrap_err().to_string().contains("a device"));
        assert_eq!(Growing::open(folder.path()).unwrap_err().kind(), io::ErrorKind::IsADirectory);
    }

    #[cfg(unix)]
    #[test]
    fn sync_reports_deleted_truncated_and_foreign_written_files() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let growing = Growing::create_new(&path).unwrap();
        growing.handle().unwrap().write_all(b"12345678").unwrap();
        growing.sync(8).unwrap();
        fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(3).unwrap();
        assert!(growing.sync(8).unwrap_err().to_string().contains("3 bytes instead of 8"));
        // the handle appends behind the remaining bytes and leaves no hole
        growing.handle().unwrap().write_all(b"9").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"1239");
        fs::rename(&path, folder.path().join("moved")).unwrap();
        growing.sync(4).unwrap();
        let moved = growing.handle().unwrap();
        let growing = Growing { path: path.clone(), file: moved };
        assert!(growing.finish(&folder.path().join("b"), 4).unwrap_err().to_string().contains("moved it"));
        let growing = Growing::create_new(&path).unwrap();
        fs::remove_file(&path).unwrap();
        assert!(growing.sync(0).unwrap_err().to_string().contains("deleted it"));
    }
}
