//! The capture thread: reads a source, rectifies, scales, shows frames to the recorder's tap, hands them on.
//! The tap lies before the newest-wins channel, so that a slow matcher never thins what is recorded.

use super::{Next, PairSource, Scale, SourceInfo, SourceState, Speed, Transport, threads};
use crate::calibration::{CalibrationError, Rectifier};
use crate::capture::{Frame, RawPair};
use crate::geometry::Geometry;
use crate::newest::{NewestReceiver, NewestSender, Policy, channel_with};
use crate::rate::Rate;
use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

pub(crate) use super::threads::join_or_leave;

/// How a raw pair becomes a frame.
#[derive(Clone, Default)]
pub struct Recipe {
    /// Makes rectified pairs; `None` hands raw pairs on as they are.
    pub rectifier: Option<Arc<Rectifier>>,
    /// Goes before the rectifier's and the source's own; for the source's size.
    pub geometry: Option<Geometry>,
    /// Working size.
    pub scale: Scale,
}

impl Recipe {
    /// What turns disparity into metres, at the source's size.
    pub fn geometry(&self, source: &SourceInfo) -> Option<Geometry> {
        self.geometry.or_else(|| self.rectifier.as_ref().map(|rectifier| rectifier.geometry())).or(source.geometry)
    }

    /// Checks whether a frame can be made of this pair.
    ///
    /// # Errors
    /// The pair does not fit the calibration.
    pub fn check(&self, raw: &RawPair) -> Result<(), CalibrationError> {
        self.rectifier.as_ref().map_or(Ok(()), |rectifier| rectifier.check(&raw.left, &raw.right))
    }

    /// The frame of a pair that arrived at this moment.
    ///
    /// # Errors
    /// The pair does not fit the calibration.
    pub fn make(&self, raw: &Arc<RawPair>, source: &SourceInfo, arrived: Instant) -> Result<Frame, CalibrationError> {
        let start = Instant::now();
        let scale = self.scale;
        let (left, right) = match &self.rectifier {
            Some(rectifier) => {
                let (left, right) = rectifier.apply(&raw.left, &raw.right)?;
                if scale == Scale::One { (left, right) } else { (scale.picture(&left), scale.picture(&right)) }
            }
            None => (scale.picture(&raw.left), scale.picture(&raw.right)),
        };
        // truth is of the pixels as they came: rectification would move them away from it
        let truth = raw.truth.as_ref().filter(|_| self.rectifier.is_none());
        let truth =
            truth.map(|truth| if scale == Scale::One { Arc::clone(truth) } else { Arc::new(scale.truth(truth)) });
        Ok(Frame {
            left,
            right,
            raw: Arc::clone(raw),
            truth,
            geometry: self.geometry(source).map(|g| g.scaled(scale.factor())),
            arrived,
            rectify_time: start.elapsed(),
        })
    }
}

impl fmt::Debug for Recipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rectifier, geometry, scale } = self;
        write!(f, "Recipe {{ rectifies: {}, {geometry:?}, {scale} }}", rectifier.is_some())
    }
}

/// Sees every frame before anything can drop it, such as a recorder.
pub trait FrameTap: Send + Sync {
    /// Called on the capture thread for each pair. What takes long here holds the source back, which for a camera means
    /// lost pictures.
    fn frame(&self, frame: &Arc<Frame>, source: &SourceInfo);
}

/// How a source is read.
#[derive(Clone)]
pub struct CaptureOptions {
    /// How frames are made; it can be changed while the source is read.
    pub recipe: Recipe,
    /// What happens to frames that nobody takes in time.
    pub policy: Policy,
    /// See every frame; they can be changed while the source is read.
    pub taps: Vec<Arc<dyn FrameTap>>,
}

impl Default for CaptureOptions {
    fn default() -> Self {
        Self { recipe: Recipe::default(), policy: Policy::NewestWins, taps: Vec::new() }
    }
}

impl From<Recipe> for CaptureOptions {
    fn from(recipe: Recipe) -> Self {
        Self { recipe, ..Self::default() }
    }
}

/// What the capture thread has done so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CaptureStats {
    /// Pairs read from the source.
    pub captured: u64,
    /// Pairs that the source itself dropped: gaps in its numbers.
    pub dropped_source: u64,
    /// Frames replaced by a newer one before anybody took them.
    pub dropped_newest: u64,
    /// Pairs per second, over about the last second; 0 before the second pair.
    pub rate_hz: f64,
    /// How much later the newest pair's right picture was taken, s.
    pub skew_s: f64,
    /// Time that rectification and scaling of the newest pair took, ms.
    pub rectify_ms: f64,
    /// Why the stream ended before its time.
    pub last_error: Option<String>,
    /// Nothing will come any more.
    pub ended: bool,
    /// It ended by an error: [`CaptureStats::last_error`] says which.
    pub lost: bool,
}

