//! Files: what is read of them is bounded (`plain`), and what the program writes goes through here. A file is written whole or
//! not at all, keeps its mode where it is replaced, and is never one that the same run reads.
//!
//! Everything else in the program that makes, replaces or renames a file calls these functions.

mod growing;
pub(crate) mod plain;
mod outputs;

pub use growing::Growing;
pub use outputs::{OutputError, Outputs};

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use tempfile::{PathPersistError, TempPath};

/// How the names of files begin and end that have not got their own yet.
const DRAFT: (&str, &str) = (".stereopsis-", ".part");

/// Why a file was not written. The text says what was tried, on what, and what to do next.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {}: {}", path.display(), explain(path, source))]
pub struct WriteError {
    /// The file asked for.
    pub path: PathBuf,
    /// What the system said.
    pub source: io::Error,
}

impl WriteError {
    /// What the system said of writing `path`.
    pub fn new(path: &Path, source: io::Error) -> Self {
        Self { path: path.to_owned(), source }
    }
}

/// What the system said, in words that say what to do.
fn explain(path: &Path, error: &io::Error) -> String {
    let folder = folder_of(path).display();
    match error.kind() {
        // an error of our own says it all
        _ if error.get_ref().is_some() => error.to_string(),
        io::ErrorKind::NotFound => format!("the folder {folder} does not exist; make it first"),
        io::ErrorKind::NotADirectory => format!("{folder} is not a folder"),
        io::ErrorKind::IsADirectory => "it is a folder; give the name of a file".to_owned(),
        io::ErrorKind::AlreadyExists => "it exists and is not replaced; choose another name".to_owned(),
        io::ErrorKind::PermissionDenied => {
            format!("no permission; choose a folder that you may write to, not {folder}")
        }
        io::ErrorKind::ReadOnlyFilesystem => format!("{folder} is read-only; choose another folder"),
        io::ErrorKind::StorageFull => "the disk is full; free some space or choose another disk".to_owned(),
        io::ErrorKind::QuotaExceeded => "your share of the disk is full; free some space".to_owned(),
        io::ErrorKind::InvalidFilename => "the system does not accept this name".to_owned(),
        _ => error.to_string(),
    }
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Puts `bytes` at `path` and replaces what is there, which keeps its mode. A device or a pipe is written to. After an
/// error the old file, or none, is there, never a part.
///
/// # Errors
/// The folder is missing, closed to us, or full; the file is write-protected; `path` is a folder or a link to nothing.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), WriteError> {
    write_or_keep(path, bytes, true)
}

/// Puts `bytes` at `path`, where nothing may be yet.
///
/// # Errors
/// As [`write()`]; and `path` is taken.
pub fn write_new(path: &Path, bytes: &[u8]) -> Result<(), WriteError> {
    write_or_keep(path, bytes, false)
}

fn write_or_keep(path: &Path, bytes: &[u8], replaces: bool) -> Result<(), WriteError> {
    let written = match fs::symlink_metadata(path) {
        Ok(_) if !replaces => Err(io::ErrorKind::AlreadyExists.into()),
        Ok(_) => write_over(path, bytes),
        Err(err) if err.kind() == io::ErrorKind::NotFound => put(path, bytes, replaces, None),
        Err(err) => Err(err),
    };
    written.map_err(|source| WriteError::new(path, source))
}

/// Writes to what is at `path`. A link keeps pointing where it did.
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

/// Writes a new file beside `target`, which then takes its name; `mode` is that of the file that goes.
fn put(target: &Path, bytes: &[u8], replaces: bool, mode: Option<fs::Permissions>) -> io::Result<()> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(DRAFT.0).suffix(DRAFT.1);
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666)); // the system takes the user's umask off
    let mut part = builder.tempfile_in(folder_of(target)).map_err(plain)?;
    part.write_all(bytes).map_err(plain)?;
    if let Some(mode) = mode {
        part.as_file().set_permissions(mode)?;
        // the old file goes only when the new one would survive a power cut
        part.as_file().sync_all()?;
    }
    let part = part.into_temp_path();
    if replaces { part.persist(target).map_err(|err| err.error) } else { settle(part, target).map_err(|(err, _)| err) }
}

/// The system's own error, without the temporary name that `tempfile` adds to it.
fn plain(err: io::Error) -> io::Error {
    if err.get_ref().is_some() { err.kind().into() } else { err }
}

/// Removes what a killed run left in a folder that nobody else writes to.
///
/// # Errors
/// The folder cannot be read, or a file not be removed.
pub fn remove_drafts(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with(DRAFT.0) && name.ends_with(DRAFT.1) {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// Makes a folder and those above it, if there is none.
///
/// # Errors
/// A file is in the way, or the place is closed to us.
pub fn make_folder(path: &Path) -> Result<(), WriteError> {
    fs::create_dir_all(path).map_err(|err| {
        let source = match err.kind() {
            io::ErrorKind::AlreadyExists => io::Error::other("it is a file; give the name of a folder"),
            _ => err,
        };
        WriteError::new(path, source)
    })
}

/// Gives a finished file its name, which nothing may have yet.
///
/// # Errors
/// The name is taken meanwhile, and the file keeps the one it has; or the system cannot.
pub fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    settle(TempPath::try_from_path(from)?, to).map_err(|(err, path)| {
        // it is no temporary file: it must outlive this call
        if let Err(err) = path.keep() {
            log::warn!("{}: {err}", from.display());
        }
        err
    })
}

/// Gives a file a name that nothing has; the file where it cannot.
fn settle(file: TempPath, to: &Path) -> Result<(), (io::Error, TempPath)> {
    let Err(PathPersistError { error, path }) = file.persist_noclobber(to) else { return Ok(()) };
    if error.kind() == io::ErrorKind::AlreadyExists || fs::symlink_metadata(to).is_ok() {
        return Err((io::ErrorKind::AlreadyExists.into(), path));
    }
    // some file systems have neither links nor a rename that spares what is there
    path.persist(to).map_err(|err| (err.error, err.path))
}

#[cfg(test)]
mod tests;
