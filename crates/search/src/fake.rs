//! Meter for tests, which computes losses and times from parameters without images.

use super::meter::{Failure, Meter, SampleResult};
use super::trial::Run;
use std::sync::Arc;
use stereopsis_base::image::Image;
use stereopsis_frame::engine::EngineError;
use stereopsis_stereo::{CostKind, DisparityMap, StereoParams};

/// Meter with losses by a rule, and longer times for slower presets.
pub(super) struct FakeMeter {
    pub(super) loss: fn(&StereoParams, usize) -> f64,
    pub(super) calls: Vec<(StereoParams, usize)>,
    /// Number of the call at which the engine is lost.
    pub(super) lost_at: Option<usize>,
}

impl FakeMeter {
    pub(super) fn new() -> Self {
        Self { loss: |_, sample| 10.0 + sample as f64, calls: Vec::new(), lost_at: None }
    }
}

/// Returns 4 ms for `fast`, 8 for `balanced`, 16 for `accurate`, 24 for `best`.
pub(super) fn time_ms(params: &StereoParams) -> f64 {
    let gradients = if params.cost == CostKind::GradientCensus { 8.0 } else { 0.0 };
    f64::from(params.paths.max(1)) + gradients + if params.choice { 8.0 } else { 0.0 }
}

impl Meter for FakeMeter {
    fn measure(
        &mut self,
        params: &StereoParams,
        sample: usize,
        _is_stopped: &dyn Fn() -> bool,
    ) -> Result<SampleResult, Failure> {
        if self.lost_at == Some(self.calls.len()) {
            return Err(Failure::Lost(EngineError::Device("the GPU was lost".into())));
        }
        if params.gating == Some(6) {
            return Err(Failure::Refused(EngineError::Unsupported("no six levels here".into())));
        }
        self.calls.push((params.clone(), sample));
        let run = Run {
            loss: Some((self.loss)(params, sample)),
            measured_percent: 90.0,
            time_ms: time_ms(params),
            pixels: 100,
        };
        let map = DisparityMap {
            values: Image::from_fn(320, 40, |x, y| (x + y) as i16),
            reasons: Image::filled(320, 40, 0),
            confidence: None,
        };
        Ok(SampleResult { run, map: Some(Arc::new(map)) })
    }
}
