//! Owner of the open engine: opens and replaces it, decides for `auto`, falls back to the CPU, and opens a lost GPU again.

use super::control::EngineSource;
use super::shared::SharedState;
use crate::front::AxisAdapter;
use crate::open::OpenError;
use crate::{OpenOptions, open};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};
use stereopsis_base::parameter::Value;
use stereopsis_cpu::CpuEngine;
use stereopsis_frame::Cause;
use stereopsis_frame::engine::recovery::{Decision, Recovery, not_recovered};
use stereopsis_frame::engine::{Engine, EngineChoice, EngineError, EngineKind, Job, SourceEngine};
use stereopsis_stereo::StereoParams;

/// Interval at which an engine with jobs in flight is polled for results.
pub(super) const COLLECT_POLL_INTERVAL: Duration = Duration::from_micros(200);
/// Time that a replaced engine has to finish its jobs in flight.
const DRAIN_TIMEOUT: Duration = Duration::from_millis(500);
/// Time during which a setting without memory is not tried again.
const REFUSED_FOR: Duration = Duration::from_secs(2);
/// End of the message where no GPU engine can be opened.
const CPU_INSTEAD: &str = "the CPU computes instead";

/// Properties of jobs whose change makes `auto` decide again.
#[derive(PartialEq)]
struct DecisionKey {
    size: (usize, usize),
    criteria: Vec<Value>,
}

impl DecisionKey {
    fn of(job: &Job) -> Self {
        Self { size: job.frame.size(), criteria: job.params.engine_criteria() }
    }
}

struct RefusedSetting {
    params: Arc<StereoParams>,
    size: (usize, usize),
    /// Time of the next try: other programs may have freed memory.
    again_at: Instant,
}

impl RefusedSetting {
    fn is_of(&self, job: &Job) -> bool {
        self.size == job.frame.size() && self.params == job.params
    }
}

struct InFlight {
    again: bool,
    params: Arc<StereoParams>,
    size: (usize, usize),
}

struct LostGpu {
    options: OpenOptions,
    loss: String,
}

pub(super) struct EngineHost {
    shared: Arc<SharedState>,
    requested: Option<EngineSource>,
    engine: Option<Box<dyn Engine>>,
    /// Engine that the source brings.
    source_engine: Option<Arc<dyn SourceEngine>>,
    /// Whether another engine was opened after the last job was submitted.
    replaced: bool,
    /// Options by which the engine can be opened again; `None` for one that replaces a failed one.
    opened_by: Option<OpenOptions>,
    recovery: Recovery,
    lost: Option<LostGpu>,
    /// Options of `auto`, and the properties of jobs for which it decided; `None` where it had no pair to time.
    decided: Option<(OpenOptions, Option<DecisionKey>)>,
    fallback_threads: Option<usize>,
    in_flight: VecDeque<InFlight>,
    /// Parameters of the last job that the engine took. It continues with them while it prepares others.
    accepted: Option<Arc<StereoParams>>,
    /// Parameters of the last result. The engine continues with them where there is no memory for others.
    matched: Option<Arc<StereoParams>>,
    refused: Option<RefusedSetting>,
}

impl EngineHost {
    pub(super) fn new(
        shared: Arc<SharedState>,
        source: EngineSource,
        source_engine: Option<Arc<dyn SourceEngine>>,
        fallback_threads: Option<usize>,
    ) -> Self {
        Self {
            shared,
            requested: Some(source),
            engine: None,
            source_engine,
            replaced: false,
            opened_by: None,
            recovery: Recovery::default(),
            lost: None,
            decided: None,
            fallback_threads,
            in_flight: VecDeque::new(),
            accepted: None,
            matched: None,
            refused: None,
        }
    }

    pub(super) fn request(&mut self, source: EngineSource) {
        self.close();
        (self.recovery, self.lost, self.decided) = (Recovery::default(), None, None);
        self.requested = Some(source);
    }

    /// Opens the requested engine; `auto` waits for a sample, and `network` for a source that brings an engine.
    pub(super) fn open_requested(&mut self, sample: Option<&Job>) {
        match self.requested.take() {
            Some(EngineSource::Ready(engine)) => self.install(engine, None, None),
            Some(EngineSource::Opened(engine, options)) => {
                self.install(engine, None, None);
                self.opened_by = Some(options);
            }
            Some(EngineSource::Open(options)) if self.can_open(options.settings.choice, sample) => {
                let options = OpenOptions { source_engine: self.source_engine.clone(), ..options };
                match open(&options, sample) {
                    Ok(opened) => self.install_opened(opened.engine, opened.why, options, sample),
                    Err(err) => self.fall_back(format!("{err}; {CPU_INSTEAD}")),
                }
            }
            waiting => self.requested = waiting,
        }
    }

