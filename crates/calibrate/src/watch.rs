//! Live calibration on its own threads, fed by the capture thread; panels and status lines read its newest state.

use super::coverage::Coverage;
use super::error::CalibrateError;
use super::guide::TargetPose;
use super::outcome::{CalibrationRequest, Outcome};
use super::session::{BoardFrame, CalibrationSession, Notice, SolverResult, TakenView};
use super::{Board, Corner};
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;
use stereopsis_base::geometry::Geometry;
use stereopsis_base::newest;
use stereopsis_base::newest::{NewestReceiver, NewestSender};
use stereopsis_frame::{RawPair, RawTap, SourceInfo};

/// Interval at which the thread checks for its end.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Largest number of queued commands.
const MAX_ORDERS: usize = 64;

/// State of a live calibration for panels.
#[derive(Clone, Default)]
pub struct Progress {
    /// Last examined pair.
    pub pair: Option<Arc<RawPair>>,
    /// Corners of that pair in the left and the right image, px.
    pub corners: [Vec<Corner>; 2],
    /// Instruction for the user.
    pub notice: Option<Notice>,
    /// Views taken.
    pub taken: Vec<TakenView>,
    /// Coverage of each side's image, known after the first pair.
    pub coverage: Option<[Coverage; 2]>,
    /// Next target pose of the board.
    pub ghost: Option<TargetPose>,
    /// Newest solution.
    pub outcome: Option<Arc<Outcome>>,
    /// Reason for a missing solution.
    pub failure: Option<String>,
    /// Whether a solution is being computed.
    pub is_solving: bool,
    /// Whether views are taken automatically.
    pub is_automatic: bool,
}

enum UserCommand {
    Take,
    Automatic(bool),
    Delete(usize),
}

/// Running calibration, whose threads stop when it is dropped.
pub struct Watch {
    progress: Arc<Mutex<Progress>>,
    orders: Sender<UserCommand>,
    tap: Arc<Tap>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

struct Tap(Mutex<NewestSender<Arc<RawPair>>>);

impl RawTap for Tap {
    fn pair(&self, pair: &Arc<RawPair>, _geometry: Option<Geometry>, _source: &SourceInfo) {
        // fails only if the calibration has ended and the tap is about to be removed
        let _ = self.0.lock().send(Arc::clone(pair));
    }
}

impl Watch {
    /// Starts a calibration; `wake` is called on another thread after each change and must not block.
    ///
    /// # Errors
    /// The board cannot be detected, or the system cannot start a thread.
    pub fn start(
        board: &Board,
        request: CalibrationRequest,
        wake: Arc<dyn Fn() + Send + Sync>,
    ) -> Result<Self, CalibrateError> {
        let session = CalibrationSession::new(board, request)?;
        let (sender, pairs) = newest::channel();
        let (orders, ordered) = bounded(MAX_ORDERS);
        let progress = Arc::new(Mutex::new(Progress { is_automatic: true, ..Progress::default() }));
        let stop = Arc::new(AtomicBool::new(false));
        let watcher = Watcher {
            session,
            pairs,
            ordered,
            progress: Arc::clone(&progress),
            stop: Arc::clone(&stop),
            wake,
            solving: None,
        };
        let thread = std::thread::Builder::new()
            .name("calibrate".into())
            .spawn(move || watcher.run())
            .map_err(CalibrateError::Thread)?;
        Ok(Self { progress, orders, tap: Arc::new(Tap(Mutex::new(sender))), stop, thread: Some(thread) })
    }

    /// Returns the tap for a capture thread.
    pub fn tap(&self) -> Arc<dyn RawTap> {
        Arc::clone(&self.tap) as _
    }

    /// Returns the current state.
    pub fn progress(&self) -> Progress {
        self.progress.lock().clone()
    }

    /// Forces a view from the next pair with the board, without checks of stillness, blur and novelty.
    pub fn take(&self) {
        self.order(UserCommand::Take);
    }

