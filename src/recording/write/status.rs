//! How a recording goes, and how it went.

use super::Target;
use crate::recording::Counters;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// How a recording goes.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordStatus {
    /// The file; `None` for standard output.
    pub path: Option<PathBuf>,
    /// Since it was started, until it ended.
    pub elapsed: Duration,
    /// Bytes written.
    pub bytes: u64,
    /// Bytes written per second, over the last seconds.
    pub bytes_per_s: f64,
    /// Pairs and results so far.
    pub counters: Counters,
    /// Processor time of the recorder's thread over wall time, per cent of one core; `None` where the system does not tell.
    pub cpu_percent: Option<f64>,
    /// How long the disk lasts at this rate, s; `None` where nobody knows.
    pub disk_left_s: Option<f64>,
    /// How it ended, once it has: an error in words to be shown as they are.
    pub ended: Option<Result<(), String>>,
}

impl RecordStatus {
    /// Bytes written per minute.
    pub fn megabytes_per_minute(&self) -> f64 {
        self.bytes_per_s * 60.0 / 1e6
    }

    /// Pairs and results that the disk could not take.
    pub fn dropped(&self) -> u64 {
        self.counters.dropped_by_disk + self.counters.results_dropped_by_disk
    }
}

/// Some words for a status line.
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

/// How a recording went.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct RecordSummary {
    /// The file; `None` for standard output.
    pub path: Option<PathBuf>,
    /// How long it took, s.
    pub seconds: f64,
    /// Its size.
    pub bytes: u64,
    /// Pairs and results.
    #[serde(flatten)]
    pub counters: Counters,
    /// 10^6 bytes for each minute.
    pub mb_per_minute: f64,
    /// Processor time of the recorder's thread over wall time, per cent of one core; `None` where the system does not tell.
    pub recorder_cpu_percent: Option<f64>,
    /// Why it ended before somebody stopped it.
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
