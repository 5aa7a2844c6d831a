//! Interface of the recorder for the threads that feed it. Its methods return at once, except where a source is to wait.

use super::beginning::Beginning;
use super::clock::{self, Clock, Moment};
use super::file::{OpenTarget, Sink};
use super::files::Files;
use super::queue::Queue;
use super::status::per_second;
use super::thread::{Shared, Thread};
use super::{Begins, RecordError, RecordOptions, RecordStatus, Target, name};
use crate::pack::{Packer, PairParts};
use crate::{About, Stream, Streams};
use parking_lot::Mutex;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;
use std::time::Duration;
use stereopsis_base::geometry::Geometry;
use stereopsis_frame::engine::Output;
use stereopsis_frame::{Frame, FrameTap, RawPair, RawTap, ResultTap, SourceInfo, Taps};
use stereopsis_stereo::StereoParams;

/// Running recorder. Dropping it stops the recording.
pub struct Recorder {
    shared: Arc<Shared>,
    path: Option<PathBuf>,
    lossless: bool,
    streams: Streams,
    is_camera: bool,
    beginning: Beginning,
    thread: Mutex<Option<JoinHandle<()>>>,
    seen: Mutex<SourceHistory>,
}

/// Source and its errors at the last call.
#[derive(Default)]
struct SourceHistory {
    source: Option<SourceInfo>,
    errors: Vec<String>,
}

impl Recorder {
    /// Creates the file and starts the thread.
    ///
    /// # Errors
    /// The file exists or cannot be made, or the disk is nearly full; or files of its further parts exist.
    pub fn start(target: Target, about: About, options: RecordOptions) -> Result<Arc<Self>, RecordError> {
        if let Target::File(path) = &target {
            name::check_parts(path, options.split)?;
        }
        let (place, sink) = OpenTarget::open(&target)?;
        let path = match target {
            Target::File(path) => Some(path),
            Target::Stdout => None,
        };
        Self::start_at(place, sink, path, about, options, clock::system_clock())
    }

    pub(super) fn start_at(
        place: OpenTarget,
        sink: Sink,
        path: Option<PathBuf>,
        about: About,
        options: RecordOptions,
        clock: Clock,
    ) -> Result<Arc<Self>, RecordError> {
        let (streams, is_camera) = (about.streams, about.is_camera);
        let shared = Arc::new(Shared::new(Queue::new(options.queue_bytes, streams.needs_results()), clock));
        let calibration = about.calibration.rig.clone();
        let packer = Packer::new(about, options.format);
        let files = Files::begin((place, sink), path.clone(), options, calibration, Arc::clone(&shared.written))?;
        let thread = Thread::new(Arc::clone(&shared), packer, files);
        let thread = std::thread::Builder::new().name("recorder".into()).spawn(move || thread.run());
        let thread = Mutex::new(Some(thread.map_err(|err| RecordError::NoThread(err.into()))?));
        let beginning = Beginning::new(if streams.needs_results() { options.begins } else { Begins::AtOnce });
        let (lossless, seen) = (options.lossless, Mutex::default());
        Ok(Arc::new(Self { shared, path, lossless, streams, is_camera, beginning, thread, seen }))
    }

    /// Records the parameters from now on, as they are resolved for its source: a recording that is played is no camera.
    pub fn set_params(&self, params: &StereoParams) {
        self.shared.queue.push_params(&params.of_source(self.is_camera), self.now());
    }

    /// Records a [`crate::Event`] of this kind.
    pub fn event(&self, kind: &str, text: &str) {
        self.shared.queue.push_event(kind, text, self.now());
    }

    /// Begins now without depth, for the reason `why`, if the recording waits for depth.
    pub fn begin_without_depth(&self, why: &str) {
        self.beginning.begin_without(why);
    }

    /// Returns whether a pair was recorded, or dropped by the recorder.
    pub fn has_begun(&self) -> bool {
        self.beginning.begun().is_some()
    }

    /// Records new errors of the source, and ends of errors since the last call, as events.
    pub fn watch(&self, errors: &[String]) {
        let mut seen = self.seen.lock();
        for error in errors.iter().filter(|error| !seen.errors.contains(error)) {
            self.event("source", error);
        }
        for error in seen.errors.iter().filter(|error| !errors.contains(error)) {
            self.event("source", &format!("no more: {error}"));
        }
        if seen.errors != errors {
            seen.errors = errors.to_vec();
        }
    }

