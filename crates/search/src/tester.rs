//! Trials within a budget, each once; settings that cannot win are abandoned after their first samples.

use super::compare::is_worse_somewhere;
use super::meter::{Failure, Meter};
use super::plan::{Budget, EarlierTrials, SearchLimits};
use super::trial::{Trial, key};
use super::watcher::Watcher;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use stereopsis_stereo::StereoParams;

/// Rule by which a trial is abandoned.
#[derive(Clone, Copy)]
pub(super) enum AbandonRule<'a> {
    /// No rule, so that the setting is tried on all samples.
    None,
    /// Rule for presets, which are abandoned if too slow.
    Preset,
    /// Rule for candidates, which are abandoned if too slow, or worse than this trial on a sample.
    Candidate(&'a Trial),
}

pub(super) struct Tester {
    samples: usize,
    limits: SearchLimits,
    begin: Instant,
    before: Duration,
    /// Trials of earlier runs that were not requested again yet.
    known: BTreeMap<String, Trial>,
    tried: BTreeMap<String, Arc<Trial>>,
    trials: Vec<Arc<Trial>>,
}

/// Ratio of measured to allowed time above which a setting is abandoned: after its first run, which may be slow, and later.
const MAX_TIME_RATIO: [f64; 2] = [2.0, 1.2];

impl Tester {
    pub(super) fn new(samples: usize, limits: SearchLimits, known: EarlierTrials) -> Self {
        let before = known.elapsed;
        let known = known.trials.into_iter().map(|trial| (key(&trial.params), trial)).collect();
        let (tried, trials) = (BTreeMap::new(), Vec::new());
        Self { samples, limits, begin: Instant::now(), before, known, tried, trials }
    }

    pub(super) fn trials(&self) -> &[Arc<Trial>] {
        &self.trials
    }

    /// Returns the elapsed time including earlier runs.
    pub(super) fn elapsed(&self) -> Duration {
        self.before + self.begin.elapsed()
    }

    /// Returns the time left, estimated where trials are counted.
    pub(super) fn left(&self) -> Option<Duration> {
        match self.limits.budget {
            Budget::Time(time) => Some(time.saturating_sub(self.elapsed())),
            Budget::Trials(most) => {
                let done = u32::try_from(self.trials.len()).ok().filter(|&done| done > 0)?;
                Some(self.elapsed() / done * most.saturating_sub(self.trials.len()) as u32)
            }
        }
    }

    pub(super) fn fits(&self, trial: &Trial) -> bool {
        trial.is_whole(self.samples) && self.limits.allow(trial)
    }

    /// Tries a setting or returns its earlier trial.
    ///
    /// # Errors
    /// The budget is spent, or see [`Meter::measure`].
    pub(super) fn test(
        &mut self,
        params: StereoParams,
        bar: AbandonRule<'_>,
        meter: &mut dyn Meter,
        watcher: &mut dyn Watcher,
    ) -> Result<Arc<Trial>, Failure> {
        let key = key(&params);
        if let Some(trial) = self.tried.get(&key) {
            return Ok(Arc::clone(trial));
        }
        let trial = match self.known.remove(&key) {
            Some(known) if !self.is_full() => known,
            _ if self.is_full() || self.is_late() => return Err(Failure::Spent),
            _ => {
                let trial = self.measure(params, bar, meter, watcher)?;
                let elapsed = self.elapsed();
                watcher.tried(&trial, elapsed)?;
                trial
            }
        };
        let trial = Arc::new(trial);
        self.tried.insert(key, Arc::clone(&trial));
        self.trials.push(Arc::clone(&trial));
        Ok(trial)
    }

    fn is_full(&self) -> bool {
        matches!(self.limits.budget, Budget::Trials(most) if self.trials.len() >= most)
    }

    fn is_late(&self) -> bool {
        matches!(self.limits.budget, Budget::Time(time) if self.elapsed() >= time)
    }

    fn measure(
        &self,
        params: StereoParams,
        bar: AbandonRule<'_>,
        meter: &mut dyn Meter,
        watcher: &dyn Watcher,
    ) -> Result<Trial, Failure> {
        let mut trial = Trial::of(Arc::new(params), Vec::new());
        for sample in 0..self.samples {
            match run(&mut trial, sample, meter, watcher) {
                Err(Failure::Refused(why)) => {
                    log::info!("a setting is left out: {why}");
                    return Ok(Trial::of(trial.params, Vec::new()));
                }
                other => other?,
            }
            if self.is_abandoned(&trial, bar) {
                return Ok(trial);
            }
        }
        // the first run with new parameters allocates
        if let Some(largest) = trial.only_largest() {
            run(&mut trial, largest, meter, watcher)?;
        }
        Ok(trial)
    }

    fn is_abandoned(&self, trial: &Trial, bar: AbandonRule<'_>) -> bool {
        let allowed = MAX_TIME_RATIO[usize::from(trial.samples > 1)];
        let is_slow = self.limits.max_ms.is_some_and(|max| trial.time_ms > allowed * max);
        match bar {
            AbandonRule::None => false,
            AbandonRule::Preset => is_slow,
            AbandonRule::Candidate(best) => is_slow || is_worse_somewhere(trial, best),
        }
    }
}

fn run(trial: &mut Trial, sample: usize, meter: &mut dyn Meter, watcher: &dyn Watcher) -> Result<(), Failure> {
    if watcher.is_stopped() {
        return Err(Failure::Stopped);
    }
    let measured = meter.measure(&trial.params, sample, &|| watcher.is_stopped())?;
    trial.add(sample, measured.run);
    Ok(())
}
