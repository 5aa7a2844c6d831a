//! How far a search is.

use super::judge::Judge;
use super::plan::Limits;
use super::task::Progress;
use super::trial::Trial;
use super::why_not::WhyNot;
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

/// The presets that a search tries: the program's own, from the quickest to the dearest.
pub(super) fn own_presets() -> impl Iterator<Item = &'static Preset> {
    Preset::ALL.iter().filter(|preset| preset.paper().is_none())
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

    /// Whether a setting was tried on all samples and is quick enough.
    pub(super) fn fits(&self, trial: &Trial) -> bool {
        trial.is_whole(self.samples) && self.limits.allow(trial)
    }

    /// Reason why a setting that was tried is not the proposal; `None` for the proposal, and for one whose loss is not lower.
    pub fn why_not(&self, trial: &Trial) -> Option<WhyNot> {
        WhyNot::of(self, trial)
    }

    /// Settings within the limit, other than presets and the present one, whose loss is lower than the proposal's, with the reasons why
    /// they are not proposed; the quickest first. Those that another one beats in both loss and time are left out.
    pub fn passed_over(&self) -> Vec<(Arc<Trial>, WhyNot)> {
        let named = |trial: &Arc<Trial>| {
            let mut known = self.presets.iter().map(|(_, preset)| preset).chain(&self.start);
            known.any(|known| Arc::ptr_eq(known, trial))
        };
        let changed = self.front.iter().filter(|trial| self.fits(trial) && !named(trial));
        changed.filter_map(|trial| Some((Arc::clone(trial), self.why_not(trial)?))).collect()
    }

    /// The presets that were not tried because the search was over before, in a sentence; `None` where all were.
    pub fn untried(&self) -> Option<String> {
        let was_tried = |preset: &Preset| self.presets.iter().any(|(tried, _)| tried == preset);
        let left: Vec<_> = own_presets().filter(|preset| !was_tried(preset)).map(|preset| preset.word()).collect();
        (self.ended && !left.is_empty()).then(|| format!("Not tried before the search was over: {}.", left.join(", ")))
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
