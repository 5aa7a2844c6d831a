//! Local aggregation (Fang et al. 2012): each cost becomes that of its surroundings.
//!
//! One template for all kinds, as in the paper's Fig. 3: a sum over the offsets of a region of costs times weights. Where the
//! region ends (`offsets`) and what each of its pixels counts (`weights`) are told apart, so all their combinations exist:
//!
//! | | all count alike | counted by likeness |
//! |---|---|---|
//! | square window | `window`: constant window | `adaptive-weight` |
//! | arms that end at edges | `cross` | `weighted-cross` |
//!
//! Every kind acts on the costs before paths, or decides alone where there are none. Gates come afterwards: a neighbour lends
//! its cost of a disparity whether or not it searches there itself.

mod offsets;
mod weights;

pub use offsets::{Arms, Offsets, arms};
pub use weights::{WeightTables, Weights};

use super::Volume;
use super::params::StereoParams;
use crate::choices;
use crate::image::Image;

choices! {
    /// How costs are aggregated over their surroundings.
    pub enum Aggregation {
        /// They are not.
        None = "none",
        /// Mean over a square window; blurs edges of depth.
        Window = "window",
        /// Mean over a window in which near pixels of like brightness count more, in both pictures (Yoon & Kweon 2005);
        /// keeps edges, and takes long.
        AdaptiveWeight = "adaptive-weight",
        /// Mean over a region that ends where brightness changes, in both pictures (Zhang et al. 2009).
        Cross = "cross",
        /// The region of `cross` with the weights of `adaptive-weight`.
        WeightedCross = "weighted-cross",
    }
}

impl Aggregation {
    /// Whether its region is a square window.
    pub const fn has_window(self) -> bool {
        matches!(self, Self::Window | Self::AdaptiveWeight)
    }

    /// Whether its region is made of arms.
    pub const fn has_arms(self) -> bool {
        matches!(self, Self::Cross | Self::WeightedCross)
    }

    /// Whether its pixels are weighted.
    pub const fn has_weights(self) -> bool {
        matches!(self, Self::AdaptiveWeight | Self::WeightedCross)
    }
}

/// What the aggregated costs are multiples of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unit {
    /// Sums over this many costs.
    Sum(u32),
    /// Means in sixteenths.
    Sixteenth,
}

impl Unit {
    /// How many units make 1.
    pub const fn per_cost(self) -> u32 {
        match self {
            Self::Sum(count) => count,
            Self::Sixteenth => 16,
        }
    }

    /// An aggregated cost as a byte for the paths: rounded half up.
    pub const fn mean(self, aggregated: u32) -> u8 {
        let unit = self.per_cost();
        ((aggregated + unit / 2) / unit) as u8
    }
}

impl StereoParams {
    /// In what aggregated costs are counted.
    pub fn unit(&self) -> Unit {
        match self.aggregation {
            Aggregation::Window => Unit::Sum(self.window * self.window),
            _ => Unit::Sixteenth,
        }
    }
}

/// Aggregated costs in [`StereoParams::unit`]s; the parameters name an aggregation.
pub fn aggregate(costs: &Volume<u8>, left: &Image<u8>, right: &Image<u8>, params: &StereoParams) -> Volume<u32> {
    let (width, height) = left.size();
    let offsets = Offsets::new(left, right, params);
    let weights = Weights::new(left, right, params);
    Volume::from_fn(width, height, costs.candidates, |x, y, i| {
        let partner = super::cost::partner(x, params.disparity(i), width);
        let (mut sum, mut total) = (0u32, 0u32);
        offsets.for_each((x, partner, y), |dx, dy| {
            let (xq, yq) = clamped((x, y), (dx, dy), (width, height));
            let weight = weights.of((x, partner, y), (dx, dy));
            sum += weight * u32::from(costs.at(xq, yq)[i]);
            total += weight;
        });
        match (params.aggregation, params.unit()) {
            // a count is rounded half up; weights, which are rounded themselves, are not
            (Aggregation::Cross, _) => (16 * sum + total / 2) / total,
            (_, Unit::Sixteenth) => 16 * sum / total,
            (_, Unit::Sum(_)) => sum,
        }
    })
}

/// The pixel at an offset, its coordinates clamped into the picture.
fn clamped((x, y): (usize, usize), (dx, dy): (isize, isize), (width, height): (usize, usize)) -> (usize, usize) {
    let at = |v: usize, dv: isize, len: usize| (v as isize + dv).clamp(0, len as isize - 1) as usize;
    (at(x, dx, width), at(y, dy, height))
}

#[cfg(test)]
mod tests;
