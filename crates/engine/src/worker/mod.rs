//! The engine thread: takes the newest pair with the newest settings, keeps the engine busy, publishes the newest result.
//!
//! While no new pair comes (paused, at the end, or from a still), only a changed setting, frame or engine has the last pair matched
//! again.
//! [`feed`] chooses jobs, [`host`] holds the engine, [`shared`] publishes results, [`thread`] is the loop around them.

mod feed;
mod host;
mod shared;
mod stats;
mod thread;
#[cfg(test)]
mod tests;

pub use stats::{EngineStats, Figures};

use super::{Engine, OpenOptions, Output};
use crate::newest::NewestReceiver;
use crate::stereo::StereoParams;
use crossbeam_channel::{Sender, bounded};
use parking_lot::Mutex;
use shared::SharedState;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;
use stereopsis_frame::{Frame, FramePreparation, RemoteRig, SourceInfo};
use thread::{EngineThread, Inputs};

/// How long a command may wait for room in the queue.
const SEND_TIMEOUT: Duration = Duration::from_millis(100);

/// Settings of the engine thread; it reads them before each job.
#[derive(Clone, Debug)]
pub struct Control {
    /// Parameters; valid ones.
    pub params: Arc<StereoParams>,
    /// Each result brings its numbers to the host.
    pub read_back: bool,
    /// No new pairs are taken.
    pub paused: bool,
    /// No new pairs are taken, as other work needs the processor; a pair that is held is still matched when parameters change.
    pub suspended: bool,
    /// Steps so far: each takes one new pair while paused.
    pub steps: u64,
    /// The rig on the network whose pairs come: its results are wanted while an engine there is chosen.
    pub rig: Option<Arc<RemoteRig>>,
}

/// An open engine, or options by which the engine thread opens one.
pub enum EngineSource {
    /// An open engine.
    Ready(Box<dyn Engine>),
    /// An open engine, and the options by which it is opened again after a loss.
    Opened(Box<dyn Engine>, OpenOptions),
    /// Options; `auto` decides with the first pair.
    Open(OpenOptions),
}

/// Called after each result and each change of the statistics' engine and errors; must not wait.
pub type Wake = Arc<dyn Fn() + Send + Sync>;

/// Observer of every result of a new pair, such as a recorder.
pub trait ResultTap: Send + Sync {
    /// Called on the engine thread for each result that has its numbers on the host; the engine waits meanwhile.
    fn result(&self, output: &Arc<Output>);

    /// Called on the engine thread for each result of a pair that was matched before, with other parameters or another
    /// preparation. Recorders ignore it.
    fn result_again(&self, _output: &Arc<Output>) {}

    /// Whether results are brought to the host for this tap now. Where this becomes true, [`EngineWorker::waker`] has the last
    /// pair matched again for the tap.
    fn wants_results(&self) -> bool {
        true
    }
}

enum Command {
    /// Frames of another source.
    Frames(NewestReceiver<Arc<Frame>>),
    /// Another engine.
    Engine(EngineSource),
    /// Another preparation of frames of this source.
    PrepareAgain(FramePreparation, SourceInfo),
    /// The last pair once more.
    MatchAgain,
}

/// The running engine thread. Dropping it stops it.
pub struct EngineWorker {
    shared: Arc<SharedState>,
    commands: Sender<Command>,
    /// Wakes the thread, which reads the settings then.
    wakeups: Sender<()>,
    thread: Option<JoinHandle<()>>,
}

