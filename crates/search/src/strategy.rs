//! How a search finds settings: presets first, then single moves from the one with the lowest loss, then several moves at once.
//!
//! The sequence of settings depends on the seed, on losses and, with a limit of the time, on times. So a search that is repeated with what
//! it measured before repeats itself, and goes on from there.

use super::compare::{adds_right, front, is_as_good, is_better, is_lower};
use super::judge::Judge;
use super::meter::{Failure, Meter};
use super::moves::{self, Move};
use super::plan::{Known, Plan};
use super::progress::{Found, SearchProgress};
use super::tester::{Bar, Tester};
use super::trial::Trial;
use super::watcher::Watcher;
use crate::metrics::Random;
use crate::parameter::Group;
use crate::stereo::{Preset, StereoParams};
use std::sync::Arc;

/// A search in progress.
struct Strategy<'a> {
    plan: &'a Plan,
    begin: SearchProgress,
    random: Random,
    tester: Tester<'a>,
    found: Found,
    /// The setting with the lowest mean loss, from which steps are tried. It may lose on some samples: only a step from it may be better
    /// than the best one.
    leader: Option<Arc<Trial>>,
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
        random: Random::with_seed(plan.seed),
        tester: Tester::new(samples, plan.limits, known, meter, watcher),
        found: Found::default(),
        leader: None,
    };
    match strategy.run() {
        Ok(()) | Err(Failure::Spent) => Ok(strategy.report(true)),
        Err(failure) => Err(failure),
    }
}

/// Settings of several moves that are tried before single moves are tried again.
const LEAPS: usize = 24;
/// Moves of a leap.
const LEAP_MOVES: [usize; 3] = [2, 2, 3];
/// One of so many leaps begins at a setting of the front instead of the leader.
const FROM_FRONT: usize = 4;
/// Rounds without a new setting, after which nothing is left to try.
const IDLE_ROUNDS: usize = 20;

