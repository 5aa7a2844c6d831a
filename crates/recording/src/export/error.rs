//! Faults of an export, and reasons why it lacks a part.

use super::part::Part;
use crate::{ReadError, Stream};
use std::path::PathBuf;
use stereopsis_base::console::counted;
use stereopsis_base::files::WriteError;
use stereopsis_base::remedy::{Remedy, option};

/// Reason why a recording was not exported, or not to its end.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The selection has no pair.
    #[error("{}: none of its pairs is chosen (there are {pairs}); nothing to export", recording.display())]
    NoneChosen {
        /// Path of the recording.
        recording: PathBuf,
        /// Number of its pairs.
        pairs: usize,
    },
    /// The recording lacks a wanted part.
    #[error("{}: {why}", Remedy::set("what", .part))]
    Part {
        /// The part.
        part: Part,
        /// Reason.
        why: MissingPart,
    },
    /// The folder has other content.
    #[error("the folder {} {why}; name another one with {}", folder.display(), option("to"))]
    Folder {
        /// Path of the folder.
        folder: PathBuf,
        /// What is in the way.
        why: &'static str,
    },
    /// The export was stopped.
    #[error("stopped after {done} of {pairs} pairs; the same export goes on in {}", folder.display())]
    Stopped {
        /// Number of pairs whose files are complete.
        done: usize,
        /// Number of chosen pairs.
        pairs: usize,
        /// Path of the folder.
        folder: PathBuf,
    },
    /// No chosen pair can be read.
    #[error("{}: nothing was exported: no chosen pair can be read; pair {number}: {why}", recording.display())]
    Unreadable {
        /// Path of the recording.
        recording: PathBuf,
        /// Number of one pair.
        number: u64,
        /// What is wrong with it.
        why: ReadError,
    },
    /// The chosen pairs have none of the parts.
    #[error(
        "{}: nothing was exported: {}",
        recording.display(),
        missing.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
    )]
    Empty {
        /// Path of the recording.
        recording: PathBuf,
        /// The parts.
        missing: Vec<MissingPart>,
    },
    /// A file cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// A file of images or numbers cannot be written.
    #[error(transparent)]
    File(#[from] stereopsis_images::ExportError),
}

/// Reason why an export lacks a part, and how to make it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MissingPart {
    /// The images are matched as they are.
    #[error("{} has no calibration to rectify with: what is matched is left and right as they are", .0.display())]
    Rectified(PathBuf),
    /// There is no calibration.
    #[error("{} has no calibration, and so neither depth nor points: {recompute} adds both", recording.display())]
    Calibration {
        /// Path of the recording.
        recording: PathBuf,
        /// Command that makes a recording with it.
        recompute: Remedy,
    },
    /// Depth is recorded in whole millimetres.
    #[error("{} has its depth in whole millimetres: depth-mm has all of it", .0.display())]
    Metres(PathBuf),
    /// There are no results.
    #[error("{} has no {stream}: {recompute} computes it", recording.display())]
    Result {
        /// Path of the recording.
        recording: PathBuf,
        /// What is missing.
        stream: Stream,
        /// Command that makes a recording with it.
        recompute: Remedy,
    },
    /// The chosen pairs have none of it.
    #[error("{part}: the recording has none of it for {}", counted(*pairs, "chosen pair"))]
    OfPairs {
        /// The part.
        part: Part,
        /// Number of pairs.
        pairs: u64,
    },
}
