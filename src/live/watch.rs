//! Once a second, on a thread of its own: how well the pair is aligned, how alike the two pictures are, how fast things
//! move. Looks at newest results only, so that a slow look costs nobody a pair.

use crate::calibration::{RowOffset, row_offset};
use crate::capture::RawPair;
use crate::engine::Output;
use crate::metrics::{LumaDifference, luma_difference, motion};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// What the watch saw last.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Health {
    /// By how much rows of the rectified pictures differ, px at working size; `None` where too little matches.
    pub row_offset: Option<RowOffset>,
    /// How much brighter one picture is.
    pub luma: Option<LumaDifference>,
    /// How fast what moves most moves in the left picture, px a second at the source's size.
    pub motion_px_per_s: Option<f64>,
}

/// The running thread. Dropping it stops it.
pub(super) struct Watch {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    stop: AtomicBool,
    seen: Mutex<Health>,
}

/// Gives the newest result.
pub(super) type Newest = Box<dyn Fn() -> Option<Arc<Output>> + Send>;

/// From one look to the next.
const PAUSE: Duration = Duration::from_secs(1);
/// How often is looked whether to stop, or for the next pair.
const LOOK: Duration = Duration::from_millis(20);
/// Pictures farther apart say nothing of motion.
const NEIGHBOURS: Duration = Duration::from_millis(400);

impl Watch {
    pub(super) fn start(newest: Newest) -> std::io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let watcher = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name("watch".into()).spawn(move || watcher.run(&newest))?;
        Ok(Self { shared, thread: Some(thread) })
    }

    pub(super) fn seen(&self) -> Health {
        self.shared.seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Release);
        if self.thread.take().is_some_and(|thread| thread.join().is_err()) {
            log::error!("the watch thread panicked");
        }
    }
}

impl Shared {
    fn run(&self, newest: &Newest) {
        let mut last: Option<Arc<Output>> = None;
        while self.rest(PAUSE) {
            let Some(output) = newest() else { continue };
            let is_new = |old: &Arc<Output>| !Arc::ptr_eq(&old.job.frame, &output.job.frame);
            if !last.as_ref().is_none_or(is_new) {
                continue; // held, or nothing comes
            }
            let frame = &output.job.frame;
            let next = self.next_pair(newest, &frame.raw);
            let health = Health {
                row_offset: row_offset(&frame.left.luma, &frame.right.luma),
                luma: luma_difference(&frame.left.luma, &frame.right.luma),
                motion_px_per_s: next.and_then(|next| speed(&frame.raw, &next)),
            };
            *self.seen.lock().unwrap_or_else(PoisonError::into_inner) = health;
            last = Some(output);
        }
    }

    /// False once it shall stop.
    fn rest(&self, pause: Duration) -> bool {
        let end = Instant::now() + pause;
        while Instant::now() < end && !self.stop.load(Ordering::Acquire) {
            std::thread::sleep(LOOK);
        }
        !self.stop.load(Ordering::Acquire)
    }

    /// The pair after this one, or one soon after.
    fn next_pair(&self, newest: &Newest, pair: &Arc<RawPair>) -> Option<Arc<RawPair>> {
        let end = Instant::now() + NEIGHBOURS;
        while Instant::now() < end && self.rest(LOOK) {
            let next = Arc::clone(&newest()?.job.frame.raw);
            if !Arc::ptr_eq(&next, pair) {
                return Some(next);
            }
        }
        None
    }
}

fn speed(pair: &RawPair, next: &RawPair) -> Option<f64> {
    let between = next.capture_time.duration_since(pair.capture_time).ok()?;
    if between.is_zero() || between > NEIGHBOURS {
        return None;
    }
    Some(motion(&pair.left.luma, &next.left.luma)? / between.as_secs_f64())
}
