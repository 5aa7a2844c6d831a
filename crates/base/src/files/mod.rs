//! Files: reading is bounded (`plain`), and all code that creates, replaces or renames a file calls these functions. A file is written
//! completely or not at all, keeps its mode when it is replaced, and is never an input of the same run.

mod cause;
mod growing;
pub mod killed;
mod new_folder;
pub mod plain;
mod outputs;
mod separated;

pub use cause::{cause, missing, read_cause, write_cause};
pub use growing::Growing;
pub use new_folder::{NewFolder, settle_folder};
pub use outputs::Outputs;
pub use separated::separated;

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use tempfile::{PathPersistError, TempPath};

/// Precedes each change of the disk; tests let it fail, as if the process were killed there.
use killed::step;

/// Prefix and suffix of temporary files.
const DRAFT: (&str, &str) = (".stereopsis-", ".part");

/// Reason why a file was not written. The text names the file and the remedy.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {}: {}", path.display(), write_cause(path, source))]
pub struct WriteError {
    /// Path of the file.
    pub path: PathBuf,
    /// Error of the system.
    pub source: io::Error,
}

impl WriteError {
    /// Returns the error of writing `path`.
    pub fn new(path: &Path, source: io::Error) -> Self {
        Self { path: path.to_owned(), source }
    }
}

/// Returns the folder that a file lies in.
pub fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Writes a file. An existing file is replaced and keeps its mode; a device or pipe is written to. After an error the old file, or none,
/// is there, never a part.
///
/// # Errors
/// The folder is missing, not accessible, or full; the file is write-protected; `path` is a folder or a dangling link.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), WriteError> {
    write_or_keep(path, bytes, true)
}

/// Writes a file of the program, such as its saved state, as [`write()`] does, but never to a device or pipe, and syncs it to the disk, so
/// that it survives a power failure.
///
/// # Errors
/// Errors of [`write()`]; something is there that is no plain file.
pub fn write_synced(path: &Path, bytes: &[u8]) -> Result<(), WriteError> {
    plain::check_to_write(path).map_err(|source| WriteError::new(path, source))?;
    write(path, bytes)?;
    let synced = fs::OpenOptions::new().append(true).open(path).and_then(|file| file.sync_all());
    synced.map_err(|source| WriteError::new(path, source))
}

/// Writes a new file.
///
/// # Errors
/// Errors of [`write()`]; `path` exists.
pub fn write_new(path: &Path, bytes: &[u8]) -> Result<(), WriteError> {
    write_or_keep(path, bytes, false)
}

/// Writes a whole file; replaces an existing one only if `replaces`.
///
/// # Errors
/// The file cannot be written, see [`write()`]; or `path` exists and `replaces` is false.
pub fn write_or_keep(path: &Path, bytes: &[u8], replaces: bool) -> Result<(), WriteError> {
    let written = match fs::symlink_metadata(path) {
        Ok(_) if !replaces => Err(io::ErrorKind::AlreadyExists.into()),
        Ok(_) => write_over(path, bytes),
        Err(err) if err.kind() == io::ErrorKind::NotFound => put(path, bytes, replaces, None),
        Err(err) => Err(err),
    };
    written.map_err(|source| WriteError::new(path, source))
}

/// Writes to an existing file. A link keeps its target.
fn write_over(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let target = fs::canonicalize(path).map_err(|err| match err.kind() {
        io::ErrorKind::NotFound => {
            io::Error::other("it is a link to something that does not exist; remove the link, or choose another name")
        }
        _ => err,
    })?;
    let meta = fs::metadata(&target)?;
    if meta.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    if !meta.is_file() {
        return fs::OpenOptions::new().write(true).open(&target)?.write_all(bytes);
    }
    if meta.permissions().readonly() {
        return Err(io::Error::other("it is write-protected; choose another name, or change its mode"));
    }
    put(&target, bytes, true, Some(meta.permissions()))
}

/// Writes a temporary file beside `target` and renames it; `mode` is that of the replaced file.
fn put(target: &Path, bytes: &[u8], replaces: bool, mode: Option<fs::Permissions>) -> io::Result<()> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(DRAFT.0).suffix(DRAFT.1);
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666)); // the system takes the user's umask off
    step()?;
    let mut part = builder.tempfile_in(folder_of(target)).map_err(plain)?;
    part.write_all(bytes).map_err(plain)?;
    if let Some(mode) = mode {
        part.as_file().set_permissions(mode)?;
        // on the disk before it replaces the old file
        part.as_file().sync_all()?;
    }
    let part = part.into_temp_path();
    step()?;
    if replaces { part.persist(target).map_err(|err| err.error) } else { settle(part, target).map_err(|(err, _)| err) }
}

/// Returns the system's error without the temporary name that `tempfile` adds.
fn plain(err: io::Error) -> io::Error {
    if err.get_ref().is_some() { err.kind().into() } else { err }
}

/// Removes temporary files of a killed run from a folder that no other program writes to.
///
/// # Errors
/// The folder cannot be read, or a file cannot be removed.
pub fn remove_drafts(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if is_draft(&entry.file_name().to_string_lossy()) {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// Whether `name` is that of a temporary file.
pub fn is_draft(name: &str) -> bool {
    name.starts_with(DRAFT.0) && name.ends_with(DRAFT.1)
}

/// Creates a folder and its parents, if they do not exist.
///
/// # Errors
/// A file has this name, or permission is missing.
pub fn make_folder(path: &Path) -> Result<(), WriteError> {
    step().and_then(|()| fs::create_dir_all(path)).map_err(|err| {
        let source = match err.kind() {
            io::ErrorKind::AlreadyExists => io::Error::other("it is a file; give the name of a folder"),
            _ => err,
        };
        WriteError::new(path, source)
    })
}

/// Renames a file, or anything else, to a new name.
///
/// # Errors
/// The name is taken, and the file keeps its old name; or the system fails.
pub fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    settle(TempPath::try_from_path(from)?, to).map_err(|(err, path)| {
        // `from` is no temporary file and must not be deleted on drop
        if let Err(err) = path.keep() {
            log::warn!("{}: {err}", from.display());
        }
        err
    })
}

/// Renames a file without replacing another one; returns the file after an error.
fn settle(file: TempPath, to: &Path) -> Result<(), (io::Error, TempPath)> {
    let Err(PathPersistError { error, path }) = file.persist_noclobber(to) else { return Ok(()) };
    if error.kind() == io::ErrorKind::AlreadyExists || fs::symlink_metadata(to).is_ok() {
        return Err((io::ErrorKind::AlreadyExists.into(), path));
    }
    // some file systems have neither links nor a rename that fails for an existing name
    path.persist(to).map_err(|err| (err.error, err.path))
}

#[cfg(test)]
mod tests;
