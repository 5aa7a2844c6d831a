//! The engine thread: takes the newest pair with the newest settings, keeps the engine busy, publishes the newest result.
//!
//! While paused, and where no new pair is there, a changed setting computes the last pair again; nothing else does.

mod change;
mod comeback;
mod run;
mod shared;
mod stats;
#[cfg(test)]
mod tests;

pub use stats::{EngineStats, Figures};

use super::{Engine, OpenOptions, Output};
use crate::capture::Frame;
use crate::newest::NewestReceiver;
use crate::stereo::StereoParams;
use crossbeam_channel::{Sender, bounded};
use shared::Shared;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

/// What others want of the engine thread; it looks before each pair.
#[derive(Clone, Debug)]
pub struct Control {
    /// Parameters; valid ones.
    pub params: Arc<StereoParams>,
    /// Whether somebody needs the numbers of each result.
    pub read_back: bool,
    /// No new pairs are taken.
    pub paused: bool,
    /// Pairs asked for while paused, ever.
    pub steps: u64,
}

/// Where an engine comes from. Opening happens on the engine thread.
pub enum EngineSource {
    /// It is open already.
    Ready(Box<dyn Engine>),
    /// It is open already, and is opened by these options where it has to be opened again.
    Opened(Box<dyn Engine>, OpenOptions),
    /// It is opened; `auto` waits for the first pair.
    Open(OpenOptions),
}

/// Called after each result and each change of what the engine thread has to say; must not wait for anything.
pub type Wake = Arc<dyn Fn() + Send + Sync>;

/// Sees every result of a new pair, such as a recorder.
pub trait ResultTap: Send + Sync {
    /// Called on the engine thread for each result that has its numbers on the host. What takes long here holds the engine back.
    fn result(&self, output: &Arc<Output>);

    /// Called there for each result of a pair that was matched before, with other parameters or another recipe. A recorder has
    /// no use for it.
    fn result_again(&self, _output: &Arc<Output>) {}

    /// Whether results are brought to the host for this tap now.
    fn wants_results(&self) -> bool {
        true
    }
}

/// Makes a frame's pair into another frame; `None` leaves it.
pub type Remake = Box<dyn FnOnce(&Frame) -> Option<Frame> + Send>;

/// Rare things, in order.
enum Command {
    /// Another source's frames.
    Frames(NewestReceiver<Arc<Frame>>),
    /// Another engine.
    Engine(EngineSource),
    /// The last pair, made anew.
    Again(Remake),
    /// Nothing but a reason to look at the settings.
    Look,
}

/// What the thread shares with whoever owns it.
struct Board {
    control: Shared<Control>,
    latest: Mutex<Option<Arc<Output>>>,
    stats: Mutex<EngineStats>,
    taps: Mutex<Vec<Arc<dyn ResultTap>>>,
    stop: AtomicBool,
    wake: Wake,
}

/// The running engine thread. Dropping it stops it.
pub struct EngineWorker {
    board: Arc<Board>,
    commands: Sender<Command>,
    thread: Option<JoinHandle<()>>,
}

impl EngineWorker {
    /// Starts matching `frames`. Where the engine cannot be opened or is lost the CPU takes over, with this many
    /// threads, and [`EngineStats::fault`] says so. A lost GPU is opened again after some seconds, once, unless it is a
    /// window's: then the window gives the next one.
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
        let (commands, inbox) = bounded(8);
        let board = Arc::new(Board {
            control: Shared::new(control),
            latest: Mutex::default(),
            stats: Mutex::default(),
            taps: Mutex::new(taps),
            stop: AtomicBool::new(false),
            wake,
        });
        let matcher = run::Matcher::new(Arc::clone(&board), inbox, frames, engine, fallback_threads);
        let thread = std::thread::Builder::new().name("engine".into()).spawn(move || matcher.run())?;
        Ok(Self { board, commands, thread: Some(thread) })
    }

    /// Changes what is wanted, from the next pair on.
    pub fn control(&self, change: impl FnOnce(&mut Control)) {
        self.board.control.update(change);
        let _ = self.commands.try_send(Command::Look); // where the queue is full it looks anyway
    }

    /// What is wanted now.
    pub fn wanted(&self) -> Arc<Control> {
        self.board.control.get()
    }

    /// Shows every result to these from now on.
    pub fn set_taps(&self, taps: Vec<Arc<dyn ResultTap>>) {
        *lock(&self.board.taps) = taps;
    }

    /// Takes pairs from here from now on. The last result stays until there is a new one.
    pub fn set_frames(&self, frames: NewestReceiver<Arc<Frame>>) {
        self.send(Command::Frames(frames));
    }

    /// Has the last pair made anew, by another recipe, on the engine thread, and matched again.
    pub fn remake_last(&self, remake: Remake) {
        self.send(Command::Again(remake));
    }

    /// Matches with this engine from now on.
    pub fn set_engine(&self, engine: EngineSource) {
        lock(&self.board.stats).opening = true;
        self.send(Command::Engine(engine));
    }

    /// The newest result.
    pub fn latest(&self) -> Option<Arc<Output>> {
        lock(&self.board.latest).clone()
    }

    /// Keeps of the newest result what lies on the host: its device is gone.
    pub fn forget_device(&self) {
        self.board.forget_device();
    }

    /// Gives the newest result to another thread.
    pub fn newest(&self) -> impl Fn() -> Option<Arc<Output>> + Send + use<> {
        let board = Arc::clone(&self.board);
        move || lock(&board.latest).clone()
    }

    /// What has happened so far.
    pub fn stats(&self) -> EngineStats {
        lock(&self.board.stats).clone()
    }

    /// Stops after the pair in work and waits for that; what is in flight on a device is dropped.
    pub fn stop(&mut self) {
        self.board.stop.store(true, Ordering::Release);
        let _ = self.commands.try_send(Command::Look);
        let Some(thread) = self.thread.take() else { return };
        if thread.join().is_err() {
            log::error!("the engine thread panicked");
        }
    }

    /// Queues a command. The queue is emptied before each pair, so it is full only if the thread is stuck.
    fn send(&self, command: Command) {
        if self.commands.send_timeout(command, std::time::Duration::from_millis(100)).is_err() {
            log::warn!("the engine thread is busy and misses a command");
        }
    }
}

impl Board {
    fn forget_device(&self) {
        let mut latest = lock(&self.latest);
        let on_host = latest.take().filter(|output| output.map.is_some());
        *latest = on_host.map(|output| Arc::new(Output { texture: None, ..(*output).clone() }));
    }
}

impl Drop for EngineWorker {
    fn drop(&mut self) {
        self.stop();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
