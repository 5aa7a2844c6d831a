//! Local aggregation (Fang et al. 2012): each cost becomes the weighted mean over a region around its pixel.
//!
//! All kinds share one formula, as in the paper's Fig. 3: a sum of costs times weights over the offsets of a region. The region
//! (`offsets`) and the weights of its pixels (`weights`) are independent, so all combinations exist:
//!
//! | | equal weights | weights by similarity |
//! |---|---|---|
//! | square window | `window`: constant window | `adaptive-weight` |
//! | arms that end at edges | `cross` | `weighted-cross` |
//!
//! Each kind comes before the paths, or replaces them. Gates apply afterwards: a neighbour contributes its cost even if the
//! disparity lies outside its own gate.

mod aggregate;
mod offsets;
mod weights;

pub use aggregate::{aggregate, aggregate_at};
pub use offsets::{Arms, Offsets, arms};
pub use weights::{WeightTables, Weights};

use crate::params::words::Aggregation;

impl Aggregation {
    /// Whether the region is a square window, of the size `window`.
    pub const fn has_window(self) -> bool {
        matches!(self, Self::Window | Self::AdaptiveWeight)
    }

    /// Whether the region is made of arms, by `tau` and `arms`.
    pub const fn has_arms(self) -> bool {
        matches!(self, Self::Cross | Self::WeightedCross)
    }

    /// Whether the pixels are weighted, by `gamma-color` and `gamma-space`.
    pub const fn has_weights(self) -> bool {
        matches!(self, Self::AdaptiveWeight | Self::WeightedCross)
    }
}

/// Kind of an aggregation, with the numbers of all kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocalSettings {
    /// Kind.
    pub aggregation: Aggregation,
    /// Side of a square window, px; odd.
    pub window: u32,
    /// Tolerance of weights for brightness differences, squared grey levels.
    pub gamma_color: u32,
    /// Reach of weights, px².
    pub gamma_space: u32,
    /// Brightness difference at which arms end.
    pub tau: u32,
    /// Longest arm, px.
    pub arms: u32,
}

impl LocalSettings {
    /// Returns the distance from the centre to its farthest neighbour along an axis, px; 0 without an aggregation.
    pub fn reach(&self) -> usize {
        match self.aggregation {
            aggregation if aggregation.has_window() => (self.window / 2) as usize,
            aggregation if aggregation.has_arms() => self.arms as usize,
            _ => 0,
        }
    }

    /// Returns the unit of aggregated costs.
    pub fn unit(&self) -> Unit {
        match self.aggregation {
            Aggregation::Window => Unit::Sum(self.window * self.window),
            _ => Unit::Sixteenth,
        }
    }
}

/// Unit of aggregated costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unit {
    /// Sums over this many costs.
    Sum(u32),
    /// Means in sixteenths.
    Sixteenth,
}

impl Unit {
    /// Returns the number of units per cost.
    pub const fn per_cost(self) -> u32 {
        match self {
            Self::Sum(count) => count,
            Self::Sixteenth => 16,
        }
    }

    /// Returns an aggregated cost as a byte for the paths, rounded half up.
    pub const fn mean(self, aggregated: u32) -> u8 {
        let unit = self.per_cost();
        ((aggregated + unit / 2) / unit) as u8
    }
}

#[cfg(test)]
mod tests;
