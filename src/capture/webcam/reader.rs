//! What a camera's thread does: opens the camera, lists its modes, takes the one it is told, then reads, decodes, turns and
//! sends pictures. It never waits for whoever takes them: its queue holds a few, of which the oldest gives way.

use super::claim::Claim;
use super::device::{self, Device, DeviceError, Frame, Started};
use super::fault::{self, number};
use super::mode::Mode;
use crate::capture::decode_camera::{Layout, decode};
use crate::capture::{CaptureError, Orientation};
use crate::frame::{Luma, Picture};
use crossbeam_channel::{Receiver, Sender, TrySendError};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

/// One decoded picture of one camera.
#[derive(Debug)]
pub(super) struct Shot {
    pub(super) picture: Picture,
    /// The same as it came.
    pub(super) original: crate::capture::Shot,
    /// When it was taken, as the driver says.
    pub(super) stamp: Option<SystemTime>,
    /// When it came.
    pub(super) arrival: SystemTime,
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

/// What is done with each picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Finish {
    /// Decode colour too.
    pub(super) color: bool,
    pub(super) orientation: Orientation,
}

/// The mode that a camera took, and why not the first one of those it was told.
pub(super) type Taken = (Mode, Option<CaptureError>);

/// What the thread works with.
pub(super) struct Reader {
    pub(super) index: u32,
    pub(super) claim: Claim,
    pub(super) finish: Finish,
    pub(super) stop: Arc<AtomicBool>,
    pub(super) shots: Sender<Result<Shot, CaptureError>>,
    /// The reader's end, to take out what nobody took.
    pub(super) oldest: Receiver<Result<Shot, CaptureError>>,
    pub(super) counts: Arc<Counts>,
    /// When the stream shall be started again.
    pub(super) restarts: Receiver<SystemTime>,
}

/// How far a stream has come.
#[derive(Default)]
struct Progress {
    number: u64,
    /// Of 16-bit frames: the most bits that any of them had.
    bits: u8,
}

impl Progress {
    /// Frames of one stream are on one scale: a dark one must not be stretched.
    fn deepen(&mut self, luma: &mut Luma) {
        if let Luma::U16 { bits, .. } = luma {
            self.bits = self.bits.max(*bits);
            *bits = self.bits;
        }
    }
}

/// A stream waits at most so long before it is started again.
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

impl Reader {
    pub(super) fn run(
        self,
        offer: &Sender<Result<Vec<Mode>, CaptureError>>,
        orders: &Receiver<Vec<Mode>>,
        taken: &Sender<Result<Taken, CaptureError>>,
    ) {
        let opened = device::open(self.index).and_then(|mut device| Ok((device.modes()?, device)));
        let mut device = match opened {
            Ok((modes, _)) if modes.is_empty() => {
                let _ = offer.send(Err(fault::unreadable(self.index)));
                return;
            }
            Ok((modes, device)) => {
                self.claim.set_modes(&modes);
                let _ = offer.send(Ok(modes));
                device
            }
            Err(error) => {
                let _ = offer.send(Err(fault::explain(self.index, "open it", &error)));
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

    /// Takes the first mode that the camera really streams; the bus may refuse what the camera offers.
    fn start(
        &self,
        device: &mut dyn Device,
        candidates: &[Mode],
        progress: &mut Progress,
    ) -> Result<(Started, Option<CaptureError>), CaptureError> {
        let mut refusal = None;
        for &mode in candidates {
            match self.first_frame(device, mode, progress) {
                Ok(started) => return Ok((started, refusal)),
                Err(error) => {
                    log::debug!("camera {}: {mode} refused: {error}", self.index);
                    device.stop();
                    let words = fault::explain(self.index, &format!("stream {mode}"), &error);
                    if matches!(error.number, Some(number::BUSY | number::GONE)) {
                        return Err(words);
                    }
                    refusal.get_or_insert(words);
                }
            }
        }
        Err(refusal.unwrap_or_else(|| fault::unreadable(self.index)))
    }

    /// Only the first frame shows that the camera streams.
    fn first_frame(
        &self,
        device: &mut dyn Device,
        mode: Mode,
        progress: &mut Progress,
    ) -> Result<Started, DeviceError> {
        let started = device.start(mode)?;
        while !self.stop.load(Ordering::Relaxed) {
            if let Some(frame) = device.frame()? {
                self.deliver(frame, started.layout, progress);
                break;
            }
        }
        Ok(started)
    }

    fn read(&self, device: &mut dyn Device, started: Started, progress: &mut Progress) {
        while !self.stop.load(Ordering::Relaxed) {
            if let Ok(at) = self.restarts.try_recv() {
                device.stop();
                let pause = at.duration_since(SystemTime::now()).unwrap_or_default();
                std::thread::sleep(pause.min(LONGEST_PAUSE));
                if let Err(error) = device.start(started.mode) {
                    return self.send(Err(fault::explain(self.index, "start it again", &error)));
                }
            }
            match device.frame() {
                Ok(Some(frame)) => self.deliver(frame, started.layout, progress),
                Ok(None) => {}
                Err(error) => return self.send(Err(fault::explain(self.index, "read it", &error))),
            }
        }
    }

    fn deliver(&self, frame: Frame<'_>, layout: Layout, progress: &mut Progress) {
        let arrival = SystemTime::now();
        let number = progress.number;
        progress.number += 1;
        match decode(layout, frame.bytes, self.finish.color) {
            Ok(mut picture) => {
                progress.deepen(&mut picture.luma);
                self.finish.orientation.turn(&mut picture);
                let original = crate::capture::Shot { layout, bytes: layout.cut(frame.bytes).into() };
                self.send(Ok(Shot { picture, original, stamp: frame.stamp, arrival, number }));
            }
            Err(error) => {
                self.counts.damaged.fetch_add(1, Ordering::Relaxed);
                log::debug!("camera {}: frame {number} dropped: {error}", self.index);
            }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::Image;

    #[test]
    fn a_dark_frame_keeps_the_depth_of_those_before() {
        let mut progress = Progress::default();
        let scales = [10, 12, 10].map(|bits| {
            let mut luma = Luma::U16 { image: Image::new(1, 1, vec![800]), bits };
            progress.deepen(&mut luma);
            luma.to_u8().at(0, 0)
        });
        assert_eq!(scales, [200, 50, 50]);
    }
}
