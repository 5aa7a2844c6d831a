//! The live pipeline without a window: reads a source, and provides the newest result and a status. It owns the capture thread and the
//! engine thread, and outlives any window and any device.

pub mod capture;
mod comparison;
mod diagnosis;
mod explain;
pub mod headless;
mod health;
mod measure;
pub mod recompute;
mod remote;
mod status;
mod summary;
mod times;
#[cfg(test)]
mod tests;

pub use comparison::{Comparison, JudgedResult};
pub use diagnosis::{Cause, Warning, warnings_of};
pub use explain::{ExplainRequest, PixelExplainer, PixelExplanation};
pub use health::Health;
pub use measure::{MeasureRequest, Measurement, Meter, PreviousPair, Row, Subject, of_pair};
pub use remote::{News, Remote};
pub use status::{Dropped, RunLatency, Status};
pub use summary::Summary;
pub use times::MedianTime;

use crate::capture::{Capture, CaptureOptions};
use health::HealthMonitor;
use parking_lot::Mutex;
use std::sync::Arc;
use stereopsis_calibration::CalibrationError;
use stereopsis_engine::OpenOptions;
use stereopsis_engine::worker::{Control, EngineSource, EngineWorker};
use stereopsis_frame::engine::{EngineKind, Output, SourceEngine};
use stereopsis_frame::{FramePreparation, PairSource, ResultTap, Taps, Transport, Wake};
use stereopsis_stereo::StereoParams;

/// Options of the pipeline at its start; all can be changed while it runs.
pub struct LiveOptions {
    /// Reading of the source and preparation of frames.
    pub capture: CaptureOptions,
    /// Valid parameters.
    pub params: StereoParams,
    /// Engine, or the options to open it.
    pub engine: EngineSource,
    /// Number of threads of a CPU engine that replaces another one; `None` for the default.
    pub threads: Option<usize>,
    /// Whether each result brings its map to the host.
    pub read_back: bool,
    /// Whether a run without a window corrects a calibrated rig that has changed.
    pub self_calibrate: bool,
    /// Observers of every result.
    pub taps: Vec<Arc<dyn ResultTap>>,
    /// Servers of clients that watch every source and may request parameters.
    pub remotes: Vec<Arc<dyn Remote>>,
    /// Callback after each result and each change of status, on any thread; must not wait.
    pub wake: Wake,
}

impl LiveOptions {
    /// Creates options in which the newest pair wins, without taps and clients.
    pub fn new(params: StereoParams, engine: impl Into<OpenOptions>) -> Self {
        let engine = engine.into();
        Self {
            capture: CaptureOptions::default(),
            params,
            threads: engine.settings.threads,
            engine: EngineSource::Open(engine),
            read_back: false,
            self_calibrate: false,
            taps: Vec::new(),
            remotes: Vec::new(),
            wake: Arc::new(|| {}),
        }
    }
}

/// Running pipeline; stopped when dropped.
pub struct Live {
    // in the order in which they stop
    health: HealthMonitor,
    capture: Mutex<Capture>,
    engine: EngineWorker,
    remotes: Vec<Arc<dyn Remote>>,
}

impl Live {
    /// Starts reading and matching.
    ///
    /// # Errors
    /// The system gives no thread.
    pub fn start(source: Box<dyn PairSource>, options: LiveOptions) -> std::io::Result<Self> {
        let LiveOptions { mut capture, params, engine, threads, read_back, self_calibrate: _, mut taps, remotes, wake } =
            options;
        let mut params = params;
        for remote in &remotes {
            params = remote.exchange(&params).unwrap_or(params);
            capture.taps.frames.push(Arc::clone(remote) as _);
            taps.push(Arc::clone(remote) as _);
        }
        let capture = Capture::start(source, capture);
        let control = Control { params: Arc::new(params), read_back, paused: false, suspended: false, steps: 0 };
        let (frames, own) = (capture.frames.clone(), capture.engine());
        let engine = EngineWorker::start(frames, own, engine, control, threads, taps, Arc::clone(&wake))?;
        let wake_engine = engine.waker();
        let wake: Wake = Arc::new(move || {
            wake_engine();
            wake();
        });
        for remote in &remotes {
            remote.set_wake(Arc::clone(&wake));
        }
        let health = HealthMonitor::start(engine.newest())?;
        Ok(Self { health, capture: Mutex::new(capture), engine, remotes })
    }

