//! Reads recordings: files that are finished or not, damaged or not, ours or of others.
//!
//! A file is known by the headers of its records and by the message indexes behind its chunks, so that opening reads little
//! and an unfinished file opens like a finished one.

mod topics;

pub use topics::{Eyes, TopicChoice};

use super::{About, Channel, Packet};
use std::path::Path;
use std::sync::Arc;

/// Why a recording, or a part of it, cannot be read. The text names the file and says what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// The file cannot be read at all, or is no recording of pairs.
    #[error("{0}")]
    File(String),
    /// This part is damaged; others may be readable.
    #[error("{0}")]
    Damaged(String),
}

/// One pair of a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PairIndex {
    /// When it was recorded: the wall clock, ns since 1970. Its number at the source and the time at which it was taken are
    /// in its packets.
    pub log_time_ns: u64,
}

/// A file, finished or not, damaged or not: what is readable of it.
#[derive(Debug)]
pub struct Recording {
    channels: Vec<Arc<Channel>>,
    about: Option<About>,
    damage: Option<String>,
    eyes: Eyes,
    pairs: Vec<PairIndex>,
}

impl Recording {
    /// Opens a file of ours, or one of others in which two image topics differ only by left and right.
    ///
    /// # Errors
    /// As [`Recording::open_with`].
    pub fn open(path: &Path) -> Result<Self, ReadError> {
        Self::open_with(path, &TopicChoice::default())
    }

    /// Opens a file whose pairs are on these topics.
    ///
    /// # Errors
    /// It cannot be read, is no MCAP file, or has no such topics; then the text lists those that it has.
    pub fn open_with(path: &Path, _topics: &TopicChoice) -> Result<Self, ReadError> {
        Err(ReadError::File(format!("{}: recordings cannot be read yet", path.display())))
    }

    /// All topics, in the order of their first appearance.
    pub fn channels(&self) -> &[Arc<Channel>] {
        &self.channels
    }

    /// The topics whose pictures are the pairs.
    pub fn eyes(&self) -> &Eyes {
        &self.eyes
    }

    /// What the file says of itself; `None` for recordings of others.
    pub fn about(&self) -> Option<&About> {
        self.about.as_ref()
    }

    /// What is missing, in words, as far as it has been found; reading may find more.
    pub fn damage(&self) -> Option<&str> {
        self.damage.as_deref()
    }

    /// How many messages of a topic there are.
    pub fn len(&self, _topic: &str) -> u64 {
        0
    }

    /// Message `k` of a topic, in the order in which it was recorded; in any order, the same bytes each time.
    ///
    /// # Errors
    /// There is none, or the part in which it lies is damaged.
    pub fn packet(&mut self, topic: &str, k: u64) -> Result<Packet, ReadError> {
        Err(ReadError::File(format!("{topic} has no message {k}")))
    }

    /// All pairs of which both pictures are there, in the order in which they were recorded.
    pub fn pairs(&self) -> &[PairIndex] {
        &self.pairs
    }

    /// The pictures of a pair and, in files of ours, its note.
    ///
    /// # Errors
    /// As [`Recording::packet`].
    pub fn packets_of_pair(&mut self, k: u64) -> Result<Vec<Packet>, ReadError> {
        Err(ReadError::File(format!("there is no pair {k}")))
    }

    /// What was recorded of a pair's result: depth, disparity and its note, as far as there are any.
    ///
    /// # Errors
    /// As [`Recording::packet`].
    pub fn packets_of_result(&mut self, k: u64) -> Result<Vec<Packet>, ReadError> {
        Err(ReadError::File(format!("there is no pair {k}")))
    }
}
