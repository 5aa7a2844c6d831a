//! Summary of a whole run, printed at its end: pairs, drops by cause, latency, processor time.

use super::{Dropped, RunLatency, Status};
use std::fmt;
use stereopsis_base::console::counted;
use stereopsis_base::process::CpuShare;
use stereopsis_base::rate::LatencySince;
use stereopsis_frame::decode_camera::Damaged;

/// Summary of a run.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Summary {
    /// Duration, s.
    pub seconds: f64,
    /// Number of pairs of the source, including those that it dropped.
    pub came: u64,
    /// Number of matched pairs.
    pub computed: u64,
    /// Numbers of dropped pairs, by cause.
    pub dropped: Dropped,
    /// Numbers of damaged camera frames, which became no pair, by cause.
    pub damaged: Damaged,
    /// Frames that the cameras' drivers lost.
    pub missed: u64,
    /// Latency from pair to result, ms; `None` without a result.
    pub latency_ms: Option<RunLatency>,
    /// Event from which it counts.
    pub latency_since: LatencySince,
    /// Processor time of the whole program over wall time, per cent of one core; `None` where the system does not report it.
    pub cpu_percent: Option<f64>,
}

impl Summary {
    /// Summarizes a run that has ended with this status, counted from the start of `share`.
    pub(super) fn of(status: &Status, share: &CpuShare) -> Self {
        Self {
            seconds: share.elapsed().as_secs_f64(),
            came: status.capture.captured + status.dropped.source,
            computed: status.engine.computed,
            dropped: status.dropped,
            damaged: status.cameras.damaged(),
            missed: status.cameras.missed(),
            latency_ms: RunLatency::of(&status.engine.run_latency),
            latency_since: status.engine.latency_since,
            cpu_percent: share.percent(),
        }
    }
}

/// Formats one line for a terminal.
impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { seconds, came, computed, dropped, damaged, missed, latency_ms, latency_since, cpu_percent } = self;
        write!(f, "in {seconds:.1} s: {} came, {computed} matched, {dropped}", counted(*came, "pair"))?;
        if damaged.total() > 0 {
            write!(f, "; damaged frames {} ({})", damaged.total(), damaged.causes())?;
        }
        if *missed > 0 {
            write!(f, "; missing frames {missed}")?;
        }
        if let Some(RunLatency { median, p99, largest }) = latency_ms {
            write!(f, "; latency {median:.0} ms{latency_since} (99 % below {p99:.0}, largest {largest:.0})")?;
        }
        cpu_percent.map_or(Ok(()), |percent| write!(f, "; CPU {percent:.0} % of one core"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_contains_only_what_happened() {
        let quiet = Summary {
            seconds: 10.04,
            came: 300,
            computed: 300,
            dropped: Dropped::default(),
            damaged: Damaged::default(),
            missed: 0,
            latency_ms: None,
            latency_since: LatencySince::Capture,
            cpu_percent: None,
        };
        assert_eq!(quiet.to_string(), "in 10.0 s: 300 pairs came, 300 matched, 0 dropped");
        let busy = Summary {
            computed: 296,
            dropped: Dropped { source: 1, late: 3, ..Dropped::default() },
            damaged: Damaged { short: 5, flagged: 2, ..Damaged::default() },
            missed: 6,
            latency_ms: Some(RunLatency { median: 9.4, p99: 15.0, largest: 40.2 }),
            cpu_percent: Some(84.6),
            ..quiet
        };
        assert_eq!(
            busy.to_string(),
            "in 10.0 s: 300 pairs came, 296 matched, 4 dropped (1 by the source, 3 late); damaged frames 7 (5 too short, \
             2 flagged by the driver); missing frames 6; latency 9 ms since capture (99 % below 15, largest 40); CPU 85 % of one core"
        );
    }
}