struct Shared {
    stop: AtomicBool,
    stats: Mutex<CaptureStats>,
    info: Mutex<SourceInfo>,
    state: Mutex<SourceState>,
    recipe: Mutex<Recipe>,
    taps: Mutex<Vec<Arc<dyn FrameTap>>>,
    resync: AtomicBool,
}

/// The running capture thread. Dropping it stops it.
pub struct Capture {
    /// The frames; clone it for whoever takes them.
    pub frames: NewestReceiver<Arc<Frame>>,
    shared: Arc<Shared>,
    transport: Option<Arc<Transport>>,
    thread: Option<JoinHandle<()>>,
}

/// How long a source waits at most before the thread looks whether it shall stop.
const PATIENCE: Duration = Duration::from_millis(50);

impl Capture {
    /// Starts reading `source`.
    pub fn start(source: Box<dyn PairSource>, options: CaptureOptions) -> Self {
        let (sender, frames) = channel_with(options.policy);
        let CaptureOptions { recipe, policy: _, taps } = options;
        let transport = source.transport();
        let shared = Arc::new(Shared {
            stop: AtomicBool::new(false),
            stats: Mutex::default(),
            info: Mutex::new(source.info()),
            state: Mutex::new(source.state()),
            recipe: Mutex::new(recipe),
            taps: Mutex::new(taps),
            resync: AtomicBool::new(false),
        });
        let (reader_shared, steered) = (Arc::clone(&shared), transport.clone());
        let reader = Reader { source, sender, shared: reader_shared, transport: steered, rate: Rate::default() };
        let thread = std::thread::Builder::new().name("capture".into()).spawn(move || reader.run());
        if let Err(err) = &thread {
            let mut stats = lock(&shared.stats);
            stats.last_error = Some(format!("cannot start the capture thread: {err}"));
            (stats.ended, stats.lost) = (true, true);
        }
        Self { frames, shared, transport, thread: thread.ok() }
    }

    /// What has happened so far.
    pub fn stats(&self) -> CaptureStats {
        let mut stats = lock(&self.shared.stats).clone();
        stats.dropped_newest = self.frames.dropped();
        stats
    }

    /// What is known of the source now.
    pub fn info(&self) -> SourceInfo {
        lock(&self.shared.info).clone()
    }

    /// How the cameras stand.
    pub fn state(&self) -> SourceState {
        lock(&self.shared.state).clone()
    }

    /// How frames are made now.
    pub fn recipe(&self) -> Recipe {
        lock(&self.shared.recipe).clone()
    }

    /// Makes frames in another way from the next pair on.
    pub fn set_recipe(&self, recipe: Recipe) {
        *lock(&self.shared.recipe) = recipe;
    }

    /// Shows every frame to these from now on.
    pub fn set_taps(&self, taps: Vec<Arc<dyn FrameTap>>) {
        *lock(&self.shared.taps) = taps;
    }

    /// How a recording is played; `None` for other sources.
    pub fn transport(&self) -> Option<&Arc<Transport>> {
        self.transport.as_ref()
    }

    /// Has two free-running cameras take their pictures at nearly the same time, see [`PairSource::resync`].
    pub fn resync(&self) {
        self.shared.resync.store(true, Ordering::Release);
    }

    /// Stops reading. Waits for half a second at most and leaves a thread behind that a source still blocks.
    pub fn stop(&mut self) {
        self.shared.stop.store(true, Ordering::Release);
        self.frames.close();
        if let Some(thread) = self.thread.take() {
            join_or_leave(thread, "the capture thread");
        }
    }
}

impl Drop for Capture {
    fn drop(&mut self) {
        self.stop();
    }
}

/// The thread's own state.
struct Reader {
    source: Box<dyn PairSource>,
    sender: NewestSender<Arc<Frame>>,
    shared: Arc<Shared>,
    transport: Option<Arc<Transport>>,
    rate: Rate,
}

impl Reader {
    fn run(mut self) {
        let read = std::panic::catch_unwind(AssertUnwindSafe(|| self.read_all()));
        let error = read.unwrap_or_else(|_| Err(threads::died("the thread that reads the source"))).err();
        let mut stats = lock(&self.shared.stats);
        stats.ended = true;
        stats.lost = error.is_some();
        stats.last_error = error;
        drop(stats);
    }

