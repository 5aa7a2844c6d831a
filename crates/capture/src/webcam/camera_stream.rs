//! Stream of one camera of a source. If the camera is lost, a search in the background opens it again when it returns, and the
//! numbers of its images continue. No method may block.

use super::ModeRequest;
use super::error::CameraError;
use super::mode::Mode;
use super::opening::{EarlierOpening, OpenCamera, open};
use super::reader::{DecodedFrame, PictureOptions};
use super::reopening::{Identity, Reopening};
use crossbeam_channel::{Select, TryRecvError};
use std::collections::VecDeque;
use std::time::{Duration, Instant, SystemTime};
use stereopsis_frame::decode_camera::{Damaged, PixelFormat};
use stereopsis_frame::{CameraOptions, CameraState};

/// Time without an image after which a camera counts as lost; at slow rates the limit is three frame intervals.
const SILENCE_TIMEOUT: Duration = Duration::from_secs(1);
/// Number of images over which the rate is measured.
const RATE_FRAMES: usize = 40;
/// Timeout of the first image after a restart of the stream.
const START_TIMEOUT: Duration = Duration::from_secs(3);
/// Minimum number of damaged frames for a remark; they must also be more than one in [`DAMAGED_ONE_IN`].
const MIN_DAMAGED_FOR_REMARK: u64 = 10;
const DAMAGED_ONE_IN: u64 = 20;

#[derive(Debug)]
pub(super) struct CameraStream {
    identity: Identity,
    index: u32,
    earlier_opening: EarlierOpening,
    connection: Connection,
    lost: Option<String>,
    mode_remark: Option<String>,
    last_frame_at: Instant,
    damaged_at_last_frame: Damaged,
    /// Arrival times and numbers of the newest images, to measure the rate.
    arrivals: VecDeque<(SystemTime, u64)>,
    /// Offset of image numbers, which continue after a loss.
    first_number: u64,
    next_number: u64,
    is_reopened: bool,
}

#[derive(Debug)]
enum Connection {
    Open(OpenCamera),
    Lost(Reopening),
}

pub(super) fn open_streams(
    indices: &[u32],
    views_per_picture: usize,
    request: &ModeRequest,
    options: &CameraOptions,
) -> Result<Vec<CameraStream>, CameraError> {
    let options_by_camera: Vec<(u32, PictureOptions)> = indices
        .iter()
        .zip(&options.views)
        .map(|(&index, view)| {
            (index, PictureOptions { api: request.api, pixels: request.pixels, orientation: view.orientation })
        })
        .collect();
    let opened = open(&options_by_camera, views_per_picture, request)?;
    let format = request.format;
    Ok(opened
        .into_iter()
        .zip(options_by_camera)
        .map(|(camera, (_, picture_options))| CameraStream::new(camera, picture_options, format))
        .collect())
}

impl CameraStream {
    fn new(camera: OpenCamera, picture_options: PictureOptions, format: Option<PixelFormat>) -> Self {
        Self {
            identity: Identity::of(camera.index),
            index: camera.index,
            earlier_opening: EarlierOpening {
                picture_options,
                mode: camera.mode,
                format,
                losses: camera.losses.clone(),
            },
            mode_remark: camera.remark.clone(),
            connection: Connection::Open(camera),
            lost: None,
            last_frame_at: Instant::now(),
            damaged_at_last_frame: Damaged::default(),
            arrivals: VecDeque::new(),
            first_number: 0,
            next_number: 0,
            is_reopened: false,
        }
    }

    pub(super) fn index(&self) -> u32 {
        self.index
    }

    pub(super) fn mode(&self) -> Mode {
        self.earlier_opening.mode
    }

    /// Returns whether the camera was opened again since the last call; capture times are comparable only within one opening.
    pub(super) fn take_reopened(&mut self) -> bool {
        std::mem::take(&mut self.is_reopened)
    }

    pub(super) fn is_lost(&self) -> bool {
        self.lost.is_some()
    }

    /// Returns the next image in the queue.
    ///
    /// # Errors
    /// The camera is lost, and the system provides no thread to search for it.
    pub(super) fn poll(&mut self) -> Result<Option<DecodedFrame>, CameraError> {
        loop {
            match &self.connection {
                Connection::Open(camera) => match camera.frames.try_recv() {
                    Ok(Ok(mut frame)) => {
                        self.last_frame_at = Instant::now();
                        frame.number += self.first_number;
                        self.next_number = frame.number + 1;
                        self.arrivals.push_back((frame.arrival, frame.number));
                        if self.arrivals.len() > RATE_FRAMES {
                            self.arrivals.pop_front();
                        }
                        self.damaged_at_last_frame = camera.losses.lock().damaged;
                        return Ok(Some(frame));
                    }
                    Ok(Err(error)) => self.lose(&error)?,
                    Err(TryRecvError::Disconnected) => self.lose(&CameraError::Ended(self.index))?,
                    Err(TryRecvError::Empty) if self.last_frame_at.elapsed() >= self.silence() => {
                        let damaged = camera.losses.lock().damaged - self.damaged_at_last_frame;
                        self.lose(&CameraError::silent(self.index, self.silence(), damaged))?;
                    }
                    Err(TryRecvError::Empty) => return Ok(None),
                },
                Connection::Lost(reopening) => match reopening.answer.try_recv() {
                    Ok(Ok(camera)) => self.adopt(camera),
                    Ok(Err(error)) => self.lost = Some(error.to_string()),
                    Err(TryRecvError::Empty) => return Ok(None),
                    // the search panicked: start another one
                    Err(TryRecvError::Disconnected) => {
                        self.connection =
                            Connection::Lost(Reopening::start(self.identity.clone(), self.earlier_opening.clone())?);
                        return Ok(None);
                    }
                },
            }
        }
    }

