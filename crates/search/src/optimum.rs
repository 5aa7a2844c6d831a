//! Search for the setting that suits some pairs best, on a thread.

use super::error::JournalError;
use super::judge::Judge;
use super::meter::{EngineMeter, Meter as _};
use super::plan::{EarlierTrials, Plan, SearchLimits};
use super::progress::SearchProgress;
use super::sample::Sample;
use super::steps::steps;
use super::strategy::Strategy;
use super::trial::Trial;
use super::watcher::Watcher;
use std::sync::Arc;
use std::time::Duration;
use stereopsis_base::threads::{Running, Task};
use stereopsis_engine::OpenOptions;
use stereopsis_frame::Wake;
use stereopsis_stereo::StereoParams;

/// Running search, which stops when dropped.
pub struct Search {
    task: Task<SearchProgress>,
}

/// Callback that stores a trial with the time of the search, and whose error ends the search.
pub type TrialSink = Box<dyn FnMut(&Trial, Duration) -> Result<(), JournalError> + Send>;

impl Search {
    /// Searches from the valid setting `start` on at least one sample.
    ///
    /// # Errors
    /// The system cannot start a thread; a failure to open the engine is an error of the progress instead.
    pub fn start(
        samples: Vec<Sample>,
        judge: Judge,
        start: StereoParams,
        limits: SearchLimits,
        engine: OpenOptions,
        wake: Wake,
    ) -> std::io::Result<Self> {
        let plan = Plan { judge, start, limits };
        Self::resume(samples, plan, engine, EarlierTrials::default(), Box::new(|_, _| Ok(())), wake)
    }

    /// Resumes a search after earlier runs, whose trials are not repeated, and stores each new one.
    ///
    /// # Errors
    /// See [`Search::start`].
    pub fn resume(
        samples: Vec<Sample>,
        plan: Plan,
        engine: OpenOptions,
        known: EarlierTrials,
        mut keep: TrialSink,
        wake: Wake,
    ) -> std::io::Result<Self> {
        let num_samples = samples.len();
        let begin = SearchProgress::begin(plan.judge, plan.limits, num_samples);
        let open = move || {
            let meter = EngineMeter::open(&engine, samples.into(), plan.judge, &plan.start)?;
            let strategy = Strategy::new(plan, num_samples, known, meter.engine());
            Ok((meter, strategy))
        };
        let step = move |strategy: &mut Strategy, meter: &mut EngineMeter, running: &_| {
            let flow = strategy.step(meter, &mut Publisher { running, keep: &mut keep })?;
            Ok(flow.map_break(drop))
        };
        Ok(Self { task: Task::start("search", begin, wake, steps(open, step))? })
    }

    /// Returns the progress.
    pub fn progress(&self) -> Arc<SearchProgress> {
        self.task.progress()
    }
}

struct Publisher<'a> {
    running: &'a Running<SearchProgress>,
    keep: &'a mut TrialSink,
}

impl Watcher for Publisher<'_> {
    fn is_stopped(&self) -> bool {
        self.running.is_stopped()
    }

    fn tried(&mut self, trial: &Trial, elapsed: Duration) -> Result<(), JournalError> {
        (self.keep)(trial, elapsed)
    }

    fn reached(&mut self, progress: SearchProgress) {
        self.running.publish(progress);
    }
}
