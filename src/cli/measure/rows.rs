//! Rows of a measurement: one for each pair and range.

use super::span::Span;
use std::sync::Arc;
use stereopsis_base::geometry::Geometry;
use stereopsis_frame::engine::EngineInfo;
use stereopsis_live::Subject;
use stereopsis_metrics::Quantity;
use stereopsis_stereo::StereoParams;

#[derive(Clone, Debug)]
pub(super) struct Row {
    /// Position of the pair in the source, from 0.
    pub(super) pair: u64,
    pub(super) name: String,
    /// Numbers; every row has the same ones in the same order.
    pub(super) quantities: Vec<Quantity>,
}

#[derive(Debug)]
pub(super) struct Part {
    pub(super) span: Span,
    pub(super) rows: Vec<Row>,
}

/// Measurement of a source.
#[derive(Debug)]
pub(super) struct Measurement {
    pub(super) source: String,
    pub(super) pairs: u64,
    /// Setting of all pairs; `None` before the first one.
    pub(super) setting: Option<Setting>,
    pub(super) parts: Vec<Part>,
}

/// Values that are equal for all pairs.
#[derive(Clone, Debug)]
pub(super) struct Setting {
    pub(super) engine: Arc<EngineInfo>,
    pub(super) params: Arc<StereoParams>,
    pub(super) geometry: Option<Geometry>,
    pub(super) size: (usize, usize),
    pub(super) subject: Subject,
}

impl Measurement {
    /// Returns the first range without a pair.
    pub(super) fn unreached(&self) -> Option<&Span> {
        self.parts.iter().find(|part| part.rows.is_empty()).map(|part| &part.span)
    }
}
