//! Disparity gating (Frommholz 2020, section 4.1): each pixel searches only around the disparities that a coarser match found near it.
//!
//! The pair is halved [`StereoParams::gating`](crate::StereoParams::gating) times. The smallest images are matched over the whole range;
//! each map gives the gates of the next larger images ([`bounds_from`]). A candidate outside a pixel's gate must not enter any result:
//! neither path costs and their minima, nor winner, uniqueness and sub-pixel refinement.
//!
//! The paper takes percentiles of a large window, which miss thin objects; [`GateBounds::Extremes`] takes the smallest and the largest
//! disparity of a smaller window. The paper has no search range and searches the full width of the smallest images.

mod bounds;

pub use bounds::{bounds_from, percentile_skip};

use crate::params::words::GateBounds;
use std::ops::RangeInclusive;
use stereopsis_base::image::Image;

impl GateBounds {
    /// Returns the radius of the window, px of the coarser level.
    pub const fn radius(self) -> usize {
        match self {
            Self::Percentiles => 25,
            Self::Extremes => 8,
        }
    }

    /// Returns the margin of a gate on either side of the found disparities, px of the finer level.
    pub const fn margin_px(self) -> i32 {
        match self {
            Self::Percentiles => 20,
            Self::Extremes => 6,
        }
    }

    /// Returns the number of candidates of the narrowest gate, where the range cuts one of its margins.
    pub const fn narrowest(self) -> usize {
        self.margin_px() as usize + 2
    }

    /// Returns the gate of a pixel around which the coarser level found `low` to `high` px, in a search over `disparities`.
    ///
    /// A coarse disparity `d` covers the finer ones `2 d` and `2 d + 1`. The gate is cut to the range and never empty: the coarser range
    /// exceeds the finer one by at most 1 px, less than the margin.
    pub fn gate(self, low: i32, high: i32, disparities: &RangeInclusive<i32>) -> Gate {
        let (min, max, margin_px) = (*disparities.start(), *disparities.end(), self.margin_px());
        let index = |d: i32| (d.clamp(min, max) - min) as u16;
        Gate { first: index(2 * low - margin_px), last: index(2 * high + 1 + margin_px) }
    }
}

/// Interval of the existing candidates of a pixel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gate {
    /// Index of the smallest candidate.
    pub first: u16,
    /// Index of the largest candidate, at least `first`.
    pub last: u16,
}

/// Gate of every pixel, row after row.
pub type Gates = Image<Gate>;

impl Gate {
    /// Returns the gate of all `candidates`.
    pub fn whole(candidates: usize) -> Self {
        Self { first: 0, last: candidates.saturating_sub(1) as u16 }
    }

    /// Returns the indices of the candidates.
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
