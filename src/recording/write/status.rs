//! Status of a running recording, and summary of a finished one.

use super::Target;
use crate::recording::Counters;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// Status of a recording.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordStatus {
    /// The file; `None` for standard output.
    pub path: Option<PathBuf>,
    /// Time since its start, or until its end.
    pub elapsed: Duration,
    /// Bytes written.
    pub bytes: u64,
    /// Bytes written per second, averaged over the last seconds.
    pub bytes_per_s: f64,
    /// Pairs and results so far.
    pub counters: Counters,
    /// Processor time of the recorder's thread over wall time, per cent of one core; `None` if the system does not report it.
    pub cpu_percent: Option<f64>,
    /// Time until the disk is full at this rate, s; `None` if unknown.
    pub disk_left_s: Option<f64>,
    /// Result, once it has ended; an error as a message for the user.
    pub ended: Option<Result<(), String>>,
}

impl RecordStatus {
    /// Bytes written per minute.
    pub fn megabytes_per_minute(&self) -> f64 {
        self.bytes_per_s * 60.0 / 1e6
    }

    /// Pairs and results dropped because the disk was too slow.
    pub fn dropped(&self) -> u64 {
        self.counters.dropped_by_disk + self.counters.results_dropped_by_disk
    }
}

/// Text for a status line.
impl fmt::Display for RecordStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { bytes, counters, .. } = self;
        write!(f, "recorded {} pairs", counters.pairs)?;
        if counters.results > 0 {
            write!(f, " and {} results", counters.results)?;
        }
        write!(f, ", {:.0} MB, {:.0} MB/min", *bytes as f64 / 1e6, self.megabytes_per_minute())?;
        if self.dropped() > 0 {
            write!(f, ", {} dropped by the disk", self.dropped())?;
        }
        Ok(())
    }
}

/// Summary of a recording.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct RecordSummary {
    /// The file; `None` for standard output.
    pub path: Option<PathBuf>,
    /// Duration, s.
    pub seconds: f64,
    /// Its size.
    pub bytes: u64,
    /// Pairs and results.
    #[serde(flatten)]
    pub counters: Counters,
    /// 10^6 bytes for each minute.
    pub mb_per_minute: f64,
    /// Processor time of the recorder's thread over wall time, per cent of one core; `None` if the system does not report it.
    pub recorder_cpu_percent: Option<f64>,
    /// Why it ended early.
    pub error: Option<String>,
}

/// One line for a terminal.
impl fmt::Display for RecordSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, seconds, bytes, counters, mb_per_minute, .. } = self;
        let target = path.clone().map_or(Target::Stdout, Target::File);
        write!(f, "{target}: {} pairs and {} results in {seconds:.1} s", counters.pairs, counters.results)?;
        write!(f, ", {:.1} MB, {mb_per_minute:.0} MB/min", *bytes as f64 / 1e6)?;
        let causes = [
            (counters.dropped_by_source, "pairs dropped by the source"),
            (counters.dropped_by_disk, "pairs dropped because the disk was too slow"),
            (counters.results_dropped_by_disk, "results dropped because the disk was too slow"),
            (counters.not_matched, "pairs not matched because the matcher was too slow"),
        ];
        causes.iter().filter(|(count, _)| *count > 0).try_for_each(|(count, what)| write!(f, "; {count} {what}"))
    }
}
