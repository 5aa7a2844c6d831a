//! Disparity gating (Frommholz 2020, section 4.1): each pixel searches only around what a coarser match of its
//! surroundings found. The paper takes percentiles of a large window, which leave thin things out; [`GateBounds::Extremes`] takes the
//! smallest and the largest disparity of a smaller one.
//!
//! The pair is halved [`StereoParams::gating`](crate::StereoParams::gating) times. The smallest images are matched over the whole range, every map
//! gates the next larger images ([`bounds_from`]), the last one the pair itself. Candidates outside a pixel's gate do
//! not exist: not as a neighbour on a path nor in a path's minimum, not for a winner, uniqueness or sub-pixel. The paper
//! searches the smallest images over their full width, because it has no search range; disparities outside the range
//! given here could not be used.

mod bounds;

pub use bounds::{bounds_from, percentile_skip};

use crate::choices;
use crate::image::Image;
use std::ops::RangeInclusive;

choices! {
    /// How the gate of a pixel follows from the coarser level's disparities around it.
    pub enum GateBounds {
        /// The 16th percentiles from either end of the disparities in 51x51 px, widened by 20 px (Frommholz 2020): thin things may be missed.
        Percentiles = "percentiles",
        /// The smallest and the largest disparity in 17x17 px, widened by 6 px.
        Extremes = "extremes",
    }
}

impl GateBounds {
    /// Radius of the window, px of the coarser level.
    pub const fn radius(self) -> usize {
        match self {
            Self::Percentiles => 25,
            Self::Extremes => 8,
        }
    }

    /// Margin of a gate on either side of the disparities that were found, px of the finer level.
    pub const fn margin_px(self) -> i32 {
        match self {
            Self::Percentiles => 20,
            Self::Extremes => 6,
        }
    }

    /// Candidates of the narrowest gate: the range cuts one of its margins.
    pub const fn narrowest(self) -> usize {
        self.margin_px() as usize + 2
    }

    /// The gate of a pixel around which the coarser level found `low` to `high` px, in a search over `disparities`.
    ///
    /// A coarse disparity `d` stands for the finer ones `2 d` and `2 d + 1`. The gate is cut to the range, and never
    /// empty: the coarser range reaches beyond the finer one by 1 px at most, which is less than the margin.
    pub fn gate(self, low: i32, high: i32, disparities: &RangeInclusive<i32>) -> Gate {
        let (min, max, margin_px) = (*disparities.start(), *disparities.end(), self.margin_px());
        let index = |d: i32| (d.clamp(min, max) - min) as u16;
        Gate { first: index(2 * low - margin_px), last: index(2 * high + 1 + margin_px) }
    }
}

/// The candidates of a pixel that exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gate {
    /// The smallest candidate.
    pub first: u16,
    /// The largest candidate, at least `first`.
    pub last: u16,
}

/// The gate of every pixel, row after row.
pub type Gates = Image<Gate>;

impl Gate {
    /// All of `candidates`.
    pub fn whole(candidates: usize) -> Self {
        Self { first: 0, last: candidates.saturating_sub(1) as u16 }
    }

    /// Indices of the candidates.
    pub fn range(self) -> RangeInclusive<usize> {
        usize::from(self.first)..=usize::from(self.last)
    }

    /// Whether candidate `index` exists.
    pub fn contains(self, index: usize) -> bool {
        self.range().contains(&index)
    }
}

#[cfg(test)]
mod tests;
