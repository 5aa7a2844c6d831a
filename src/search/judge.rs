//! What makes a map a good one: a number that is small for good maps.

use super::sample::Sample;
use crate::choices;
use crate::metrics::scores::{View, score_without_truth, scores, unmeasured_percent};
use crate::metrics::truth_error;
use crate::stereo::{DisparityMap, StereoParams};

choices! {
    /// What a setting is judged by.
    pub enum Judge {
        /// Pixels off by more than 1 px, or without a disparity, % of all with truth.
        Truth = "truth",
        /// The score without truth, which needs the left-right check; 0 for a perfect map.
        WithoutTruth = "without-truth",
    }
}

/// What a judge says of one map.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Verdict {
    /// Smaller is better; `None` where the map is too empty to be judged, or cannot be.
    pub(super) loss: Option<f64>,
    /// Pixels with a disparity that is off by more than 1 px, % of all with truth; `None` without truth.
    pub(super) wrong_percent: Option<f64>,
    /// Pixels measured in this pair, % of all.
    pub(super) measured_percent: f64,
}

impl Judge {
    /// Truth where every sample has it.
    pub fn of(samples: &[Sample]) -> Self {
        let all_have = samples.iter().all(|sample| sample.frame.truth.is_some());
        if all_have { Self::Truth } else { Self::WithoutTruth }
    }

    /// The name of the loss with its unit, for figures and tables.
    pub fn title(self) -> &'static str {
        match self {
            Self::Truth => "pixels off by more than 1 px, %",
            Self::WithoutTruth => "score without truth (0 is best)",
        }
    }

    /// Judges the map that these parameters gave.
    pub(super) fn verdict(self, sample: &Sample, params: &StereoParams, map: &DisparityMap) -> Verdict {
        let frame = &sample.frame;
        let measured_percent = 100.0 - unmeasured_percent(map);
        match self {
            Self::Truth => {
                let error = frame.truth.as_ref().and_then(|truth| truth_error(map, truth)).map(|error| error.all);
                Verdict {
                    loss: error.map(|error| error.bad_1_percent),
                    wrong_percent: error.map(|error| error.bad_1_percent - (100.0 - error.density_percent)),
                    measured_percent,
                }
            }
            Self::WithoutTruth => {
                let view = View { left: &frame.left.luma, map };
                let scores = scores(view, &frame.right.luma, params.left_right.is_some(), None);
                Verdict { loss: score_without_truth(&scores).ok(), wrong_percent: None, measured_percent }
            }
        }
    }
}
