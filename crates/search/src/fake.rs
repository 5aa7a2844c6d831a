//! For tests: a meter that computes losses from parameters, without pictures.

use super::meter::{Failure, Measured, Meter};
use super::trial::Run;
use crate::image::Image;
use crate::stereo::{CostKind, DisparityMap, StereoParams, Subpixel};
use std::sync::Arc;

/// Losses with one optimum: [`optimum`].
pub(super) struct Fake {
    /// The samples and settings that were measured.
    pub(super) calls: Vec<(StereoParams, usize)>,
    /// The engine is lost at this call.
    pub(super) lost_at: Option<usize>,
}

impl Fake {
    pub(super) fn new() -> Self {
        Self { calls: Vec::new(), lost_at: None }
    }
}

/// The settings of which the fake likes each parameter best; they are reached by single moves and by a scaled penalty.
pub(super) fn optimum() -> StereoParams {
    let base = StereoParams::for_cost(CostKind::Census7x7);
    StereoParams { paths: 16, p2: base.p2 / 2, uniqueness: 3, ..base }
}

/// 10 at the optimum, and more with each parameter that is off it.
pub(super) fn loss(params: &StereoParams) -> f64 {
    let best = optimum();
    let off = |is_off: bool, weight: f64| if is_off { weight } else { 0.0 };
    let usual = StereoParams::for_cost(params.cost);
    let ratio = |value: u32, usual: u32| f64::from(value.max(1)) / f64::from(usual.max(1));
    let step = |value: u32, usual: u32, best: f64| (ratio(value, usual) / best).log2().abs();
    10.0 + off(params.cost != best.cost, 2.0)
        + off(params.paths != best.paths, 1.0)
        + off(params.uniqueness != best.uniqueness, 0.5)
        + off(params.subpixel == Subpixel::Off, 1.0)
        + off(params.left_right != best.left_right, 1.0)
        + off(params.median != best.median, 0.6)
        + off(params.fill != best.fill, 3.0)
        + step(params.p2, usual.p2, 0.5)
        + step(params.p1, usual.p1, 1.0)
}

impl Meter for Fake {
    fn measure(
        &mut self,
        params: &StereoParams,
        sample: usize,
        _is_stopped: &dyn Fn() -> bool,
    ) -> Result<Measured, Failure> {
        if self.lost_at == Some(self.calls.len()) {
            return Err(Failure::Lost("the GPU was lost".to_owned()));
        }
        if params.gating.is_some() {
            return Err(Failure::Refused("no gating here".to_owned()));
        }
        self.calls.push((params.clone(), sample));
        let run = Run {
            loss: Some(loss(params) * (1.0 + sample as f64)),
            wrong_percent: Some(1.0),
            measured_percent: 90.0,
            time_ms: f64::from(params.paths.max(1)),
            pixels: 100,
        };
        let map = DisparityMap {
            values: Image::from_fn(320, 40, |x, y| (x + y) as i16),
            reasons: Image::filled(320, 40, 0),
            confidence: None,
        };
        Ok(Measured { run, map: Some(Arc::new(map)) })
    }
}
