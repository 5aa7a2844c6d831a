//! Values that the stages take, out of the parameters of the pipeline.

use super::cost::CostSettings;
use super::disparity::WinnerRules;
use super::filter::RunningMean;
use super::filter::choice::ChoiceSettings;
use super::filter::planes::Fillable;
use super::local::LocalSettings;
use super::map::{ON_PLANE, SUBPIXEL_STEPS, reason};
use super::params::StereoParams;
use std::ops::RangeInclusive;

impl StereoParams {
    /// Returns the cost with its windows.
    pub fn cost_settings(&self) -> CostSettings {
        CostSettings { kind: self.cost, rank_window: self.rank_window, sad_window: self.sad_window }
    }

    /// Returns the local aggregation.
    pub fn local(&self) -> LocalSettings {
        let &Self { aggregation, window, gamma_color, gamma_space, tau, arms, .. } = self;
        LocalSettings { aggregation, window, gamma_color, gamma_space, tau, arms }
    }

    /// Returns the range, tests and refinement of winners.
    pub fn winner_rules(&self) -> WinnerRules {
        WinnerRules {
            disparities: self.disparities(),
            border: self.drop_border.then(|| self.window_reach()),
            largest_sum: self.largest_accepted_sum(),
            uniqueness: self.uniqueness,
            subpixel: self.subpixel,
            with_confidence: self.winners_have_confidence(),
        }
    }

    /// Returns the running mean of the spatial filter.
    pub fn along_surfaces(&self) -> RunningMean {
        RunningMean { alpha_percent: self.spatial_alpha, delta_16th: self.spatial_delta }
    }

    /// Returns the running mean of the temporal filter.
    pub fn over_time(&self) -> RunningMean {
        RunningMean { alpha_percent: self.temporal_alpha, delta_16th: self.temporal_delta }
    }

    /// Returns what planes and bands may fill in.
    pub fn fillable(&self) -> Fillable {
        Fillable { range: self.range_16th(), mark: if self.choice { ON_PLANE } else { reason::FILLED } }
    }

    /// Returns the limits of the learned choice.
    pub fn choice_settings(&self) -> ChoiceSettings {
        ChoiceSettings {
            range: self.range_16th(),
            min_chance: self.min_chance.unwrap_or(0),
            wants_chance: self.confidence,
            over_time: self.chooses_from_last(),
        }
    }

    fn range_16th(&self) -> RangeInclusive<i32> {
        SUBPIXEL_STEPS * self.min_disparity..=SUBPIXEL_STEPS * self.last_disparity()
    }
}
