//! One camera and its thread: opens it, lists its modes, takes the one it is told, then reads, decodes and sends pictures.
//!
//! The thread may hang in nokhwa's `frame()` for ever. So it is asked to stop and, soon, left behind; its
//! queue holds a few pictures, of which the oldest gives way.

use super::ModeRequest;
use super::claim::Claim;
use super::devices::{listed, modes, offers_nothing, open_any};
use super::fault::{self, number};
use super::mode::{Mode, choose};
use crate::capture::CaptureError;
use crate::capture::decode_camera::{Layout, PixelFormat, decode};
use crate::frame::Picture;
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, TrySendError, bounded};
use nokhwa::utils::{RequestedFormat, RequestedFormatType};
use nokhwa::{Buffer, Camera, NokhwaError};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// One decoded picture of one camera.
#[derive(Debug)]
pub(super) struct Shot {
    pub(super) picture: Picture,
    /// When it was taken: the driver's time, or that of its arrival if the driver gives none.
    pub(super) time: SystemTime,
    /// Counts every frame that came, also those that were damaged or given up.
    pub(super) number: u64,
}

/// What happens to frames on the way, counted.
#[derive(Debug, Default)]
pub(super) struct Counts {
    /// Could not be decoded.
    pub(super) damaged: AtomicU64,
    /// Were not taken in time.
    pub(super) late: AtomicU64,
}

/// An open camera that sends pictures. Dropping it stops it.
#[derive(Debug)]
pub(super) struct OpenCamera {
    pub(super) index: u32,
    pub(super) mode: Mode,
    pub(super) shots: Receiver<Result<Shot, CaptureError>>,
    pub(super) counts: Arc<Counts>,
    thread: CameraThread,
}

/// Pictures that may wait to be taken.
const QUEUE: usize = 4;
/// A camera may take so long to open and to send its first picture.
const START: Duration = Duration::from_secs(5);
/// So long without a picture, and the camera counts as lost.
pub(super) const SILENCE: Duration = Duration::from_secs(2);
/// How long a stop waits for the thread before it leaves it behind; less than the capture thread itself is waited for.
const STOP: Duration = Duration::from_millis(400);
/// A driver's time that differs this much from the clock is of another clock.
const SAME_CLOCK: Duration = Duration::from_secs(5);

/// Opens cameras at the same time, all with the same picture size.
pub(super) fn open(
    indices: &[u32],
    eyes_per_picture: usize,
    request: &ModeRequest,
) -> Result<Vec<OpenCamera>, CaptureError> {
    let found: Vec<u32> = listed()?.iter().map(|c| c.index).collect();
    if let Some(&index) = indices.iter().find(|i| !found.contains(i)) {
        return Err(fault::missing(index, &found));
    }
    let deadline = Instant::now() + START;
    let starting: Vec<Starting> =
        indices.iter().map(|&index| Starting::new(index, request.color)).collect::<Result<_, _>>()?;
    let offers: Vec<Vec<Mode>> = starting.iter().map(|s| s.answer(&s.offer, deadline)).collect::<Result<_, _>>()?;
    let candidates = choose(&offers, eyes_per_picture, request).ok_or_else(|| no_common_mode(indices, request))?;
    for (starting, candidates) in starting.iter().zip(candidates) {
        let _ = starting.order.send(candidates);
    }
    starting.into_iter().map(|s| s.finish(deadline)).collect()
}

fn no_common_mode(indices: &[u32], request: &ModeRequest) -> CaptureError {
    let format = request.format.map_or("readable", PixelFormat::name);
    let text = if let [one] = indices {
        format!("camera {one} has no {format} mode that fits; see `stereopsis devices`")
    } else {
        let names: Vec<String> = indices.iter().map(u32::to_string).collect();
        let names = names.join(" and ");
        format!("cameras {names} have no {format} size in common; see `stereopsis devices`, use two of one model")
    };
    CaptureError::Camera(text)
}

/// A camera whose thread is on its way: it offers modes, is ordered some of them, and says which one it took.
struct Starting {
    index: u32,
    offer: Receiver<Result<Vec<Mode>, CaptureError>>,
    order: Sender<Vec<Mode>>,
    taken: Receiver<Result<Mode, CaptureError>>,
    shots: Receiver<Result<Shot, CaptureError>>,
    counts: Arc<Counts>,
    thread: CameraThread,
}

