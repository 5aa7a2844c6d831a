//! Thread of one camera: opens the camera, lists its modes, sets the ordered one, then reads, decodes, turns and sends images. It must
//! never wait for the receiver: a full queue drops its oldest image.

use super::claim::Claim;
use super::device::{self, Device, DeviceError, ReceivedFrame, StreamFormat};
use super::error::CameraError;
use super::mode::Mode;
use crossbeam_channel::{Receiver, Sender};
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};
use stereopsis_base::image::Picture;
use stereopsis_base::newest::force_send;
use stereopsis_frame::decode_camera::{Damaged, Layout};
use stereopsis_frame::{CameraApi, Orientation, Pixels};

#[derive(Debug)]
pub(super) struct DecodedFrame {
    pub(super) picture: Picture,
    /// Image as the camera sent it.
    pub(super) original: stereopsis_frame::EncodedImage,
    /// Capture time according to the driver.
    pub(super) stamp: Option<SystemTime>,
    pub(super) arrival: SystemTime,
    /// Number of the frame, which also counts damaged and dropped frames.
    pub(super) number: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PictureOptions {
    pub(super) api: CameraApi,
    pub(super) pixels: Pixels,
    pub(super) orientation: Orientation,
}

/// Numbers of frames of a camera that gave no image.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FrameLosses {
    /// Numbers of damaged frames by cause.
    pub(super) damaged: Damaged,
    /// Number of frames missing in the driver's sequence numbers.
    pub(super) missed: u64,
    pub(super) late: u64,
}

/// Mode that a camera granted, and the error of the first ordered mode if that failed.
pub(super) type GrantedMode = (Mode, Option<CameraError>);

pub(super) struct Reader {
    pub(super) index: u32,
    pub(super) claim: Claim,
    pub(super) picture_options: PictureOptions,
    pub(super) stop: Arc<AtomicBool>,
    pub(super) frames: Sender<Result<DecodedFrame, CameraError>>,
    /// Receiving end of the same channel, to drop the oldest image.
    pub(super) oldest: Receiver<Result<DecodedFrame, CameraError>>,
    /// Losses; the lock must never be held across a read.
    pub(super) losses: Arc<Mutex<FrameLosses>>,
    /// Channel of the time of a restart of the stream.
    pub(super) restarts: Receiver<SystemTime>,
}

/// Frame numbers of a stream.
#[derive(Default)]
struct Progress {
    number: u64,
    /// Last sequence number of the driver since the stream's start.
    of_driver: Option<u32>,
}

impl Progress {
    /// Returns the number of frames since the last one that the driver counted and did not deliver.
    fn missed(&mut self, number: Option<u32>) -> u32 {
        let last = std::mem::replace(&mut self.of_driver, number);
        let gap = number.zip(last).and_then(|(number, last)| number.checked_sub(last)?.checked_sub(1));
        // longer gaps are pauses or invalid sequence numbers
        gap.filter(|&gap| gap <= MAX_SEQUENCE_GAP).unwrap_or(0)
    }
}

const MAX_RESTART_DELAY: Duration = Duration::from_secs(1);
/// Time after which a mode is given up if all frames, and at least this number, were damaged.
const DAMAGED_START_TIMEOUT: Duration = Duration::from_secs(1);
const MIN_DAMAGED_AT_START: u64 = 3;
/// Maximum plausible number of consecutive missing frames.
const MAX_SEQUENCE_GAP: u32 = 1000;

impl Reader {
    pub(super) fn run(
        self,
        offer: &Sender<Result<Vec<Mode>, CameraError>>,
        orders: &Receiver<Vec<Mode>>,
        taken: &Sender<Result<GrantedMode, CameraError>>,
    ) {
        let opened =
            device::open(self.index, self.picture_options.api).and_then(|mut device| Ok((device.modes()?, device)));
        let mut device = match opened {
            Ok((modes, _)) if modes.is_empty() => {
                let _ = offer.send(Err(CameraError::Unreadable(self.index)));
                return;
            }
            Ok((modes, device)) => {
                self.claim.set_modes(&modes);
                let _ = offer.send(Ok(modes));
                device
            }
            Err(error) => {
                let _ = offer.send(Err(CameraError::of_device(self.index, "open it", error)));
                return;
            }
        };
        let Ok(candidates) = orders.recv() else { return };
        let mut progress = Progress::default();
        match self.start(&mut *device, &candidates, &mut progress) {
            Ok((started, refusal)) => {
                let _ = taken.send(Ok((started.mode, refusal)));
                self.read(&mut *device, started, &mut progress);
            }
            Err(error) => {
                let _ = taken.send(Err(error));
            }
        }
    }

