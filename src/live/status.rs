//! State of the running pipeline, for the window and the status line.

use super::Health;
use super::diagnosis::{Warning, warnings};
use crate::capture::{Capture, CaptureStats, SourceInfo, SourceState};
use crate::engine::worker::EngineStats;
use crate::geometry::Geometry;
use crate::rate;
use crate::stereo::StereoParams;
use std::fmt;
use std::time::Duration;

/// From the arrival of a pair at the capture thread to its result, over the whole run, of which the start is a part; ms.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct RunLatency {
    /// Half are quicker.
    pub median: f64,
    /// 99 of 100 are quicker.
    pub p99: f64,
    /// The largest one.
    pub largest: f64,
}

/// Pairs that were not matched, by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Dropped {
    /// The source itself left them out.
    pub source: u64,
    /// Newer ones came before the engine was free.
    pub late: u64,
    /// The engine failed.
    pub failed: u64,
    /// They came while the picture was paused, and are not missed.
    pub while_paused: u64,
}

impl Dropped {
    /// Pairs that a user might miss.
    pub fn missed(&self) -> u64 {
        self.source + self.late + self.failed
    }
}

/// The pipeline at one moment.
#[derive(Clone, Debug)]
pub struct Status {
    /// The source.
    pub source: SourceInfo,
    /// State of its cameras.
    pub cameras: SourceState,
    /// Pairs read, and the frames made of them.
    pub capture: CaptureStats,
    /// The engine and its results.
    pub engine: EngineStats,
    /// Results per second.
    pub computed_hz: f64,
    /// Pairs that were not matched.
    pub dropped: Dropped,
    /// How well the pictures match each other.
    pub health: Health,
    /// Conditions that make depth worse, as messages to the user.
    pub warnings: Vec<Warning>,
    /// Errors that last, as messages to the user.
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
        params: &StereoParams,
        geometry: Option<&Geometry>,
        paused: bool,
    ) -> Self {
        let lost = capture.last_error.clone().filter(|_| capture.lost || capture.unprepared);
        let failures = [lost, engine.fault.clone(), engine.error.clone()].into_iter().flatten();
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
            warnings: warnings(
                &cameras,
                &health,
                params,
                engine.figures.as_ref().map(|figures| &figures.shares),
                geometry,
            ),
            errors: failures.chain(lost_cameras).chain(unreadable).collect(),
            source,
            cameras,
            capture,
            engine,
            health,
            paused,
        }
    }

    /// Of a source that is read and not matched.
    pub(super) fn of_capture(capture: &Capture) -> Self {
        let stats = capture.stats();
        let mut engine = EngineStats::default();
        engine.ended = stats.ended;
        let (health, params) = (Health::default(), StereoParams::default());
        Self::of(capture.info(), capture.state(), stats, engine, health, &params, None, false)
    }
}

impl RunLatency {
    /// `None` before the first result.
    pub fn of(latency: &rate::RunLatency) -> Option<Self> {
        let ms = |d: Duration| d.as_secs_f64() * 1e3;
        Some(Self {
            median: ms(latency.percentile(50)?),
            p99: ms(latency.percentile(99)?),
            largest: ms(latency.largest()?),
        })
    }
}

/// The sum, and the causes that there were.
impl fmt::Display for Dropped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let causes = [(self.source, "by the source"), (self.late, "late"), (self.failed, "failed")];
        let named: Vec<_> = causes.iter().filter(|(n, _)| *n > 0).map(|(n, cause)| format!("{n} {cause}")).collect();
        write!(f, "{} dropped", self.missed())?;
        if named.is_empty() { Ok(()) } else { write!(f, " ({})", named.join(", ")) }
    }
}

/// One line for a terminal.
impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "in {:.1}/s", self.capture.rate_hz)?;
        if self.engine.engine.is_some() {
            write!(f, ", computed {:.1}/s", self.computed_hz)?;
        }
        if let Some((median_ms, p99_ms)) = self.engine.latency_ms() {
            write!(f, ", latency {median_ms:.0} ms (99 % below {p99_ms:.0})")?;
        }
        if let Some(figures) = self.engine.figures {
            write!(f, ", {}", figures.shares)?;
        }
        if let Some(truth) = self.engine.figures.and_then(|figures| figures.truth) {
            let seen = truth.nonocc;
            write!(f, ", off by more than 1 px {:.1} %, mean {:.2} px", seen.bad_1_percent, seen.average_px)?;
        }
        if let Some(skew) = self.cameras.skew {
            write!(f, ", skew {:+.1} ms", 1e3 * skew.mean_s)?;
        }
        if let Some(rows) = &self.health.row_offset {
            write!(f, ", rows {:+.2} px", rows.median_px)?;
        }
        write!(f, ", dropped {}", self.dropped.missed())?;
        let damaged = self.cameras.damaged();
        if damaged.total() > 0 {
            write!(f, ", damaged frames {} ({})", damaged.total(), damaged.causes())?;
        }
        match self.cameras.missed() {
            0 => Ok(()),
            missed => write!(f, ", missing frames {missed}"),
        }
    }
}
