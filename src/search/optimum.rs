//! A search for the setting that suits some pairs best, on a thread of its own.

use super::compare::front;
use super::judge::Judge;
use super::meter::{EngineMeter, Failure, Meter};
use super::sample::Sample;
use super::strategy::{Found, Strategy};
use super::task::{Progress, Shared, Task};
use super::tester::{Budget, Setup, Tester};
use super::trial::Trial;
use crate::engine::OpenOptions;
use crate::engine::worker::Wake;
use crate::metrics::Random;
use crate::stereo::{Preset, StereoParams};
use std::sync::Arc;
use std::time::Duration;

/// What a search may take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// Time of a pair at most, ms; `None` for any.
    pub max_ms: Option<f64>,
    /// When the search ends.
    pub budget: Budget,
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
    /// All trials so far, in their order.
    pub trials: Vec<Arc<Trial>>,
    /// The trial of the setting that it started from; `None` before it was tried.
    pub start: Option<Arc<Trial>>,
    /// The trials of the presets that were tried so far.
    pub presets: Vec<(Preset, Arc<Trial>)>,
    /// Trials that no other one beats in both loss and time, the quickest first.
    pub front: Vec<Arc<Trial>>,
    /// The best one within the limit: the setting that it started from where nothing is better by a margin; `None` where nothing is quick
    /// enough.
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

impl SearchProgress {
    fn begin(judge: Judge, limits: Limits, samples: usize) -> Self {
        Self {
            judge,
            limits,
            samples,
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

    fn of(&self, tester: &Tester<'_>, found: &Found, ended: bool) -> Self {
        Self {
            trials: tester.trials().to_vec(),
            start: found.start.clone(),
            presets: found.presets.clone(),
            front: front(tester.trials(), self.samples),
            best: found.best.clone().filter(|best| tester.fits(best)),
            elapsed: tester.elapsed(),
            left: tester.left().filter(|_| !ended),
            ended,
            ..self.clone()
        }
    }
}

impl Progress for SearchProgress {
    fn failed(&self, why: String) -> Self {
        Self { error: Some(why), ended: true, left: None, ..self.clone() }
    }
}

/// The running search. Dropping it stops it.
pub struct Search {
    task: Task<SearchProgress>,
}

impl Search {
    /// Searches from the setting `start`, a valid one, on these samples, of which there is at least one. The same seed and number of
    /// trials lead to the same settings.
    ///
    /// # Errors
    /// The system gives no thread. An engine that cannot be opened is an error of the progress.
    pub fn start(
        samples: Vec<Sample>,
        judge: Judge,
        start: StereoParams,
        limits: Limits,
        engine: OpenOptions,
        seed: u64,
        wake: Wake,
    ) -> std::io::Result<Self> {
        let (num_samples, samples) = (samples.len(), Arc::from(samples));
        let begin = SearchProgress::begin(judge, limits, num_samples);
        let first = begin.clone();
        let task = Task::start("search", begin, wake, move |shared| {
            let ended = EngineMeter::open(&engine, samples, judge, &start)
                .and_then(|mut meter| search(&first, start, seed, &mut meter, shared));
            if let Err(Failure::Lost(why) | Failure::Refused(why)) = ended {
                shared.fail(why);
            }
        })?;
        Ok(Self { task })
    }

    /// How far it is.
    pub fn progress(&self) -> Arc<SearchProgress> {
        self.task.progress()
    }

    /// Waits until it has ended.
    pub fn wait(&self) -> Arc<SearchProgress> {
        loop {
            let progress = self.progress();
            if progress.ended {
                return progress;
            }
            std::thread::sleep(WAIT_INTERVAL);
        }
    }
}

/// How often [`Search::wait`] looks.
const WAIT_INTERVAL: Duration = Duration::from_millis(20);

/// Tries these settings, valid ones, on all samples, on this thread.
///
/// # Errors
/// The engine cannot be opened, or cannot do a setting.
pub fn try_settings(
    samples: Vec<Sample>,
    judge: Judge,
    settings: &[StereoParams],
    engine: &OpenOptions,
) -> Result<Vec<Trial>, String> {
    let samples: Arc<[Sample]> = samples.into();
    let one = |params: &StereoParams| {
        let mut meter = EngineMeter::open(engine, Arc::clone(&samples), judge, params)?;
        let mut trial = Trial::of(Arc::new(params.clone()), Vec::new());
        for sample in 0..samples.len() {
            trial.add(sample, &meter.measure(params, sample, &|| false)?);
        }
        Ok(trial)
    };
    settings.iter().map(one).collect::<Result<_, Failure>>().map_err(|failure| failure.to_string())
}

/// Searches, and publishes each step.
fn search(
    first: &SearchProgress,
    start: StereoParams,
    seed: u64,
    meter: &mut dyn Meter,
    shared: &Shared<SearchProgress>,
) -> Result<(), Failure> {
    let is_stopped = || shared.is_stopped();
    let Limits { max_ms, budget } = first.limits;
    let setup = Setup { samples: first.samples, budget, max_ms, known: Vec::new(), before: Duration::ZERO };
    let mut record = |_: &Trial, _| Ok(());
    let tester = Tester::new(setup, meter, &is_stopped, &mut record);
    let mut report = |tester: &Tester<'_>, found: &Found| shared.publish(first.of(tester, found, false));
    let (random, found) = (Random::with_seed(seed), Found::default());
    let mut strategy = Strategy { judge: first.judge, start, random, tester, found, report: &mut report };
    match strategy.run() {
        Ok(()) | Err(Failure::Spent) => {
            let Strategy { tester, found, .. } = strategy;
            shared.publish(first.of(&tester, &found, true));
            Ok(())
        }
        Err(failure) => Err(failure),
    }
}
