//! Rig that an engine serves: opens its source in the background, runs the pipeline, publishes the results, and follows changes of
//! its description.

use crate::error::PublishError;
use crossbeam_channel::{Receiver, TryRecvError, bounded};
use std::collections::BTreeSet;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};
use stereopsis_calibration::CalibrationError;
use stereopsis_engine::worker::EngineSource;
use stereopsis_frame::engine::Output;
use stereopsis_frame::{CaptureError, MaxPixels, Pixels, SourceOptions};
use stereopsis_live::{Live, LiveOptions, Remote};
use stereopsis_network::key::{Member, RigTopic};
use stereopsis_network::status::{RigStatus, Speed};
use stereopsis_network::wire::{Content, Head};
use stereopsis_network::{Inlet, Network, NetworkError, Outlet, RigSource, RigView, Verdict, result};
use stereopsis_settings::rig::Calibrated;

/// Function that opens an additional publication of a rig's run, by the name of the rig.
pub type RemoteOf = Arc<dyn Fn(&str) -> Result<Arc<dyn Remote>, PublishError> + Send + Sync>;

const RETRY_INTERVAL: Duration = Duration::from_secs(2);

/// Rig that this engine opens or serves.
pub(super) struct ServedRig {
    name: String,
    state: RigPhase,
    error: Option<RigError>,
    /// Engines before this one in the order of the rig, and their results.
    earlier: Option<EarlierEngines>,
}

struct EarlierEngines {
    engines: Vec<Member>,
    results: Inlet,
}

