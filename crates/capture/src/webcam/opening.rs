//! Opens cameras, each on its own thread, all with the same image size. The threads list modes; the common mode is chosen here and
//! ordered; a camera counts as open once it has delivered an intact image.

use super::ModeRequest;
use super::claim::Claim;
use super::devices::listed;
use super::error::CameraError;
use super::mode::{Mode, choose};
use super::reader::{DecodedFrame, FrameLosses, GrantedMode, PictureOptions, Reader};
use super::thread::CameraThread;
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};
use parking_lot::Mutex;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};
use stereopsis_frame::decode_camera::{Damaged, PixelFormat};

/// Streaming camera, which stops when this is dropped.
#[derive(Debug)]
pub(super) struct OpenCamera {
    pub(super) index: u32,
    pub(super) mode: Mode,
    /// Remark on a mode that differs from the request.
    pub(super) remark: Option<String>,
    pub(super) frames: Receiver<Result<DecodedFrame, CameraError>>,
    pub(super) losses: Arc<Mutex<FrameLosses>>,
    /// Channel of the time at which the stream is to restart.
    pub(super) restart: Sender<SystemTime>,
    pub(super) thread: CameraThread,
}

/// Maximum number of images that wait to be taken.
const QUEUE_CAPACITY: usize = 4;
/// Timeout of opening and of the first image together.
const START_TIMEOUT: Duration = Duration::from_secs(5);

/// Opens cameras in parallel, all with the same image size.
pub(super) fn open(
    cameras: &[(u32, PictureOptions)],
    views_per_picture: usize,
    request: &ModeRequest,
) -> Result<Vec<OpenCamera>, CameraError> {
    let found: Vec<u32> = listed()?.iter().map(|c| c.index).collect();
    if let Some(&(index, _)) = cameras.iter().find(|(index, _)| !found.contains(index)) {
        return Err(CameraError::Missing { index, found });
    }
    let deadline = Instant::now() + START_TIMEOUT;
    let starting: Vec<OpeningCamera> = cameras
        .iter()
        .map(|&(index, picture_options)| OpeningCamera::new(index, picture_options, Arc::default()))
        .collect::<Result<_, _>>()?;
    let offers: Vec<Vec<Mode>> = starting.iter().map(|s| s.answer(&s.offer, deadline)).collect::<Result<_, _>>()?;
    let candidates =
        choose(&offers, views_per_picture, request).ok_or_else(|| no_common_mode(cameras, request.format))?;
    let best: Vec<Option<Mode>> = candidates.iter().map(|modes| modes.first().copied()).collect();
    for (starting, candidates) in starting.iter().zip(candidates) {
        let _ = starting.order.send(candidates);
    }
    let mut opened: Vec<OpenCamera> =
        starting.into_iter().map(|starting| starting.finish(deadline)).collect::<Result<_, _>>()?;
    for (camera, best) in opened.iter_mut().zip(best) {
        let (index, mode) = (camera.index, camera.mode);
        let unmet = best.and_then(|best| request.unmet_by(best, views_per_picture));
        let unmet = unmet.map(|unmet| format!("camera {index} has no {unmet}; it runs {mode}"));
        let granted = best.filter(|best| *best != mode);
        let granted =
            granted.map(|best| format!("camera {index} was told to send {best}, and its driver grants {mode}"));
        camera.remark = camera.remark.take().or(unmet).or(granted);
    }
    Ok(opened)
}

/// Properties of a camera that are kept when it is opened again.
#[derive(Clone, Debug)]
pub(super) struct EarlierOpening {
    pub(super) picture_options: PictureOptions,
    pub(super) mode: Mode,
    /// Requested pixel format; `None` for any.
    pub(super) format: Option<PixelFormat>,
    /// Losses, counted over all openings.
    pub(super) losses: Arc<Mutex<FrameLosses>>,
}

