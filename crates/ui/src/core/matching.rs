//! Parameters and engine, their measured rates, and whether the engine keeps up.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};
use stereopsis_base::rate::Latency;
use stereopsis_engine::OpenOptions;
use stereopsis_frame::engine::recovery::Recovery;
use stereopsis_frame::engine::{EngineKind, Output};
use stereopsis_gpu::Gpu;
use stereopsis_live::Status;
use stereopsis_stereo::{Preset, StereoParams};

/// Parameters, preset and engine of the matching.
pub(crate) struct Matching {
    /// Valid parameters in force.
    pub(crate) params: StereoParams,
    /// Preset at the origin of the parameters.
    pub(crate) preset: Preset,
    /// The user's preset at the origin of the parameters, applied after `preset`.
    pub(crate) own: Option<OwnPreset>,
    pub(crate) own_presets: Vec<String>,
    /// Engine, with the device of window and engine.
    pub(crate) engine: OpenOptions,
    pub(crate) rates: MeasuredRates,
    pub(crate) load: Load,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct OwnPreset {
    pub(crate) name: String,
    pub(crate) params: StereoParams,
}

impl Matching {
    /// Returns the name of the preset at the origin of the parameters.
    pub(crate) fn preset_name(&self) -> &str {
        self.own.as_ref().map_or(self.preset.word(), |own| &own.name)
    }

    /// Returns the preset's parameters with the present search range.
    pub(crate) fn base(&self) -> StereoParams {
        let StereoParams { min_disparity, num_disparities, confidence, .. } = self.params;
        let mut base = self.params.clone();
        match &self.own {
            Some(own) => base.clone_from(&own.params),
            None => self.preset.apply(&mut base),
        }
        StereoParams { min_disparity, num_disparities, confidence, ..base }
    }

    /// Returns the parameters for images larger by `factor`, with the depths of the present search range.
    pub(crate) fn scaled_params(&self, factor: f64) -> StereoParams {
        let mut params = self.params.clone();
        params.num_disparities = ((f64::from(params.num_disparities) * factor).round() as u32).max(1);
        params.min_disparity = (f64::from(params.min_disparity) * factor).round() as _;
        params
    }
}

/// Device of window and engine after a loss.
#[derive(Default)]
pub(super) struct DeviceState {
    pub(super) recovery: Recovery,
    /// Adapter that the window used before it had to take another one.
    pub(super) missed: Option<String>,
    /// Missed adapter, open again, to which the window moves.
    pub(super) next: Option<Gpu>,
}

/// Rates measured in this run, by parameters, size and engine.
#[derive(Default)]
pub(crate) struct MeasuredRates(VecDeque<MeasuredRate>);

struct MeasuredRate {
    params: Arc<StereoParams>,
    size: (usize, usize),
    engine: EngineKind,
    times: Latency,
}

/// Number of the newest results whose rate is measured.
const NUM_RESULTS: usize = 15;
/// Largest number of rates, beyond which the oldest are dropped.
const MAX_RATES: usize = 64;

impl MeasuredRates {
    pub(crate) fn record(&mut self, output: &Output) {
        let (params, size, engine) = (&output.job.params, output.job.frame.size(), output.engine.kind);
        let known = self.0.iter().position(|rate| rate.is_of(params, size, engine));
        let measured = known.and_then(|index| self.0.remove(index));
        let mut measured = measured.unwrap_or_else(|| MeasuredRate {
            params: Arc::clone(params),
            size,
            engine,
            times: Latency::new(NUM_RESULTS),
        });
        measured.times.record(output.compute_time);
        self.0.push_front(measured);
        self.0.truncate(MAX_RATES);
    }

