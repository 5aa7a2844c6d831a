//! One image searched in the other: costs and path costs of single pixels.

use super::lines::{PathCosts, line_to};
use crate::aggregate::{Direction, directions, penalty_table};
use crate::cost::{CostSettings, PixelCosts, sad};
use crate::filter::BlackBorder;
use crate::gating::{Gate, Gates};
use crate::local::{LocalSettings, Offsets, Weights, aggregate_at};
use crate::params::StereoParams;
use crate::params::words::{Aggregation, Penalties};
use crate::prior::Prior;
use stereopsis_base::image::{Image, Luma, PictureRef};

/// Winner of one direction alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DirectionWinner {
    /// Direction of the path.
    pub direction: Direction,
    /// P2 of the step to this pixel; `None` where the path starts here.
    pub p2: Option<u32>,
    /// Index of the smallest path cost; ties go to the smaller disparity.
    pub winner: usize,
    /// Path cost of the winner.
    pub cost: u32,
}

/// One image, and the data to search its pixels in the other one.
pub(super) struct Side {
    pub(super) params: StereoParams,
    local: LocalSettings,
    /// Own and other image, in eight bits.
    pub(super) pictures: [Image<u8>; 2],
    pub(super) borders: [Option<BlackBorder>; 2],
    costs: PixelCosts,
    offsets: Option<Offsets>,
    gates: Option<Gates>,
    pub(super) directions: Vec<Direction>,
    p2_of_step: [u32; 256],
}

/// Costs and sums of the existing candidates of a pixel.
pub(super) struct Candidates {
    pub(super) costs: Vec<u32>,
    pub(super) means: Option<Vec<u32>>,
    pub(super) sums: Vec<u32>,
    pub(super) directions: Vec<DirectionWinner>,
}

impl Side {
    pub(super) fn new(own: &Luma, other: &Luma, is_masked: bool, params: &StereoParams, prior: &Prior) -> Self {
        let pictures = [own.to_u8(), other.to_u8()];
        let local = LocalSettings::of(params);
        let is_aggregated = local.aggregation != Aggregation::None;
        Self {
            params: params.clone(),
            borders: [own, other].map(|luma| BlackBorder::of(PictureRef { is_masked, ..luma.into() })),
            costs: PixelCosts::new(own, other, &CostSettings::of(params), prior.information.as_ref()),
            offsets: is_aggregated.then(|| Offsets::new(&pictures[0], &pictures[1], &local)),
            gates: prior.gates.clone(),
            directions: directions(params.paths, params.start_angle_deg),
            p2_of_step: penalty_table(params.adaptive_p2, &Penalties::of(params)),
            local,
            pictures,
        }
    }

    pub(super) fn size(&self) -> (usize, usize) {
        self.pictures[0].size()
    }

    pub(super) fn gate(&self, (x, y): (usize, usize)) -> Gate {
        self.gates.as_ref().map_or_else(|| Gate::whole(self.num_candidates()), |gates| gates.at(x, y))
    }

    pub(super) fn num_candidates(&self) -> usize {
        self.params.num_disparities as usize
    }

    /// Whether pixel `(x, y)` of the own image, or of the other one, lies in its black border.
    pub(super) fn is_black(&self, is_other: bool, x: i64, y: usize) -> bool {
        let is_inside = (0..self.size().0 as i64).contains(&x);
        is_inside && self.borders[usize::from(is_other)].as_ref().is_some_and(|border| border.contains(x as usize, y))
    }

    fn p2(&self, to: (usize, usize), from: (usize, usize)) -> u32 {
        let own = &self.pictures[0];
        self.p2_of_step[usize::from(own.at(to.0, to.1).abs_diff(own.at(from.0, from.1)))]
    }

    /// Computes the aggregated cost of a candidate, in the unit of the parameters; `None` without local aggregation.
    fn aggregated(&self, pixel: (usize, usize), i: usize, weights: &Weights<'_>) -> Option<u32> {
        let region = (self.offsets.as_ref()?, weights);
        let d = self.params.disparity(i);
        Some(aggregate_at(|at| self.costs.at(at, d), region, (pixel, self.size()), d, &self.local))
    }

