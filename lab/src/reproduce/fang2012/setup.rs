//! Pair, methods and helpers of all exhibits of the paper.

use crate::reproduce::exhibit::Verdict;
use crate::reproduce::resources::ExhibitResources;
use std::sync::Arc;
use std::time::Instant;
use stereopsis_frame::engine::Job;
use stereopsis_frame::{FramePreparation, SourceInfo};
use stereopsis_images::picture_files::truth::PairWithTruth;
use stereopsis_stereo::{Aggregation, Preset, StereoParams};

/// Size and disparities of Tsukuba, the paper's first pair.
pub(super) const TSUKUBA: (usize, usize) = (384, 288);
pub(super) const DISPARITIES: u32 = 16;
/// Radius of CW and AW, and arm length of CROSS, where the paper does not vary them.
pub(super) const RADIUS: u32 = 10;
pub(super) const ARMS: u32 = 17;

pub(super) const AGGREGATORS: [(&str, Preset, Aggregation); 3] = [
    ("CW", Preset::Fang2012Cw, Aggregation::Window),
    ("AW", Preset::Fang2012Aw, Aggregation::AdaptiveWeight),
    ("CROSS", Preset::Fang2012Cross, Aggregation::Cross),
];

/// Device of the paper's times.
pub(super) const DEVICE: &str = "the Quadro 5000";

/// Returns an aggregator's preset with Tsukuba's range and a radius or, for CROSS, arm length.
pub(super) fn method(preset: Preset, radius: u32) -> StereoParams {
    let mut params = StereoParams { num_disparities: DISPARITIES, ..StereoParams::default() };
    preset.apply(&mut params);
    if params.aggregation.has_arms() {
        StereoParams { arms: radius, ..params }
    } else {
        StereoParams { window: 2 * radius + 1, ..params }
    }
}

/// Returns the radius of an aggregator where the paper does not vary it.
pub(super) fn usual_radius(aggregation: Aggregation) -> u32 {
    if aggregation.has_arms() { ARMS } else { RADIUS }
}

pub(super) fn job(pair: &PairWithTruth, params: &StereoParams) -> anyhow::Result<Job> {
    let frame = FramePreparation::default().prepare(&pair.raw, &SourceInfo::default(), Instant::now())?;
    Ok(Job { frame: Arc::new(frame), params: Arc::new(params.clone()), read_back: true, wants_right: false })
}

/// Creates a job of Tsukuba, or of the built-in scene in its size.
pub(super) fn tsukuba(resources: &ExhibitResources, params: &StereoParams) -> anyhow::Result<Vec<Job>> {
    match resources.pair("tsukuba") {
        Some(pair) => Ok(vec![job(&pair, params)?]),
        None => resources.jobs(TSUKUBA, params),
    }
}

/// Describes the pair of [`tsukuba`].
pub(super) fn tsukuba_words(resources: &ExhibitResources) -> String {
    let what =
        if resources.pair("tsukuba").is_some() { "Tsukuba" } else { "The built-in scene in the size of Tsukuba" };
    format!("{what}, {}x{} with {DISPARITIES} disparities", TSUKUBA.0, TSUKUBA.1)
}

/// Returns the divisor of image sides for plain loops, whose times are multiplied by its square.
pub(super) fn plain_scale(resources: &ExhibitResources) -> usize {
    if resources.quick { 2 } else { 1 }
}

/// Creates jobs of the built-in scene for plain loops.
pub(super) fn plain_jobs(resources: &ExhibitResources, params: &StereoParams) -> anyhow::Result<Vec<Job>> {
    let scale = plain_scale(resources);
    resources.jobs((TSUKUBA.0 / scale, TSUKUBA.1 / scale), params)
}

/// Returns the verdict on a row that needs the paper's kernels.
pub(super) fn needs_kernels(why: &str) -> Verdict {
    Verdict::NotMeasurable(format!("the paper's OpenCL kernels on a GPU: {why}"))
}

/// Whether a number equals the paper's to its last digit.
pub(super) fn is_same(paper: f64, here: f64, decimals: usize) -> bool {
    format!("{paper:.decimals$}") == format!("{here:.decimals$}")
}

/// Returns the mean, or NaN of an empty list.
pub(super) fn mean(values: impl IntoIterator<Item = f64>) -> f64 {
    let (sum, count) = values.into_iter().fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    sum / count
}