impl Starting {
    fn new(index: u32, color: bool) -> Result<Self, CaptureError> {
        let (offer_sender, offer) = bounded(1);
        let (order, orders) = bounded(1);
        let (taken_sender, taken) = bounded(1);
        let (shot_sender, shots) = bounded(QUEUE);
        let counts = Arc::new(Counts::default());
        let stop = Arc::new(AtomicBool::new(false));
        let oldest = shots.clone();
        let claim = Claim::take(index)?;
        let worker =
            Worker { index, claim, color, stop: stop.clone(), shots: shot_sender, oldest, counts: counts.clone() };
        let thread = CameraThread::spawn(index, stop, move || worker.run(&offer_sender, &orders, &taken_sender))?;
        Ok(Self { index, offer, order, taken, shots, counts, thread })
    }

    /// The thread's answer, unless it is silent or ends first.
    fn answer<T>(&self, answers: &Receiver<Result<T, CaptureError>>, deadline: Instant) -> Result<T, CaptureError> {
        answers.recv_deadline(deadline).unwrap_or_else(|error| {
            Err(match error {
                RecvTimeoutError::Timeout => {
                    fault::silent(self.index, START, self.counts.damaged.load(Ordering::Relaxed))
                }
                RecvTimeoutError::Disconnected => fault::ended(self.index),
            })
        })
    }

    fn finish(self, deadline: Instant) -> Result<OpenCamera, CaptureError> {
        let mode = self.answer(&self.taken, deadline)?;
        log::info!("camera {}: {mode}", self.index);
        let Self { index, shots, counts, thread, .. } = self;
        Ok(OpenCamera { index, mode, shots, counts, thread })
    }
}

impl OpenCamera {
    /// Tells the thread to stop without waiting for it; dropping waits.
    pub(super) fn signal_stop(&mut self) {
        self.thread.signal_stop();
    }
}

/// The thread's handle: stops and joins, or leaves behind.
#[derive(Debug)]
struct CameraThread {
    index: u32,
    stop: Arc<AtomicBool>,
    /// Set when it is told to stop.
    patience_ends: Option<Instant>,
    /// Closed when the thread ends.
    ended: Receiver<()>,
    handle: Option<JoinHandle<()>>,
}

impl CameraThread {
    fn spawn(index: u32, stop: Arc<AtomicBool>, body: impl FnOnce() + Send + 'static) -> Result<Self, CaptureError> {
        let (alive, ended) = bounded(0);
        let body = move || {
            let _alive = alive;
            body();
        };
        let handle = thread::Builder::new()
            .name(format!("camera {index}"))
            .spawn(body)
            .map_err(|e| CaptureError::Camera(format!("camera {index}: no thread for it: {e}")))?;
        Ok(Self { index, stop, patience_ends: None, ended, handle: Some(handle) })
    }

    fn signal_stop(&mut self) -> Instant {
        self.stop.store(true, Ordering::Relaxed);
        *self.patience_ends.get_or_insert_with(|| Instant::now() + STOP)
    }
}

impl Drop for CameraThread {
    fn drop(&mut self) {
        let patience_ends = self.signal_stop();
        match (self.ended.recv_deadline(patience_ends), self.handle.take()) {
            (Err(RecvTimeoutError::Disconnected), Some(handle)) => {
                let _ = handle.join();
            }
            _ => log::warn!("camera {} does not come back from its driver; its thread is left behind", self.index),
        }
    }
}

/// What the thread works with.
struct Worker {
    index: u32,
    claim: Claim,
    color: bool,
    stop: Arc<AtomicBool>,
    shots: Sender<Result<Shot, CaptureError>>,
    /// The reader's end, to take out what nobody took.
    oldest: Receiver<Result<Shot, CaptureError>>,
    counts: Arc<Counts>,
}

