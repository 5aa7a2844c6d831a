//! Measurement of a setting on a sample: match, judgement of the map, and time.

use super::error::JournalError;
use super::judge::Judge;
use super::sample::Sample;
use super::trial::Run;
use super::undisturbed::LoadCorrection;
use std::sync::Arc;
use std::time::Duration;
use stereopsis_engine::OpenOptions;
use stereopsis_frame::engine::{Autotune, Engine, EngineError, EngineInfo, EngineKind, Job, Output};
use stereopsis_stereo::{DisparityMap, StereoParams};

/// Result of one setting on one sample.
#[derive(Clone, Debug)]
pub struct SampleResult {
    /// Loss, shares and time.
    pub run: Run,
    /// Map, if the meter computes one.
    pub map: Option<Arc<DisparityMap>>,
}

/// Reason for a missing result.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The engine cannot match with this setting, but may with others.
    #[error(transparent)]
    Refused(EngineError),
    /// The engine is lost or cannot be opened.
    #[error(transparent)]
    Lost(EngineError),
    /// There is no sample.
    #[error("there is no pair to try")]
    NoPair,
    /// The engine gives no map.
    #[error("the engine gave no numbers back")]
    NoMap,
    /// The trial cannot be kept.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The budget of time or trials is spent.
    #[error("the budget is spent")]
    Spent,
    /// The work was stopped meanwhile.
    #[error("stopped")]
    Stopped,
}

impl From<EngineError> for Failure {
    fn from(err: EngineError) -> Self {
        match err {
            EngineError::TooLarge(_) | EngineError::Unsupported(_) | EngineError::LeftOut(_) => Self::Refused(err),
            EngineError::NoAdapter(_) | EngineError::DeviceLost(_) | EngineError::Device(_) => Self::Lost(err),
        }
    }
}

/// Measurement of settings on samples.
pub trait Meter {
    /// Returns the meter's engine.
    fn engine(&self) -> Option<Arc<EngineInfo>> {
        None
    }

    /// Matches a sample with valid parameters, and calls `is_stopped` while it waits.
    ///
    /// # Errors
    /// [`Failure`]
    fn measure(
        &mut self,
        params: &StereoParams,
        sample: usize,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<SampleResult, Failure>;
}

/// Interval of the check whether an engine has compiled its pipelines.
const PREPARE_INTERVAL: Duration = Duration::from_millis(5);

/// Meter with an engine.
pub struct EngineMeter {
    engine: Box<dyn Engine>,
    samples: Arc<[Sample]>,
    judge: Judge,
    /// Correction for the load of other programs on the cores, for an engine that computes there.
    undisturbed: Option<LoadCorrection>,
}

impl EngineMeter {
    /// Opens an engine for these samples, at least one; `auto` times both engines with these parameters.
    ///
    /// # Errors
    /// The engine cannot be opened, or there is no sample.
    pub fn open(
        options: &OpenOptions,
        samples: Arc<[Sample]>,
        judge: Judge,
        params: &StereoParams,
    ) -> Result<Self, Failure> {
        // tried variants would distort the times
        let mut options = options.clone();
        options.settings.autotune = Autotune::Never;
        let first = samples.first().ok_or(Failure::NoPair)?;
        let engine = stereopsis_engine::open(&options, Some(&job(first, judge, params)))?.engine;
        let cores = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let is_cpu = engine.info().kind == EngineKind::Cpu;
        let undisturbed = is_cpu.then(|| LoadCorrection::new(options.settings.threads.unwrap_or_else(cores)));
        Ok(Self { engine, samples, judge, undisturbed })
    }
}

fn job(sample: &Sample, judge: Judge, params: &StereoParams) -> Job {
    let params = Arc::new(judge.judged(sample.params(params)));
    Job { frame: Arc::clone(&sample.frame), params, read_back: true, wants_right: false }
}

impl Meter for EngineMeter {
    fn engine(&self) -> Option<Arc<EngineInfo>> {
        Some(self.engine.info())
    }

    fn measure(
        &mut self,
        params: &StereoParams,
        sample: usize,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<SampleResult, Failure> {
        let (judge, engine) = (self.judge, self.engine.as_mut());
        let sample = self.samples.get(sample).ok_or(Failure::NoPair)?;
        let job = job(sample, judge, params);
        // the time of compilation does not count
        while !engine.prepare(&job) {
            if is_stopped() {
                return Err(Failure::Stopped);
            }
            std::thread::sleep(PREPARE_INTERVAL);
        }
        engine.forget();
        if let Some(previous) = sample.previous.as_ref().filter(|_| params.smooths_over_time()) {
            stereopsis_frame::engine::run(engine, Job { frame: Arc::clone(previous), ..job.clone() })?;
        }
        let time_of = |output: &Result<Output, EngineError>| output.as_ref().ok().map(|output| output.compute_time);
        let (output, load) = LoadCorrection::watch(|| stereopsis_frame::engine::run(engine, job), time_of);
        let output = output?;
        let undisturbed = self.undisturbed.as_mut().zip(load).map(|(times, load)| times.time_s(load));
        let time = undisturbed.map_or(output.compute_time, Duration::from_secs_f64);
        let map = output.map.ok_or(Failure::NoMap)?;
        let run = judge.run(sample, params, &map, time);
        Ok(SampleResult { run, map: Some(map) })
    }
}
