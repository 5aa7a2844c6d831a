//! Capture thread: reads raw pairs from a source, prepares frames (rectification, scaling) and sends them to the engine.
//! Raw taps receive each pair before its preparation, frame taps each frame before the newest-wins channel: neither a failing
//! preparation nor a slow engine may remove a pair from a recording.

use parking_lot::Mutex;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use stereopsis_base::newest::{NewestReceiver, NewestSender, Policy, channel_with};
use stereopsis_base::rate::Rate;
use stereopsis_base::threads;
use stereopsis_frame::engine::SourceEngine;
use stereopsis_frame::{
    CaptureError, Frame, FramePreparation, Next, PairSource, SourceInfo, SourceState, Speed, Taps, Transport,
};

pub use stereopsis_base::threads::join_or_detach;

/// Function that returns whether pairs count towards the limits yet, for example only recorded ones.
pub type CountsFrom = Arc<dyn Fn() -> bool + Send + Sync>;

/// Options of the capture thread.
#[derive(Clone, Default)]
pub struct CaptureOptions {
    /// Preparation of frames; it can be changed while the source is read.
    pub preparation: FramePreparation,
    /// Policy for frames that are not taken in time.
    pub policy: Policy,
    /// Receivers of pairs and frames; they can be changed while the source is read.
    pub taps: Taps,
    /// Function, called after each pair, that returns whether the pair counts for the two limits; `None` counts all.
    pub counts_from: Option<CountsFrom>,
    /// Number of pairs after which reading ends.
    pub max_pairs: Option<u64>,
    /// Time from the first pair after which reading ends.
    pub max_time: Option<Duration>,
}

impl From<FramePreparation> for CaptureOptions {
    fn from(preparation: FramePreparation) -> Self {
        Self { preparation, ..Self::default() }
    }
}

/// Statistics of the capture thread.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CaptureStats {
    /// Number of pairs read from the source.
    pub captured: u64,
    /// Number of pairs that the source dropped: gaps in its sequence numbers.
    pub dropped_source: u64,
    /// Number of frames replaced by newer ones before they were taken.
    pub dropped_newest: u64,
    /// Pair rate over about the last second, Hz; 0 before the second pair.
    pub rate_hz: f64,
    /// Skew of the newest pair, s; positive: the right image was taken later.
    pub skew_s: f64,
    /// Time spent on rectification and scaling of the newest pair, ms.
    pub rectify_ms: f64,
    /// Reason why the stream ended early, or why a pair could not be prepared.
    pub last_error: Option<String>,
    /// Whether the newest pair could not be prepared, see [`CaptureStats::last_error`].
    pub unprepared: bool,
    /// Whether the stream has ended.
    pub ended: bool,
    /// Whether the stream ended with an error, see [`CaptureStats::last_error`].
    pub lost: bool,
}

struct SharedState {
    stop: AtomicBool,
    stats: Mutex<CaptureStats>,
    info: Mutex<SourceInfo>,
    state: Mutex<SourceState>,
    /// Number of changes of the preparation, and the preparation.
    preparation: Mutex<(u64, FramePreparation)>,
    taps: Mutex<Taps>,
    resync: AtomicBool,
}

/// Running capture thread; stopped when dropped.
pub struct Capture {
    /// Channel of prepared frames; the consumer has a clone.
    pub frames: NewestReceiver<Arc<Frame>>,
    shared: Arc<SharedState>,
    transport: Option<Arc<Transport>>,
    engine: Option<Arc<dyn SourceEngine>>,
    thread: Option<JoinHandle<()>>,
}

/// Timeout of waiting for a pair, after which the thread checks its stop signal.
const READ_TIMEOUT: Duration = Duration::from_millis(50);
const TRUTH_DROPPED: &str = "the truth holds for the images as they are in the files: rectified by a calibration, they are not compared \
     with it";

