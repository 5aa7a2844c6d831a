//! Means over scenes, in which every scene counts alike.

use super::run::{Evaluation, Row};
use stereopsis_metrics::{COLUMNS, Figures, TruthRegion};

/// Values of all figures in the order of [`COLUMNS`].
pub(super) type Values = [f64; COLUMNS.len()];

pub(super) fn values(figures: &Figures) -> Values {
    COLUMNS.map(|column| (column.of)(figures))
}

#[derive(Clone, Debug)]
pub(super) struct Means {
    pub(super) scenes: usize,
    /// Means over the scenes that have the region, with their number.
    pub(super) regions: Vec<(TruthRegion, usize, Values)>,
    /// Mean over all regions of all scenes.
    pub(super) all_regions: Values,
    pub(super) time_ms: f64,
}

pub(super) fn of(found: &Evaluation, variants: usize) -> Vec<Means> {
    (0..variants).map(|variant| of_variant(found, variant)).collect()
}

fn of_variant(found: &Evaluation, variant: usize) -> Means {
    let rows: Vec<&Row> =
        found.rows.iter().flat_map(|scene| &scene.rows).filter(|row| row.variant == variant).collect();
    let of_region = |wanted: Option<TruthRegion>| -> Vec<Values> {
        let regions = rows.iter().flat_map(|row| &row.regions);
        regions
            .filter(|(region, _)| wanted.is_none_or(|wanted| wanted == *region))
            .map(|(_, figures)| values(figures))
            .collect()
    };
    let regions = TruthRegion::ALL.iter().filter_map(|&region| {
        let all = of_region(Some(region));
        (!all.is_empty()).then(|| (region, all.len(), mean(&all)))
    });
    Means {
        scenes: rows.len(),
        regions: regions.collect(),
        all_regions: mean(&of_region(None)),
        time_ms: rows.iter().map(|row| row.time_ms).sum::<f64>() / rows.len() as f64,
    }
}

/// Computes the mean of each figure; NaN where one of them is.
fn mean(all: &[Values]) -> Values {
    std::array::from_fn(|column| all.iter().map(|values| values[column]).sum::<f64>() / all.len() as f64)
}

pub(super) fn minus(values: &Values, first: &Values) -> Values {
    std::array::from_fn(|column| values[column] - first[column])
}