    /// Reads another source from now on, not paused. The old one is closed in the background, which may take half a second.
    pub fn set_source(&self, source: Box<dyn PairSource>, options: CaptureOptions) {
        let mut options = options;
        options.taps.frames.extend(self.remotes.iter().cloned().map(|remote| remote as _));
        self.health.forget(); // first: a still's one pair arrives at once
        let new = Capture::start(source, options);
        self.engine.set_frames(new.frames.clone(), new.engine());
        self.engine.set_control(|control| control.paused = false);
        let old = std::mem::replace(&mut *self.capture.lock(), new);
        let closing = std::thread::Builder::new().name("old source".into()).spawn(move || drop(old));
        if let Err(err) = closing {
            log::warn!("no thread to close the old source: {err}");
        }
    }

    /// Sets another preparation of frames: calibration, working size or scale of depth. The last pair is prepared again too, on the
    /// engine thread: no other may come while paused, at the end, or from a still.
    ///
    /// # Errors
    /// The last pair does not fit the calibration; nothing is changed then.
    pub fn set_preparation(&self, preparation: FramePreparation) -> Result<(), CalibrationError> {
        let capture = self.capture.lock();
        let info = capture.info();
        // the newest result may still be that of another source
        let last = self.latest().filter(|output| output.job.frame.raw.left.size() == (info.width, info.height));
        if let Some(output) = last {
            preparation.check(&output.job.frame.raw, &info)?;
        }
        // set on the capture thread first: the engine then prepares again every frame that the old preparation has made
        capture.set_preparation(preparation.clone());
        self.engine.prepare_again(preparation, info);
        Ok(())
    }

    /// Corrects a calibrated rig by what its gathered views show, once; returns what was done, in words.
    pub(crate) fn correct(&self) -> Option<String> {
        let drift = self.health.health().drift.filter(|drift| drift.is_offered)?;
        let preparation = self.preparation();
        let rig = preparation.rectifier.as_ref()?.rig();
        if rig.corrected_from.as_ref().is_some_and(|from| from.correction == drift.correction) {
            return None;
        }
        let done = preparation.corrected(&drift.correction).and_then(|corrected| match corrected {
            Some(corrected) => self.set_preparation(corrected),
            None => Ok(()),
        });
        Some(match done {
            Ok(()) => format!("the rig is corrected: {}; {}", drift.words(), drift.depth_words()),
            Err(why) => format!("the rig cannot be corrected: {why}"),
        })
    }

    /// Returns the preparation of frames.
    pub fn preparation(&self) -> FramePreparation {
        self.capture.lock().preparation()
    }

    /// Restarts the stream of one of two free-running cameras, so that both take images at nearly the same time;
    /// [`Status::cameras`] has the result.
    pub fn resync(&self) {
        self.capture.lock().resync();
    }

    /// Stops reading, so that the camera is free; the last pair is still matched when settings change.
    pub fn close_source(&self) {
        self.capture.lock().stop();
    }

    /// Sets other valid parameters from the next pair on; a held pair is matched again at once.
    pub fn set_params(&self, params: StereoParams) {
        self.engine.set_control(|control| control.params = Arc::new(params));
    }

    /// Matches the last pair again, to measure its time.
    pub fn match_again(&self) {
        self.engine.match_again();
    }

    /// Returns the parameters in force.
    pub fn params(&self) -> Arc<StereoParams> {
        self.engine.control().params
    }

    /// Sends the parameters in force to clients, and to the source's engine if its results are shown. Returns the parameters that one of
    /// them requests: valid ones, once. A request is in force for the next one.
    pub fn exchange(&self) -> Option<StereoParams> {
        let in_force = self.params();
        let is_shown = self.latest().is_some_and(|output| output.engine.kind == EngineKind::Network);
        let engine = self.source_engine().filter(|_| is_shown);
        let requested = engine.and_then(|engine| engine.exchange(&in_force));
        self.remotes
            .iter()
            .fold(requested, |requested, remote| remote.exchange(requested.as_ref().unwrap_or(&in_force)).or(requested))
    }

