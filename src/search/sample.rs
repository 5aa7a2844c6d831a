//! A pair on which settings are tried.

use crate::capture::Frame;
use crate::stereo::StereoParams;
use std::sync::Arc;

/// A pair on which settings are tried.
#[derive(Clone, Debug)]
pub struct Sample {
    /// The pair, with its truth where the source has it.
    pub frame: Arc<Frame>,
    /// The pair before it. It is matched first where a filter works over time.
    pub previous: Option<Arc<Frame>>,
    /// Number of disparities that this pair is searched for; `None` for that of the setting.
    pub num_disparities: Option<u32>,
}

impl Sample {
    /// A pair that stands alone, with the search range of the setting.
    pub fn of(frame: Arc<Frame>) -> Self {
        Self { frame, previous: None, num_disparities: None }
    }

    /// The setting for this pair.
    pub(super) fn params(&self, params: &StereoParams) -> StereoParams {
        StereoParams { num_disparities: self.num_disparities.unwrap_or(params.num_disparities), ..params.clone() }
    }
}