    pub(super) fn weights(&self) -> Weights<'_> {
        Weights::new(&self.pictures[0], &self.pictures[1], &self.local)
    }

    fn path_inputs(&self, pixel: (usize, usize), weights: &Weights<'_>, costs: &mut [u8]) {
        if self.offsets.is_none() {
            return self.costs.fill(pixel, self.params.min_disparity, costs);
        }
        if self.params.aggregation == Aggregation::Window {
            return self.window_means(pixel, costs);
        }
        for i in self.gate(pixel).range() {
            costs[i] = self.path_input(pixel, i, weights);
        }
    }

    /// Computes the means over the window for all candidates at once.
    fn window_means(&self, (x, y): (usize, usize), costs: &mut [u8]) {
        let ((width, height), reach) = (self.size(), self.local.reach());
        let mut sums = vec![0u32; costs.len()];
        for row in (0..=2 * reach).map(|k| (y + k).saturating_sub(reach).min(height - 1)) {
            for column in (0..=2 * reach).map(|k| (x + k).saturating_sub(reach).min(width - 1)) {
                self.costs.fill((column, row), self.params.min_disparity, costs);
                sums.iter_mut().zip(&*costs).for_each(|(sum, &cost)| *sum += u32::from(cost));
            }
        }
        costs.iter_mut().zip(sums).for_each(|(cost, sum)| *cost = self.local.unit().mean(sum));
    }

    /// Computes the cost of one candidate that enters the paths.
    pub(super) fn path_input(&self, pixel: (usize, usize), i: usize, weights: &Weights<'_>) -> u8 {
        let cost = || self.costs.at(pixel, self.params.disparity(i));
        self.aggregated(pixel, i, weights).map_or_else(cost, |aggregated| self.local.unit().mean(aggregated))
    }

    /// Computes the sum of a candidate without paths.
    pub(super) fn local_sum(&self, pixel: (usize, usize), i: usize, weights: &Weights<'_>) -> u32 {
        let [own, other] = &self.pictures;
        let d = self.params.disparity(i);
        if self.params.is_block_matching() {
            return sad::sum_at((own, other), pixel, d, self.params.sad_window);
        }
        self.aggregated(pixel, i, weights).unwrap_or_else(|| u32::from(self.costs.at(pixel, d)))
    }

    /// Computes the path costs of all candidates along a line and calls `visit` with them and P2 at each pixel; false if abandoned.
    pub(super) fn follow(
        &self,
        line: &[(usize, usize)],
        goes_on: &dyn Fn() -> bool,
        mut visit: impl FnMut((usize, usize), Option<u32>, &[i16]),
    ) -> bool {
        let (weights, candidates) = (self.weights(), self.num_candidates());
        let mut path = PathCosts::new(candidates, self.params.p1);
        let mut costs = vec![0; candidates];
        let mut before = None;
        // one pixel takes long with aggregation, and almost no time without
        let pixels_a_question = if self.offsets.is_some() { 1 } else { 256 };
        for (k, &pixel) in line.iter().enumerate() {
            if k % pixels_a_question == 0 && !goes_on() {
                return false;
            }
            self.path_inputs(pixel, &weights, &mut costs);
            let p2 = before.replace(pixel).map(|before| self.p2(pixel, before));
            path.step(&costs, self.gate(pixel), p2);
            visit(pixel, p2, path.costs());
        }
        true
    }

    /// Computes all numbers of a pixel; `None` where the work was abandoned.
    pub(super) fn candidates(&self, pixel: (usize, usize), goes_on: &dyn Fn() -> bool) -> Option<Candidates> {
        let (gate, weights) = (self.gate(pixel), self.weights());
        let existing = || gate.range();
        let is_block_matching = self.params.is_block_matching();
        let cost = |i: usize| {
            if is_block_matching {
                return self.local_sum(pixel, i, &weights);
            }
            u32::from(self.costs.at(pixel, self.params.disparity(i)))
        };
        let costs: Vec<_> = existing().map(cost).collect();
        if self.params.paths == 0 {
            let sums = existing().map(|i| self.local_sum(pixel, i, &weights)).collect();
            return Some(Candidates { costs, means: None, sums, directions: Vec::new() });
        }
        let mean = |i| u32::from(self.path_input(pixel, i, &weights));
        let means = self.offsets.is_some().then(|| existing().map(mean).collect());
        let mut sums = vec![0; costs.len()];
        let mut winners = Vec::with_capacity(self.directions.len());
        for &direction in &self.directions {
            let (mut last_p2, mut own) = (None, Vec::new());
            let line = line_to(pixel, direction, self.size());
            let is_whole = self.follow(&line, goes_on, |at, p2, path| {
                if at == pixel {
                    own = path[gate.range()].iter().map(|&cost| cost as u32).collect();
                    last_p2 = p2;
                }
            });
            if !is_whole {
                return None;
            }
            for (sum, &cost) in sums.iter_mut().zip(&own) {
                *sum += cost;
            }
            let winner = smallest(&own, |_| true).unwrap_or(0);
            winners.push(DirectionWinner { direction, p2: last_p2, winner, cost: own[winner] });
        }
        Some(Candidates { costs, means, sums, directions: winners })
    }
}

pub(super) fn smallest(values: &[u32], counts: impl Fn(usize) -> bool) -> Option<usize> {
    let counted = values.iter().enumerate().filter(|&(i, _)| counts(i));
    counted.min_by_key(|&(_, value)| value).map(|(i, _)| i)
}