    /// Returns the engine that the source brings.
    pub fn source_engine(&self) -> Option<Arc<dyn SourceEngine>> {
        self.capture.lock().engine()
    }

    /// Replaces the engine. It is opened in the background; the status has the result.
    pub fn set_engine(&self, engine: EngineSource) {
        self.engine.set_engine(engine);
    }

    /// Drops the newest result's texture: the window's device is lost.
    pub fn forget_device(&self) {
        self.engine.forget_device();
    }

    /// Sets whether each result brings its map to the host.
    pub fn set_read_back(&self, read_back: bool) {
        if self.engine.control().read_back != read_back {
            self.engine.set_control(|control| control.read_back = read_back);
        }
    }

    /// Replaces the taps for pairs, frames and results. A source that is opened later brings its own taps.
    pub fn set_taps(&self, mut taps: Taps, mut results: Vec<Arc<dyn ResultTap>>) {
        taps.frames.extend(self.remotes.iter().cloned().map(|remote| remote as _));
        results.extend(self.remotes.iter().cloned().map(|remote| remote as _));
        self.capture.lock().set_taps(taps);
        self.engine.set_taps(results);
    }

    /// Returns the servers of remote clients.
    pub fn remotes(&self) -> &[Arc<dyn Remote>] {
        &self.remotes
    }

    /// Returns the states of the servers of remote clients for a status line; empty without any.
    pub fn standing(&self) -> String {
        self.remotes.iter().map(|remote| remote.standing()).collect::<Vec<_>>().join(", ")
    }

    /// Returns the playback of a recording or a folder; `None` for other sources.
    pub fn transport(&self) -> Option<Arc<Transport>> {
        self.capture.lock().transport().cloned()
    }

    /// Holds the pair. Matching continues: changed parameters show at once.
    pub fn pause(&self) {
        match self.transport() {
            Some(transport) => transport.pause(),
            None => self.engine.set_control(|control| control.paused = true),
        }
    }

    /// Takes new pairs again.
    pub fn resume(&self) {
        if let Some(transport) = self.transport() {
            transport.play();
        }
        self.engine.set_control(|control| control.paused = false);
    }

    /// Suspends or resumes the matching of new pairs, except the first one, while other work needs the processor.
    pub fn set_suspended(&self, suspended: bool) {
        if self.engine.control().suspended != suspended {
            self.engine.set_control(|control| control.suspended = suspended);
        }
    }

    /// Takes the next pair and holds it; in a recording or folder also an earlier one, for negative `by`.
    pub fn step(&self, by: i64) {
        if let Some(transport) = self.transport() {
            return transport.step(by);
        }
        self.engine.set_control(|control| {
            control.paused = true;
            control.steps += 1;
        });
    }

    /// Returns whether the pair is held, as at the end of a recording.
    pub fn is_paused(&self) -> bool {
        match self.transport().map(|transport| transport.get()) {
            Some(playing) => !playing.playing || playing.at_end(),
            None => self.engine.control().paused,
        }
    }

    /// Returns the newest result.
    pub fn latest(&self) -> Option<Arc<Output>> {
        self.engine.latest()
    }

    /// Returns the status after the last pair, including its health even if the run was too short for a measurement.
    pub(crate) fn last_status(&self) -> Status {
        if let Some(output) = self.latest() {
            self.health.measure_last(&output);
        }
        self.status()
    }

    /// Returns the status of all parts.
    pub fn status(&self) -> Status {
        let (source, cameras, capture) = {
            let capture = self.capture.lock();
            (capture.info(), capture.state(), capture.stats())
        };
        let (params, latest) = (self.params(), self.latest());
        let geometry = latest.as_ref().and_then(|output| output.job.frame.geometry.as_ref());
        let (engine, health) = (self.engine.stats(), self.health.health());
        let shares = engine.figures.as_ref().map(|figures| &figures.shares);
        let warnings = diagnosis::warnings(&cameras, &health, &params, shares, geometry);
        Status::of(source, cameras, capture, engine, health, warnings, self.is_paused())
    }
}