    pub(super) fn wait_on<'a>(&'a self, either: &mut Select<'a>) {
        match &self.connection {
            Connection::Open(camera) => either.recv(&camera.frames),
            Connection::Lost(reopening) => either.recv(&reopening.answer),
        };
    }

    /// Returns the time at which [`CameraStream::poll`] must be called even without an event.
    pub(super) fn silent_at(&self) -> Option<Instant> {
        matches!(self.connection, Connection::Open(_)).then(|| self.last_frame_at + self.silence())
    }

    fn silence(&self) -> Duration {
        SILENCE_TIMEOUT.max(Duration::from_secs(3) / self.earlier_opening.mode.rate_hz.max(1))
    }

    fn lose(&mut self, cause: &CameraError) -> Result<(), CameraError> {
        log::warn!("{cause}");
        self.lost = Some(cause.to_string());
        let reopening = Reopening::start(self.identity.clone(), self.earlier_opening.clone())?;
        if let Connection::Open(camera) = std::mem::replace(&mut self.connection, Connection::Lost(reopening)) {
            self.first_number = self.next_number;
            camera.thread.detach();
        }
        Ok(())
    }

    fn adopt(&mut self, camera: OpenCamera) {
        log::info!("camera {} is back as camera {}", self.index, camera.index);
        self.index = camera.index;
        self.earlier_opening.mode = camera.mode;
        self.mode_remark.clone_from(&camera.remark);
        self.connection = Connection::Open(camera);
        self.lost = None;
        self.last_frame_at = Instant::now();
        self.damaged_at_last_frame = self.earlier_opening.losses.lock().damaged;
        self.arrivals.clear();
        self.is_reopened = true;
    }

    /// Orders a restart of the stream at this time; returns false if the camera is lost or still restarting.
    pub(super) fn restart(&mut self, at: SystemTime) -> bool {
        let Connection::Open(camera) = &self.connection else { return false };
        let sent = camera.restart.try_send(at).is_ok();
        if sent {
            // a restart may take as long as a first start
            self.last_frame_at = self.last_frame_at.max(Instant::now() + START_TIMEOUT);
        }
        sent
    }

    /// Returns the measured frame rate, Hz, including frames that were not taken.
    fn rate_hz(&self) -> f64 {
        let (Some((first, from)), Some((last, to))) = (self.arrivals.front(), self.arrivals.back()) else { return 0.0 };
        let seconds = last.duration_since(*first).unwrap_or_default().as_secs_f64();
        if self.is_lost() || seconds <= 0.0 { 0.0 } else { (to - from) as f64 / seconds }
    }

    pub(super) fn state(&self) -> CameraState {
        let losses = *self.earlier_opening.losses.lock();
        CameraState {
            index: self.index,
            name: self.identity.name.clone(),
            mode: self.earlier_opening.mode.to_string(),
            rate_hz: self.rate_hz(),
            damaged: losses.damaged,
            missed: losses.missed,
            late: losses.late,
            lost: self.lost.clone(),
        }
    }

    pub(super) fn remarks(&self) -> Vec<String> {
        let mut remarks: Vec<String> = self.mode_remark.iter().cloned().collect();
        let damaged = self.state().damaged;
        let total = damaged.total();
        if total >= MIN_DAMAGED_FOR_REMARK && total * DAMAGED_ONE_IN > self.next_number {
            remarks.push(format!(
                "camera {}: {total} of {} frames came damaged and were dropped ({}); try another cable or port, or a smaller \
                 size",
                self.index,
                self.next_number,
                damaged.causes()
            ));
        }
        remarks
    }

    pub(super) fn signal_stop(&mut self) {
        if let Connection::Open(camera) = &mut self.connection {
            camera.thread.signal_stop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::webcam::thread::CameraThread;
    use crossbeam_channel::bounded;
    use stereopsis_frame::Orientation;

    #[test]
    fn a_camera_whose_thread_panics_is_searched_for() {
        const INDEX: u32 = 4_000_000;
        let (sender, frames) = bounded(1);
        let dies = move |_| {
            let _sender: crossbeam_channel::Sender<Result<DecodedFrame, CameraError>> = sender;
            panic!("as a driver's library may");
        };
        let thread = CameraThread::spawn(INDEX, "dies".into(), dies).unwrap();
        let mode = Mode { format: PixelFormat::Yuyv, width: 640, height: 480, rate_hz: 30 };
        let picture_options = PictureOptions {
            api: stereopsis_frame::CameraApi::System,
            pixels: stereopsis_frame::Pixels::Luma,
            orientation: Orientation::Upright,
        };
        let mut stream = CameraStream::new(OpenCamera::of_thread(INDEX, mode, frames, thread), picture_options, None);
        let deadline = Instant::now() + Duration::from_secs(10);
        while stream.state().lost.is_none() {
            assert!(Instant::now() < deadline, "waits for a thread that is not there");
            assert!(stream.poll().unwrap().is_none());
        }
        let why = stream.state().lost.unwrap();
        assert_eq!(why, "camera 4000000: reading it ended unexpectedly; open it again");
        assert!(matches!(stream.connection, Connection::Lost(_)));
    }
}
