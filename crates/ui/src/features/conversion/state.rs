//! Choices, steps and progress of a conversion of a recording.

use crate::core::{Remedy, Step};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use stereopsis_images::Axes;
use stereopsis_recording::Counter;
use stereopsis_recording::export::Part;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Conversion {
    /// New recording with the recorded images and new results.
    Recompute,
    /// Files for other tools.
    Export,
}

/// Targets of a conversion, and the exported parts and pairs.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ConversionChoices {
    pub(crate) recording: String,
    pub(crate) folder: String,
    pub(crate) left_out: Vec<Part>,
    /// Axes of points.
    pub(crate) axes: Axes,
    /// First and last pair of an export.
    pub(crate) pairs: (u64, u64),
}

#[derive(Clone)]
pub(crate) struct Contents {
    pub(crate) path: PathBuf,
    pub(crate) bytes: u64,
    /// Parts of an export, each with the reason if the recording lacks it.
    pub(crate) parts: Vec<(Part, Option<String>)>,
    /// Free space on the disk of the proposed files, bytes; `None` if unknown.
    pub(crate) free_bytes: Option<u64>,
}

pub(crate) struct RunningConversion {
    pub(crate) kind: Conversion,
    /// File or folder that it writes.
    pub(crate) output: PathBuf,
    pub(crate) counter: Arc<Counter>,
    pub(crate) started: Instant,
}

impl RunningConversion {
    /// Returns the share that is done, 0 to 1.
    pub(crate) fn share(&self) -> f32 {
        (self.counter.done() as f64 / self.counter.pairs().max(1) as f64) as f32
    }

    /// Estimates the time left from the rate until now; `None` before the first pair of this run is done.
    pub(crate) fn time_left(&self) -> Option<Duration> {
        let (done, before, pairs) = (self.counter.done(), self.counter.before(), self.counter.pairs());
        let by_this_run = done.checked_sub(before).filter(|&pairs| pairs > 0)?;
        let left = pairs.saturating_sub(done) as f64 / by_this_run as f64;
        Duration::try_from_secs_f64(self.started.elapsed().as_secs_f64() * left).ok()
    }
}

#[derive(Clone)]
pub(crate) enum ConversionStep {
    /// Sets the kind and the target of a conversion of the open recording.
    SetChoices(ConversionChoices),
    /// Computes the open recording again, or exports it.
    Convert(Conversion),
    /// Stops the conversion once the pairs in progress are written.
    Stop,
    /// Takes the contents of the open recording, with choices that suit it.
    Take(Contents, ConversionChoices),
    /// Shows what a conversion has written, with remedies.
    Succeed(String, Vec<Remedy>),
    /// Shows why a conversion has failed.
    Fail(String),
}

impl Step for ConversionStep {
    fn kind(&self) -> u8 {
        match self {
            Self::SetChoices(_) => 0,
            Self::Convert(_) => 1,
            Self::Stop | Self::Take(..) | Self::Succeed(..) | Self::Fail(_) => 2,
        }
    }
}

/// Conversion of the open recording.
#[derive(Default)]
pub(crate) struct ConversionState {
    pub(crate) choices: ConversionChoices,
    /// Contents, read in the background while the page is open.
    pub(crate) contents: Option<Contents>,
    pub(crate) running: Option<RunningConversion>,
}
