//! What was measured: a row for each pair of each range.

use super::span::Span;
use crate::engine::EngineInfo;
use crate::geometry::Geometry;
use crate::metrics::depth_quality::Distance;
use crate::metrics::{Better, Missing, Quantity, Region, TruthError};
use crate::stereo::StereoParams;
use std::sync::Arc;

/// The numbers of one pair.
#[derive(Clone, Debug)]
pub(super) struct Row {
    /// Place of the pair in the source, from 0.
    pub(super) pair: u64,
    /// Its name.
    pub(super) name: String,
    /// All numbers; every row has the same ones in the same order.
    pub(super) quantities: Vec<Quantity>,
}

/// A range with its rows.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) span: Span,
    pub(super) rows: Vec<Row>,
}

/// All that was measured.
#[derive(Debug)]
pub(super) struct Measurement {
    /// Name of the source.
    pub(super) source: String,
    /// Number of pairs that were matched.
    pub(super) pairs: u64,
    /// What holds for all pairs; `None` before the first one.
    pub(super) setting: Option<Setting>,
    /// The ranges.
    pub(super) parts: Vec<Part>,
}

/// What holds for all pairs.
#[derive(Clone, Debug)]
pub(super) struct Setting {
    pub(super) engine: Arc<EngineInfo>,
    pub(super) params: Arc<StereoParams>,
    pub(super) geometry: Option<Geometry>,
    /// Size of the pictures, px.
    pub(super) size: (usize, usize),
    pub(super) region: Region,
    /// True distance, m.
    pub(super) distance_m: Option<f64>,
    /// Two pixels whose distance is measured.
    pub(super) points: Option<[(usize, usize); 2]>,
}

impl Measurement {
    /// The first range without a pair.
    pub(super) fn unreached(&self) -> Option<&Span> {
        self.parts.iter().find(|part| part.rows.is_empty()).map(|part| &part.span)
    }
}

/// Numbers of the distance between two pixels.
pub(super) fn of_distance(found: Result<Distance, Missing>) -> [Quantity; 2] {
    let part = |of: fn(&Distance) -> f64| found.as_ref().map(of).map_err(|&why| why);
    let quantity = |title, name, value| Quantity { title, name, unit: "mm", better: Better::Neither, value };
    [
        quantity("distance of the points", "distance_mm", part(|d| d.distance_mm)),
        quantity("its expected error", "distance_error_mm", part(|d| d.error_mm)),
    ]
}

/// Numbers of the error against truth.
pub(super) fn of_truth(error: TruthError) -> [Quantity; 2] {
    let quantity = |title, name, value| Quantity { title, name, unit: "%", better: Better::Lower, value: Ok(value) };
    [
        quantity("off the truth by > 1 px", "bad_1_percent", error.all.bad_1_percent),
        quantity("off the truth by > 2 px", "bad_2_percent", error.all.bad_2_percent),
    ]
}
