//! Two settings side by side: A is kept, B follows the sliders.

use super::Setup;
use std::sync::Arc;
use stereopsis_frame::engine::Output;
use stereopsis_live::{JudgedResult, MedianTime};

/// Kept settings and the results of both settings.
pub(crate) struct CompareState {
    pub(crate) kept: Setup,
    /// Results of A and B for one pair.
    pub(crate) shown: Option<[Arc<Output>; 2]>,
    /// Figures of A and B for the newest judged pair.
    pub(crate) judged: Option<Arc<[JudgedResult; 2]>>,
    /// Median times of the last results of A and B.
    pub(crate) times: [Option<MedianTime>; 2],
    /// Position of the line between A and B from the left, as a share of the images' width.
    pub(crate) wiper: f32,
    pub(crate) shows_a: bool,
    /// Rate of pairs with both results, Hz.
    pub(crate) rate_hz: f64,
    /// Error that prevents results of A.
    pub(crate) error: Option<String>,
}

impl CompareState {
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

    /// Returns the result that all parts of the window show; `None` before both results exist.
    pub(crate) fn output(&self) -> Option<&Arc<Output>> {
        let [a, b] = self.shown.as_ref()?;
        Some(if self.shows_a { a } else { b })
    }
}
