//! Measurement of distances and of depth quality.

mod commands;
mod panel;

use crate::core::Step;
use std::time::Instant;
use stereopsis_base::threads::Latest;
use stereopsis_live::{MeasureRequest, Measurement};

#[derive(Clone, Copy, Debug)]
pub(crate) enum MeasureStep {
    /// Sets the true distance of the surface in the middle of the image, m.
    SetTrueDistance(Option<f64>),
    BeginAnew,
    /// Copies a command that measures the same to the clipboard.
    CopyCommand,
}

impl Step for MeasureStep {}

pub(crate) struct Measure {
    true_distance_m: Option<f64>,
    /// Number of times that values were forgotten.
    series: u64,
    meter: Latest<MeasureRequest, Measurement>,
    /// Requested measurement while the page is open.
    requested: Option<MeasureRequest>,
    /// Time at which the measured source was opened.
    source_since: Option<Instant>,
}
