//! Largest costs, penalties and sums of a set of parameters, and the limits that follow from 16-bit sums.

use super::StereoParams;
use super::words::{AdaptiveP2, Aggregation, CostKind, MAX_PATHS};
use crate::local::{LocalSettings, Unit};

/// Largest sum: the largest 16-bit value marks missing candidates.
pub(super) const MAX_SUM: u32 = u16::MAX as u32 - 1;

/// Number of path directions of coarser levels, if the pair has any. The first one points at 0 degrees.
pub(crate) const COARSE_PATHS: u32 = 8;

impl StereoParams {
    /// Returns the unit of aggregated costs.
    pub fn unit(&self) -> Unit {
        LocalSettings::of(self).unit()
    }

    /// Returns the distance from the centre of the local aggregation to its farthest neighbour along an axis, px; 0 without one.
    pub fn local_reach(&self) -> usize {
        LocalSettings::of(self).reach()
    }

    /// Returns the largest cost that enters the paths.
    pub fn largest_cost(&self) -> u32 {
        self.cost.comparison().largest(self.rank_window)
    }

    /// Returns the largest P2 that can occur on a path.
    pub fn largest_p2(&self) -> u32 {
        if self.adaptive_p2 == AdaptiveP2::Off { self.p2 } else { self.p2.max(self.p2_min) }
    }

    /// Whether winners have a confidence, as a result or as evidence for the learned choice.
    pub fn winners_have_confidence(&self) -> bool {
        self.confidence || self.choice
    }

    /// Whether winners are taken from exact sums of absolute differences, without aggregation and paths.
    pub fn is_block_matching(&self) -> bool {
        self.cost == CostKind::Sad && self.aggregation == Aggregation::None && self.paths == 0
    }

    /// Returns the largest sum that a winner can have.
    pub fn largest_sum(&self) -> u32 {
        if self.paths > 0 {
            self.paths * (self.largest_cost() + self.largest_p2())
        } else if self.is_block_matching() {
            self.largest_cost() * self.sad_window * self.sad_window
        } else if self.aggregation == Aggregation::None {
            self.largest_cost()
        } else {
            self.largest_cost() * self.unit().per_cost()
        }
    }

    /// Returns the largest sum that passes the match threshold; `None` without a threshold.
    pub fn largest_accepted_sum(&self) -> Option<u32> {
        let percent = u64::from(self.match_threshold?);
        Some((u64::from(self.largest_sum()) * percent / 100) as u32)
    }

    /// Returns the distance from a pixel to the edge of the window that its cost depends on, px along rows and columns.
    pub fn window_reach(&self) -> (usize, usize) {
        let (width, height) = self.cost.comparison().window(self.rank_window, self.sad_window);
        let reach = self.local_reach();
        (width / 2 + reach, height / 2 + reach)
    }

    /// Returns the largest number of paths whose sum fits in 16 bits with these penalties.
    pub fn max_paths(&self) -> u32 {
        (MAX_SUM / (self.largest_cost() + self.largest_p2())).min(MAX_PATHS)
    }

    /// Returns the largest P2 for which the sum over the paths fits in 16 bits; 0 if there is none.
    pub(crate) fn max_p2(&self) -> u32 {
        (MAX_SUM / self.summed_paths().max(1)).saturating_sub(self.largest_cost())
    }

    /// Returns the number of summed paths: of the pair, or of the smaller images of gating if they have more.
    pub(super) fn summed_paths(&self) -> u32 {
        self.paths.max(if self.gating.is_some() && self.paths > 0 { COARSE_PATHS } else { 0 })
    }

    /// Returns the lower bound of P2 and of `p2_min`, given the other parameters.
    pub(super) fn smallest_p2(&self) -> i64 {
        if self.paths > 0 { i64::from(self.p1) + 1 } else { 1 }
    }

    /// Returns the largest number of paths, given the other parameters, and the reason.
    pub(super) fn paths_limit(&self) -> (i64, String) {
        let largest = self.max_paths();
        (largest.into(), format!("With this P2 at most {largest}: a sum has 16 bits."))
    }

    /// Returns the largest penalty that stays `below` the largest P2, given the other parameters, and the reason.
    pub(super) fn penalty_limit(&self, below: u32) -> Option<(i64, String)> {
        let largest = self.max_p2().saturating_sub(below);
        (self.paths > 0)
            .then(|| (largest.into(), format!("With {} paths at most {largest}: a sum has 16 bits.", self.paths)))
    }
}
