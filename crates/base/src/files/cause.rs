//! Errors of the system as plain phrases for users: without error numbers, and with the name of the missing folder.

use super::folder_of;
use crate::console;
use std::io;
use std::path::{Path, PathBuf};

/// Returns an error of the system as a phrase, such as `the disk is full`.
pub fn cause(error: &io::Error) -> String {
    // an error of this program or of a library has its own text
    if error.get_ref().is_some() {
        return unnumbered(&error.to_string());
    }
    let phrase = match error.kind() {
        io::ErrorKind::NotFound => "there is no such file",
        io::ErrorKind::NotADirectory => "what should be a folder is a file",
        io::ErrorKind::IsADirectory => "it is a folder, and a file is wanted",
        io::ErrorKind::AlreadyExists => "it exists already",
        io::ErrorKind::PermissionDenied => "there is no permission",
        io::ErrorKind::ReadOnlyFilesystem => "the disk is read-only",
        io::ErrorKind::StorageFull => "the disk is full",
        io::ErrorKind::QuotaExceeded => "your share of the disk is full",
        io::ErrorKind::FileTooLarge => "the disk does not take files of this size",
        io::ErrorKind::InvalidFilename => "the system does not accept this name",
        io::ErrorKind::BrokenPipe => "the pipe was closed at its other end",
        io::ErrorKind::WouldBlock => "the system has no room for it now",
        io::ErrorKind::OutOfMemory => "there is not enough memory",
        _ => return unnumbered(&error.to_string()),
    };
    phrase.to_owned()
}

/// Largest number of names in a folder that are compared with a missing one.
const MAX_COMPARED_NAMES: usize = 10_000;

/// Returns the reason why a file or folder cannot be read; for a missing one with the name beside it that was probably meant.
pub fn read_cause(path: &Path, error: &io::Error) -> String {
    let folder = folder_of(path);
    match error.kind() {
        _ if error.get_ref().is_some() => cause(error),
        io::ErrorKind::NotFound if !folder.exists() => {
            format!("the folder {} does not exist", console::path(folder))
        }
        io::ErrorKind::NotFound => match meant(path) {
            Some(meant) => format!("{}: did you mean {}?", cause(error), console::path(&meant)),
            None => cause(error),
        },
        io::ErrorKind::NotADirectory => format!("{} is not a folder", console::path(folder)),
        io::ErrorKind::PermissionDenied => "there is no permission to read it".to_owned(),
        _ => cause(error),
    }
}

fn meant(missing: &Path) -> Option<PathBuf> {
    let name = missing.file_name()?.to_str()?;
    let beside = folder_of(missing).read_dir().ok()?.take(MAX_COMPARED_NAMES);
    let names: Vec<String> = beside.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect();
    console::closest_name(name, names.iter().map(String::as_str)).map(|meant| missing.with_file_name(meant))
}

/// Returns the reason why there is nothing at a path; `None` if there is something, readable or not.
pub fn missing(path: &Path) -> Option<String> {
    let error = path.metadata().err()?;
    let is_missing = matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory);
    is_missing.then(|| read_cause(path, &error))
}

/// Returns the reason why a file or folder cannot be written, with the remedy.
pub fn write_cause(path: &Path, error: &io::Error) -> String {
    let folder = console::path(folder_of(path));
    match error.kind() {
        _ if error.get_ref().is_some() => cause(error),
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
        _ => cause(error),
    }
}

/// Removes the error number that Rust adds: ` (os error 2)`.
fn unnumbered(text: &str) -> String {
    let Some((before, rest)) = text.split_once(" (os error ") else { return text.to_owned() };
    let after = rest.split_once(')').map_or("", |(_, after)| after);
    format!("{before}{after}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_phrase_has_a_number_of_the_system() {
        for number in 1..140 {
            let error = || io::Error::from_raw_os_error(number);
            let path = Path::new("no such folder/a.png");
            for text in [cause(&error()), read_cause(path, &error()), write_cause(path, &error())] {
                assert!(!text.contains("os error") && !text.is_empty(), "{number}: {text}");
            }
            let wrapped = io::Error::other(format!("chunk 3: {}, and no more", error()));
            let text = cause(&wrapped);
            assert!(text.starts_with("chunk 3: ") && text.ends_with(", and no more"), "{text}");
            assert!(!text.contains("os error"), "{text}");
        }
    }

    #[test]
    fn read_cause_names_the_missing_folder_or_a_similar_file() {
        let folder = tempfile::tempdir().unwrap();
        let missing = || io::Error::from(io::ErrorKind::NotFound);
        assert_eq!(read_cause(&folder.path().join("a"), &missing()), "there is no such file");
        std::fs::write(folder.path().join("right.png"), "").unwrap();
        let said = |name: &str| read_cause(&folder.path().join(name), &missing());
        let right = folder.path().join("right.png").display().to_string();
        assert_eq!(said("rigth.png"), format!("there is no such file: did you mean {right}?"));
        assert_eq!(said("left.png"), "there is no such file", "another image");
        let inside = folder.path().join("b/a");
        let shown = folder.path().join("b").display().to_string();
        assert_eq!(read_cause(&inside, &missing()), format!("the folder {shown} does not exist"));
        assert_eq!(write_cause(&inside, &missing()), format!("the folder {shown} does not exist; make it first"));
    }
}
