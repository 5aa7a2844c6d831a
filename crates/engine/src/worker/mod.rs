//! The engine thread: takes the newest pair with the newest settings, keeps the engine busy, publishes the newest result.
//!
//! While no new pair arrives (paused, at the end, or from a still), the last pair is matched again only after a change of settings,
//! frame or engine. [`feed`] chooses jobs, [`host`] owns the engine, [`shared`] publishes results, [`thread`] is the loop.

mod control;
mod feed;
mod host;
mod shared;
mod stats;
mod thread;
#[cfg(test)]
mod tests;

pub use control::{Control, EngineSource};
pub use stats::{EngineStats, Figures};

use control::Command;
use crossbeam_channel::{Sender, bounded};
use host::EngineHost;
use parking_lot::Mutex;
use shared::SharedState;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;
use stereopsis_base::newest::NewestReceiver;
use stereopsis_frame::engine::{Output, SourceEngine};
use stereopsis_frame::{Frame, FramePreparation, ResultTap, SourceInfo, Wake};
use thread::{EngineThread, Inputs};

/// Longest wait of a command for room in the queue.
const SEND_TIMEOUT: Duration = Duration::from_millis(100);

/// Running engine thread. Dropping it stops it.
pub struct EngineWorker {
    shared: Arc<SharedState>,
    commands: Sender<Command>,
    /// Wakes the thread, which then reads the settings.
    wakeups: Sender<()>,
    thread: Option<JoinHandle<()>>,
}

impl EngineWorker {
    /// Starts matching the `frames` of a source, which brings `source_engine`. If the engine cannot be opened or is lost, the CPU takes over with `fallback_threads`, and
    /// [`EngineStats::fault`] contains the reason. A lost GPU is opened again by the policy of [`stereopsis_frame::engine::recovery`], unless it belongs to
    /// a window, which opens the next one itself.
    ///
    /// # Errors
    /// The system gives no thread.
    pub fn start(
        frames: NewestReceiver<Arc<Frame>>,
        source_engine: Option<Arc<dyn SourceEngine>>,
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
        let host = EngineHost::new(Arc::clone(&shared), engine, source_engine, fallback_threads);
        let thread = EngineThread::new(Arc::clone(&shared), inputs, host);
        let thread = std::thread::Builder::new().name("engine".into()).spawn(move || thread.run())?;
        Ok(Self { shared, commands, wakeups, thread: Some(thread) })
    }

    /// Returns the settings.
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

    /// Returns a function that makes the engine thread check again whether its taps need results.
    pub fn waker(&self) -> impl Fn() + Send + Sync + use<> {
        let wakeups = self.wakeups.clone();
        move || {
            let _ = wakeups.try_send(());
        }
    }

    /// Takes pairs of another source from now on. The last result stays until there is a new one.
    pub fn set_frames(&self, frames: NewestReceiver<Arc<Frame>>, source_engine: Option<Arc<dyn SourceEngine>>) {
        self.send(Command::Frames(frames, source_engine));
    }

    /// Prepares the frames of the last pair and of a held one again, on the engine thread, and matches them.
    pub fn prepare_again(&self, preparation: FramePreparation, source: SourceInfo) {
        self.send(Command::PrepareAgain(preparation, Box::new(source)));
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

    /// Returns the newest result.
    pub fn latest(&self) -> Option<Arc<Output>> {
        self.shared.latest.lock().clone()
    }

    /// Drops the newest result's texture, and a result without a map on the host, after the loss of its device.
    pub fn forget_device(&self) {
        self.shared.forget_device();
    }

    /// Returns a function that returns the newest result, for another thread.
    pub fn newest(&self) -> impl Fn() -> Option<Arc<Output>> + Send + use<> {
        let shared = Arc::clone(&self.shared);
        move || shared.latest.lock().clone()
    }

    /// Returns the statistics.
    pub fn stats(&self) -> EngineStats {
        self.shared.count_drops();
        self.shared.stats.lock().clone()
    }

    /// Stops after the CPU engine's current job; jobs in flight on a device are dropped.
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