    /// Sets whether views are taken automatically.
    pub fn set_automatic(&self, is_automatic: bool) {
        self.order(UserCommand::Automatic(is_automatic));
    }

    /// Deletes the view at this index of [`Progress::taken`] and solves again.
    pub fn delete(&self, place: usize) {
        self.order(UserCommand::Delete(place));
    }

    fn order(&self, order: UserCommand) {
        if self.orders.try_send(order).is_err() {
            log::warn!("the calibration is busy: an order was left out");
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if self.thread.take().is_some_and(|thread| thread.join().is_err()) {
            log::error!("the calibration's thread panicked");
        }
    }
}

struct Watcher {
    session: CalibrationSession,
    pairs: NewestReceiver<Arc<RawPair>>,
    ordered: Receiver<UserCommand>,
    progress: Arc<Mutex<Progress>>,
    stop: Arc<AtomicBool>,
    wake: Arc<dyn Fn() + Send + Sync>,
    /// Solution in progress on its own thread.
    solving: Option<Receiver<SolverResult>>,
}

impl Watcher {
    fn run(mut self) {
        let mut take = false;
        let mut is_dirty = false;
        while !self.stop.load(Ordering::Relaxed) {
            let mut has_changed = false;
            for order in self.ordered.try_iter() {
                has_changed = true;
                match order {
                    UserCommand::Take => take = true,
                    UserCommand::Automatic(is_automatic) => self.session.is_automatic = is_automatic,
                    UserCommand::Delete(place) => {
                        self.session.delete(place);
                        is_dirty = true;
                    }
                }
            }
            match self.pairs.recv_timeout(POLL_INTERVAL) {
                Ok(pair) => {
                    let notice = self.look(&pair, take);
                    if matches!(notice, Notice::Taken(_)) {
                        (take, is_dirty) = (false, true);
                    }
                    let mut progress = self.progress.lock();
                    progress.corners.clone_from(self.session.corners());
                    (progress.pair, progress.notice) = (Some(pair), Some(notice));
                    has_changed = true;
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            has_changed |= self.collect();
            if is_dirty && self.solving.is_none() {
                is_dirty = false;
                has_changed = true;
                self.solve();
            }
            if has_changed {
                self.publish();
                (self.wake)();
            }
        }
    }

    fn look(&mut self, pair: &RawPair, take: bool) -> Notice {
        let (left, right) = (pair.left.luma.to_u8(), pair.right.luma.to_u8());
        self.session.look(&BoardFrame::of(pair, [&left, &right]), take)
    }

    /// Starts to solve all views on a thread, so that further pairs are examined meanwhile.
    fn solve(&mut self) {
        let Some(work) = self.session.work() else { return };
        let (sender, receiver) = crossbeam_channel::bounded(1);
        let solve = move || {
            // fails if the calibration was closed meanwhile
            let _ = sender.send(work.solve());
        };
        match std::thread::Builder::new().name("calibrate-solve".into()).spawn(solve) {
            Ok(_) => self.solving = Some(receiver),
            Err(err) => self.progress.lock().failure = Some(format!("no thread to solve: {err}")),
        }
    }

    /// Adopts a finished solution, and returns whether there was one.
    fn collect(&mut self) -> bool {
        let Some(solved) = self.solving.as_ref().and_then(|solving| solving.try_recv().ok()) else {
            return false;
        };
        self.solving = None;
        let failure = self.session.solved(solved).err().map(|err| err.to_string());
        self.progress.lock().failure = failure;
        true
    }

    fn publish(&self) {
        let mut progress = self.progress.lock();
        progress.taken = self.session.taken().to_vec();
        progress.coverage = self.session.coverage();
        progress.ghost = self.session.ghost();
        progress.outcome = self.session.outcome().cloned();
        progress.is_solving = self.solving.is_some();
        progress.is_automatic = self.session.is_automatic;
    }
}