    fn can_open(&self, choice: EngineChoice, sample: Option<&Job>) -> bool {
        match choice {
            EngineChoice::Auto => sample.is_some(),
            EngineChoice::Network => self.source_engine.is_some(),
            _ => true,
        }
    }

    /// Lets `auto` decide for this job, if it has not decided yet or for other jobs.
    pub(super) fn choose_engine(&mut self, job: &Job) {
        if let Some((options, _)) = self.decided.take_if(|(_, key)| *key != Some(DecisionKey::of(job))) {
            self.close();
            self.requested = Some(EngineSource::Open(options));
        }
        self.open_requested(Some(job));
    }

    pub(super) fn recovery_due(&self) -> Option<Instant> {
        self.recovery.due()
    }

    /// Opens a lost GPU again when that is due. The CPU computes until then.
    pub(super) fn recover(&mut self, sample: Option<&Job>) {
        let now = Instant::now();
        if !self.recovery.take_due(now) {
            return;
        }
        self.recovery.recovered(now);
        let Some(LostGpu { options, loss }) = self.lost.take() else { return };
        match options.open_again(sample) {
            Ok(opened) => {
                self.close();
                let times = opened.why.map_or_else(String::new, |times| format!("{times}; "));
                self.install_opened(opened.engine, Some(format!("{times}opened again after {loss}")), options, sample);
            }
            Err(err) => {
                let fault = not_recovered(&loss, &err.to_string(), CPU_INSTEAD);
                log::warn!("{fault}");
                self.shared.report(|stats| stats.fault = Some(fault));
            }
        }
    }

    pub(super) fn install_opened(
        &mut self,
        engine: Box<dyn Engine>,
        why: Option<String>,
        options: OpenOptions,
        sample: Option<&Job>,
    ) {
        self.install(engine, why, None);
        let decides = options.settings.choice == EngineChoice::Auto;
        self.decided = decides.then(|| (options.clone(), sample.map(DecisionKey::of)));
        self.opened_by = Some(options);
    }

    fn install(&mut self, engine: Box<dyn Engine>, why: Option<String>, fault: Option<String>) {
        self.shared.report(|stats| {
            stats.engine = Some(engine.info());
            (stats.why, stats.fault, stats.opening) = (why, fault, false);
            (stats.error, stats.too_large) = (None, None);
        });
        (self.engine, self.replaced) = (Some(engine), true);
    }

    fn fall_back(&mut self, fault: String) {
        log::warn!("{fault}");
        self.drop_engine();
        self.install(Box::new(AxisAdapter::new(CpuEngine::new(self.fallback_threads))), None, Some(fault));
    }

    /// Closes the engine after its jobs in flight: another engine needs the device.
    fn close(&mut self) {
        let deadline = Instant::now() + DRAIN_TIMEOUT;
        while self.is_busy() && Instant::now() < deadline {
            if !self.collect() {
                std::thread::sleep(COLLECT_POLL_INTERVAL);
            }
        }
        self.drop_engine();
    }

    fn drop_engine(&mut self) {
        (self.engine, self.opened_by) = (None, None);
        (self.accepted, self.matched, self.refused) = (None, None, None);
        self.shared.stats.lock().failed += self.in_flight.len() as u64;
        self.in_flight.clear();
    }

    /// Forgets the earlier pairs, because another source begins; the engine of a source ends with it.
    pub(super) fn begin_source(&mut self, source_engine: Option<Arc<dyn SourceEngine>>) {
        self.source_engine = source_engine;
        if let Some(options) = self.opened_by.take_if(|options| options.settings.choice == EngineChoice::Network) {
            self.request(EngineSource::Open(options));
        } else if let Some(engine) = &mut self.engine {
            engine.forget();
        }
    }

    pub(super) fn is_replaced(&self) -> bool {
        self.replaced
    }

    /// Whether every result of the engine has its numbers on the host.
    pub(super) fn is_cpu(&self) -> bool {
        self.engine.as_ref().is_some_and(|engine| engine.info().kind == EngineKind::Cpu)
    }

    pub(super) fn is_busy(&self) -> bool {
        !self.in_flight.is_empty()
    }

    pub(super) fn has_free_slot(&self) -> bool {
        self.engine.as_ref().is_none_or(|engine| self.in_flight.len() < engine.slots())
    }

