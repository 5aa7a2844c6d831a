//! Faults of the window's files.

use std::io;
use std::path::PathBuf;
use stereopsis_base::files::WriteError;
use stereopsis_base::{console, files};
use stereopsis_calibration::CalibrationError;
use stereopsis_settings::rig::RigFileError;

/// Error of reading or writing a file of the window.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FileError {
    #[error("it is a link to something that does not exist")]
    DanglingLink,
    #[error("{}", files::read_cause(path, cause))]
    Read { path: PathBuf, cause: io::Error },
    #[error("{}{}", line.map_or_else(String::new, |line| format!("line {line}: ")), cause.message())]
    Toml { line: Option<usize>, cause: toml::de::Error },
    #[error("another window has held {} for {seconds} s", path.display())]
    Locked { path: PathBuf, seconds: u64 },
    #[error("cannot rename {} to {}: {}", console::path(from), console::path(to), files::write_cause(to, cause))]
    Rename { from: PathBuf, to: PathBuf, cause: io::Error },
    #[error("{} exists and is not replaced; choose another name", .0.display())]
    Exists(PathBuf),
    #[error("{} has just been changed by another program: look at it first", .0.display())]
    Changed(PathBuf),
    #[error(transparent)]
    Write(#[from] WriteError),
    #[error(transparent)]
    Format(#[from] toml::ser::Error),
    #[error(transparent)]
    Rig(#[from] RigFileError),
    #[error(transparent)]
    Calibration(#[from] CalibrationError),
    #[error(transparent)]
    Io(#[from] io::Error),
}
