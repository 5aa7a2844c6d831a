//! Faults of journals.

use serde_json::Value;
use std::io;
use std::path::PathBuf;
use stereopsis_base::console::{self, counted, foreign};
use stereopsis_base::files::{WriteError, write_cause};
use stereopsis_base::remedy::option;

/// Largest length of a journal's line, enough for some thousand samples, bytes.
pub(super) const MAX_LINE: usize = 1 << 20;

/// Fault of a journal.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// Another process writes it.
    #[error("{} is written by another run: wait for it, or name another {}", console::path(.0), option("output"))]
    InUse(PathBuf),
    /// The file cannot be opened.
    #[error("cannot write {}: {}", console::path(.path), write_cause(.path, .cause))]
    Open {
        /// Path of the file.
        path: PathBuf,
        /// Cause.
        cause: io::Error,
    },
    /// The file cannot be read or written.
    #[error(transparent)]
    File(#[from] WriteError),
    /// The parameters of a trial cannot be written.
    #[error("cannot write the journal: {0}")]
    Params(#[from] serde_json::Error),
    /// The journal belongs to another search.
    #[error("{} was left by another search: {why}. Delete it, or name another {}", console::path(.path), option("output"))]
    Other {
        /// Path of the file.
        path: PathBuf,
        /// What is different in it.
        why: Difference,
    },
}

/// Difference of a journal from the one of this search.
#[derive(Debug, thiserror::Error)]
pub enum Difference {
    #[error("it is no journal")]
    NoJournal,
    #[error("its line {0} has more than {most} bytes, and no trial has so many", most = MAX_LINE)]
    LongLine(u64),
    #[error("it has {} behind its first one, and none is a trial that this version knows", counted(*.0, "line"))]
    NoTrial(u64),
    #[error("it does not say its {0}")]
    Unsaid(String),
    /// Checksums, which are numbers without a meaning for users.
    #[error("its pairs have other images, another truth or another calibration")]
    Pairs,
    #[error("its {name} is {}, not {wanted}", foreign(&.there.to_string()))]
    Value { name: String, there: Value, wanted: Value },
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Header(Vec<Self>),
}

/// Line that is not read again.
#[derive(Debug, thiserror::Error)]
#[error(
    "so many pairs make a line of more than {most} bytes, which is not read again: give fewer {pairs}",
    most = MAX_LINE, pairs = option("pairs")
)]
pub(super) struct LongLine;