impl Worker {
    fn run(
        self,
        offer: &Sender<Result<Vec<Mode>, CaptureError>>,
        orders: &Receiver<Vec<Mode>>,
        taken: &Sender<Result<Mode, CaptureError>>,
    ) {
        let opened = open_any(self.index).and_then(|mut camera| Ok((modes(&mut camera)?, camera)));
        let mut camera = match opened {
            Ok((modes, camera)) => {
                self.claim.set_modes(&modes);
                let _ = offer.send(Ok(modes));
                camera
            }
            Err(error) if offers_nothing(&error) => {
                let _ = offer.send(Err(fault::unreadable(self.index)));
                return;
            }
            Err(error) => {
                let _ = offer.send(Err(fault::explain(self.index, "open it", &error)));
                return;
            }
        };
        if let Ok(candidates) = orders.recv() {
            match self.start(&mut camera, &candidates) {
                Ok((mode, first)) => {
                    let _ = taken.send(Ok(mode));
                    self.read(&mut camera, mode, first);
                }
                Err(error) => {
                    let _ = taken.send(Err(error));
                }
            }
        }
        // the V4L2 binding panics if the driver refuses to stop, as some do after an unplugging
        if std::panic::catch_unwind(AssertUnwindSafe(|| drop(camera))).is_err() {
            log::warn!("camera {} could not be closed in order", self.index);
        }
    }

    /// Sets the first mode that the camera really streams; the bus may refuse what the camera offers.
    fn start(&self, camera: &mut Camera, candidates: &[Mode]) -> Result<(Mode, Buffer), CaptureError> {
        let mut refusal = fault::unreadable(self.index);
        for &mode in candidates {
            match stream(camera, mode) {
                Ok(first) => return Ok((mode, first)),
                Err(error) => {
                    log::debug!("camera {}: {mode} refused: {error}", self.index);
                    refusal = fault::explain(self.index, &format!("stream {mode}"), &error);
                    if matches!(fault::os_error(&error), Some(number::BUSY | number::GONE)) {
                        break;
                    }
                    let _ = camera.stop_stream();
                }
            }
        }
        Err(refusal)
    }

    fn read(&self, camera: &mut Camera, mode: Mode, first: Buffer) {
        let mut buffer = Ok(first);
        let mut number = 0;
        while !self.stop.load(Ordering::Relaxed) {
            match buffer {
                Ok(frame) => {
                    let time = capture_time(&frame, SystemTime::now());
                    match decode(Layout::tight(mode.format, mode.size()), frame.buffer(), self.color) {
                        Ok(picture) => self.send(Ok(Shot { picture, time, number })),
                        Err(error) => {
                            self.counts.damaged.fetch_add(1, Ordering::Relaxed);
                            log::debug!("camera {}: frame {number} dropped: {error}", self.index);
                        }
                    }
                }
                Err(error) => {
                    self.send(Err(fault::explain(self.index, "read it", &error)));
                    return;
                }
            }
            number += 1;
            buffer = camera.frame();
        }
    }

    /// Never blocks: the oldest picture gives way.
    fn send(&self, mut shot: Result<Shot, CaptureError>) {
        while let Err(TrySendError::Full(refused)) = self.shots.try_send(shot) {
            shot = refused;
            if self.oldest.try_recv().is_ok() {
                self.counts.late.fetch_add(1, Ordering::Relaxed);
            }
        }
    }
}

/// Sets the mode and waits for the first frame: only that shows that the camera streams.
fn stream(camera: &mut Camera, mode: Mode) -> Result<Buffer, NokhwaError> {
    let wanted = nokhwa::utils::CameraFormat::from(mode);
    camera.set_camera_requset(RequestedFormat::with_formats(RequestedFormatType::Exact(wanted), &[wanted.format()]))?;
    camera.open_stream()?;
    camera.frame()
}

/// The driver's time of the frame if it is of the wall clock, else the time of arrival.
fn capture_time(frame: &Buffer, arrival: SystemTime) -> SystemTime {
    let Some(stamp) = frame.capture_timestamp().and_then(|t| UNIX_EPOCH.checked_add(t)) else { return arrival };
    let age = arrival.duration_since(stamp).unwrap_or_else(|ahead| ahead.duration());
    if age < SAME_CLOCK { stamp } else { arrival }
}
