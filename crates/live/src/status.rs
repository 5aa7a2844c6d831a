//! State of the running pipeline, for the window and the status line.

use super::Health;
use super::diagnosis::{Warning, warnings};
use crate::capture::{Capture, CaptureStats};
use std::fmt;
use std::time::Duration;
use stereopsis_base::{console, rate};
use stereopsis_engine::worker::EngineStats;
use stereopsis_frame::{SourceInfo, SourceState};
use stereopsis_stereo::StereoParams;

/// Latency over the whole run, including its start, ms: from the arrival of a pair, or its capture on another machine, to its result.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct RunLatency {
    /// Median.
    pub median: f64,
    /// Percentile 99.
    pub p99: f64,
    /// Maximum.
    pub largest: f64,
}

/// Numbers of pairs that were not matched, by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Dropped {
    /// Left out by the source.
    pub source: u64,
    /// Replaced by newer ones before the engine was free.
    pub late: u64,
    /// Failed in the engine.
    pub failed: u64,
    /// Taken while the image was paused or matching suspended; not counted as missed.
    pub while_paused: u64,
}

impl Dropped {
    /// Returns the number of pairs that a user might miss.
    pub fn missed(&self) -> u64 {
        self.source + self.late + self.failed
    }
}

/// Status of the pipeline at one moment.
#[derive(Clone, Debug)]
pub struct Status {
    /// Source of the pairs.
    pub source: SourceInfo,
    /// State of its cameras.
    pub cameras: SourceState,
    /// Pairs read, and the frames made of them.
    pub capture: CaptureStats,
    /// Engine and its results.
    pub engine: EngineStats,
    /// Results per second.
    pub computed_hz: f64,
    /// Pairs that were not matched.
    pub dropped: Dropped,
    /// Agreement of the two images.
    pub health: Health,
    /// Conditions that make depth worse, as messages to the user.
    pub warnings: Vec<Warning>,
    /// Persistent errors, as messages to the user.
    pub errors: Vec<String>,
    /// Whether the pair is held.
    pub paused: bool,
}

impl Status {
    pub(super) fn of(
        source: SourceInfo,
        cameras: SourceState,
        capture: CaptureStats,
        mut engine: EngineStats,
        health: Health,
        warnings: Vec<Warning>,
        paused: bool,
    ) -> Self {
        let lost = capture.last_error.clone().filter(|_| capture.lost || capture.unprepared);
        let error = engine.error.clone().filter(|_| engine.too_large.is_none());
        let failures = [lost, engine.fault.clone(), engine.too_large.clone(), error].into_iter().flatten();
        let lost_cameras = cameras.cameras.iter().filter_map(|camera| camera.lost.clone());
        let unreadable = cameras.unreadable.clone();
        Self {
            computed_hz: engine.computed_hz(),
            dropped: Dropped {
                source: capture.dropped_source,
                late: engine.late,
                failed: engine.failed,
                while_paused: engine.while_paused,
            },
            warnings,
            errors: failures.chain(lost_cameras).chain(unreadable).collect(),
            source,
            cameras,
            capture,
            engine,
            health,
            paused,
        }
    }

    /// Returns why the pairs have no results; `None` while results may come.
    pub fn no_result(&self) -> Option<&str> {
        let unprepared = self.capture.last_error.as_deref().filter(|_| self.capture.unprepared);
        self.engine.error.as_deref().or(unprepared)
    }

    /// Returns the most important parts, each in a few words.
    pub(super) fn essentials(&self) -> Vec<String> {
        let rate = match &self.engine.engine {
            Some(_) => format!("computed {:.1}/s", self.computed_hz),
            None => self.rate_of_source(),
        };
        let valid = self.engine.figures.map(|figures| figures.shares.to_string());
        let since = self.engine.latency_since;
        let latency = self.engine.latency_ms().map(|(median_ms, _)| format!("latency {median_ms:.0} ms{since}"));
        let dropped = format!("dropped {}", self.dropped.missed());
        [Some(rate), Some(dropped), valid, latency].into_iter().flatten().collect()
    }