    /// Sets the first of the modes in which the camera really streams; the bus may reject listed modes.
    fn start(
        &self,
        device: &mut dyn Device,
        candidates: &[Mode],
        progress: &mut Progress,
    ) -> Result<(StreamFormat, Option<CameraError>), CameraError> {
        let mut refusal = None;
        for &mode in candidates {
            match self.first_frame(device, mode, progress) {
                Ok(started) => return Ok((started, refusal)),
                Err(error) => {
                    log::debug!("camera {}: {mode} refused: {error}", self.index);
                    device.stop();
                    let error = CameraError::of_device(self.index, format!("stream {mode}"), error);
                    if matches!(error, CameraError::Busy(_) | CameraError::Gone(_)) {
                        return Err(error);
                    }
                    refusal.get_or_insert(error);
                }
            }
        }
        Err(refusal.unwrap_or(CameraError::Unreadable(self.index)))
    }

    /// Starts a mode and waits for an intact frame, which alone proves that the camera streams; the first frames are often truncated.
    fn first_frame(
        &self,
        device: &mut dyn Device,
        mode: Mode,
        progress: &mut Progress,
    ) -> Result<StreamFormat, DeviceError> {
        let before = self.losses.lock().damaged;
        let started = device.start(mode)?;
        progress.of_driver = None;
        let hopeless = Instant::now() + DAMAGED_START_TIMEOUT;
        while !self.stop.load(Ordering::Relaxed) {
            let Some(frame) = device.frame()? else { continue };
            if self.deliver(frame, started.layout, progress) {
                break;
            }
            let damaged = self.losses.lock().damaged - before;
            if damaged.total() >= MIN_DAMAGED_AT_START && Instant::now() >= hopeless {
                return Err(DeviceError::AllDamaged { since: DAMAGED_START_TIMEOUT, damaged });
            }
        }
        Ok(started)
    }

    fn read(&self, device: &mut dyn Device, started: StreamFormat, progress: &mut Progress) {
        while !self.stop.load(Ordering::Relaxed) {
            if let Ok(at) = self.restarts.try_recv() {
                device.stop();
                let pause = at.duration_since(SystemTime::now()).unwrap_or_default();
                std::thread::sleep(pause.min(MAX_RESTART_DELAY));
                if let Err(error) = device.start(started.mode) {
                    return self.send(Err(CameraError::of_device(self.index, "start it again", error)));
                }
                progress.of_driver = None;
            }
            match device.frame() {
                Ok(Some(frame)) => {
                    self.deliver(frame, started.layout, progress);
                }
                Ok(None) => {}
                Err(error) => return self.send(Err(CameraError::of_device(self.index, "read it", error))),
            }
        }
    }

    /// Decodes and sends the image. Counts a damaged frame instead, and returns false.
    fn deliver(&self, frame: ReceivedFrame<'_>, layout: Layout, progress: &mut Progress) -> bool {
        let arrival = SystemTime::now();
        let number = progress.number;
        progress.number += 1;
        self.losses.lock().missed += u64::from(progress.missed(frame.number));
        match frame.decode(layout, self.picture_options.pixels) {
            Ok(mut picture) => {
                self.picture_options.orientation.turn(&mut picture);
                let original = stereopsis_frame::EncodedImage { layout, bytes: layout.cut(frame.bytes).into() };
                self.send(Ok(DecodedFrame { picture, original, stamp: frame.stamp, arrival, number }));
                true
            }
            Err(error) => {
                self.losses.lock().damaged.count(error.damage());
                log::debug!("camera {}: frame {number} dropped: {error}", self.index);
                false
            }
        }
    }

    /// Sends without blocking: a full queue drops its oldest image.
    fn send(&self, frame: Result<DecodedFrame, CameraError>) {
        let replaced = force_send(&self.frames, &self.oldest, frame);
        self.losses.lock().late += replaced as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_gaps_in_sequence_numbers_as_missed() {
        let mut progress = Progress::default();
        // one and three missing; a restart, a repeated number and a leap count none
        let numbers = [0, 1, 3, 7, 0, 0, 1, u32::MAX, 0];
        let missed: Vec<u32> = numbers.into_iter().map(|n| progress.missed(Some(n))).collect();
        assert_eq!(missed, [0, 0, 1, 3, 0, 0, 0, 0, 0]);
        assert_eq!((progress.missed(None), progress.missed(Some(9))), (0, 0), "who does not count misses none");
    }
}
