//! Goal and limits of a search.

use super::judge::Judge;
use super::trial::Trial;
use std::time::Duration;
use stereopsis_stereo::StereoParams;

/// End of a search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Budget {
    /// Time limit.
    Time(Duration),
    /// Number of settings.
    Trials(usize),
}

/// Limits of a search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SearchLimits {
    /// Largest time of a pair, ms.
    pub max_ms: Option<f64>,
    /// Budget after which the search ends.
    pub budget: Budget,
}

impl SearchLimits {
    pub(super) fn allow(&self, trial: &Trial) -> bool {
        self.max_ms.is_none_or(|max_ms| trial.time_ms <= max_ms)
    }
}

/// Goal and limits of a search.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Judge of the settings.
    pub judge: Judge,
    /// Valid present setting.
    pub start: StereoParams,
    /// Limits of the search.
    pub limits: SearchLimits,
}

/// Trials of earlier runs of this plan.
#[derive(Clone, Debug, Default)]
pub struct EarlierTrials {
    /// Trials in their order.
    pub trials: Vec<Trial>,
    /// Time of the earlier runs.
    pub elapsed: Duration,
}
