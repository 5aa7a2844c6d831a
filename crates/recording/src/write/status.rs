//! Status of a recording, running or finished, and its text forms.

use super::{RecordError, Target};
use crate::Counters;
use std::path::PathBuf;
use std::time::Duration;
use stereopsis_base::console::counted;

/// Text of a recording that has not begun.
pub const WAITING: &str = "waiting for the first depth";

/// Status of a recording.
#[derive(Clone, Debug)]
pub struct RecordStatus {
    /// Path of the first file; `None` for standard output.
    pub path: Option<PathBuf>,
    /// Paths of the files in which it went on, in order.
    pub further: Vec<PathBuf>,
    /// Reason for further files, in words, unless they were asked for.
    pub split: Option<String>,
    /// Time since the first pair, or from there to the end.
    pub elapsed: Duration,
    /// Number of bytes written, of all files.
    pub bytes: u64,
    /// Bytes written per second, averaged over the last seconds.
    pub bytes_per_s: f64,
    /// Numbers of pairs and results so far.
    pub counters: Counters,
    /// Number of pairs taken so far, some of which may still wait to be written; includes those that are not matched.
    pub taken: u64,
    /// Whether the recording waits for a first result to begin.
    pub is_waiting: bool,
    /// Reason for a beginning without depth; `None` where it has not begun without.
    pub without_depth: Option<String>,
    /// Sentence on depth that its format does not hold.
    pub depth_loss: Option<String>,
    /// Processor time of the recorder's thread over wall time, per cent of one core; `None` if the system does not report it.
    pub cpu_percent: Option<f64>,
    /// Time until the disk is full at this rate, s; `None` if unknown.
    pub disk_left_s: Option<f64>,
    /// Result, once the recording has ended.
    pub ended: Option<Result<(), RecordError>>,
}

impl RecordStatus {
    /// Returns the megabytes written per minute over the last seconds.
    pub fn megabytes_per_minute(&self) -> f64 {
        self.bytes_per_s * 60.0 / 1e6
    }

    fn average_megabytes_per_minute(&self) -> f64 {
        per_second(self.bytes, self.elapsed) * 60.0 / 1e6
    }

    /// Returns the number of pairs and results dropped because the disk was too slow.
    pub fn dropped(&self) -> u64 {
        self.counters.dropped_by_disk + self.counters.results_dropped_by_disk
    }

    /// Returns the parts of a status line.
    pub fn parts(&self) -> Vec<String> {
        let Self { bytes, counters, .. } = self;
        if self.is_waiting {
            return vec![WAITING.to_owned()];
        }
        let results = (counters.results > 0).then(|| format!("recorded {}", counted(counters.results, "result")));
        let lost = (self.dropped() > 0).then(|| format!("{} dropped by the disk", self.dropped()));
        let recorded = format!("recorded {}", counted(counters.pairs, "pair"));
        let megabytes = format!("wrote {:.0} MB", *bytes as f64 / 1e6);
        let rate = format!("{:.0} MB/min", self.megabytes_per_minute());
        let part = (!self.further.is_empty()).then(|| format!("part {}", self.further.len() + 1));
        [Some(recorded), lost, Some(megabytes), Some(rate), part, results].into_iter().flatten().collect()
    }

    /// Returns a summary of the recording in one line for a terminal.
    pub fn summary(&self) -> String {
        let Self { path, elapsed, bytes, counters, .. } = self;
        let target = path.clone().map_or(Target::Stdout, Target::File);
        let causes = [
            (counters.dropped_by_source, "pair", "dropped by the source"),
            (counters.dropped_by_disk, "pair", "dropped because the disk was too slow"),
            (counters.results_dropped_by_disk, "result", "dropped because the disk was too slow"),
            (counters.not_matched, "pair", "not matched because the matcher was too slow"),
        ];
        let causes = causes.iter().filter(|(count, ..)| *count > 0);
        let causes = causes.map(|(count, noun, why)| format!("; {} {why}", counted(*count, noun)));
        let further = match self.further.len() as u64 {
            0 => String::new(),
            count => format!(" and {}{}", counted(count, "further part"), self.split_text()),
        };
        format!(
            "{target}{further}: {} and {} in {:.1} s, {:.1} MB, {:.0} MB/min{}",
            counted(counters.pairs, "pair"),
            counted(counters.results, "result"),
            elapsed.as_secs_f64(),
            *bytes as f64 / 1e6,
            self.average_megabytes_per_minute(),
            causes.collect::<String>()
        )
    }

    fn split_text(&self) -> String {
        self.split.as_ref().map_or_else(String::new, |why| format!(" ({why})"))
    }

    /// Returns a summary of the recording as JSON.
    pub fn to_json(&self) -> serde_json::Value {
        let mut json = serde_json::json!(self.counters);
        json["output"] = serde_json::json!(self.path);
        json["outputs"] = serde_json::json!(self.path.iter().chain(&self.further).collect::<Vec<_>>());
        json["split"] = serde_json::json!(self.split);
        json["seconds"] = self.elapsed.as_secs_f64().into();
        json["bytes"] = self.bytes.into();
        json["mb_per_minute"] = self.average_megabytes_per_minute().into();
        json["recorder_cpu_percent"] = self.cpu_percent.into();
        json["depth_loss"] = self.depth_loss.clone().into();
        json["error"] = self.ended.clone().and_then(Result::err).map(|err| err.to_string()).into();
        json
    }
}

/// Returns the bytes per second; 0 before the first pair.
pub(super) fn per_second(bytes: u64, elapsed: Duration) -> f64 {
    if elapsed.is_zero() {
        return 0.0;
    }
    bytes as f64 / elapsed.as_secs_f64().max(1e-3)
}