    /// Returns the current status.
    pub fn status(&self) -> RecordStatus {
        let progress = self.shared.progress();
        let (ended, until) = match progress.ended {
            Some((result, when)) => (Some(result), when),
            None => (None, self.now().steady),
        };
        let until_then = |since| until.saturating_duration_since(since);
        let (running, bytes) = (until_then(self.shared.started), self.bytes());
        let elapsed = self.beginning.begun().map_or(Duration::ZERO, until_then);
        let bytes_per_s = if progress.bytes_per_s > 0.0 { progress.bytes_per_s } else { per_second(bytes, running) };
        let (counters, taken) = self.shared.queue.counters_and_taken();
        RecordStatus {
            path: self.path.clone(),
            further: progress.further,
            split: progress.split,
            elapsed,
            bytes,
            bytes_per_s,
            counters,
            taken,
            is_waiting: ended.is_none() && self.beginning.is_waiting(),
            without_depth: self.beginning.reason_without_results(),
            depth_loss: self.shared.queue.depth_loss(),
            cpu_percent: progress.cpu_time.map(|time| 100.0 * time.as_secs_f64() / running.as_secs_f64().max(1e-3)),
            disk_left_s: progress.disk_left_s,
            ended,
        }
    }

    /// Closes the queue without waiting; its items are still written.
    pub fn close(&self) {
        self.beginning.set_ready();
        self.shared.queue.close(self.now());
    }

    /// Ends the recording and waits until the file is synced. Further calls return the same.
    ///
    /// # Errors
    /// The recording ended early: the disk is full, or the pipe is closed. [`Recorder::status`] reports the part that was written.
    pub fn stop(&self) -> Result<RecordStatus, RecordError> {
        self.close();
        if let Some(thread) = self.thread.lock().take()
            && thread.join().is_err()
        {
            log::error!("the recorder's thread panicked");
        }
        match self.shared.progress().ended {
            Some((Err(err), _)) => Err(err),
            _ => Ok(self.status()),
        }
    }

    fn bytes(&self) -> u64 {
        self.shared.written.load(Ordering::Relaxed)
    }

    fn now(&self) -> Moment {
        (self.shared.clock)()
    }

    fn note_source(&self, source: &SourceInfo) {
        let mut seen = self.seen.lock();
        let same = seen
            .source
            .as_ref()
            .is_none_or(|seen| (&seen.name, seen.width, seen.height) == (&source.name, source.width, source.height));
        if seen.source.is_none() || !same {
            seen.source = Some(source.clone());
        }
        drop(seen);
        if !same {
            self.shared.queue.begin_source();
            let SourceInfo { name, width, height, .. } = source;
            self.event("source", &format!("from here on pairs are those of {name}, {width}x{height}"));
        }
    }
}

impl Recorder {
    /// Returns the taps that the streams need: frames where rectified images are recorded, else raw pairs.
    pub fn taps(self: &Arc<Self>) -> Taps {
        if self.streams.has(Stream::Rectified) {
            Taps { frames: vec![Arc::clone(self) as _], ..Taps::default() }
        } else {
            Taps { raw: vec![Arc::clone(self) as _], ..Taps::default() }
        }
    }

    fn push(&self, pair: PairParts, source: &SourceInfo) {
        self.note_source(source);
        if !self.beginning.admits() {
            return;
        }
        if let Some(why) = self.beginning.take_reason_without_results() {
            self.event("depth", &format!("begun without depth: {why}"));
        }
        self.shared.queue.push_pair(pair, self.now(), self.lossless && !source.is_camera);
    }
}

impl RawTap for Recorder {
    fn pair(&self, pair: &Arc<RawPair>, geometry: Option<Geometry>, source: &SourceInfo) {
        self.push(PairParts::of_raw(pair, geometry, self.streams), source);
    }
}

impl FrameTap for Recorder {
    fn frame(&self, frame: &Arc<Frame>, source: &SourceInfo) {
        self.push(PairParts::of_frame(frame, self.streams), source);
    }

    fn unprepared(&self, pair: &Arc<RawPair>, source: &SourceInfo) {
        if self.streams.has_unrectified() {
            self.pair(pair, None, source);
        }
    }
}

impl ResultTap for Recorder {
    fn result(&self, output: &Arc<Output>) {
        if self.streams.needs_results() {
            self.beginning.set_ready();
            let is_camera = self.seen.lock().source.as_ref().is_none_or(|source| source.is_camera);
            self.shared.queue.push_result(output, self.now(), self.lossless && !is_camera);
        }
    }

    fn wants_results(&self) -> bool {
        self.streams.needs_results() && self.shared.queue.is_open()
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        if let Err(err) = self.stop() {
            log::warn!("the recording: {err}");
        }
    }
}
