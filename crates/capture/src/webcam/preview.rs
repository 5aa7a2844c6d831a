//! Preview of one camera for its selection, read on a separate thread in a small mode that needs little bus bandwidth.

use super::claim::Claim;
use super::device::{self, Device};
use super::error::CameraError;
use super::mode::Mode;
use super::thread::CameraThread;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use stereopsis_base::image::Picture;
use stereopsis_frame::decode_camera::{Damaged, PixelFormat};
use stereopsis_frame::{CameraApi, Pixels};

/// Preview of a camera: its newest image. A camera that another source of this program has open is not opened; a busy, missing or lost
/// one is tried again. Dropping frees the camera soon, without waiting.
#[derive(Debug)]
pub struct Preview {
    index: u32,
    /// State shared with the thread; the lock must never be held across a read.
    seen: Arc<Mutex<PreviewState>>,
    thread: Option<CameraThread>,
}

#[derive(Debug)]
struct PreviewState {
    latest: Option<Arc<Picture>>,
    /// Arrival time of the newest image, or start of the wait for one.
    at: Instant,
    /// Numbers of damaged frames since that time.
    damaged: Damaged,
    problem: Option<String>,
}

/// Time without an image after which a problem is reported.
const SILENCE_TIMEOUT: Duration = Duration::from_secs(3);
/// Pause between two attempts to open the camera, and poll interval of the stop signal during the pause.
const RETRY_INTERVAL: Duration = Duration::from_millis(500);
const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// Width of a thumbnail, px.
const WIDTH: usize = 320;

impl Preview {
    /// Starts a preview of camera `index`; returns at once.
    pub fn open(index: u32) -> Self {
        let seen = PreviewState { latest: None, at: Instant::now(), damaged: Damaged::default(), problem: None };
        let seen = Arc::new(Mutex::new(seen));
        let shown = seen.clone();
        let thread =
            CameraThread::spawn(index, format!("camera {index} preview"), move |stop| run(index, &stop, &shown));
        let thread = match thread {
            Ok(thread) => Some(thread),
            Err(error) => {
                seen.lock().problem = Some(error.to_string());
                None
            }
        };
        Self { index, seen, thread }
    }

    /// Returns the newest image, with RGB; grey for a camera without colour.
    pub fn latest(&self) -> Option<Arc<Picture>> {
        self.seen.lock().latest.clone()
    }

    /// Returns why there is no new image. The problem stays during further attempts until one succeeds.
    pub fn problem(&self) -> Option<String> {
        if self.thread.as_ref().is_some_and(CameraThread::has_ended) {
            return Some(CameraError::Ended(self.index).to_string());
        }
        let seen = self.seen.lock();
        let silent = || CameraError::silent(self.index, SILENCE_TIMEOUT, seen.damaged).to_string();
        seen.problem.clone().or_else(|| (seen.at.elapsed() >= SILENCE_TIMEOUT).then(silent))
    }
}

impl Drop for Preview {
    fn drop(&mut self) {
        if let Some(thread) = self.thread.take() {
            thread.detach();
        }
    }
}

fn run(index: u32, stop: &AtomicBool, seen: &Mutex<PreviewState>) {
    while !stop.load(Ordering::Relaxed) {
        if let Err(error) = watch(index, stop, seen) {
            seen.lock().problem = Some(error.to_string());
        }
        let again = Instant::now() + RETRY_INTERVAL;
        while !stop.load(Ordering::Relaxed) && Instant::now() < again {
            thread::sleep(POLL_INTERVAL);
        }
    }
}

/// Reads the camera until a stop or an error.
fn watch(index: u32, stop: &AtomicBool, seen: &Mutex<PreviewState>) -> Result<(), CameraError> {
    let claim = Claim::try_take(index).ok_or(CameraError::InUse(index))?;
    let failed = |task: String| move |err| CameraError::of_device(index, task, err);
    let mut device = device::open(index, CameraApi::System).map_err(failed("open it".into()))?;
    let modes = device.modes().map_err(failed("list its modes".into()))?;
    claim.set_modes(&modes);
    let mode = small(&modes).ok_or(CameraError::Unreadable(index))?;
    seen.lock().at = Instant::now();
    read(&mut *device, mode, stop, seen).map_err(failed(format!("stream {mode}")))
}

fn read(
    device: &mut dyn Device,
    mode: Mode,
    stop: &AtomicBool,
    seen: &Mutex<PreviewState>,
) -> Result<(), device::DeviceError> {
    let layout = device.start(mode)?.layout;
    while !stop.load(Ordering::Relaxed) {
        let Some(frame) = device.frame()? else { continue };
        let mut picture = match frame.decode(layout, Pixels::Color) {
            Ok(picture) => picture,
            Err(error) => {
                seen.lock().damaged.count(error.damage());
                continue;
            }
        };
        if picture.rgb.is_none() {
            picture.rgb = Some(picture.luma.to_u8().map(|&grey| [grey; 3]));
        }
        let (latest, at) = (Some(Arc::new(picture)), Instant::now());
        *seen.lock() = PreviewState { latest, at, damaged: Damaged::default(), problem: None };
    }
    Ok(())
}

/// Returns the cheapest mode: at most 30/s if possible, then about as wide as a thumbnail, then MJPEG.
fn small(modes: &[Mode]) -> Option<Mode> {
    let cost = |mode: &&Mode| {
        (
            mode.rate_hz > 30,
            mode.width.abs_diff(WIDTH),
            mode.height,
            mode.format != PixelFormat::Mjpeg,
            mode.rate_hz.abs_diff(15),
        )
    };
    modes.iter().min_by_key(cost).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chooses_the_cheapest_mode() {
        let mode = |format, width, height, rate_hz| Mode { format, width, height, rate_hz };
        let modes = [
            mode(PixelFormat::Yuyv, 640, 480, 30),
            mode(PixelFormat::Yuyv, 320, 240, 30),
            mode(PixelFormat::Mjpeg, 320, 240, 60),
            mode(PixelFormat::Mjpeg, 320, 240, 30),
            mode(PixelFormat::Mjpeg, 1920, 1080, 30),
        ];
        assert_eq!(small(&modes), Some(modes[3]));
        assert_eq!(small(&modes[..2]), Some(modes[1]));
        assert_eq!(small(&modes[2..3]), Some(modes[2]), "60/s is better than nothing");
        assert_eq!(small(&[]), None);
    }
}
