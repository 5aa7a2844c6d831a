//! What makes a map a good one: a number that is small for good maps.

use super::sample::Sample;
use super::trial::Run;
use crate::choices;
use crate::metrics::scores::{View, score_without_truth, scores, unmeasured_percent};
use crate::metrics::truth_error;
use crate::stereo::{DisparityMap, StereoParams};
use std::time::Duration;

choices! {
    /// What a setting is judged by.
    pub enum Judge {
        /// Pixels off by more than 1 px, or without a disparity, % of all with truth.
        Truth = "truth",
        /// The score without truth, which needs the left-right check; 0 for a perfect map.
        WithoutTruth = "without-truth",
    }
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

    /// Judges the map that these parameters gave in this time.
    pub(super) fn run(self, sample: &Sample, params: &StereoParams, map: &DisparityMap, time: Duration) -> Run {
        let frame = &sample.frame;
        let (width, height) = map.size();
        let (loss, wrong_percent) = match self {
            Self::Truth => {
                let error = frame.truth.as_ref().and_then(|truth| truth_error(map, truth)).map(|error| error.all);
                let wrong = error.map(|error| error.bad_1_percent - (100.0 - error.density_percent));
                (error.map(|error| error.bad_1_percent), wrong)
            }
            Self::WithoutTruth => {
                let view = View { left: &frame.left.luma, map };
                let scores = scores(view, &frame.right.luma, params.left_right.is_some(), None);
                (score_without_truth(&scores).ok(), None)
            }
        };
        Run {
            loss,
            wrong_percent,
            measured_percent: 100.0 - unmeasured_percent(map),
            time_ms: time.as_secs_f64() * 1e3,
            pixels: width * height,
        }
    }
}
