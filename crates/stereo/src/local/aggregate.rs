//! Aggregated cost of a pixel: the weighted sum over its region.

use super::offsets::{Offsets, clamped};
use super::{LocalSettings, Unit, Weights};
use crate::cost::partner;
use crate::params::words::Aggregation;
use crate::volume::Volume;
use stereopsis_base::image::Image;

/// Computes the aggregated costs in [`LocalSettings::unit`]s, by an aggregation other than none. The first candidate has the disparity
/// `first_px`.
pub fn aggregate(
    costs: &Volume<u8>,
    left: &Image<u8>,
    right: &Image<u8>,
    settings: &LocalSettings,
    first_px: i32,
) -> Volume<u32> {
    let (width, height) = left.size();
    let region = (&Offsets::new(left, right, settings), &Weights::new(left, right, settings));
    Volume::from_fn(width, height, costs.candidates, |x, y, i| {
        let place = ((x, y), (width, height));
        aggregate_at(|(xq, yq)| costs.at(xq, yq)[i], region, place, first_px + i as i32, settings)
    })
}

/// Computes the aggregated cost of disparity `d` px at a pixel of an image of `size`; `cost` returns its cost at any pixel.
pub fn aggregate_at(
    cost: impl Fn((usize, usize)) -> u8,
    (offsets, weights): (&Offsets, &Weights<'_>),
    ((x, y), size): ((usize, usize), (usize, usize)),
    d: i32,
    settings: &LocalSettings,
) -> u32 {
    let partner = partner(x, d, size.0);
    let (mut sum, mut total) = (0u32, 0u32);
    offsets.for_each((x, partner, y), |dx, dy| {
        let weight = weights.of((x, partner, y), (dx, dy));
        sum += weight * u32::from(cost(clamped((x, y), (dx, dy), size)));
        total += weight;
    });
    match (settings.aggregation, settings.unit()) {
        // equal weights are rounded half up; adaptive weights are rounded themselves, so their mean is not
        (Aggregation::Cross, _) => (16 * sum + total / 2) / total,
        (_, Unit::Sixteenth) => 16 * sum / total,
        (_, Unit::Sum(_)) => sum,
    }
}
