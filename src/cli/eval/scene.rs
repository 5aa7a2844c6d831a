//! Pairs of the built-in scene, which knows its truth.

use crate::capture::RawPair;
use crate::capture::files::truth::{PairWithTruth, num_disparities_of};
use crate::metrics::Regions;
use anyhow::Context as _;
use std::ops::ControlFlow;
use std::sync::Arc;

/// Takes a pair, and says whether the next one is wanted.
pub(super) type See<'a> = dyn FnMut(PairWithTruth) -> anyhow::Result<ControlFlow<()>> + 'a;

/// A pair of the scene by a name for results.
///
/// # Errors
/// It has no truth.
pub(super) fn of_scene(raw: RawPair, name: String, layout: &'static str) -> anyhow::Result<PairWithTruth> {
    let truth = raw.truth.clone().context("the scene has no truth")?;
    Ok(PairWithTruth {
        name,
        layout,
        regions: Regions::of_truth(&truth),
        num_disparities: num_disparities_of(&truth),
        truth,
        raw: Arc::new(raw),
    })
}
