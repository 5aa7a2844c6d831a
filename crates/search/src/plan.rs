//! What a search is for, and what it may take.

use super::judge::Judge;
use super::trial::Trial;
use crate::stereo::StereoParams;
use std::time::Duration;

/// When a search ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Budget {
    /// After this time.
    Time(Duration),
    /// After so many settings.
    Trials(usize),
}

/// What a search may take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// Time of a pair at most, ms; `None` for any.
    pub max_ms: Option<f64>,
    /// When the search ends.
    pub budget: Budget,
}

impl Limits {
    /// Whether a setting is quick enough.
    pub(super) fn allow(&self, trial: &Trial) -> bool {
        self.max_ms.is_none_or(|max_ms| trial.time_ms <= max_ms)
    }
}

/// What a search is for.
#[derive(Clone, Debug)]
pub struct Plan {
    /// What settings are judged by.
    pub judge: Judge,
    /// The present setting, a valid one.
    pub start: StereoParams,
    /// What it may take.
    pub limits: Limits,
}

/// What earlier runs of the same plan have tried.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// Their trials.
    pub trials: Vec<Trial>,
    /// How long they took.
    pub elapsed: Duration,
}
