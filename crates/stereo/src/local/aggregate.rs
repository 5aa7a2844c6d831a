//! Aggregated cost of a pixel: the weighted sum over its region.

use super::{Aggregation, Offsets, Unit, Weights};
use crate::Volume;
use crate::cost::partner;
use crate::params::StereoParams;
use stereopsis_base::image::Image;

impl StereoParams {
    /// Returns the unit of aggregated costs.
    pub fn unit(&self) -> Unit {
        match self.aggregation {
            Aggregation::Window => Unit::Sum(self.window * self.window),
            _ => Unit::Sixteenth,
        }
    }
}

/// Computes the aggregated costs in [`StereoParams::unit`]s; the parameters have an aggregation other than none.
pub fn aggregate(costs: &Volume<u8>, left: &Image<u8>, right: &Image<u8>, params: &StereoParams) -> Volume<u32> {
    let (width, height) = left.size();
    let region = (&Offsets::new(left, right, params), &Weights::new(left, right, params));
    Volume::from_fn(width, height, costs.candidates, |x, y, i| {
        aggregate_at(|(xq, yq)| costs.at(xq, yq)[i], region, ((x, y), (width, height)), i, params)
    })
}

/// Computes the aggregated cost of candidate `i` at a pixel of an image of `size`; `cost` returns its cost at any pixel.
pub fn aggregate_at(
    cost: impl Fn((usize, usize)) -> u8,
    (offsets, weights): (&Offsets, &Weights<'_>),
    ((x, y), size): ((usize, usize), (usize, usize)),
    i: usize,
    params: &StereoParams,
) -> u32 {
    let partner = partner(x, params.disparity(i), size.0);
    let (mut sum, mut total) = (0u32, 0u32);
    offsets.for_each((x, partner, y), |dx, dy| {
        let weight = weights.of((x, partner, y), (dx, dy));
        sum += weight * u32::from(cost(clamped((x, y), (dx, dy), size)));
        total += weight;
    });
    match (params.aggregation, params.unit()) {
        // equal weights are rounded half up; adaptive weights are rounded themselves, so their mean is not
        (Aggregation::Cross, _) => (16 * sum + total / 2) / total,
        (_, Unit::Sixteenth) => 16 * sum / total,
        (_, Unit::Sum(_)) => sum,
    }
}

pub(super) fn clamped(
    (x, y): (usize, usize),
    (dx, dy): (isize, isize),
    (width, height): (usize, usize),
) -> (usize, usize) {
    let at = |v: usize, dv: isize, len: usize| (v as isize + dv).clamp(0, len as isize - 1) as usize;
    (at(x, dx, width), at(y, dy, height))
}
