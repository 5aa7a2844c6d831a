//! How far a search is.

use super::judge::Judge;
use super::plan::Limits;
use super::task::Progress;
use super::trial::Trial;
use crate::engine::EngineInfo;
use crate::stereo::Preset;
use std::sync::Arc;
use std::time::Duration;

/// What a search has found so far, apart from the trials.
#[derive(Clone, Debug, Default)]
pub(super) struct Found {
    pub(super) start: Option<Arc<Trial>>,
    pub(super) presets: Vec<(Preset, Arc<Trial>)>,
    /// The best one that is quick enough.
    pub(super) best: Option<Arc<Trial>>,
}

/// How far a search is.
#[derive(Clone, Debug)]
pub struct SearchProgress {
    /// What settings are judged by.
    pub judge: Judge,
    /// What it may take.
    pub limits: Limits,
    /// Number of samples; a trial of fewer was abandoned.
    pub samples: usize,
    /// What computes; `None` before it is open.
    pub engine: Option<Arc<EngineInfo>>,
    /// All trials so far, in their order.
    pub trials: Vec<Arc<Trial>>,
    /// The trial of the setting that it started from; `None` before it was tried.
    pub start: Option<Arc<Trial>>,
    /// The trials of the presets that were tried so far.
    pub presets: Vec<(Preset, Arc<Trial>)>,
    /// Trials that no other one beats in both loss and time, the quickest first.
    pub front: Vec<Arc<Trial>>,
    /// The best one within the limit; `None` where nothing is quick enough.
    pub best: Option<Arc<Trial>>,
    /// Time so far.
    pub elapsed: Duration,
    /// Time left; an estimate where trials are counted.
    pub left: Option<Duration>,
    /// Why it ended early.
    pub error: Option<String>,
    /// Nothing will follow.
    pub ended: bool,
}

/// With truth of fewer pairs a search keeps to the presets.
pub(super) const ENOUGH_PAIRS: usize = 6;

impl SearchProgress {
    /// Why only presets are tried, in words; `None` where changes of them are tried too.
    pub fn keeps_to_presets(&self) -> Option<&'static str> {
        match self.judge {
            Judge::WithoutTruth => Some(
                "Only presets are proposed, the dearest within the limit: without truth no score tells which of two good settings is better.",
            ),
            Judge::Truth if self.samples < ENOUGH_PAIRS => {
                Some("Only presets are proposed: what suits fewer than 6 pairs with truth may harm others.")
            }
            Judge::Truth => None,
        }
    }

    /// Nothing was tried yet.
    pub(super) fn begin(judge: Judge, limits: Limits, samples: usize) -> Self {
        Self {
            judge,
            limits,
            samples,
            engine: None,
            trials: Vec::new(),
            start: None,
            presets: Vec::new(),
            front: Vec::new(),
            best: None,
            elapsed: Duration::ZERO,
            left: None,
            error: None,
            ended: false,
        }
    }
}

impl Progress for SearchProgress {
    fn failed(&self, why: String) -> Self {
        Self { error: Some(why), ended: true, left: None, ..self.clone() }
    }
}