/// Fault of a rig that an engine serves.
#[derive(Debug, thiserror::Error)]
enum RigError {
    #[error(transparent)]
    Source(#[from] CaptureError),
    #[error(transparent)]
    Network(#[from] NetworkError),
    #[error(transparent)]
    Publication(#[from] PublishError),
    #[error("its calibration cannot be used: {0}")]
    Calibration(CalibrationError),
    #[error(transparent)]
    Preparation(CalibrationError),
    #[error("no threads: {0}")]
    Threads(io::Error),
}

enum RigPhase {
    Opening(Receiver<Result<Running, RigError>>),
    Running(Box<Running>),
    /// Failed to open; waits until the next attempt.
    Resting(Instant),
}

struct Running {
    live: Live,
    results: Arc<Outlet<Arc<Output>>>,
    view: RigView,
    /// Run and number of the description in force.
    described: (u64, u32),
}

impl ServedRig {
    /// Opens the rig of a head in the background; `boot` is the number of the engine's run.
    pub(super) fn open(
        network: Network,
        head: &Member,
        boot: u64,
        engine: EngineSource,
        max_pixels: MaxPixels,
        remote: Option<RemoteOf>,
    ) -> Self {
        let (to_owner, opened) = bounded(1);
        let name = head.name.clone();
        let rig = name.clone();
        let work = move || {
            let _ = to_owner.send(Running::start(&network, &rig, boot, engine, max_pixels, remote)); // fails if the rig was left meanwhile
        };
        let state = match std::thread::Builder::new().name("rig".into()).spawn(work) {
            Ok(_) => RigPhase::Opening(opened),
            Err(_) => RigPhase::Resting(Instant::now() + RETRY_INTERVAL),
        };
        Self { name, state, error: None, earlier: None }
    }

    pub(super) fn is_opening(&self) -> bool {
        matches!(self.state, RigPhase::Opening(_))
    }

    /// Sets the engines before this one in the order of the rig. When results of one arrive, the rig is left to it.
    pub(super) fn set_earlier(&mut self, engines: &[Member], network: &Network) {
        if self.earlier.as_ref().map_or(&[][..], |earlier| &earlier.engines) == engines {
            return;
        }
        let boots: BTreeSet<u64> = engines.iter().map(|engine| engine.boot).collect();
        let judge = move |head: &Head| if boots.contains(&head.boot) { Verdict::Take } else { Verdict::Leave };
        let results = (!engines.is_empty())
            .then(|| Inlet::start(network, &RigTopic::Result.rig(&self.name), Content::Result, 1, judge));
        self.earlier = match results.transpose() {
            Ok(results) => results.map(|results| EarlierEngines { engines: engines.to_vec(), results }),
            Err(err) => {
                log::warn!("{err}"); // tried again at the next call
                None
            }
        };
    }

    /// Polls the rig; returns the reason if this engine must leave it.
    pub(super) fn poll(&mut self) -> Option<String> {
        let next = match &mut self.state {
            RigPhase::Opening(opened) => match opened.try_recv() {
                Ok(Ok(running)) => Some(RigPhase::Running(Box::new(running))),
                Ok(Err(why)) => {
                    self.error = Some(why);
                    Some(RigPhase::Resting(Instant::now() + RETRY_INTERVAL))
                }
                Err(TryRecvError::Disconnected) => Some(RigPhase::Resting(Instant::now() + RETRY_INTERVAL)),
                Err(TryRecvError::Empty) => None,
            },
            RigPhase::Running(running) => {
                self.error = running.follow_description().err();
                running.follow_remote();
                None
            }
            RigPhase::Resting(until) if Instant::now() >= *until => {
                return Some(self.error.as_ref().map_or_else(|| "it cannot be opened".to_owned(), ToString::to_string));
            }
            RigPhase::Resting(_) => None,
        };
        self.state = next.unwrap_or_else(|| std::mem::replace(&mut self.state, RigPhase::Resting(Instant::now())));
        let earlier = self.earlier.as_ref()?;
        if let Ok(arrived) = earlier.results.messages().try_recv() {
            let engine = earlier.engines.iter().find(|engine| engine.boot == arrived.head.boot);
            return Some(format!("engine '{}' has it", engine.map_or("", |engine| &engine.name)));
        }
        matches!(self.state, RigPhase::Resting(_)).then(|| "it is another engine's".to_owned())
    }

    pub(super) fn status(&self) -> RigStatus {
        let error = self.error.as_ref().map(ToString::to_string);
        let unknown = RigStatus { rig: self.name.clone(), error, ..RigStatus::default() };
        let RigPhase::Running(running) = &self.state else { return unknown };
        let status = running.live.status();
        RigStatus {
            results: status.engine.computed,
            rate_hz: status.computed_hz,
            latency_ms: status.engine.latency_ms().map(|(median_ms, _)| median_ms),
            latency_since: status.engine.latency_since,
            dropped: status.engine.late + status.engine.failed,
            received: running.view.counts(),
            sent: running.results.counts(),
            error: unknown.error.or(status.errors.first().cloned()),
            rig: unknown.rig,
        }
    }

    pub(super) fn adapter(&self) -> Option<String> {
        let RigPhase::Running(running) = &self.state else { return None };
        let output = running.live.latest()?;
        Some(format!("{} {}", output.engine.kind, output.engine.adapter))
    }

    pub(super) fn speed(&self) -> Option<Speed> {
        let RigPhase::Running(running) = &self.state else { return None };
        let output = running.live.latest()?;
        let (size, num_disparities) = (output.job.frame.size(), output.job.params.num_disparities);
        Some(Speed { size, num_disparities, pairs_per_s: 1.0 / output.compute_time.as_secs_f64().max(1e-6) })
    }
}

impl Running {
    fn start(
        network: &Network,
        rig: &str,
        boot: u64,
        engine: EngineSource,
        max_pixels: MaxPixels,
        remote: Option<RemoteOf>,
    ) -> Result<Self, RigError> {
        // a stub needs no images
        let is_stub = matches!(engine, EngineSource::Opened(..));
        let pixels = if is_stub { Pixels::Unread } else { Pixels::Color };
        let options = SourceOptions { looped: true, pixels, max_pixels, ..SourceOptions::default() };
        let source = RigSource::on(network.clone(), rig, &options)?;
        let info = stereopsis_frame::PairSource::info(&source);
        let view = source.view();
        let description = view.description();
        let calibrated = Calibrated::from_note(&description.about.calibration, &info).map_err(RigError::Calibration)?;
        let results = Arc::new(result::outlet(network, rig, boot)?);
        let remote = remote.map(|open| open(rig)).transpose()?;
        if let Some(remote) = &remote {
            remote.set_about(description.about.clone());
        }
        let options = stereopsis_engine::OpenOptions::default();
        let live = LiveOptions {
            capture: calibrated.preparation.into(),
            engine,
            taps: vec![Arc::clone(&results) as _],
            read_back: true,
            remotes: remote.into_iter().collect(),
            ..LiveOptions::new(description.params()?, options)
        };
        let live = Live::start(Box::new(source), live).map_err(RigError::Threads)?;
        Ok(Self { live, results, view, described: description.id() })
    }

    /// Passes the parameters to the additional publisher, and logs its messages.
    fn follow_remote(&self) {
        let _ = self.live.exchange(); // requests are ignored: the rig's head sets the parameters
        for news in self.live.remotes().iter().flat_map(|remote| remote.news()) {
            if news.is_error { log::warn!("{}", news.text) } else { log::info!("{}", news.text) }
        }
    }

    /// Applies the parameters and the calibration of a changed description.
    fn follow_description(&mut self) -> Result<(), RigError> {
        if self.described == self.view.described() {
            return Ok(());
        }
        let description = self.view.description();
        let params = description.params()?;
        if description.boot != self.described.0 {
            let calibrated = Calibrated::from_note(&description.about.calibration, &self.live.status().source);
            let preparation = calibrated.map_err(RigError::Calibration)?.preparation;
            self.live.set_preparation(preparation).map_err(RigError::Preparation)?;
        }
        self.live.set_params(params);
        self.described = description.id();
        Ok(())
    }
}