impl EngineWorker {
    /// Starts matching `frames`. Where the engine cannot be opened or is lost the CPU takes over, with `fallback_threads`, and
    /// [`EngineStats::fault`] says so. A lost GPU is opened again by the policy of [`super::recovery`], unless it is a
    /// window's: the window opens the next one.
    ///
    /// # Errors
    /// The system gives no thread.
    pub fn start(
        frames: NewestReceiver<Arc<Frame>>,
        engine: EngineSource,
        control: Control,
        fallback_threads: Option<usize>,
        taps: Vec<Arc<dyn ResultTap>>,
        wake: Wake,
    ) -> std::io::Result<Self> {
        let (commands, command_queue) = bounded(8);
        let (wakeups, wakeup_queue) = bounded(1);
        let mut stats = EngineStats::default();
        stats.opening = true;
        stats.begin_source(frames.drop_counter());
        let shared = Arc::new(SharedState {
            control: Mutex::new(control),
            latest: Mutex::default(),
            stats: Mutex::new(stats),
            taps: Mutex::new(taps),
            stop: AtomicBool::new(false),
            wake,
        });
        let inputs = Inputs { commands: command_queue, wakeups: wakeup_queue, frames };
        let thread = EngineThread::new(Arc::clone(&shared), inputs, engine, fallback_threads);
        let thread = std::thread::Builder::new().name("engine".into()).spawn(move || thread.run())?;
        Ok(Self { shared, commands, wakeups, thread: Some(thread) })
    }

    /// The settings.
    pub fn control(&self) -> Control {
        self.shared.control()
    }

    /// Changes the settings, from the next job on.
    pub fn set_control(&self, change: impl FnOnce(&mut Control)) {
        self.shared.set_control(change);
        self.wake();
    }

    /// Replaces the taps.
    pub fn set_taps(&self, taps: Vec<Arc<dyn ResultTap>>) {
        *self.shared.taps.lock() = taps;
        self.wake();
    }

    /// A function that has the engine thread ask its taps again whether they want results.
    pub fn waker(&self) -> impl Fn() + Send + Sync + use<> {
        let wakeups = self.wakeups.clone();
        move || {
            let _ = wakeups.try_send(());
        }
    }

    /// Takes pairs from `frames` from now on. The last result stays until there is a new one.
    pub fn set_frames(&self, frames: NewestReceiver<Arc<Frame>>) {
        self.send(Command::Frames(frames));
    }

    /// Prepares the frames of the last pair and of one that waits again, on the engine thread, and matches them.
    pub fn prepare_again(&self, preparation: FramePreparation, source: SourceInfo) {
        self.send(Command::PrepareAgain(preparation, source));
    }

    /// Matches the last pair again.
    pub fn match_again(&self) {
        self.send(Command::MatchAgain);
    }

    /// Replaces the engine.
    pub fn set_engine(&self, engine: EngineSource) {
        self.shared.stats.lock().opening = true;
        self.send(Command::Engine(engine));
    }

    /// The newest result.
    pub fn latest(&self) -> Option<Arc<Output>> {
        self.shared.latest.lock().clone()
    }

    /// Drops the newest result's texture, and the result where it has no map on the host: its device is lost.
    pub fn forget_device(&self) {
        self.shared.forget_device();
    }

    /// A function that returns the newest result, for another thread.
    pub fn newest(&self) -> impl Fn() -> Option<Arc<Output>> + Send + use<> {
        let shared = Arc::clone(&self.shared);
        move || shared.latest.lock().clone()
    }

    /// The statistics.
    pub fn stats(&self) -> EngineStats {
        self.shared.count_drops();
        self.shared.stats.lock().clone()
    }

    /// Stops after the CPU engine's job and waits for that; jobs in flight on a device are dropped.
    pub fn stop(&mut self) {
        self.shared.stop.store(true, Ordering::Release);
        self.wake();
        let Some(thread) = self.thread.take() else { return };
        if thread.join().is_err() {
            log::error!("the engine thread panicked");
        }
    }

    /// Wakes the thread; a full channel wakes it already.
    fn wake(&self) {
        let _ = self.wakeups.try_send(());
    }

    /// Queues a command. The queue is emptied before each job, so it is full only if the thread is stuck.
    fn send(&self, command: Command) {
        if self.commands.send_timeout(command, SEND_TIMEOUT).is_err() {
            log::warn!("the engine thread is busy and misses a command");
        }
    }
}

impl Drop for EngineWorker {
    fn drop(&mut self) {
        self.stop();
    }
}
