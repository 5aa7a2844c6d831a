//! Choices for recordings, and the running recording.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;
use stereopsis_recording::write::{Compression, Expected, RecordOptions, RecordStatus, Recorder, Split};
use stereopsis_recording::{Format, Stream, Streams};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct RecordingChoices {
    #[serde(skip)]
    pub(crate) streams: Streams,
    #[serde(rename = "record-format")]
    pub(crate) format: Format,
    #[serde(rename = "record-compression")]
    pub(crate) compression: Compression,
    /// Whether holes of depth and disparity are filled.
    #[serde(rename = "record-filled")]
    pub(crate) filled: bool,
    /// Largest part in one file, or `None` for one file.
    #[serde(skip)]
    pub(crate) split: Option<Split>,
    /// Folder of the files, or `None` for the folder of snapshots.
    #[serde(rename = "record-folder")]
    pub(crate) folder: Option<PathBuf>,
}

impl Default for RecordingChoices {
    fn default() -> Self {
        let RecordOptions { format, compression, split, .. } = RecordOptions::default();
        Self { streams: Streams::default(), format, compression, filled: false, split, folder: None }
    }
}

#[derive(Default)]
pub(crate) struct RecordingState {
    pub(crate) choices: RecordingChoices,
    /// Folder of snapshots as an absolute path.
    pub(crate) default_folder: PathBuf,
    pub(crate) expected: Option<Expected>,
    /// Time and subject of the last estimate of the size.
    pub(crate) estimated: Option<(Instant, Streams, PathBuf)>,
    pub(crate) phase: Phase,
    pub(crate) streams: Streams,
    /// Status of the running recording, updated once per frame.
    pub(crate) status: Option<RecordStatus>,
    /// Reason of the question whether the recording ends for a change.
    pub(crate) question: Option<Obstacle>,
}

impl RecordingState {
    /// Returns the state without a recording; files go into this folder unless the choices name another one.
    pub(crate) fn new(choices: RecordingChoices, default_folder: PathBuf) -> Self {
        Self { choices, default_folder, ..Self::default() }
    }
}

/// Change that ends a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Obstacle {
    /// Another source, or the present one opened with other options.
    Source(String),
    /// Left and right exchanged.
    Swap,
    Calibration,
    Size,
}

impl Obstacle {
    /// Returns the reason why the recording ends, in a sentence.
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Source(source) => format!("A recording has one source, and {source} would be another."),
            Self::Swap => {
                "Its depth is that of left and right as they are now, and its description says so once.".into()
            }
            Self::Calibration => {
                "Its depth is that of the calibration as it is now, and its description has that one alone.".into()
            }
            Self::Size => "All depth of a recording has one size.".into(),
        }
    }
}

#[derive(Default)]
pub(crate) enum Phase {
    #[default]
    Idle,
    /// The file is being created; the text is the reason for an end at once.
    Starting(Option<String>),
    Running(Arc<Recorder>),
    /// The file is being completed; the text is the reason unless the user ended it.
    Ending(Arc<Recorder>, Option<String>),
}

impl RecordingState {
    pub(crate) fn running(&self) -> Option<&RecordStatus> {
        self.status.as_ref().filter(|_| matches!(self.phase, Phase::Running(_)))
    }

    /// Returns whether there is a recording that a change may end.
    pub(crate) fn is_begun(&self) -> bool {
        matches!(self.phase, Phase::Running(_) | Phase::Starting(None))
    }

    /// Returns whether a change of sides, calibration or size leaves the recording valid, because it contains raw pairs only.
    pub(crate) fn bears_preparation(&self) -> bool {
        !self.streams.needs_results() && !self.streams.has(Stream::Rectified)
    }

    /// Returns whether a file is being created or completed.
    pub(crate) fn is_busy(&self) -> bool {
        matches!(self.phase, Phase::Starting(_) | Phase::Ending(..))
    }

    /// Returns the recorder while it accepts pairs.
    pub(crate) fn recorder(&self) -> Option<&Arc<Recorder>> {
        match &self.phase {
            Phase::Running(recorder) => Some(recorder),
            _ => None,
        }
    }
}
