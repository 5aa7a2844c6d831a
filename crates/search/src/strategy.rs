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
use super::progress::{KeyTrials, SearchProgress, own_presets};
use super::tester::{AbandonRule, Tester};
use super::trial::Trial;
use super::watcher::Watcher;
use std::sync::Arc;

struct Strategy<'a> {
    plan: &'a Plan,
    begin: SearchProgress,
    tester: Tester<'a>,
    found: KeyTrials,
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
    let engine = meter.engine();
    let mut strategy = Strategy {
        plan,
        begin: SearchProgress { engine, ..SearchProgress::begin(plan.judge, plan.limits, samples) },
        tester: Tester::new(samples, plan.limits, known, meter, watcher),
        found: KeyTrials::default(),
    };
    match strategy.run() {
        Ok(()) | Err(Failure::Spent) => Ok(strategy.report(true)),
        Err(failure) => Err(failure),
    }
}

/// Largest number of changes between a setting and a derived one.
const MAX_CHANGES: usize = 2;

impl Strategy<'_> {
    /// Searches until nothing is left to try or the budget is spent ([`Failure::Spent`]).
    fn run(&mut self) -> Result<(), Failure> {
        self.presets()?;
        if self.begin.keeps_to_presets().is_some() {
            return Ok(());
        }
        for _ in 0..MAX_CHANGES {
            let Some(base) = self.found.best.clone() else { return Ok(()) };
            for params in moves::all().iter().filter_map(|step| step.from(&base.params)) {
                let trial = self.tester.test(params, AbandonRule::Candidate(&base))?;
                self.adopt(&trial);
                self.report(false);
            }
        }
        Ok(())
    }

    /// Tries the present setting, then the program's own presets with its search range and fill.
    fn presets(&mut self) -> Result<(), Failure> {
        let start = self.tester.test(self.plan.start.clone(), AbandonRule::None)?;
        self.found.start = Some(Arc::clone(&start));
        self.found.best = Some(start).filter(|start| self.tester.fits(start));
        for &preset in own_presets() {
            let mut params = self.plan.start.clone();
            preset.apply(&mut params);
            params.fill = self.plan.start.fill;
            let trial = self.tester.test(params, AbandonRule::Preset)?;
            self.found.presets.push((preset, Arc::clone(&trial)));
            if self.tester.fits(&trial) && self.takes_preset(&trial) {
                self.found.best = Some(trial);
            }
            self.report(false);
        }
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

    fn report(&mut self, ended: bool) -> SearchProgress {
        let (tester, found) = (&self.tester, &self.found);
        let progress = SearchProgress {
            trials: tester.trials().to_vec(),
            start: found.start.clone(),
            presets: found.presets.clone(),
            front: front(tester.trials(), self.begin.samples),
            best: found.best.clone(),
            elapsed: tester.elapsed(),
            left: tester.left().filter(|_| !ended),
            ended,
            ..self.begin.clone()
        };
        self.tester.report(progress.clone());
        progress
    }
}
