//! A recording that is computed again or exported.

use crate::recording::Counter;
use crate::recording::export::Part;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What is made of a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Conversion {
    /// A new recording with the same pictures and new results.
    Recompute,
    /// Files for other tools.
    Export,
}

/// Where to, and what of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ConversionChoices {
    /// The new recording.
    pub(crate) recording: String,
    /// The folder of an export.
    pub(crate) folder: String,
    /// Parts that are not exported.
    pub(crate) left_out: Vec<Part>,
    /// The first and the last pair of an export.
    pub(crate) pairs: (u64, u64),
}

/// What is known of the open recording.
pub(crate) struct Contents {
    /// The recording.
    pub(crate) path: PathBuf,
    /// Its size.
    pub(crate) bytes: u64,
    /// Every part of an export, and why the recording cannot give it.
    pub(crate) parts: Vec<(Part, Option<String>)>,
    /// Bytes that are free on the disk where new files are proposed; `None` if unknown.
    pub(crate) free_bytes: Option<u64>,
}

/// A running conversion.
pub(crate) struct RunningConversion {
    pub(crate) kind: Conversion,
    /// The file or folder that it writes.
    pub(crate) output: PathBuf,
    pub(crate) counter: Arc<Counter>,
    pub(crate) started: Instant,
}

impl RunningConversion {
    /// Share that is done, 0 to 1.
    pub(crate) fn share(&self) -> f32 {
        (self.counter.done() as f64 / self.counter.pairs().max(1) as f64) as f32
    }

    /// The time that it still takes, as fast as it was until now; `None` before the first pair of this run is done.
    pub(crate) fn time_left(&self) -> Option<Duration> {
        let (done, before, pairs) = (self.counter.done(), self.counter.before(), self.counter.pairs());
        let by_this_run = done.checked_sub(before).filter(|&pairs| pairs > 0)?;
        let left = pairs.saturating_sub(done) as f64 / by_this_run as f64;
        Duration::try_from_secs_f64(self.started.elapsed().as_secs_f64() * left).ok()
    }
}

/// Conversion of the open recording.
#[derive(Default)]
pub(crate) struct ConversionState {
    pub(crate) choices: ConversionChoices,
    /// Read in the background while the page is open.
    pub(crate) contents: Option<Contents>,
    pub(crate) running: Option<RunningConversion>,
}
