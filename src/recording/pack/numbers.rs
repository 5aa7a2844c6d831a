//! Results to messages.

use super::picture::image;
use crate::engine::Output;
use crate::frame::Geometry;
use crate::image::Image;
use crate::recording::ResultNote;
use crate::recording::message::{Body, DisparityBody, Encoding};
use crate::stereo::map::SUBPIXEL_STEPS;
use crate::stereo::{DisparityMap, INVALID, StereoParams, depth, reason};

/// What belongs to a result beside its numbers.
pub(super) fn note(output: &Output, map: &DisparityMap) -> ResultNote {
    let measured: usize = map.reasons.pixels().iter().map(|&reasons| usize::from(reasons == 0)).sum();
    ResultNote {
        sequence: output.job.frame.raw.sequence,
        engine: format!("{} {}", output.engine.kind, output.engine.adapter),
        compute_ms: output.compute_time.as_secs_f64() * 1e3,
        measured: measured as f64 / map.reasons.pixels().len().max(1) as f64,
        doffs_px: output.job.frame.geometry.map_or(0.0, |geometry| geometry.doffs_px),
    }
}

/// Depth, mm; what was filled in is only there where somebody asked for it.
pub(super) fn depth_mm(map: &DisparityMap, filled: bool, geometry: &Geometry) -> Body {
    let (width, height) = map.size();
    let mm = |(x, y)| value(map, x, y, filled).map_or(0, |v| depth::millimetres(depth::depth_m(v, geometry)));
    let pixels = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
    Body::Image(image((width, height), Encoding::DepthMm, 2, pixels.map(mm).flat_map(u16::to_le_bytes).collect()))
}

/// Disparity, px, as `z = f T / d` has it.
pub(super) fn disparity(map: &DisparityMap, filled: bool, geometry: Option<&Geometry>, params: &StereoParams) -> Body {
    let (width, height) = map.size();
    let doffs_px = geometry.map_or(0.0, |geometry| geometry.doffs_px);
    let px = |d: f64| (d + doffs_px) as f32;
    let disparity_px = Image::from_fn(width, height, |x, y| {
        value(map, x, y, filled).map_or(f32::NAN, |v| px(f64::from(v) / f64::from(SUBPIXEL_STEPS)))
    });
    Body::Disparity(DisparityBody {
        disparity_px,
        focal_px: geometry.map_or(0.0, |geometry| geometry.focal_px as f32),
        baseline_m: geometry.map_or(0.0, |geometry| geometry.baseline_m as f32),
        min_disparity: px(f64::from(params.min_disparity)),
        max_disparity: px(f64::from(params.min_disparity) + f64::from(params.num_disparities) - 1.0),
        delta_d: 1.0 / SUBPIXEL_STEPS as f32,
    })
}

fn value(map: &DisparityMap, x: usize, y: usize, filled: bool) -> Option<i16> {
    let value = map.values.at(x, y);
    let is_hole = value == INVALID || (!filled && map.reasons.at(x, y) & reason::FILLED != 0);
    (!is_hole).then_some(value)
}
