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

use stereopsis_base::parameter::choices;

choices! {
    /// Local aggregation of costs.
    pub enum Aggregation {
        /// No aggregation.
        None = "none",
        /// Mean over a square window; blurs edges of depth.
        Window = "window",
        /// Mean over a window in which near pixels of like brightness count more, in both images (Yoon & Kweon 2005);
        /// keeps edges, and takes long.
        AdaptiveWeight = "adaptive-weight",
        /// Mean over a region that ends where brightness changes, in both images (Zhang et al. 2009).
        Cross = "cross",
        /// The region of `cross` with the weights of `adaptive-weight`.
        WeightedCross = "weighted-cross",
    }
}

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
