//! Uniforms of `shaders/common.wgsl`: field order and sizes have to stay equal there and here.

use super::layout::{Layout, map_pitch};
use stereopsis_base::image::Luma;
use stereopsis_stereo::StereoParams;
use stereopsis_stereo::aggregate::penalty_table;
use stereopsis_stereo::disparity::whole;
use stereopsis_stereo::local::{LocalSettings, WeightTables};
use stereopsis_stereo::params::words::Penalties;

/// Parameters of a level: `Params` of `common.wgsl`, which documents the fields.
#[repr(C)]
#[derive(Clone, Copy, Debug, bytemuck::Pod, bytemuck::Zeroable)]
#[allow(missing_docs, reason = "documented in the shader")]
pub struct Params {
    pub width: u32,
    pub height: u32,
    pub pitch: u32,
    pub candidates: u32,
    pub words: u32,
    pub slab_rows: u32,
    pub min_disparity: i32,
    pub left_shift: u32,
    pub right_shift: u32,
    pub p1: u32,
    pub subpixel: u32,
    pub uniqueness: u32,
    pub left_right: u32,
    pub speckle_size: u32,
    pub speckle_range: u32,
    pub paths: u32,
    pub confidence: u32,
    pub has_past: u32,
    pub largest_sum: u32,
    pub whole_from_x: u32,
    pub whole_end_x: u32,
    pub whole_from_y: u32,
    pub whole_end_y: u32,
    pub spatial_alpha: u32,
    pub spatial_delta: u32,
    pub temporal_alpha: u32,
    pub temporal_delta: u32,
    pub persistence_times: u32,
    pub persistence_pairs: u32,
    pub tau: u32,
    pub min_chance: u32,
    pub is_masked: u32,
    pub p2_of_step: [u32; 256],
    pub weight_of_step: [u32; STEP_WORDS],
    pub weight_of_place: [u32; PLACE_WORDS],
}

/// Words of the weights for each brightness step.
const STEP_WORDS: usize = 256 / 4;
/// Words of the weights for each offset in the largest region: the arms of a cross are at most 30 px long.
const PLACE_WORDS: usize = (31_usize * 31).div_ceil(16) * 4;

fn packed<const WORDS: usize>(bytes: &[u8]) -> [u32; WORDS] {
    let mut words = [0; WORDS];
    for (i, &byte) in bytes.iter().enumerate() {
        words[i / 4] |= u32::from(byte) << (8 * (i % 4));
    }
    words
}

impl Params {
    /// Computes the uniforms of one level of a job; `has_past` is whether a pair of the same sequence came before.
    pub(super) fn new(
        [left, right]: [&Luma; 2],
        is_masked: bool,
        params: &StereoParams,
        layout: &Layout,
        has_past: bool,
    ) -> Self {
        let (width, height) = (layout.structure.width, layout.structure.height);
        let whole = || whole((width, height), params.window_reach(), &params.disparities());
        let (columns, rows) = if params.drop_border { whole() } else { (0..width, 0..height) };
        let (persistence_times, persistence_pairs) = params.persistence.times_in_pairs();
        let weights = params.aggregation.has_weights().then(|| WeightTables::new(&LocalSettings::of(params)));
        let (of_step, of_place) =
            weights.as_ref().map_or((&[][..], &[][..]), |weights| (&weights.color[..], &weights.space[..]));
        let [left, right] = if layout.structure.mirrored { [right, left] } else { [left, right] };
        let [left_shift, right_shift] = [left, right].map(|luma| u32::from(luma.bits() - 8));
        Self {
            width: width as u32,
            height: height as u32,
            pitch: map_pitch(width) as u32,
            candidates: params.num_disparities,
            words: layout.words,
            slab_rows: layout.slab_rows,
            min_disparity: params.min_disparity,
            left_shift,
            right_shift,
            p1: params.p1,
            subpixel: params.subpixel as u32,
            uniqueness: params.uniqueness,
            left_right: params.left_right.unwrap_or(0),
            speckle_size: params.speckle_size,
            speckle_range: params.speckle_range,
            paths: params.paths,
            confidence: if params.choice { 1 + u32::from(params.confidence) } else { u32::from(params.confidence) },
            has_past: u32::from(has_past),
            largest_sum: params.largest_accepted_sum().unwrap_or(u32::MAX),
            whole_from_x: columns.start as u32,
            whole_end_x: columns.end as u32,
            whole_from_y: rows.start as u32,
            whole_end_y: rows.end as u32,
            spatial_alpha: params.spatial_alpha,
            spatial_delta: params.spatial_delta,
            temporal_alpha: params.temporal_alpha,
            temporal_delta: params.temporal_delta,
            persistence_times,
            persistence_pairs,
            tau: params.tau,
            min_chance: params.min_chance.unwrap_or(0),
            is_masked: u32::from(is_masked),
            p2_of_step: penalty_table(params.adaptive_p2, &Penalties::of(params)),
            weight_of_step: packed(of_step),
            weight_of_place: packed(of_place),
        }
    }
}

/// Parameters of a dispatch: `DispatchParams` of `common.wgsl`, which documents the fields.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
#[allow(missing_docs, reason = "documented in the shader")]
pub struct DispatchParams {
    pub first: u32,
    pub end: u32,
    pub origin: u32,
    pub pieces: u32,
    pub length: u32,
    pub is_first: u32,
    pub y_is_major: u32,
    pub dx: i32,
    pub dy: i32,
    pub slope: u32,
}

/// Distance of uniforms in their buffer, bytes, that suits every device.
pub(crate) const UNIFORM_ALIGNMENT: usize = 256;

/// Distance of the parameters of a job's levels, bytes.
pub(crate) const PARAMS_STRIDE: usize = size_of::<Params>().next_multiple_of(UNIFORM_ALIGNMENT);
