//! Two settings side by side: A is kept, B is what the sliders change.

use crate::engine::Output;
use crate::live::{Judged, MedianTime};
use crate::state::Setup;
use std::sync::Arc;

/// A change of the comparison.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum CompareStep {
    /// Moves the line between A and B, as a share of the pictures' width from the left.
    SetWiper(f32),
    /// Takes A's settings, and keeps the present ones as A.
    Exchange,
}

/// The settings that are kept, and the results of both.
pub(crate) struct CompareState {
    /// The settings of A.
    pub(crate) kept: Setup,
    /// Results of A and B of one pair.
    pub(crate) shown: Option<[Arc<Output>; 2]>,
    /// Figures of A and B, of the newest pair that was judged.
    pub(crate) judged: Option<Arc<[Judged; 2]>>,
    /// Median times of the last results of A and B.
    pub(crate) times: [Option<MedianTime>; 2],
    /// Line between A and B, as a share of the pictures' width from the left.
    pub(crate) wiper: f32,
    /// All views show A.
    pub(crate) shows_a: bool,
    /// Pairs of which both results are there, per second.
    pub(crate) rate_hz: f64,
    /// Why there are no results of A.
    pub(crate) error: Option<String>,
}

impl CompareState {
    /// Keeps settings as A.
    pub(crate) fn new(kept: Setup) -> Self {
        Self {
            kept,
            shown: None,
            judged: None,
            times: [None; 2],
            wiper: 0.5,
            shows_a: false,
            rate_hz: 0.0,
            error: None,
        }
    }

    /// The result that all parts of the window show; `None` before both are there.
    pub(crate) fn output(&self) -> Option<&Arc<Output>> {
        let [a, b] = self.shown.as_ref()?;
        Some(if self.shows_a { a } else { b })
    }
}
