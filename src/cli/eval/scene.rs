//! Pairs of the built-in scene, which knows its truth.

use crate::capture::RawPair;
use crate::capture::picture_files::truth::PairWithTruth;
use anyhow::Context as _;
use std::ops::ControlFlow;

/// Consumer of pairs, which returns whether to go on.
pub(super) type PairSink<'a> = dyn FnMut(PairWithTruth) -> anyhow::Result<ControlFlow<()>> + 'a;

/// A pair of the scene by a name for results.
///
/// # Errors
/// It has no truth.
pub(super) fn of_scene(raw: RawPair, name: String, layout: &'static str) -> anyhow::Result<PairWithTruth> {
    PairWithTruth::of_raw(raw, name, layout).context("the scene has no truth")
}