impl Capture {
    /// Starts reading `source`.
    pub fn start(source: Box<dyn PairSource>, options: CaptureOptions) -> Self {
        let (sender, frames) = channel_with(options.policy);
        let CaptureOptions { preparation, policy: _, taps, counts_from, max_pairs, max_time } = options;
        let (transport, engine) = (source.transport(), source.engine());
        let shared = Arc::new(SharedState {
            stop: AtomicBool::new(false),
            stats: Mutex::default(),
            info: Mutex::new(source.info()),
            state: Mutex::new(source.state()),
            preparation: Mutex::new((0, preparation)),
            taps: Mutex::new(taps),
            resync: AtomicBool::new(false),
        });
        let (thread_shared, steered) = (Arc::clone(&shared), transport.clone());
        let reader = CaptureThread {
            source,
            sender,
            shared: thread_shared,
            transport: steered,
            rate: Rate::default(),
            counts_from,
            max_pairs,
            max_time,
            has_truth: false,
            bits: 0,
        };
        let thread = std::thread::Builder::new().name("capture".into()).spawn(move || reader.run());
        if let Err(err) = &thread {
            let mut stats = shared.stats.lock();
            stats.last_error = Some(format!("cannot start the capture thread: {err}"));
            (stats.ended, stats.lost) = (true, true);
        }
        Self { frames, shared, transport, engine, thread: thread.ok() }
    }

    /// Returns the present statistics.
    pub fn stats(&self) -> CaptureStats {
        let mut stats = self.shared.stats.lock().clone();
        stats.dropped_newest = self.frames.dropped();
        stats
    }

    /// Returns the present description of the source.
    pub fn info(&self) -> SourceInfo {
        self.shared.info.lock().clone()
    }

    /// Returns the present state of the cameras.
    pub fn state(&self) -> SourceState {
        self.shared.state.lock().clone()
    }

    /// Returns the present preparation.
    pub fn preparation(&self) -> FramePreparation {
        self.shared.preparation.lock().1.clone()
    }

    /// Changes the preparation from the next frame on.
    pub fn set_preparation(&self, preparation: FramePreparation) {
        let mut now = self.shared.preparation.lock();
        *now = (now.0 + 1, preparation);
    }

    /// Replaces the receivers of pairs and frames.
    pub fn set_taps(&self, taps: Taps) {
        *self.shared.taps.lock() = taps;
    }

    /// Returns the playback control of a recording or a folder; `None` for other sources.
    pub fn transport(&self) -> Option<&Arc<Transport>> {
        self.transport.as_ref()
    }

    /// Returns the engine that the source brings.
    pub fn engine(&self) -> Option<Arc<dyn SourceEngine>> {
        self.engine.clone()
    }

    /// Starts to align two free-running cameras, see [`PairSource::resync`].
    pub fn resync(&self) {
        self.shared.resync.store(true, Ordering::Release);
    }

    /// Stops reading. Waits at most half a second, then detaches a thread that is still blocked by its source.
    pub fn stop(&mut self) {
        self.shared.stop.store(true, Ordering::Release);
        self.frames.close();
        if let Some(thread) = self.thread.take() {
            join_or_detach(thread, "the capture thread");
        }
    }
}

impl Drop for Capture {
    fn drop(&mut self) {
        self.stop();
    }
}

struct CaptureThread {
    source: Box<dyn PairSource>,
    sender: NewestSender<Arc<Frame>>,
    shared: Arc<SharedState>,
    transport: Option<Arc<Transport>>,
    rate: Rate,
    counts_from: Option<CountsFrom>,
    max_pairs: Option<u64>,
    max_time: Option<Duration>,
    /// Whether the last pair had truth, which is not valid after rectification.
    has_truth: bool,
    /// Maximum bit depth of images so far.
    bits: u8,
}

impl CaptureThread {
    /// Returns the preparation and its version if the version differs from this one.
    fn newer_preparation(&self, version: u64) -> Option<(u64, FramePreparation)> {
        let now = self.shared.preparation.lock();
        (now.0 != version).then(|| now.clone())
    }

