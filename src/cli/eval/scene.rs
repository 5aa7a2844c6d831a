//! Pairs of the built-in scene, which has exact truth.

use anyhow::Context as _;
use std::ops::ControlFlow;
use stereopsis_frame::RawPair;
use stereopsis_images::picture_files::truth::PairWithTruth;

/// Consumer of pairs, which returns whether to continue.
pub(super) type PairSink<'a> = dyn FnMut(PairWithTruth) -> anyhow::Result<ControlFlow<()>> + 'a;

/// Names a pair of the scene for the results.
///
/// # Errors
/// The pair has no truth.
pub(super) fn of_scene(raw: RawPair, name: String, layout: &'static str) -> anyhow::Result<PairWithTruth> {
    PairWithTruth::of_raw(raw, name, layout).context("the scene has no truth")
}
