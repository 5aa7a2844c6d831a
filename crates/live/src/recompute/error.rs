//! Reasons why a recording is not recomputed.

use std::io;
use std::path::{Path, PathBuf};
use stereopsis_base::files::{self, WriteError};
use stereopsis_base::remedy::{Remedy, option};
use stereopsis_frame::Cause;
use stereopsis_frame::engine::EngineError;
use stereopsis_settings::settings::SettingsError;

/// Reason why a recording was not recomputed, or not to its end. The part that was written stays for the next run.
#[derive(Debug, thiserror::Error)]
pub enum RecomputeError {
    /// The parameters do not fit these images.
    #[error(transparent)]
    Params(#[from] SettingsError),
    /// Raw images are wanted, and the recording has none.
    #[error("{} has rectified images and no raw ones: give {}", .0.display(), Remedy::set("streams", "rectified,depth"))]
    NoRaw(PathBuf),
    /// Depth is wanted, and the recording has no calibration.
    #[error(
        "{} has no calibration, which {} needs: give {}, {}, or the lens ({}) and {}; {} needs none",
        .0.display(),
        Remedy::set("streams", "depth"),
        option("calibration"),
        Remedy::set("rectify", "auto"),
        option("fov-deg"),
        option("baseline-m"),
        Remedy::set("streams", "raw,disparity")
    )]
    NoCalibration(PathBuf),
    /// The new recording has the name of the old one.
    #[error("{} is the recording that is read, which stays as it is; name another file", Remedy::set("output", .0.display()))]
    OutputIsInput(PathBuf),
    /// There is a file of that name.
    #[error("{} exists and is not overwritten; name another file with {}", .0.display(), option("output"))]
    Exists(PathBuf),
    /// Another run writes the file.
    #[error("{} is being written by another run; wait for it, or name another {}", .0.display(), option("output"))]
    Locked(PathBuf),
    /// The unfinished recording is of another command.
    #[error(
        "{} was left by another command: other settings, another calibration, other streams, another recording or another version of this \
         program. Delete it, or name another {}",
        .0.display(),
        option("output")
    )]
    OtherCommand(PathBuf),
    /// The new recording cannot be begun.
    #[error(transparent)]
    Begin(WriteError),
    /// No pair of the old recording can be read.
    #[error("{} has nothing to compute: {}", .path.display(), .why.as_ref().map_or("it has no pairs".to_owned(), Cause::to_string))]
    Nothing {
        /// Path of the old recording.
        path: PathBuf,
        /// Fault of its last pair; `None` without pairs.
        why: Option<Cause>,
    },
    /// The run was stopped; the text names the complete part.
    #[error("stopped after {done} of {pairs} pairs; what is complete is in {part}: the same command goes on there")]
    Stopped {
        /// Number of pairs in the new recording.
        done: u64,
        /// Number of pairs of the old recording.
        pairs: u64,
        /// Path of the unfinished recording.
        part: String,
    },
    /// The new recording cannot be written to its end.
    #[error("{0}. What is complete is kept: the same command goes on there")]
    Write(WriteError),
    /// The engine failed.
    #[error("{error}; what is complete is in {}: the same command goes on there", .part.display())]
    Engine {
        /// Fault of the engine.
        error: EngineError,
        /// Path of the unfinished recording.
        part: PathBuf,
    },
    /// Messages of the old recording cannot be converted, or those of the new one made.
    #[error("{0}")]
    Message(Cause),
    /// The system gives no thread.
    #[error("the system gave no thread: {}", files::cause(.0))]
    NoThread(io::Error),
    /// A thread panicked.
    #[error("a thread of the computation panicked")]
    Panicked,
}

impl RecomputeError {
    /// Whether the command is wrong for this recording.
    pub fn is_of_flags(&self) -> bool {
        matches!(self, Self::Params(_) | Self::NoRaw(_) | Self::NoCalibration(_))
    }

    pub(super) fn write(path: &Path, source: io::Error) -> Self {
        Self::Write(WriteError::new(path, source))
    }
}