/// Opens a camera again, with its earlier image size.
pub(super) fn open_again(index: u32, earlier_opening: &EarlierOpening) -> Result<OpenCamera, CameraError> {
    let EarlierOpening { picture_options, mode, format, ref losses } = *earlier_opening;
    let deadline = Instant::now() + START_TIMEOUT;
    let starting = OpeningCamera::new(index, picture_options, losses.clone())?;
    let offer = starting.answer(&starting.offer, deadline)?;
    let request =
        ModeRequest { size: Some(mode.size()), rate_hz: Some(mode.rate_hz), format, ..ModeRequest::default() };
    let mut candidates = choose(&[offer], 1, &request).and_then(|mut c| c.pop()).unwrap_or_default();
    candidates.retain(|candidate| candidate.size() == mode.size());
    // the earlier mode is tried first
    candidates.sort_by_key(|candidate| *candidate != mode);
    if candidates.is_empty() {
        return Err(CameraError::NoSize { index, size: mode.size() });
    }
    let _ = starting.order.send(candidates);
    starting.finish(deadline)
}

fn no_common_mode(cameras: &[(u32, PictureOptions)], format: Option<PixelFormat>) -> CameraError {
    match cameras {
        [(index, _)] => CameraError::NoMode { index: *index, format },
        _ => CameraError::NoCommonSize { indices: cameras.iter().map(|(index, _)| *index).collect(), format },
    }
}

/// Camera whose thread is opening it: it lists modes, receives those to try, and reports the granted one.
struct OpeningCamera {
    index: u32,
    offer: Receiver<Result<Vec<Mode>, CameraError>>,
    order: Sender<Vec<Mode>>,
    granted_mode: Receiver<Result<GrantedMode, CameraError>>,
    frames: Receiver<Result<DecodedFrame, CameraError>>,
    losses: Arc<Mutex<FrameLosses>>,
    /// Damage counts of earlier openings.
    damaged_before: Damaged,
    restart: Sender<SystemTime>,
    thread: CameraThread,
}

impl OpeningCamera {
    fn new(index: u32, picture_options: PictureOptions, losses: Arc<Mutex<FrameLosses>>) -> Result<Self, CameraError> {
        let (offer_sender, offer) = bounded(1);
        let (order, orders) = bounded(1);
        let (granted_sender, granted_mode) = bounded(1);
        let (frame_sender, frames) = bounded(QUEUE_CAPACITY);
        let (restart, restarts) = bounded(1);
        let damaged_before = losses.lock().damaged;
        let claim = Claim::take(index)?;
        let (oldest, counted) = (frames.clone(), losses.clone());
        let thread = CameraThread::spawn(index, format!("camera {index}"), move |stop| {
            let (frames, losses) = (frame_sender, counted);
            let reader = Reader { index, claim, picture_options, stop, frames, oldest, losses, restarts };
            reader.run(&offer_sender, &orders, &granted_sender);
        })?;
        Ok(Self { index, offer, order, granted_mode, frames, losses, damaged_before, restart, thread })
    }

    /// Waits for an answer of the thread, which may time out or end.
    fn answer<T>(&self, answers: &Receiver<Result<T, CameraError>>, deadline: Instant) -> Result<T, CameraError> {
        answers.recv_deadline(deadline).unwrap_or_else(|error| {
            Err(match error {
                RecvTimeoutError::Timeout => {
                    let damaged = self.losses.lock().damaged - self.damaged_before;
                    CameraError::silent(self.index, START_TIMEOUT, damaged)
                }
                RecvTimeoutError::Disconnected => CameraError::Ended(self.index),
            })
        })
    }

    fn finish(self, deadline: Instant) -> Result<OpenCamera, CameraError> {
        let (mode, refusal) = self.answer(&self.granted_mode, deadline)?;
        log::info!("camera {}: {mode}", self.index);
        let Self { index, frames, losses, restart, thread, .. } = self;
        let remark = refusal.map(|refusal| format!("{refusal}; it runs {mode} instead"));
        Ok(OpenCamera { index, mode, remark, frames, losses, restart, thread })
    }
}

#[cfg(test)]
impl OpenCamera {
    pub(super) fn of_thread(
        index: u32,
        mode: Mode,
        frames: Receiver<Result<DecodedFrame, CameraError>>,
        thread: CameraThread,
    ) -> Self {
        Self { index, mode, remark: None, frames, losses: Arc::default(), restart: bounded(1).0, thread }
    }
}
