//! Progress of a search.

use super::compare::{has_lower_loss, largest_loss};
use super::judge::Judge;
use super::plan::SearchLimits;
use super::trial::Trial;
use super::why_not::RejectionReason;
use std::sync::Arc;
use std::time::Duration;
use stereopsis_base::threads::Progress;
use stereopsis_frame::engine::EngineInfo;
use stereopsis_stereo::Preset;

/// Progress of a search.
#[derive(Clone, Debug)]
pub struct SearchProgress {
    /// Judge of the settings.
    pub judge: Judge,
    /// Limits of the search.
    pub limits: SearchLimits,
    /// Number of samples; a trial with fewer was abandoned.
    pub samples: usize,
    /// Engine of the search, once open.
    pub engine: Option<Arc<EngineInfo>>,
    /// Trials in their order.
    pub trials: Vec<Arc<Trial>>,
    /// Trial of the initial setting, once tried.
    pub start: Option<Arc<Trial>>,
    /// Trials of the presets.
    pub presets: Vec<(Preset, Arc<Trial>)>,
    /// Trials that no other one beats in both loss and time, the quickest first.
    pub front: Vec<Arc<Trial>>,
    /// Best trial within the limit.
    pub best: Option<Arc<Trial>>,
    /// Elapsed time.
    pub elapsed: Duration,
    /// Time left, estimated where trials are counted.
    pub left: Option<Duration>,
    /// Error that ended the search early.
    pub error: Option<String>,
    /// Whether the search has ended.
    pub ended: bool,
}

/// Iterates over the presets that a search tries, the program's own from the quickest to the slowest.
pub(super) fn own_presets() -> impl Iterator<Item = &'static Preset> {
    Preset::ALL.iter().filter(|preset| preset.paper().is_none())
}

/// Smallest number of pairs with truth for which changes of presets are tried.
pub(super) const MIN_PAIRS_FOR_CHANGES: usize = 6;

impl SearchProgress {
    /// Returns the reason if only presets and no changes of them are tried.
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

    /// Returns the reason why a tried setting with a lower loss is not the proposal.
    pub fn why_not(&self, trial: &Trial) -> Option<RejectionReason> {
        let pairs = self.samples;
        match self.limits.max_ms.filter(|_| !self.limits.allow(trial)) {
            _ if trial.samples == 0 => return Some(RejectionReason::Refused),
            Some(max_ms) => return Some(RejectionReason::OverLimit { time_ms: trial.time_ms, max_ms }),
            None if trial.samples < pairs => {
                return Some(RejectionReason::NotOnAllPairs { tried: trial.samples, pairs });
            }
            None if trial.loss.is_none() => return Some(RejectionReason::Unjudged),
            None => {}
        }
        let best = self.best.as_ref().filter(|best| has_lower_loss(trial, best)).map(Arc::as_ref)?;
        if self.judge == Judge::WithoutTruth {
            return Some(RejectionReason::ScoreDecidesNothing);
        }
        let worse = largest_loss(trial, best).and_then(|at| Some((at, trial.runs[at].loss?, best.runs[at].loss?)));
        if let Some((at, loss, proposed)) = worse {
            return Some(RejectionReason::LosesOnPair { pair: at + 1, loss, proposed });
        }
        let (loss, proposed) = trial.loss.zip(best.loss)?;
        Some(RejectionReason::SmallGain { percent: 100.0 * (1.0 - loss / proposed) })
    }

    /// Returns the rejected settings within the limit with a lower loss than the proposal, and the reasons against them.
    ///
    /// Presets, the present setting, and settings that another one beats in both loss and time are left out; the quickest comes first.
    pub fn passed_over(&self) -> Vec<(Arc<Trial>, RejectionReason)> {
        let named = |trial: &Arc<Trial>| {
            let mut known = self.presets.iter().map(|(_, preset)| preset).chain(&self.start);
            known.any(|known| Arc::ptr_eq(known, trial))
        };
        let changed = self.front.iter().filter(|trial| self.fits(trial) && !named(trial));
        changed.filter_map(|trial| Some((Arc::clone(trial), self.why_not(trial)?))).collect()
    }

    /// Names the presets that were not tried before the search ended.
    pub fn untried(&self) -> Option<String> {
        let was_tried = |preset: &Preset| self.presets.iter().any(|(tried, _)| tried == preset);
        let left: Vec<_> = own_presets().filter(|preset| !was_tried(preset)).map(|preset| preset.word()).collect();
        (self.ended && !left.is_empty()).then(|| format!("Not tried before the search was over: {}.", left.join(", ")))
    }

    pub(super) fn begin(judge: Judge, limits: SearchLimits, samples: usize) -> Self {
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