    /// Returns the job if the engine is prepared for it. `with_older` tries the last accepted parameters too.
    pub(super) fn startable(&mut self, job: &Job, with_older: bool) -> Option<Job> {
        if self.engine.as_mut().is_none_or(|engine| engine.prepare(job)) {
            return Some(job.clone());
        }
        let engine = self.engine.as_mut()?;
        let params = Arc::clone(self.accepted.as_ref().filter(|params| with_older && **params != job.params)?);
        let older = Job { params, ..job.clone() };
        engine.prepare(&older).then_some(older)
    }

    /// Submits a job; `again` if its pair was matched before. Where there is no memory for it, the parameters of the last result are used.
    pub(super) fn submit(&mut self, job: Job, again: bool) {
        self.replaced = false;
        if self.engine.is_none() {
            self.shared.report(|stats| (stats.engine, stats.opening) = (None, false));
            return self.fail(&OpenError::NoRig.into());
        }
        let older = self.matched.clone().filter(|params| *params != job.params);
        let is_refused = |refused: &RefusedSetting| refused.is_of(&job) && Instant::now() < refused.again_at;
        if older.is_none() || !self.refused.as_ref().is_some_and(is_refused) {
            match self.take(job.clone(), again) {
                Ok(()) => return self.note_room(),
                Err(err) => {
                    if let EngineError::TooLarge(why) = &err {
                        self.refuse(&job.params, job.frame.size(), why);
                    }
                    if older.is_none() || !matches!(err, EngineError::TooLarge(_)) {
                        return self.fail(&err);
                    }
                }
            }
        }
        if let Some(params) = older
            && let Err(err) = self.take(Job { params, ..job }, again)
        {
            self.fail(&err);
        }
    }

    fn take(&mut self, job: Job, again: bool) -> Result<(), EngineError> {
        let Some(engine) = &mut self.engine else { return Ok(()) };
        let (params, size) = (Arc::clone(&job.params), job.frame.size());
        engine.submit(job)?;
        self.in_flight.push_back(InFlight { again, params: Arc::clone(&params), size });
        self.accepted = Some(params);
        Ok(())
    }

    fn refuse(&mut self, params: &Arc<StereoParams>, size: (usize, usize), why: &Cause) {
        let goes_on = self.matched.as_ref().is_some_and(|matched| matched != params);
        let why = if goes_on { format!("{why}; the setting before is used until then") } else { why.to_string() };
        let is_known = self.refused.as_ref().is_some_and(|refused| refused.size == size && refused.params == *params);
        self.refused =
            Some(RefusedSetting { params: Arc::clone(params), size, again_at: Instant::now() + REFUSED_FOR });
        // the numbers in the text change from pair to pair
        if !is_known {
            log::warn!("{why}");
            self.shared.report(|stats| stats.too_large = Some(why));
        }
    }

    /// Records that there is memory for the current setting.
    fn note_room(&mut self) {
        if self.refused.take().is_some() {
            self.shared.report(|stats| stats.too_large = None);
        }
    }

    /// Publishes the oldest job's result if it is finished, or its error. Returns whether there was one.
    pub(super) fn collect(&mut self) -> bool {
        let Some(engine) = self.engine.as_mut().filter(|_| !self.in_flight.is_empty()) else { return false };
        match engine.collect() {
            Ok(None) => return false,
            Ok(Some(output)) => {
                let again = self.in_flight.pop_front().is_some_and(|job| job.again);
                self.matched = Some(Arc::clone(&output.job.params));
                self.shared.publish(output, again);
            }
            Err(err) => match (self.in_flight.pop_front(), &err) {
                (Some(InFlight { again: false, .. }), EngineError::LeftOut(_)) => self.shared.stats.lock().late += 1,
                (job, _) => {
                    if let (Some(job), EngineError::TooLarge(why)) = (job, &err) {
                        self.refuse(&job.params, job.size, why);
                    }
                    self.fail(&err);
                }
            },
        }
        true
    }

    /// Reports a failed job. After the loss of a device the CPU takes over, and the GPU is opened again later if possible.
    fn fail(&mut self, err: &EngineError) {
        self.shared.stats.lock().failed += 1;
        if !matches!(err, EngineError::DeviceLost(_)) {
            return self.shared.report(|stats| stats.error = Some(err.to_string()));
        }
        // a window opens its own device
        let own = |options: &OpenOptions| !options.shares_gpu() && options.settings.choice != EngineChoice::Cpu;
        let fault = match self.opened_by.take().filter(own) {
            Some(options) => {
                let decision = self.recovery.lost(Instant::now());
                let lost = LostGpu { options, loss: err.to_string() };
                self.lost = (decision == Decision::Retry).then_some(lost);
                decision.message(err, CPU_INSTEAD, Some("the GPU"))
            }
            None => Decision::Retry.message(err, CPU_INSTEAD, None),
        };
        self.fall_back(fault);
        self.shared.forget_device();
    }
}
