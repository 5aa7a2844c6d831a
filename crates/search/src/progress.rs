//! Progress of a search.

use super::judge::Judge;
use super::plan::Limits;
use super::task::Progress;
use super::trial::Trial;
use super::why_not::WhyNot;
use crate::engine::EngineInfo;
use crate::stereo::Preset;
use std::sync::Arc;
use std::time::Duration;

/// Selected trials of a search: start, presets, and the best.
#[derive(Clone, Debug, Default)]
pub(super) struct KeyTrials {
    pub(super) start: Option<Arc<Trial>>,
    pub(super) presets: Vec<(Preset, Arc<Trial>)>,
    /// Best trial that is quick enough.
    pub(super) best: Option<Arc<Trial>>,
}

/// Progress of a search.
#[derive(Clone, Debug)]
pub struct SearchProgress {
    /// Judge of the settings.
    pub judge: Judge,
    /// Limits of the search.
    pub limits: Limits,
    /// Number of samples; a trial of fewer was abandoned.
    pub samples: usize,
    /// Engine of the search; `None` before it is open.
    pub engine: Option<Arc<EngineInfo>>,
    /// Trials so far, in their order.
    pub trials: Vec<Arc<Trial>>,
    /// Trial of the initial setting; `None` before it was tried.
    pub start: Option<Arc<Trial>>,
    /// Trials of the presets so far.
    pub presets: Vec<(Preset, Arc<Trial>)>,
    /// Trials that no other one beats in both loss and time, the quickest first.
    pub front: Vec<Arc<Trial>>,
    /// Best trial within the limit; `None` if nothing is quick enough.
    pub best: Option<Arc<Trial>>,
    /// Time so far.
    pub elapsed: Duration,
    /// Time left; an estimate where trials are counted.
    pub left: Option<Duration>,
    /// Error that ended the search early.
    pub error: Option<String>,
    /// Whether the search has ended.
    pub ended: bool,
}

/// Iterates over the presets that a search tries: the program's own, from the quickest to the slowest.
pub(super) fn own_presets() -> impl Iterator<Item = &'static Preset> {
    Preset::ALL.iter().filter(|preset| preset.paper().is_none())
}

/// Smallest number of pairs with truth for which changes of presets are tried.
pub(super) const MIN_PAIRS_FOR_CHANGES: usize = 6;

impl SearchProgress {
    /// Returns why only presets are tried; `None` where changes of them are tried too.
    pub fn keeps_to_presets(&self) -> Option<&'static str> {
        match self.judge {
            Judge::WithoutTruth => Some(
                "Only presets are proposed, the dearest within the limit: without truth no score tells which of two good settings is better.",
            ),
            Judge::Truth if self.samples < MIN_PAIRS_FOR_CHANGES => {
                Some("Only presets are proposed: what suits fewer than 6 pairs with truth may harm others.")
            }
            Judge::Truth => None,
        }
    }

    /// Returns whether a setting was tried on all samples and is quick enough.
    pub(super) fn fits(&self, trial: &Trial) -> bool {
        trial.is_whole(self.samples) && self.limits.allow(trial)
    }

    /// Returns why a tried setting is not the proposal; `None` for the proposal, and for a setting whose loss is not lower.
    pub fn why_not(&self, trial: &Trial) -> Option<WhyNot> {
        WhyNot::of(self, trial)
    }

    /// Returns the settings within the limit, other than presets and the present one, with a lower loss than the proposal, and the reasons
    /// against them; the quickest first, without those that another one beats in both loss and time.
    pub fn passed_over(&self) -> Vec<(Arc<Trial>, WhyNot)> {
        let named = |trial: &Arc<Trial>| {
            let mut known = self.presets.iter().map(|(_, preset)| preset).chain(&self.start);
            known.any(|known| Arc::ptr_eq(known, trial))
        };
        let changed = self.front.iter().filter(|trial| self.fits(trial) && !named(trial));
        changed.filter_map(|trial| Some((Arc::clone(trial), self.why_not(trial)?))).collect()
    }

    /// Names the presets that were not tried because the search had ended; `None` where all were.
    pub fn untried(&self) -> Option<String> {
        let was_tried = |preset: &Preset| self.presets.iter().any(|(tried, _)| tried == preset);
        let left: Vec<_> = own_presets().filter(|preset| !was_tried(preset)).map(|preset| preset.word()).collect();
        (self.ended && !left.is_empty()).then(|| format!("Not tried before the search was over: {}.", left.join(", ")))
    }

    /// Starts without trials.
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