impl Strategy<'_> {
    /// Searches until nothing is left to try, or to the end of the budget, [`Failure::Spent`].
    fn run(&mut self) -> Result<(), Failure> {
        let start = self.begin()?;
        let moves = moves::all(self.plan.judge);
        let mut idle = 0;
        while idle < IDLE_ROUNDS {
            let before = self.tester.trials().len();
            self.climb(&moves, &start)?;
            self.simplify(&start)?;
            self.leap(&moves, &start)?;
            idle = if self.tester.trials().len() > before { 0 } else { idle + 1 };
        }
        Ok(())
    }

    /// The present setting, then all presets over its search range, with its fill: a hole counts like a wrong pixel.
    fn begin(&mut self) -> Result<Arc<Trial>, Failure> {
        let start = self.tester.test(self.plan.start.clone(), Bar::None)?;
        self.found.start = Some(Arc::clone(&start));
        self.found.best = Some(Arc::clone(&start));
        self.leader = Some(Arc::clone(&start));
        for &preset in Preset::ALL {
            let mut params = self.plan.start.clone();
            preset.apply(&mut params);
            params.fill = start.params.fill;
            let trial = self.tester.test(params, Bar::Preset(&start))?;
            self.found.presets.push((preset, Arc::clone(&trial)));
            self.adopt(&trial, &start);
            self.report(false);
        }
        Ok(start)
    }

    /// Whether a search may lead to these parameters: without truth they drop as the present setting does. Presets may not.
    fn may_lead(&self, params: &StereoParams) -> bool {
        let mut checks = StereoParams::table().iter().filter(|p| p.group == Group::Rejection);
        self.plan.judge == Judge::Truth || checks.all(|p| (p.get)(params) == (p.get)(&self.plan.start))
    }

    /// Tries each move from the leader until none leads to a lower loss.
    fn climb(&mut self, moves: &[Move], start: &Trial) -> Result<(), Failure> {
        let mut wins = true;
        while wins {
            wins = false;
            for step in shuffled(moves, &mut self.random) {
                let next = self.leader.as_ref().and_then(|leader| step.from(&leader.params));
                wins |= next.map_or(Ok(false), |params| self.consider(params, start))?;
            }
        }
        Ok(())
    }

    /// Takes back each change of the best setting that does not help any more.
    fn simplify(&mut self, start: &Trial) -> Result<(), Failure> {
        for parameter in StereoParams::table() {
            let Some(best) = self.found.best.clone() else { return Ok(()) };
            let mut params = (*best.params).clone();
            params.set(parameter, (parameter.get)(&start.params));
            if params == *best.params || params.validate().is_err() {
                continue;
            }
            let trial = self.tester.test(params, Bar::Candidate(&best))?;
            let is_start = trial.params == start.params;
            if self.tester.fits(&trial) && is_as_good(&trial, &best) && (is_start || is_better(&trial, start)) {
                self.found.best = Some(Arc::clone(&trial));
            }
            self.report(false);
        }
        Ok(())
    }

    /// Tries several moves at once, until that leads to a lower loss.
    fn leap(&mut self, moves: &[Move], start: &Trial) -> Result<(), Failure> {
        for _ in 0..LEAPS {
            let Some(leader) = self.leader.clone() else { return Ok(()) };
            let mut front = front(self.tester.trials(), leader.samples);
            front.retain(|trial| self.may_lead(&trial.params));
            let from_front = !front.is_empty() && self.random.below(FROM_FRONT) == 0;
            let base = if from_front { Arc::clone(&front[self.random.below(front.len())]) } else { leader };
            let mut params = (*base.params).clone();
            for _ in 0..self.random.one_of(&LEAP_MOVES) {
                params = self.random.one_of(moves).from(&params).unwrap_or(params);
            }
            if self.consider(params, start)? {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Tries a setting; whether it leads now.
    fn consider(&mut self, params: StereoParams, start: &Trial) -> Result<bool, Failure> {
        let Some(leader) = self.leader.clone() else { return Ok(false) };
        let trial = self.tester.test(params, Bar::Candidate(&leader))?;
        let leads = self.adopt(&trial, start);
        self.report(false);
        Ok(leads)
    }

    /// Takes a setting that is quick enough as the best one, as the leader, or as both, where it wins; whether it leads now.
    fn adopt(&mut self, trial: &Arc<Trial>, start: &Trial) -> bool {
        if !self.tester.fits(trial) || !self.may_lead(&trial.params) {
            return false;
        }
        let beats = |now: &Trial, wins: fn(&Trial, &Trial) -> bool| !self.tester.fits(now) || wins(trial, now);
        let is_best = beats(start, is_better) && self.found.best.as_deref().is_none_or(|best| beats(best, is_better));
        let leads = self.leader.as_deref().is_none_or(|leader| beats(leader, is_lower)) && beats(start, adds_right);
        if is_best {
            self.found.best = Some(Arc::clone(trial));
        }
        if leads {
            self.leader = Some(Arc::clone(trial));
        }
        leads
    }

    fn report(&mut self, ended: bool) -> SearchProgress {
        let (tester, found) = (&self.tester, &self.found);
        let progress = SearchProgress {
            trials: tester.trials().to_vec(),
            start: found.start.clone(),
            presets: found.presets.clone(),
            front: front(tester.trials(), self.begin.samples),
            best: found.best.clone().filter(|best| tester.fits(best)),
            elapsed: tester.elapsed(),
            left: tester.left().filter(|_| !ended),
            ended,
            ..self.begin.clone()
        };
        self.tester.report(progress.clone());
        progress
    }
}

/// Fisher and Yates's shuffle.
fn shuffled<T: Copy>(items: &[T], random: &mut Random) -> Vec<T> {
    let mut items = items.to_vec();
    for end in (1..items.len()).rev() {
        items.swap(end, random.below(end + 1));
    }
    items
}
