//! Whole files or none: bytes go into a new file beside the target, which then takes its name.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Why a file was not written. The text says what was tried, on what, and what to do next.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The name ends in something that no writer knows.
    #[error("{path}: cannot tell the format from {ending}; {wanted}", path = .path.display())]
    UnknownFormat {
        /// The file asked for.
        path: PathBuf,
        /// What its name ends in, in words.
        ending: String,
        /// What there is.
        wanted: &'static str,
    },
    /// The folder is missing, closed to us, or full.
    #[error("cannot write {path}: {cause}", path = .path.display(), cause = explain(.path, .source))]
    Write {
        /// The file asked for.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The picture cannot be stored in this format.
    #[error("cannot store the picture in {path}: {cause}", path = .path.display())]
    Encode {
        /// The file asked for.
        path: PathBuf,
        /// What the writer of the format said.
        cause: String,
    },
}

impl ExportError {
    pub(super) fn unknown_format(path: &Path, wanted: &'static str) -> Self {
        let ending = match path.extension() {
            Some(ending) => format!("the ending .{}", ending.display()),
            None => "a name without an ending".to_owned(),
        };
        Self::UnknownFormat { path: path.to_owned(), ending, wanted }
    }

    pub(super) fn encode(path: &Path, cause: &impl ToString) -> Self {
        Self::Encode { path: path.to_owned(), cause: cause.to_string() }
    }
}

/// What the system said, in words that say what to do.
fn explain(path: &Path, error: &io::Error) -> String {
    let folder = folder_of(path).display();
    match error.kind() {
        io::ErrorKind::NotFound => format!("the folder {folder} does not exist; make it first"),
        io::ErrorKind::NotADirectory => format!("{folder} is not a folder"),
        io::ErrorKind::IsADirectory => "it is a folder; give the name of a file".to_owned(),
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

/// The ending of a name in small letters, or nothing.
pub(super) fn ending(path: &Path) -> String {
    path.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default()
}

/// Puts `bytes` at `path`, replacing what is there. After an error the old file, or none, is there, never a part.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<(), ExportError> {
    // a link keeps pointing where it did
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let result = match fs::metadata(&target) {
        Ok(meta) if meta.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
        // a device or a pipe is written to, not replaced
        Ok(meta) if !meta.is_file() => {
            fs::OpenOptions::new().write(true).open(&target).and_then(|mut file| file.write_all(bytes))
        }
        _ => replace(&target, bytes),
    };
    result.map_err(|source| ExportError::Write { path: path.to_owned(), source })
}

fn replace(target: &Path, bytes: &[u8]) -> io::Result<()> {
    let name = target.file_name().ok_or(io::ErrorKind::InvalidFilename)?;
    let part = folder_of(target).join(format!(".{}.{}.part", name.display(), std::process::id()));
    let written = fs::File::create(&part).and_then(|mut file| file.write_all(bytes));
    let result = written.and_then(|()| fs::rename(&part, target));
    if result.is_err() {
        // what matters is the error above; there may be nothing to remove
        let _ = fs::remove_file(&part);
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(result: Result<(), ExportError>) -> String {
        result.unwrap_err().to_string()
    }

    #[test]
    fn replaces_a_file_and_leaves_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.bin");
        write(&path, b"first").unwrap();
        write(&path, b"second").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"second");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn missing_folder_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let text = text(write(&folder.path().join("none/a.bin"), b"x"));
        assert!(text.contains("a.bin") && text.contains("does not exist"), "{text}");
    }

    #[test]
    fn folder_in_place_of_a_file_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let text = text(write(folder.path(), b"x"));
        assert!(text.contains("it is a folder"), "{text}");
    }

    #[test]
    fn file_in_place_of_a_folder_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("file"), b"").unwrap();
        let text = text(write(&folder.path().join("file/a.bin"), b"x"));
        assert!(text.contains("is not a folder"), "{text}");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn full_disk_is_named_and_a_device_is_not_replaced() {
        let text = text(write(Path::new("/dev/full"), b"x"));
        assert!(text.contains("the disk is full"), "{text}");
        assert!(!fs::metadata("/dev/full").unwrap().is_file());
    }
}
