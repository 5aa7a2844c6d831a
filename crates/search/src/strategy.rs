//! Strategy of a search. The presets come first. Without truth the slowest one within the limit is proposed, because presets' quality
//! rises with their time on all kinds of images, and no score can order settings so similar. With truth a preset replaces the present
//! setting if it is better in the mean and nearly as good on every pair; changes replace the preset if several pairs with truth agree.
//!
//! The sequence of settings must depend on losses and times alone, so that a search repeated with earlier measurements continues from
//! their end.

use super::compare::{front, is_better, may_replace};
use super::judge::Judge;
use super::meter::{Failure, Meter};
use super::moves;
use super::plan::{EarlierTrials, Plan};
use super::progress::{SearchProgress, own_presets};
use super::tester::{AbandonRule, Tester};
use super::trial::Trial;
use super::watcher::Watcher;
use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::sync::Arc;
use stereopsis_frame::engine::EngineInfo;
use stereopsis_stereo::{Preset, StereoParams};

/// Search in progress.
pub(super) struct Strategy {
    plan: Plan,
    found: SearchProgress,
    tester: Tester,
    waiting: VecDeque<Candidate>,
    /// Number of times that changes of the best setting were put into the queue.
    rounds: usize,
}

/// Setting that waits for its trial.
enum Candidate {
    Start,
    Preset(Preset),
    /// Change of the best setting so far, which comes second.
    Change(StereoParams, Arc<Trial>),
}

/// Searches on `samples` samples of the meter until the budget is spent or nothing is left to try, and returns the final progress.
///
/// # Errors
/// The engine is lost, the search was stopped, or the watcher ended it.
pub fn find(
    plan: &Plan,
    samples: usize,
    known: EarlierTrials,
    meter: &mut dyn Meter,
    watcher: &mut dyn Watcher,
) -> Result<SearchProgress, Failure> {
    let mut strategy = Strategy::new(plan.clone(), samples, known, meter.engine());
    loop {
        if let ControlFlow::Break(found) = strategy.step(meter, watcher)? {
            return Ok(found);
        }
    }
}

/// Largest number of changes between a setting and a derived one.
const MAX_CHANGES: usize = 2;

impl Strategy {
    pub(super) fn new(plan: Plan, samples: usize, known: EarlierTrials, engine: Option<Arc<EngineInfo>>) -> Self {
        let found = SearchProgress { engine, ..SearchProgress::begin(plan.judge, plan.limits, samples) };
        let tester = Tester::new(samples, plan.limits, known);
        // the present setting, then the program's own presets
        let waiting = std::iter::once(Candidate::Start).chain(own_presets().copied().map(Candidate::Preset)).collect();
        Self { plan, found, tester, waiting, rounds: 0 }
    }

    /// Tries the next setting; breaks with the final progress where nothing is left to try or the budget is spent.
    ///
    /// # Errors
    /// The engine is lost, the search was stopped, or the watcher ended it.
    pub(super) fn step(
        &mut self,
        meter: &mut dyn Meter,
        watcher: &mut dyn Watcher,
    ) -> Result<ControlFlow<SearchProgress>, Failure> {
        let tried = match self.next() {
            Some(candidate) => self.test(candidate, meter, watcher),
            None => Err(Failure::Spent),
        };
        match tried {
            Ok(()) => Ok(ControlFlow::Continue(())),
            Err(Failure::Spent) => Ok(ControlFlow::Break(self.report(true, watcher))),
            Err(failure) => Err(failure),
        }
    }

    /// Takes the next candidate; behind the last one come the changes of the best setting so far.
    fn next(&mut self) -> Option<Candidate> {
        while self.waiting.is_empty() && self.rounds < MAX_CHANGES && self.found.keeps_to_presets().is_none() {
            let base = self.found.best.as_ref()?;
            let changed = moves::all().into_iter().filter_map(|step| step.from(&base.params));
            self.waiting.extend(changed.map(|params| Candidate::Change(params, Arc::clone(base))));
            self.rounds += 1;
        }
        self.waiting.pop_front()
    }

    fn test(&mut self, candidate: Candidate, meter: &mut dyn Meter, watcher: &mut dyn Watcher) -> Result<(), Failure> {
        let start = &self.plan.start;
        match candidate {
            Candidate::Start => {
                let start = self.tester.test(start.clone(), AbandonRule::None, meter, watcher)?;
                self.found.start = Some(Arc::clone(&start));
                self.found.best = Some(start).filter(|start| self.tester.fits(start));
                return Ok(());
            }
            Candidate::Preset(preset) => {
                // with the search range and the fill of the present setting
                let mut params = start.clone();
                preset.apply(&mut params);
                params.fill = start.fill;
                let trial = self.tester.test(params, AbandonRule::Preset, meter, watcher)?;
                self.found.presets.push((preset, Arc::clone(&trial)));
                if self.tester.fits(&trial) && self.takes_preset(&trial) {
                    self.found.best = Some(trial);
                }
            }
            Candidate::Change(params, base) => {
                let trial = self.tester.test(params, AbandonRule::Candidate(&base), meter, watcher)?;
                self.adopt(&trial);
            }
        }
        self.report(false, watcher);
        Ok(())
    }

    fn takes_preset(&self, trial: &Trial) -> bool {
        match self.plan.judge {
            Judge::WithoutTruth => true,
            Judge::Truth => self.found.best.as_ref().is_none_or(|best| may_replace(trial, best)),
        }
    }

    fn adopt(&mut self, trial: &Arc<Trial>) {
        if self.tester.fits(trial) && self.found.best.as_ref().is_none_or(|best| is_better(trial, best)) {
            self.found.best = Some(Arc::clone(trial));
        }
    }

    fn report(&mut self, ended: bool, watcher: &mut dyn Watcher) -> SearchProgress {
        let Self { tester, found, .. } = self;
        found.trials = tester.trials().to_vec();
        found.front = front(tester.trials(), found.samples);
        (found.elapsed, found.left, found.ended) = (tester.elapsed(), tester.left().filter(|_| !ended), ended);
        watcher.reached(found.clone());
        found.clone()
    }
}