    /// Reads until the end, a stop or an error, which comes back in words.
    fn read_all(&mut self) -> Result<(), String> {
        let mut expected = None;
        while !self.shared.stop.load(Ordering::Acquire) {
            if self.shared.resync.swap(false, Ordering::AcqRel) {
                self.source.resync();
            }
            let next = self.source.next(PATIENCE);
            *lock(&self.shared.state) = self.source.state();
            let raw = match next.map_err(|err| err.to_string())? {
                Next::Pair(raw) => Arc::new(*raw),
                Next::Waiting => {
                    // what came once counts less and less while nothing comes
                    lock(&self.shared.stats).rate_hz = self.rate.per_second(Instant::now());
                    continue;
                }
                Next::End => break,
            };
            let arrived = Instant::now();
            let info = self.source.info();
            let recipe = lock(&self.shared.recipe).clone();
            let frame = Arc::new(recipe.make(&raw, &info, arrived).map_err(|err| err.to_string())?);
            let taps = lock(&self.shared.taps).clone();
            for tap in &taps {
                tap.frame(&frame, &info);
            }

            let mut stats = lock(&self.shared.stats);
            stats.captured += 1;
            // who is steered leaves out what nobody wants to see
            let expects = expected.filter(|_| self.transport.is_none()).unwrap_or(raw.sequence);
            stats.dropped_source += raw.sequence.saturating_sub(expects);
            self.rate.record(arrived);
            stats.rate_hz = self.rate.per_second(arrived);
            stats.skew_s = raw.skew_s;
            stats.rectify_ms = frame.rectify_time.as_secs_f64() * 1e3;
            drop(stats);
            expected = Some(raw.sequence + 1);
            *lock(&self.shared.info) = info;
            // who plays as fast as can be wants to see all of it
            let waits = self.transport.as_ref().is_some_and(|transport| transport.get().speed == Speed::Max);
            let sent = if waits { self.sender.send_waiting(frame) } else { self.sender.send(frame) };
            if sent.is_err() {
                break;
            }
        }
        Ok(())
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibration::StereoRig;
    use crate::capture::CaptureError;
    use crate::image::{Image, Luma, Picture};
    use crate::newest::RecvError;
    use std::time::SystemTime;

    /// Gives pairs of one grey level each, then ends, fails or blocks.
    struct Script {
        numbers: Vec<u64>,
        given: usize,
        last: fn() -> Result<Next, CaptureError>,
    }

    fn script(numbers: impl IntoIterator<Item = u64>) -> Script {
        Script { numbers: numbers.into_iter().collect(), given: 0, last: || Ok(Next::End) }
    }

    impl PairSource for Script {
        fn info(&self) -> SourceInfo {
            SourceInfo {
                name: "script".into(),
                width: 8,
                height: 4,
                rate_hz: None,
                is_camera: false,
                num_pairs: None,
                is_rectified: false,
                geometry: None,
            }
        }

        fn next(&mut self, _: Duration) -> Result<Next, CaptureError> {
            let Some(&sequence) = self.numbers.get(self.given) else { return (self.last)() };
            self.given += 1;
            let picture = Picture { luma: Luma::U8(Image::filled(8, 4, sequence as u8)), rgb: None };
            Ok(Next::Pair(Box::new(RawPair {
                original: None,
                recorded: None,
                left: picture.clone(),
                right: picture,
                sequence,
                capture_time: SystemTime::now(),
                skew_s: 0.002,
                name: format!("{sequence}"),
                truth: None,
            })))
        }
    }

    fn wait_for_end(capture: &Capture) -> CaptureStats {
        let deadline = Instant::now() + Duration::from_secs(10);
        while !capture.stats().ended {
            assert!(Instant::now() < deadline, "the stream does not end");
            std::thread::sleep(Duration::from_millis(1));
        }
        capture.stats()
    }

    #[derive(Default)]
    struct Seen(Mutex<Vec<u64>>);

    impl FrameTap for Seen {
        fn frame(&self, frame: &Arc<Frame>, source: &SourceInfo) {
            assert_eq!(source.name, "script");
            lock(&self.0).push(frame.raw.sequence);
        }
    }

    #[test]
    fn a_slow_matcher_never_thins_what_is_recorded() {
        let tap = Arc::new(Seen::default());
        let options = CaptureOptions { taps: vec![tap.clone()], ..CaptureOptions::default() };
        let capture = Capture::start(Box::new(script(0..100)), options);
        let stats = wait_for_end(&capture);
        assert_eq!((stats.captured, stats.dropped_newest), (100, 99));
        assert_eq!(*lock(&tap.0), (0..100).collect::<Vec<_>>());
        assert_eq!(capture.frames.try_recv().unwrap().raw.sequence, 99, "the newest one is left");
    }

    #[test]
    fn lossless_hands_on_every_pair() {
        let options = CaptureOptions { policy: Policy::Lossless, ..CaptureOptions::default() };
        let capture = Capture::start(Box::new(script(0..20)), options);
        let mut numbers = Vec::new();
        loop {
            match capture.frames.recv_timeout(Duration::from_secs(5)) {
                Ok(frame) => numbers.push(frame.raw.sequence),
                Err(RecvError::Closed) => break,
                Err(RecvError::Timeout) => panic!("no frame within 5 s"),
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        assert_eq!(numbers, (0..20).collect::<Vec<_>>());
        assert_eq!(capture.stats().dropped_newest, 0);
    }

    #[test]
    fn gaps_of_the_source_are_its_own_drops() {
        let stats = wait_for_end(&Capture::start(Box::new(script([5, 6, 9, 10, 20])), CaptureOptions::default()));
        assert_eq!((stats.captured, stats.dropped_source), (5, 11));
        assert!(!stats.lost && stats.last_error.is_none());
    }

    #[test]
    fn a_lost_source_ends_the_stream_with_its_words() {
        let mut source = script(0..3);
        source.last = || Err(CaptureError::Camera("camera 0 is gone".into()));
        let capture = Capture::start(Box::new(source), CaptureOptions::default());
        let stats = wait_for_end(&capture);
        assert!(stats.lost);
        assert_eq!(stats.last_error.as_deref(), Some("camera 0 is gone"));
        assert_eq!(capture.frames.recv_timeout(Duration::from_secs(1)).unwrap().raw.sequence, 2);
        assert_eq!(capture.frames.try_recv().unwrap_err(), RecvError::Closed);
    }

    #[test]
    fn a_source_that_panics_ends_the_stream_with_an_error() {
        let mut source = script(0..3);
        source.last = || panic!("a fault");
        let stats = wait_for_end(&Capture::start(Box::new(source), CaptureOptions::default()));
        assert!(stats.lost && stats.last_error.as_deref().unwrap().contains("has died"), "{:?}", stats.last_error);
    }

    #[test]
    fn stopping_leaves_a_blocked_source_behind() {
        let mut source = script([]);
        source.last = || {
            std::thread::sleep(Duration::from_secs(5));
            Ok(Next::End)
        };
        let mut capture = Capture::start(Box::new(source), CaptureOptions::default());
        std::thread::sleep(Duration::from_millis(20));
        let start = Instant::now();
        capture.stop();
        assert!((0.4..2.0).contains(&start.elapsed().as_secs_f64()), "{:?}", start.elapsed());
    }

    #[test]
    fn stopping_frees_a_thread_that_waits_for_room() {
        let options = CaptureOptions { policy: Policy::Lossless, ..CaptureOptions::default() };
        let mut capture = Capture::start(Box::new(script(0..1000)), options);
        std::thread::sleep(Duration::from_millis(20));
        capture.stop();
        assert!(capture.stats().ended);
    }

    /// Rectifies pairs of `width` x 4 pixels.
    fn rectifier(width: usize) -> Arc<Rectifier> {
        let geometry =
            Geometry { focal_px: 500.0, baseline_m: 0.1, doffs_px: 4.0, cx_px: 3.5, cy_px: 1.5, estimated: false };
        Arc::new(StereoRig::of_rectified(&geometry, (width, 4)).rectifier(width, 4, 0.0).unwrap())
    }

    #[test]
    fn frames_are_rectified_then_scaled_and_the_geometry_follows() {
        let options = Recipe { rectifier: Some(rectifier(8)), geometry: None, scale: Scale::Half };
        let capture = Capture::start(Box::new(script([200])), options.into());
        let stats = wait_for_end(&capture);
        assert_eq!(stats.last_error, None);
        let frame = capture.frames.try_recv().unwrap();
        assert_eq!(frame.left.luma, Luma::U8(Image::filled(4, 2, 200)));
        assert_eq!(frame.raw.left.luma, Luma::U8(Image::filled(8, 4, 200)), "the raw pair stays");
        let geometry = frame.geometry.unwrap();
        assert_eq!((geometry.focal_px, geometry.doffs_px, geometry.cx_px), (250.0, 2.0, 1.5));
    }
}
