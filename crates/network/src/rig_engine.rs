//! Engine of a rig on the network: a job waits here for the result that an engine of the rig sends.

use super::error::{NetworkError, command};
use super::inlet::{Inlet, ReceivedMessage, Verdict};
use super::key::{RigTopic, Role};
use super::parameters::RigParameters;
use super::result::{self, Matched};
use super::session::Network;
use super::wire::{Content, Head, Refusal};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};
use stereopsis_base::remedy::option;
use stereopsis_frame::engine::{Engine, EngineError, EngineInfo, EngineKind, Job, Output, SourceEngine, StageTime};
use stereopsis_recording::time;
use stereopsis_stereo::StereoParams;

/// Maximum number of jobs that wait for results. A slower engine matches only some of them.
const MAX_WAITING: usize = 16;
/// Maximum number of results that wait for jobs, which come late from a slower engine whose results are compared.
const MAX_RESULTS: usize = 32;
/// Time after which a job ends without a result.
const RESULT_TIMEOUT: Duration = Duration::from_secs(1);

/// Reason why a pair has no result of the rig's engine.
#[derive(Debug, thiserror::Error)]
enum NoResult {
    #[error("the right image's map does not come over the network: choose another engine for it")]
    NoRight,
    #[error(
        "the rig's engine matches at {}x{} px, and here the pair has {}x{}: use the rig's own calibration and {}",
        .there.0, .there.1, .here.0, .here.1, option("scale")
    )]
    OtherSize { there: (usize, usize), here: (usize, usize) },
    #[error(
        "no engine on the network has matched this pair of rig '{rig}' yet: {} shows which engine has it; where there is none, start {}, or \
         choose another {} here",
        command("net"),
        command("engine"),
        option("engine")
    )]
    NoEngine { rig: String },
}

/// Engine that the source of a rig brings.
pub(super) struct RigEngine {
    pub(super) network: Network,
    pub(super) rig: String,
    pub(super) parameters: Arc<RigParameters>,
}

impl RigEngine {
    fn results(&self) -> Result<Inlet, NetworkError> {
        let presence = self.network.presence()?;
        let is_engine = move |head: &Head| {
            let is_there = presence.look(|present| present.of(Role::Engine).any(|engine| engine.boot == head.boot));
            if is_there { Verdict::Take } else { Verdict::Refuse(Refusal::NoEngine) }
        };
        let key = RigTopic::Result.rig(&self.rig);
        Inlet::start(&self.network, &key, Content::Result, MAX_RESULTS, is_engine)
    }
}

impl SourceEngine for RigEngine {
    fn open(&self) -> Result<Box<dyn Engine>, EngineError> {
        let inlet = self.results().map_err(|err| EngineError::Device(err.into()))?;
        let adapter = "another machine".to_owned();
        Ok(Box::new(ReceivedResults {
            rig: self.rig.clone(),
            parameters: Arc::clone(&self.parameters),
            inlet,
            waiting: VecDeque::new(),
            results: VecDeque::new(),
            last: None,
            info: Arc::new(EngineInfo { kind: EngineKind::Network, adapter, software: false }),
        }))
    }

    fn exchange(&self, in_force: &StereoParams) -> Option<StereoParams> {
        self.parameters.exchange(in_force)
    }
}

/// Jobs that wait, and results that have arrived. A job and its result have the same capture time by the head's clock.
struct ReceivedResults {
    rig: String,
    parameters: Arc<RigParameters>,
    inlet: Inlet,
    /// Jobs with the times of their submission.
    waiting: VecDeque<(Instant, Job)>,
    results: VecDeque<ReceivedMessage>,
    /// Last result with the capture time of its pair, ns since 1970: a held pair is matched again.
    last: Option<(u64, Matched)>,
    info: Arc<EngineInfo>,
}

impl ReceivedResults {
    /// Decodes the result of a pair that was taken at this time, if it has arrived, and drops earlier ones.
    fn take_result(&mut self, taken_ns: u64, (width, height): (usize, usize)) {
        while let Ok(arrived) = self.inlet.messages().try_recv() {
            if self.results.len() == MAX_RESULTS {
                self.results.pop_front();
            }
            self.results.push_back(arrived);
        }
        let Some(at) = self.results.iter().position(|result| result.head.taken_ns == taken_ns) else { return };
        let Some(arrived) = self.results.drain(..=at).next_back() else { return };
        match result::unpack(&arrived.payload.to_bytes(), width * height) {
            Ok(matched) => self.last = Some((taken_ns, matched)),
            Err(why) => self.inlet.refuse(why),
        }
    }

    /// Returns the output of a job with this result.
    fn output(&mut self, job: Job, matched: Matched) -> Result<Output, EngineError> {
        if job.wants_right {
            return Err(EngineError::Unsupported(NoResult::NoRight.into()));
        }
        if matched.map.size() != job.frame.size() {
            let other_size = NoResult::OtherSize { there: matched.map.size(), here: job.frame.size() };
            return Err(EngineError::Unsupported(other_size.into()));
        }
        if self.info.adapter != matched.engine || self.info.software != matched.software {
            let (adapter, software) = (matched.engine, matched.software);
            self.info = Arc::new(EngineInfo { kind: EngineKind::Network, adapter, software });
        }
        self.parameters.set_shown();
        let ms = matched.compute_time.as_secs_f64() * 1e3;
        Ok(Output {
            engine: self.info(),
            map: Some(matched.map),
            right_map: None,
            texture: None,
            stages: vec![StageTime { name: "elsewhere", ms }],
            compute_time: matched.compute_time,
            job: Job { params: matched.params, ..job },
        })
    }
}

impl Engine for ReceivedResults {
    fn info(&self) -> Arc<EngineInfo> {
        Arc::clone(&self.info)
    }

    // one more than wait: it ends the oldest one
    fn slots(&self) -> usize {
        MAX_WAITING + 1
    }

    fn forget(&mut self) {}

    fn submit(&mut self, job: Job) -> Result<(), EngineError> {
        self.waiting.push_back((Instant::now(), job));
        Ok(())
    }

    fn collect(&mut self) -> Result<Option<Output>, EngineError> {
        let Some((since, job)) = self.waiting.front().cloned() else { return Ok(None) };
        let taken_ns = time::to_ns(job.frame.raw.capture_time);
        self.take_result(taken_ns, job.frame.raw.left.size());
        let found = self.last.as_ref().filter(|(last, _)| *last == taken_ns).map(|(_, matched)| matched.clone());
        let is_left_out = self.results.iter().any(|result| result.head.taken_ns > taken_ns);
        let is_overdue = self.waiting.len() > MAX_WAITING || since.elapsed() > RESULT_TIMEOUT;
        if found.is_none() && !is_left_out && !is_overdue {
            return Ok(None);
        }
        self.waiting.pop_front();
        if let Some(matched) = found {
            return self.output(job, matched).map(Some);
        }
        let cause = NoResult::NoEngine { rig: self.rig.clone() }.into();
        Err(if is_left_out { EngineError::LeftOut(cause) } else { EngineError::Unsupported(cause) })
    }
}
