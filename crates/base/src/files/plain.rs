//! Plain files: files named by the user are read only where they are plain, up to a limit, and so are the program's own files written.
//! A pipe or device may block, never end, or exhaust memory.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read as _};
use std::path::Path;

/// Limit of a text file, bytes.
pub const MAX_TEXT_BYTES: u64 = 16 << 20;

/// Opens a plain file.
///
/// # Errors
/// The file is missing, may not be read, or is no plain file; the text names its kind.
pub fn open(path: &Path) -> io::Result<File> {
    // checked before opening, because opening a pipe waits for its writer
    check(&std::fs::metadata(path)?, READ)?;
    let file = File::open(path)?;
    check(&file.metadata()?, READ)?;
    Ok(file)
}

/// Opens a plain file with `options`, which may create it, to write it.
///
/// # Errors
/// There is no plain file; the text names its kind. Or the system fails.
pub(crate) fn open_to_write(path: &Path, options: &OpenOptions) -> io::Result<File> {
    check_to_write(path)?;
    let file = options.open(path)?;
    check(&file.metadata()?, WRITTEN)?;
    Ok(file)
}

/// Refuses an existing file that is not plain, before it is opened, because opening a pipe waits for its reader.
pub(super) fn check_to_write(path: &Path) -> io::Result<()> {
    match std::fs::metadata(path) {
        Err(err) if err.kind() == io::ErrorKind::NotFound => Ok(()),
        metadata => check(&metadata?, WRITTEN),
    }
}

/// Reads all bytes of a plain file.
///
/// # Errors
/// Errors of [`open()`]; the file has more than `most` bytes.
pub fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let file = open(path)?;
    let too_large =
        |len: u64| io::Error::other(format!("it has {len} bytes, more than the {most} that are read of it"));
    let len = file.metadata()?.len();
    if len > most {
        return Err(too_large(len));
    }
    let mut bytes = Vec::new();
    // the file may grow, and some system files report no length
    file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most { Err(too_large(bytes.len() as u64)) } else { Ok(bytes) }
}

/// Reads a plain file of at most [`MAX_TEXT_BYTES`] bytes as text.
///
/// # Errors
/// Errors of [`read`]; the file is no text ([`io::ErrorKind::InvalidData`]).
pub fn read_text(path: &Path) -> io::Result<String> {
    let bytes = read(path, MAX_TEXT_BYTES)?;
    String::from_utf8(bytes).map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is no text in UTF-8"))
}

/// Use of a file and the remedy where it is not plain, for errors.
const READ: [&str; 2] = ["read", "write what it gives into a file first"];
const WRITTEN: [&str; 2] = ["written", "remove it, or choose another name"];

fn check(metadata: &Metadata, [used, remedy]: [&str; 2]) -> io::Result<()> {
    if metadata.is_file() {
        return Ok(());
    }
    if metadata.is_dir() {
        return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder, and a file is wanted"));
    }
    let what = special(metadata);
    Err(io::Error::new(
        io::ErrorKind::InvalidInput,
        format!("it is {what}, and only a plain file is {used} here: {remedy}"),
    ))
}

#[cfg(unix)]
fn special(metadata: &Metadata) -> &'static str {
    use std::os::unix::fs::FileTypeExt as _;
    let kind = metadata.file_type();
    if kind.is_fifo() {
        "a pipe"
    } else if kind.is_socket() {
        "a socket"
    } else {
        "a device"
    }
}

#[cfg(not(unix))]
fn special(_: &Metadata) -> &'static str {
    "a device"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_read_up_to_a_number_of_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        std::fs::write(&path, "text").unwrap();
        assert_eq!((read(&path, 4).unwrap(), read_text(&path).unwrap()), (b"text".to_vec(), "text".to_owned()));
        let text = read(&path, 3).unwrap_err().to_string();
        assert!(text.contains("4 bytes") && text.contains("more than the 3"), "{text}");
        // a sparse file, larger than the disk
        File::options().write(true).open(&path).unwrap().set_len(200 << 30).unwrap();
        assert!(read_text(&path).unwrap_err().to_string().contains("more than the 16777216"));
        std::fs::write(&path, [0xff]).unwrap();
        assert_eq!(read_text(&path).unwrap_err().kind(), io::ErrorKind::InvalidData);
        assert_eq!(read(folder.path(), 9).unwrap_err().kind(), io::ErrorKind::IsADirectory);
        assert_eq!(read(&folder.path().join("b"), 9).unwrap_err().kind(), io::ErrorKind::NotFound);
    }

    #[cfg(unix)]
    #[test]
    fn pipes_and_devices_are_refused_before_they_are_opened() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
        assert!(made.success());
        let text = read(&pipe, 9).unwrap_err().to_string();
        assert!(text.contains("a pipe") && text.contains("into a file first"), "{text}");
        assert!(read(Path::new("/dev/zero"), 9).unwrap_err().to_string().contains("a device"));
    }
}
