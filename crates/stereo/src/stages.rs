//! Values that the stages take, out of the parameters of the pipeline.

use super::cost::CostSettings;
use super::disparity::WinnerRules;
use super::filter::RunningMean;
use super::filter::choice::ChoiceSettings;
use super::filter::planes::Fillable;
use super::local::LocalSettings;
use super::map::{ON_PLANE, SUBPIXEL_STEPS, reason};
use super::params::StereoParams;
use super::params::words::Penalties;
use std::ops::RangeInclusive;

impl CostSettings {
    /// Returns the cost of these parameters with its windows.
    pub fn of(params: &StereoParams) -> Self {
        Self { kind: params.cost, rank_window: params.rank_window, sad_window: params.sad_window }
    }
}

impl LocalSettings {
    /// Returns the local aggregation of these parameters.
    pub fn of(params: &StereoParams) -> Self {
        let &StereoParams { aggregation, window, gamma_color, gamma_space, tau, arms, .. } = params;
        Self { aggregation, window, gamma_color, gamma_space, tau, arms }
    }
}

impl Penalties {
    /// Returns the penalties of these parameters.
    pub fn of(params: &StereoParams) -> Self {
        let &StereoParams { p1, p2, p2_min, p2_alpha, .. } = params;
        Self { p1, p2, p2_min, p2_alpha }
    }
}

impl WinnerRules {
    /// Returns range, tests and refinement of winners of these parameters.
    pub fn of(params: &StereoParams) -> Self {
        Self {
            disparities: params.disparities(),
            border: params.drop_border.then(|| params.window_reach()),
            largest_sum: params.largest_accepted_sum(),
            uniqueness: params.uniqueness,
            subpixel: params.subpixel,
            with_confidence: params.winners_have_confidence(),
        }
    }
}

impl RunningMean {
    /// Returns the running mean of the spatial filter.
    pub fn along_surfaces(params: &StereoParams) -> Self {
        Self { alpha_percent: params.spatial_alpha, delta_16th: params.spatial_delta }
    }

    /// Returns the running mean of the temporal filter.
    pub fn over_time(params: &StereoParams) -> Self {
        Self { alpha_percent: params.temporal_alpha, delta_16th: params.temporal_delta }
    }
}

impl Fillable {
    /// Returns what planes and bands may fill in.
    pub fn of(params: &StereoParams) -> Self {
        Self { range: range_16th(params), mark: if params.choice { ON_PLANE } else { reason::FILLED } }
    }
}

impl ChoiceSettings {
    /// Returns the limits of the learned choice.
    pub fn of(params: &StereoParams) -> Self {
        Self {
            range: range_16th(params),
            min_chance: params.min_chance.unwrap_or(0),
            wants_chance: params.confidence,
            over_time: params.chooses_from_last(),
        }
    }
}

fn range_16th(params: &StereoParams) -> RangeInclusive<i32> {
    SUBPIXEL_STEPS * params.min_disparity..=SUBPIXEL_STEPS * params.last_disparity()
}