    /// Returns the other parts, for lines with enough room.
    pub(super) fn details(&self) -> Vec<String> {
        let Self { cameras, engine, health, .. } = self;
        let damaged = cameras.damaged();
        let truth = engine.figures.and_then(|figures| figures.truth);
        [
            engine.engine.as_ref().map(|_| self.rate_of_source()),
            (cameras.begun_again > 0).then(|| format!("begun again {}", console::counted(cameras.begun_again, "time"))),
            (damaged.total() > 0).then(|| format!("damaged frames {} ({})", damaged.total(), damaged.causes())),
            (cameras.missed() > 0).then(|| format!("missing frames {}", cameras.missed())),
            engine.latency_ms().map(|(_, p99_ms)| format!("99 % below {p99_ms:.0} ms")),
            cameras.skew.map(|skew| format!("skew {:+.1} ms", 1e3 * skew.mean_s)),
            health.row_offset.as_ref().map(|rows| format!("{} {:+.2} px", rows.axis.lines(), rows.median_px)),
            health
                .row_fit
                .filter(|fit| !fit.field.is_zero())
                .map(|fit| format!("corrected by up to {:.2} px", fit.max_px)),
            truth.map(|error| format!("{error}, mean error {:.2} px", error.all.average_px)),
            truth.and_then(|error| error.other_scale).map(|found| found.to_string()),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    fn rate_of_source(&self) -> String {
        format!("in {:.1}/s", self.capture.rate_hz)
    }

    /// Returns the status of a source that is read and not matched.
    pub(super) fn of_capture(capture: &Capture) -> Self {
        let stats = capture.stats();
        let mut engine = EngineStats::default();
        engine.ended = stats.ended;
        let (health, cameras) = (Health::default(), capture.state());
        let warnings = warnings(&cameras, &health, &StereoParams::default(), None, None);
        Self::of(capture.info(), cameras, stats, engine, health, warnings, false)
    }
}

impl RunLatency {
    /// Converts the measured latency; `None` before the first result.
    pub fn of(latency: &rate::RunLatency) -> Option<Self> {
        let ms = |d: Duration| d.as_secs_f64() * 1e3;
        Some(Self {
            median: ms(latency.percentile(50)?),
            p99: ms(latency.percentile(99)?),
            largest: ms(latency.largest()?),
        })
    }
}

/// Formats the sum, and the causes with a count.
impl fmt::Display for Dropped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let causes = [(self.source, "by the source"), (self.late, "late"), (self.failed, "failed")];
        let named: Vec<_> = causes.iter().filter(|(n, _)| *n > 0).map(|(n, cause)| format!("{n} {cause}")).collect();
        write!(f, "{} dropped", self.missed())?;
        if named.is_empty() { Ok(()) } else { write!(f, " ({})", named.join(", ")) }
    }
}

/// Formats all parts in one line.
impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&[self.essentials(), self.details()].concat().join(", "))
    }
}

/// Returns the parts of a status line that fit into `columns`, in order; all of them without a limit. The first one always stays.
pub(super) fn fitting(parts: &[String], columns: Option<usize>) -> String {
    let columns = columns.unwrap_or(usize::MAX);
    parts.iter().fold(String::new(), |line, part| match line.chars().count() {
        0 => part.clone(),
        taken if taken + ", ".len() + part.chars().count() <= columns => format!("{line}, {part}"),
        _ => line,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use stereopsis_frame::Skew;

    #[test]
    fn narrow_terminal_keeps_the_most_important_parts() {
        let mut engine = EngineStats::default();
        engine.engine = Some(std::sync::Arc::new(stereopsis_frame::engine::EngineInfo {
            kind: stereopsis_frame::engine::EngineKind::Cpu,
            adapter: "a CPU".into(),
            software: false,
        }));
        let parts = |text: &[&str]| text.iter().map(|&part| part.to_owned()).collect::<Vec<_>>();
        let status = Status {
            source: SourceInfo::default(),
            cameras: SourceState {
                skew: Some(Skew { mean_s: -0.010, spread_s: 0.004 }),
                begun_again: 2,
                ..SourceState::default()
            },
            capture: CaptureStats { rate_hz: 123_456.7, ..CaptureStats::default() },
            engine,
            computed_hz: 1_234.5,
            dropped: Dropped { late: 12_345_678_901, ..Dropped::default() },
            health: Health::default(),
            warnings: Vec::new(),
            errors: Vec::new(),
            paused: false,
        };
        let details = parts(&["in 123456.7/s", "begun again 2 times", "skew -10.0 ms"]);
        assert_eq!(
            (status.essentials(), status.details()),
            (parts(&["computed 1234.5/s", "dropped 12345678901"]), details)
        );
        let measured = parts(&["valid 100.0 %", "latency 123456 ms"]);
        let recorded = parts(&["recorded 1234567 pairs and 1234567 results", "123456 MB"]);
        let all = [status.essentials(), measured, recorded, status.details()].concat();
        let line = fitting(&all, Some(80));
        assert_eq!(line, "computed 1234.5/s, dropped 12345678901, valid 100.0 %, latency 123456 ms");
        assert!(line.len() <= 80);
        assert_eq!(fitting(&all, Some(90)), format!("{line}, 123456 MB"));
        assert_eq!(fitting(&all, Some(10)), "computed 1234.5/s");
        assert_eq!(fitting(&all, None), all.join(", "));
    }
}