    /// Returns the rate in pairs/s with these parameters at this size.
    pub(crate) fn per_second(&self, params: &StereoParams, size: (usize, usize), engine: EngineKind) -> Option<f64> {
        let median = self.0.iter().find(|rate| rate.is_of(params, size, engine))?.times.median()?;
        Some(1.0 / median.max(Duration::from_micros(1)).as_secs_f64())
    }
}

impl MeasuredRate {
    fn is_of(&self, params: &StereoParams, size: (usize, usize), engine: EngineKind) -> bool {
        (self.size, self.engine) == (size, engine) && *self.params == *params
    }
}

/// Detector of a slow engine that drops pairs; changes only after [`PERSISTENCE`], so that nothing flickers.
#[derive(Default)]
pub(crate) struct Load {
    is_too_high: bool,
    /// Time since which the opposite is measured.
    opposite_since: Option<Instant>,
}

const PERSISTENCE: Duration = Duration::from_secs(2);
/// Number of results before the rates count.
const WARM_UP: u64 = 20;

impl Load {
    pub(crate) fn update(&mut self, status: &Status, now: Instant) {
        let dropped_hz = status.capture.rate_hz - status.computed_hz;
        let drops = status.engine.computed > WARM_UP && dropped_hz > 0.1 * status.capture.rate_hz && dropped_hz >= 1.0;
        self.note(drops && !status.paused && !status.engine.ended && status.dropped.late > 0, now);
    }

    fn note(&mut self, is_too_high: bool, now: Instant) {
        if is_too_high == self.is_too_high {
            self.opposite_since = None;
        } else if now - *self.opposite_since.get_or_insert(now) > PERSISTENCE {
            (self.is_too_high, self.opposite_since) = (is_too_high, None);
        }
    }

    pub(crate) fn is_too_high(&self) -> bool {
        self.is_too_high
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stereopsis_cpu::CpuEngine;
    use stereopsis_frame::engine::{Job, run};
    use stereopsis_frame::{Frame, SceneOptions};

    #[test]
    fn a_rate_belongs_to_parameters_size_and_engine() {
        let options = SceneOptions { width: 32, height: 24, ..SceneOptions::default() };
        let frame = Arc::new(Frame::of_raw(Arc::new(stereopsis_scene::render(&options, 0, false))));
        let params = StereoParams { num_disparities: 8, ..StereoParams::default() };
        let job = Job { frame, params: Arc::new(params.clone()), read_back: true, wants_right: false };
        let mut output = run(&mut CpuEngine::new(Some(1)), job).unwrap();
        output.compute_time = Duration::from_millis(20);
        let mut rates = MeasuredRates::default();
        let rate = |rates: &MeasuredRates, params: &StereoParams| rates.per_second(params, (32, 24), EngineKind::Cpu);
        assert_eq!(rate(&rates, &params), None);
        rates.record(&output);
        assert!((rate(&rates, &params).unwrap() - 50.0).abs() < 1e-6);
        assert_eq!(rates.per_second(&params, (32, 24), EngineKind::Gpu), None);
        assert_eq!(rates.per_second(&params, (16, 12), EngineKind::Cpu), None);
        for p1 in 1..=MAX_RATES as u32 {
            let other = StereoParams { p1, ..params.clone() };
            assert_eq!(rate(&rates, &other).is_some(), p1 == params.p1);
            output.job.params = Arc::new(other);
            rates.record(&output);
        }
        assert_eq!(rates.0.len(), MAX_RATES);
    }

    #[test]
    fn load_changes_only_after_it_persists() {
        let start = Instant::now();
        let mut load = Load::default();
        let mut note = |is_too_high, ms| {
            load.note(is_too_high, start + Duration::from_millis(ms));
            load.is_too_high()
        };
        assert!(!note(true, 0) && !note(true, 1500));
        assert!(!note(false, 1600) && !note(true, 1700) && !note(true, 3600), "it begins anew");
        assert!(note(true, 3800));
        assert!(note(false, 4000) && note(true, 5900) && note(false, 6000) && note(false, 7900));
        assert!(!note(false, 8100));
    }
}
