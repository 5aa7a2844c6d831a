//! How a search finds settings. The presets come first. Without truth the dearest that is quick enough is proposed, because their quality
//! rises with their time on pictures of every kind, and no score orders settings that are so near to each other. With truth a preset takes
//! the place of the present setting where it is better in the mean and nearly as good on every pair; with truth of several pairs a few
//! changes take its place where all these pairs agree.
//!
//! The sequence of settings depends on losses and times alone. So a search that is repeated with what it measured before repeats itself,
//! and goes on from there.

use super::compare::{front, is_better, may_replace};
use super::judge::Judge;
use super::meter::{Failure, Meter};
use super::moves;
use super::plan::{Known, Plan};
use super::progress::{Found, SearchProgress, own_presets};
use super::tester::{Bar, Tester};
use super::trial::Trial;
use super::watcher::Watcher;
use std::sync::Arc;

/// A search in progress.
struct Strategy<'a> {
    plan: &'a Plan,
    begin: SearchProgress,
    tester: Tester<'a>,
    found: Found,
}

/// Searches on so many samples of the meter until the budget is spent or nothing is left to try; returns how far it came.
///
/// # Errors
/// The engine is lost, the search was stopped, or the watcher ended it.
pub fn find(
    plan: &Plan,
    samples: usize,
    known: Known,
    meter: &mut dyn Meter,
    watcher: &mut dyn Watcher,
) -> Result<SearchProgress, Failure> {
    let engine = meter.engine();
    let mut strategy = Strategy {
        plan,
        begin: SearchProgress { engine, ..SearchProgress::begin(plan.judge, plan.limits, samples) },
        tester: Tester::new(samples, plan.limits, known, meter, watcher),
        found: Found::default(),
    };
    match strategy.run() {
        Ok(()) | Err(Failure::Spent) => Ok(strategy.report(true)),
        Err(failure) => Err(failure),
    }
}

/// A setting differs from the one that it is found from by so many changes at most.
const MOST_CHANGES: usize = 2;

impl Strategy<'_> {
    /// Searches until nothing is left to try, or to the end of the budget, [`Failure::Spent`].
    fn run(&mut self) -> Result<(), Failure> {
        self.presets()?;
        if self.begin.keeps_to_presets().is_some() {
            return Ok(());
        }
        for _ in 0..MOST_CHANGES {
            let Some(base) = self.found.best.clone() else { return Ok(()) };
            for params in moves::all().iter().filter_map(|step| step.from(&base.params)) {
                let trial = self.tester.test(params, Bar::Candidate(&base))?;
                self.adopt(&trial);
                self.report(false);
            }
        }
        Ok(())
    }

    /// Tries the present setting, then the program's own presets over its search range and with its fill.
    fn presets(&mut self) -> Result<(), Failure> {
        let start = self.tester.test(self.plan.start.clone(), Bar::None)?;
        self.found.start = Some(Arc::clone(&start));
        self.found.best = Some(start).filter(|start| self.tester.fits(start));
        for &preset in own_presets() {
            let mut params = self.plan.start.clone();
            preset.apply(&mut params);
            params.fill = self.plan.start.fill;
            let trial = self.tester.test(params, Bar::Preset)?;
            self.found.presets.push((preset, Arc::clone(&trial)));
            if self.tester.fits(&trial) && self.takes_preset(&trial) {
                self.found.best = Some(trial);
            }
            self.report(false);
        }
        Ok(())
    }

    /// Whether a preset that is quick enough takes the place of the best one so far.
    fn takes_preset(&self, trial: &Trial) -> bool {
        match self.plan.judge {
            Judge::WithoutTruth => true,
            Judge::Truth => self.found.best.as_ref().is_none_or(|best| may_replace(trial, best)),
        }
    }

    /// Takes a setting that is quick enough as the best one, where it is.
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
