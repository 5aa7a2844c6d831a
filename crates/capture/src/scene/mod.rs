//! Plays the built-in scene as a source. At a fixed rate, its own threads render a loop in advance, so that rendering does not slow the
//! matcher; without a rate, each frame is rendered on demand. Both ways give the same pairs.

use crossbeam_channel::{Receiver, RecvTimeoutError, bounded, never};
use parking_lot::Mutex;
use std::io;
use std::sync::{Arc, Weak};
use std::thread::JoinHandle;
use std::time::Duration;
use stereopsis_base::files;
use stereopsis_base::threads::{Panicked, join_or_detach};
use stereopsis_frame::pace::Pace;
use stereopsis_frame::{CaptureError, Next, PairSource, SceneOptions, SourceInfo};
use stereopsis_scene::{Delta, Rendered, StaticScene, expose};

const THREAD: &str = "the thread that renders the scene";
/// Maximum memory of a loop, bytes; a loop of larger images has fewer frames.
const MAX_LOOP_BYTES: usize = 512 << 20;
/// Maximum bytes per pixel of a frame in the loop: a third of 15, since most of the scene is static.
const BYTES_PER_PIXEL: usize = 5;
/// Number of frames that are rendered before they are due; all at once would take the processors from the first pairs.
const FRAMES_AHEAD: usize = 8;

/// Source that plays the scene endlessly.
pub struct SceneSource {
    options: SceneOptions,
    color: bool,
    sequence: u64,
    pace: Pace,
    play: Playback,
}

enum Playback {
    OnDemand(Box<StaticScene>),
    RenderedLoop(Arc<RenderedLoop>),
}

impl SceneSource {
    /// Starts the scene at frame 0 with `rate_hz` pairs per second, or without a limit; `color` adds RGB to luma.
    ///
    /// # Errors
    /// The size or the rig is invalid, or threads cannot be started.
    pub fn new(options: SceneOptions, rate_hz: Option<f64>, color: bool) -> Result<Self, CaptureError> {
        options.check()?;
        let mut options = options;
        if rate_hz.is_some() {
            let fit = MAX_LOOP_BYTES / (options.width * options.height * BYTES_PER_PIXEL);
            options.loop_frames = options.loop_frames.clamp(1, fit.max(8) as u32);
        }
        let play = match rate_hz {
            Some(_) => Playback::RenderedLoop(RenderedLoop::shared(options)?),
            None => Playback::OnDemand(Box::new(StaticScene::new(&options))),
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
        let frame = match &mut self.play {
            Playback::OnDemand(stage) => stage.frame(self.sequence),
            Playback::RenderedLoop(ahead) => match ahead.frame(self.sequence, timeout)? {
                Some(frame) => frame,
                None => return Ok(Next::Waiting),
            },
        };
        let pair = expose(&self.options, &frame, self.sequence, self.color);
        self.pace.taken();
        self.sequence += 1;
        Ok(Next::Pair(Box::new(pair)))
    }
}

/// Reason why the scene's threads do not start.
#[derive(Debug, thiserror::Error)]
enum ThreadError {
    #[error("cannot start the scene's threads: {0}")]
    Pool(rayon::ThreadPoolBuildError),
    #[error("cannot start the scene's threads: {}", files::cause(.0))]
    Thread(io::Error),
}

/// Loop of frames, and the thread that renders it. Sources of the same scene in one process share it.
struct RenderedLoop {
    options: SceneOptions,
    frames: Mutex<Frames>,
    thread: Option<JoinHandle<()>>,
}

struct Frames {
    /// Channel of rendered frames; rendering waits while it is full.
    to_come: Receiver<LoopFrame>,
    rendered: Vec<LoopFrame>,
}

/// Frame 0 of the loop, and the differences of a frame from it.
type LoopFrame = Arc<(Arc<Rendered>, Delta)>;

/// Loops that sources of this process play.
static LOOPS: Mutex<Vec<Weak<RenderedLoop>>> = Mutex::new(Vec::new());

impl RenderedLoop {
    /// Returns the loop of these options that another source plays, or starts it.
    fn shared(options: SceneOptions) -> Result<Arc<Self>, CaptureError> {
        let mut loops = LOOPS.lock();
        loops.retain(|played| played.strong_count() > 0);
        let same = loops.iter().filter_map(Weak::upgrade).find(|played| played.options == options);
        if let Some(played) = same {
            return Ok(played);
        }
        let started = Arc::new(Self::start(options)?);
        loops.push(Arc::downgrade(&started));
        Ok(started)
    }

    fn start(options: SceneOptions) -> Result<Self, CaptureError> {
        let pool = rayon::ThreadPoolBuilder::new().thread_name(|k| format!("scene-{k}")).build();
        let pool = pool.map_err(|err| CaptureError::Camera(ThreadError::Pool(err).into()))?;
        let (sender, to_come) = bounded(FRAMES_AHEAD);
        let render = move || {
            let stage = pool.install(|| StaticScene::new(&options));
            let base = Arc::new(pool.install(|| stage.frame(0)));
            for number in 0..options.loop_frames {
                let delta = match number {
                    0 => Delta::between(&base, &base),
                    _ => Delta::between(&base, &pool.install(|| stage.frame(u64::from(number)))),
                };
                if sender.send(Arc::new((Arc::clone(&base), delta))).is_err() {
                    return; // no source plays it any more
                }
            }
        };
        let thread = std::thread::Builder::new().name("scene".into()).spawn(render);
        let thread = thread.map_err(|err| CaptureError::Camera(ThreadError::Thread(err).into()))?;
        let frames = Mutex::new(Frames { to_come, rendered: Vec::new() });
        Ok(Self { options, frames, thread: Some(thread) })
    }

    /// Returns frame `number` of the endless loop; `None` if it is not rendered within the timeout.
    fn frame(&self, number: u64, timeout: Duration) -> Result<Option<Rendered>, CaptureError> {
        let in_loop = (number % u64::from(self.options.loop_frames)) as usize;
        let Some(mut frames) = self.frames.try_lock_for(timeout) else { return Ok(None) };
        while frames.rendered.len() <= in_loop {
            match frames.to_come.recv_timeout(timeout) {
                Ok(frame) => frames.rendered.push(frame),
                Err(RecvTimeoutError::Timeout) => return Ok(None),
                Err(RecvTimeoutError::Disconnected) => return Err(Panicked(THREAD.to_owned()).into()),
            }
        }
        let frame = Arc::clone(&frames.rendered[in_loop]);
        drop(frames);
        Ok(Some(frame.1.onto(&frame.0)))
    }
}

impl Drop for RenderedLoop {
    fn drop(&mut self) {
        // without a receiver the thread ends at its next frame
        self.frames.get_mut().to_come = never();
        if let Some(thread) = self.thread.take() {
            join_or_detach(thread, THREAD);
        }
    }
}

#[cfg(test)]
mod tests;
