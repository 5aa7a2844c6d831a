//! Statistics of the engine thread: counts, rates, latencies, and the quality of recent results.

use std::sync::Arc;
use std::time::{Duration, Instant};
use stereopsis_base::newest::DropCounter;
use stereopsis_base::rate::{Latency, LatencySince, Rate, RunLatency};
use stereopsis_frame::engine::{EngineInfo, Output, StageTime};
use stereopsis_metrics::{TruthError, truth_error};
use stereopsis_stereo::Shares;

/// Interval at which quality is measured, and numbers are read back for it.
const FIGURES_EVERY: Duration = Duration::from_millis(300);

/// Quality of one result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figures {
    /// Shares of the pixels by the origin of their disparities.
    pub shares: Shares,
    /// Error against the truth, where the source has it.
    pub truth: Option<TruthError>,
}

/// Statistics of the engine thread so far.
#[derive(Clone, Debug, Default)]
pub struct EngineStats {
    /// Open engine; `None` before the first one is open.
    pub engine: Option<Arc<EngineInfo>>,
    /// Reason for the choice of `auto`: the measured times.
    pub why: Option<String>,
    /// Whether an engine is being opened.
    pub opening: bool,
    /// Reason why the CPU computes instead of the chosen engine. It stays until the user chooses again.
    pub fault: Option<String>,
    /// Reason why the last pair failed; gone with the next result.
    pub error: Option<String>,
    /// Reason why the memory is too small for the chosen parameters; gone when there is room. The engine continues with the parameters
    /// of the last result, if there is one.
    pub too_large: Option<String>,
    /// Number of results so far.
    pub computed: u64,
    /// Number of pairs whose computation failed.
    pub failed: u64,
    /// Number of pairs replaced by a newer one before the engine was free, or left out by the engine of another machine.
    pub late: u64,
    /// Number of pairs left out because the image was paused, or matching suspended.
    pub while_paused: u64,
    /// Times of the newest result's stages.
    pub stages: Vec<StageTime>,
    /// Time from submission to result of the newest one, ms.
    pub compute_ms: f64,
    /// Quality of a recent result.
    pub figures: Option<Figures>,
    /// Whether the source has ended and every pair is done.
    pub ended: bool,
    /// Latencies from the event `latency_since` to the result, since the thread started or that event changed.
    pub run_latency: RunLatency,
    /// Event from which latencies count.
    pub latency_since: LatencySince,
    /// Counter of the drops of the channel of frames; `counted_drops` of them are counted above.
    source_drops: DropCounter,
    counted_drops: u64,
    measured: Option<Instant>,
    /// Time at which a map was last asked for from a pair, for [`Figures`].
    asked: Option<Instant>,
    /// Time of the newest result, where `figures` belong to an older one.
    unmeasured_since: Option<Instant>,
    rate: Rate,
    latency: Latency,
}

/// Whether figures are due again after a time.
fn is_over(last: Option<Instant>, now: Instant) -> bool {
    last.is_none_or(|last| now.saturating_duration_since(last) >= FIGURES_EVERY)
}

impl EngineStats {
    /// Resets the counts for another source, whose channel counts drops in `drops`.
    pub(super) fn begin_source(&mut self, drops: DropCounter) {
        self.ended = false;
        (self.computed, self.failed, self.late, self.while_paused) = (0, 0, 0, 0);
        (self.source_drops, self.counted_drops) = (drops, 0);
        self.unmeasured_since = None;
    }

    pub(super) fn count_drops(&mut self, takes_none: bool) {
        let drops = self.source_drops.get();
        let new = drops - std::mem::replace(&mut self.counted_drops, drops);
        *if takes_none { &mut self.while_paused } else { &mut self.late } += new;
    }

    /// Returns the recent number of results per second.
    pub fn computed_hz(&mut self) -> f64 {
        self.rate.per_second(Instant::now())
    }

    /// Returns the median and the 99th percentile of the latency, ms.
    pub fn latency_ms(&self) -> Option<(f64, f64)> {
        let ms = |d: Duration| d.as_secs_f64() * 1e3;
        Some((ms(self.latency.median()?), ms(self.latency.percentile_99()?)))
    }

    /// Whether a result that comes now should be measured for [`Figures`].
    pub(super) fn figures_due(&self, now: Instant) -> bool {
        is_over(self.measured, now)
    }

    /// Whether the next pair should bring its map to the host for [`Figures`]: none that is still being matched does.
    pub(super) fn map_due(&self, now: Instant) -> bool {
        self.figures_due(now) && is_over(self.asked, now)
    }

    /// Records that a pair will bring its map.
    pub(super) fn note_asked(&mut self, now: Instant) {
        self.asked = Some(now);
    }

    /// Returns the time at which the newest result is to be measured, if no newer one comes; `None` where it is measured.
    pub(super) fn measure_at(&self) -> Option<Instant> {
        Some(self.unmeasured_since? + FIGURES_EVERY)
    }

    /// Records the figures of the newest result; without any the next result will bring them.
    pub(super) fn note_figures(&mut self, figures: Option<Figures>) {
        self.unmeasured_since = None;
        if figures.is_some() {
            (self.figures, self.measured) = (figures, Some(Instant::now()));
        }
    }

    /// Records a result; `again` for a pair that was matched before, whose age is no latency.
    pub(super) fn note(&mut self, output: &Output, again: bool, figures: Option<Figures>) {
        let now = Instant::now();
        self.computed += 1;
        self.error = None;
        self.rate.record(now);
        if !again {
            let (begin, since) = output.job.frame.latency_begin;
            // latencies from different events cannot be compared
            if std::mem::replace(&mut self.latency_since, since) != since {
                (self.latency, self.run_latency) = Default::default();
            }
            let latency = now.saturating_duration_since(begin);
            self.latency.record(latency);
            self.run_latency.record(latency);
        }
        self.stages.clone_from(&output.stages);
        self.compute_ms = output.compute_time.as_secs_f64() * 1e3;
        self.note_figures(figures);
        self.unmeasured_since = figures.is_none().then_some(now);
    }
}

impl Figures {
    /// Measures a result; `None` where its numbers are not on the host.
    pub fn of(output: &Output) -> Option<Self> {
        let map = output.map.as_ref()?;
        let truth = output.job.frame.truth.as_ref().and_then(|truth| truth_error(map, truth));
        let params = &output.job.params;
        Some(Self { shares: map.shares(params.min_disparity, params.last_disparity()), truth })
    }
}
