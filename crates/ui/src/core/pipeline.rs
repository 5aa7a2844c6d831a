//! Readings of the pipeline.

use std::sync::Arc;
use stereopsis_frame::Playing;
use stereopsis_frame::engine::Output;
use stereopsis_live::{Measurement, PixelExplanation, Status};

/// Readings of the pipeline, updated once per frame.
pub(crate) struct Pipeline {
    pub(crate) status: Status,
    pub(crate) output: Option<Arc<Output>>,
    /// Explanation of a pixel while its page is open.
    pub(crate) explained: Option<Arc<PixelExplanation>>,
    /// Numbers of the newest measured result while their page is open.
    pub(crate) measured: Option<Arc<Measurement>>,
    /// Rate of drawn results, Hz.
    pub(crate) shown_hz: f64,
    /// Playback of a recording; `None` for other sources.
    pub(crate) playback: Option<Playing>,
}

impl Pipeline {
    /// Returns whether the source delivers further pairs.
    pub(crate) fn is_live(&self) -> bool {
        !(self.status.paused || self.status.source.is_still || self.status.capture.ended)
    }
}
