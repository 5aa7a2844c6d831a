//! The scene as a source. At a fixed rate it plays a loop that its own threads render in advance, separate from the
//! matcher; without a rate it renders each frame on demand.

use super::delta::Delta;
use super::{Rendered, SceneOptions, StaticScene, sensor};
use crate::capture::pace::Pace;
use crate::capture::threads::{join_or_detach, panic_message};
use crate::capture::{CaptureError, Next, PairSource, SourceInfo};
use parking_lot::{Condvar, Mutex};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// Name of the source in messages.
const THREAD: &str = "the thread that renders the scene";
/// Largest memory use of a loop, bytes; a loop of larger pictures has fewer frames.
const MAX_LOOP_BYTES: usize = 512 << 20;
/// Bytes per pixel of a frame in the loop: less than a third of 15, as most of the scene is static.
const BYTES_PER_PIXEL: usize = 5;

/// Plays the scene endlessly.
pub struct SceneSource {
    options: SceneOptions,
    color: bool,
    sequence: u64,
    pace: Pace,
    play: Play,
}

enum Play {
    /// Renders each frame on demand.
    Asked(Box<StaticScene>),
    /// A loop.
    RenderedLoop(RenderedLoop),
}

impl SceneSource {
    /// Starts the scene at frame 0 with `rate_hz` pairs per second, or without a limit; `color` adds RGB to luma.
    ///
    /// # Errors
    /// The size or the rig is invalid, or threads cannot be started.
    pub fn new(options: SceneOptions, rate_hz: Option<f64>, color: bool) -> Result<Self, CaptureError> {
        let SceneOptions { width, height, baseline_m, noise, exposure, .. } = options;
        let focal_px = options.geometry().focal_px;
        if width == 0 || height == 0 || width.saturating_mul(height) > 1 << 26 {
            let text = format!("a scene of {width}x{height} pixels: choose 1x1 to 8192x8192");
            return Err(CaptureError::Grammar(text));
        }
        let sane = |v: f64| v.is_finite() && v > 0.0;
        if !sane(baseline_m) || !sane(focal_px) || !sane(exposure) || !noise.is_finite() || noise < 0.0 {
            let text = "the scene's baseline, focal length and exposure are positive, its noise is not negative";
            return Err(CaptureError::Grammar(text.into()));
        }
        let mut options = options;
        if rate_hz.is_some() {
            let fit = MAX_LOOP_BYTES / (width * height * BYTES_PER_PIXEL);
            options.loop_frames = options.loop_frames.clamp(1, fit.max(8) as u32);
        }
        let play = match rate_hz {
            Some(_) => Play::RenderedLoop(RenderedLoop::start(options)?),
            None => Play::Asked(Box::new(StaticScene::new(&options))),
        };
        Ok(Self { options, color, sequence: 0, pace: Pace::new(rate_hz), play })
    }
}

impl PairSource for SceneSource {
    fn info(&self) -> SourceInfo {
        SourceInfo {
            name: "scene".into(),
            width: self.options.width,
            height: self.options.height,
            rate_hz: self.pace.rate_hz(),
            is_rectified: true,
            geometry: Some(self.options.geometry()),
            ..SourceInfo::default()
        }
    }

    fn next(&mut self, timeout: Duration) -> Result<Next, CaptureError> {
        if !self.pace.wait(timeout) {
            return Ok(Next::Waiting);
        }
        let frame = match &self.play {
            Play::Asked(stage) => stage.frame(self.sequence),
            Play::RenderedLoop(ahead) => match ahead.frame(self.sequence, timeout)? {
                Some(frame) => frame,
                None => return Ok(Next::Waiting),
            },
        };
        let pair = sensor::expose(&self.options, &frame, self.sequence, self.color);
        self.pace.taken();
        self.sequence += 1;
        Ok(Next::Pair(Box::new(pair)))
    }
}

/// The loop and its render threads.
struct RenderedLoop {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    stop: AtomicBool,
    film: Mutex<LoopFrames>,
    grown: Condvar,
}

#[derive(Default)]
struct LoopFrames {
    /// Frame 0.
    base: Option<Arc<Rendered>>,
    /// Frames 1 and up.
    rest: Vec<Arc<Delta>>,
    /// True when all frames are rendered.
    complete: bool,
}

impl RenderedLoop {
    fn start(options: SceneOptions) -> Result<Self, CaptureError> {
        let failed =
            |err: &dyn std::fmt::Display| CaptureError::Camera(format!("cannot start the scene's threads: {err}"));
        let pool = rayon::ThreadPoolBuilder::new().thread_name(|k| format!("scene-{k}")).build();
        let pool = pool.map_err(|err| failed(&err))?;
        let shared = Arc::new(Shared::default());
        let film = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name("scene".into()).spawn(move || film.render(options, &pool));
        Ok(Self { shared, thread: Some(thread.map_err(|err| failed(&err))?) })
    }

    /// Frame `number` of the endless play; `None` if it is not rendered within the timeout.
    fn frame(&self, number: u64, timeout: Duration) -> Result<Option<Rendered>, CaptureError> {
        // read before the frames: frames rendered before the end are then visible
        let has_ended = self.thread.as_ref().is_none_or(JoinHandle::is_finished);
        let frame = self.ready(number, timeout);
        let complete = || self.shared.film.lock().complete;
        if frame.is_none() && has_ended && !complete() {
            return Err(CaptureError::Camera(panic_message(THREAD)));
        }
        Ok(frame)
    }

    fn ready(&self, number: u64, timeout: Duration) -> Option<Rendered> {
        let mut film = self.shared.film.lock();
        let missing = |film: &mut LoopFrames| {
            let ready = film.rest.len() as u64 + u64::from(film.base.is_some());
            ready == 0 || (!film.complete && number >= ready)
        };
        self.shared.grown.wait_while_for(&mut film, missing, timeout);
        let base = Arc::clone(film.base.as_ref()?);
        let in_loop = number % if film.complete { film.rest.len() as u64 + 1 } else { u64::MAX };
        if in_loop == 0 {
            return Some(base.as_ref().clone());
        }
        let delta = Arc::clone(film.rest.get(in_loop as usize - 1)?);
        drop(film);
        Some(delta.onto(&base))
    }
}

impl Drop for RenderedLoop {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            join_or_detach(thread, THREAD);
        }
    }
}

impl Shared {
    fn render(&self, options: SceneOptions, pool: &rayon::ThreadPool) {
        let stage = pool.install(|| StaticScene::new(&options));
        let base = Arc::new(pool.install(|| stage.frame(0)));
        self.grow(|film| film.base = Some(Arc::clone(&base)));
        for number in 1..options.loop_frames {
            if self.stop.load(Ordering::Acquire) {
                return;
            }
            let frame = pool.install(|| stage.frame(u64::from(number)));
            let delta = Delta::between(&base, &frame);
            self.grow(|film| film.rest.push(Arc::new(delta)));
        }
        self.grow(|film| film.complete = true);
    }

    fn grow(&self, change: impl FnOnce(&mut LoopFrames)) {
        change(&mut self.film.lock());
        self.grown.notify_all();
    }
}