    fn run(mut self) {
        let read = std::panic::catch_unwind(AssertUnwindSafe(|| self.read_all()));
        let error = read
            .unwrap_or_else(|_| Err(threads::Panicked("the thread that reads the source".to_owned()).into()))
            .err()
            .map(|err| err.to_string());
        let mut stats = self.shared.stats.lock();
        stats.ended = true;
        stats.lost = error.is_some();
        stats.last_error = error.or(stats.last_error.take());
        drop(stats);
    }

    /// Reads until the end of the source, a stop or an error.
    fn read_all(&mut self) -> Result<(), CaptureError> {
        let mut expected = None;
        let (mut pairs, mut first) = (0, None);
        while !self.shared.stop.load(Ordering::Acquire) {
            let passed = first.map_or(Duration::ZERO, |first: Instant| first.elapsed());
            if self.max_pairs.is_some_and(|most| pairs >= most) || self.max_time.is_some_and(|most| passed >= most) {
                break;
            }
            if self.shared.resync.swap(false, Ordering::AcqRel) {
                self.source.resync();
            }
            let next = self.source.next(READ_TIMEOUT);
            let mut state = self.source.state();
            if self.has_truth && self.shared.preparation.lock().1.rectifier.is_some() {
                state.remarks.push(TRUTH_DROPPED.to_owned());
            }
            *self.shared.state.lock() = state;
            let mut raw = match next? {
                Next::Pair(raw) => raw,
                Next::Waiting => {
                    // the rate must fall while no pair comes
                    self.shared.stats.lock().rate_hz = self.rate.per_second(Instant::now());
                    continue;
                }
                Next::End => break,
            };
            let arrived = Instant::now();
            let info = self.source.info();
            let (mut version, preparation) = self.shared.preparation.lock().clone();
            self.bits = raw.deepen(self.bits);
            // a recording of this pair must not name cameras that the user has replaced
            raw.cameras.take_if(|_| !preparation.follows);
            let raw = Arc::new(*raw);
            let taps = self.shared.taps.lock().clone();
            for tap in &taps.raw {
                tap.pair(&raw, preparation.geometry_of(&raw, &info), &info);
            }
            let latency_begin = self.source.latency_begin(arrived);
            let prepared = |preparation: &FramePreparation| {
                let frame = preparation.prepare(&raw, &info, arrived);
                frame.map(|frame| Arc::new(Frame { latency_begin, ..frame }))
            };
            let mut frame = prepared(&preparation);
            // the preparation may have changed meanwhile, and a still image delivers no other pair
            while let Some((newer, preparation)) = self.newer_preparation(version) {
                version = newer;
                frame = prepared(&preparation);
            }
            self.has_truth = raw.truth.is_some();
            for tap in &taps.frames {
                match &frame {
                    Ok(frame) => tap.frame(frame, &info),
                    Err(_) => tap.unprepared(&raw, &info),
                }
            }
            if self.counts_from.as_ref().is_none_or(|counts| counts()) {
                first.get_or_insert(arrived);
                pairs += 1;
            }

            let mut stats = self.shared.stats.lock();
            stats.captured += 1;
            // with playback control, gaps come from seeking
            let expects = expected.filter(|_| self.transport.is_none()).unwrap_or(raw.sequence);
            stats.dropped_source += raw.sequence.saturating_sub(expects);
            self.rate.record(arrived);
            stats.rate_hz = self.rate.per_second(arrived);
            stats.skew_s = raw.skew_s;
            stats.unprepared = frame.is_err();
            match &frame {
                Ok(frame) => stats.rectify_ms = frame.rectify_time.as_secs_f64() * 1e3,
                Err(err) => stats.last_error = Some(err.to_string()),
            }
            drop(stats);
            expected = Some(raw.sequence + 1);
            *self.shared.info.lock() = info;
            let Ok(frame) = frame else { continue }; // the next pair may succeed: the preparation may change
            // playback at maximum speed drops no frame
            let waits = self.transport.as_ref().is_some_and(|transport| transport.get().speed == Speed::Max);
            let sent = if waits { self.sender.send_waiting(frame) } else { self.sender.send(frame) };
            if sent.is_err() {
                break;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
