//! A camera on Linux. The kernel's own listing says what it can send, also what nokhwa cannot express: grey, 16 bits, rates
//! such as 30000/1001, ranges of sizes. The mode is set here before nokhwa opens the camera, which fails where the driver
//! stands in a mode that it cannot read; and frames that nokhwa cannot read are read here.

use super::device::{Device, DeviceError, Frame, Started, no_camera};
use super::linux_modes::{Offer, fourcc_is_read_by_nokhwa, offers};
use super::mode::Mode;
use super::through_nokhwa::NokhwaDevice;
use crate::capture::decode_camera::Layout;
use rustix::time::{ClockId, clock_gettime};
use std::time::{Duration, SystemTime};
use v4l::buffer::{Flags, Metadata, Type};
use v4l::capability::Flags as Capabilities;
use v4l::io::mmap::Stream;
use v4l::io::traits::{CaptureStream, Stream as _};
use v4l::video::Capture;
use v4l::video::capture::Parameters;

/// An open camera.
pub(super) struct LinuxDevice {
    index: u32,
    device: v4l::Device,
    offers: Vec<Offer>,
    stream: Reader,
    /// nokhwa gave a frame without its time: this camera is read here from then on, also when it is started again.
    unstamped: bool,
}

/// Who reads the frames.
enum Reader {
    Nobody,
    Nokhwa(NokhwaDevice),
    Own { stream: Stream<'static>, running: bool },
}

/// A look at the camera's thread's orders at least so often, ms.
const LOOK_MS: i32 = 100;
/// The first frame may take so long.
const START: Duration = Duration::from_secs(6);
/// There is something to read, as poll(2) says it.
const POLLIN: i16 = 1;

impl LinuxDevice {
    pub(super) fn open(index: u32) -> Result<Self, DeviceError> {
        let device = v4l::Device::new(index as usize)?;
        if !device.query_caps()?.capabilities.contains(Capabilities::VIDEO_CAPTURE) {
            return Err(no_camera());
        }
        Ok(Self { index, device, offers: Vec::new(), stream: Reader::Nobody, unstamped: false })
    }

    fn offers(&mut self) -> Result<&[Offer], DeviceError> {
        if self.offers.is_empty() {
            self.offers = offers(&self.device)?;
        }
        Ok(&self.offers)
    }

    fn own_reader(&self) -> Result<Reader, DeviceError> {
        let mut stream = Stream::new(&self.device, Type::VideoCapture)?;
        stream.set_timeout(START);
        Ok(Reader::Own { stream, running: false })
    }

    /// Sets size and rate; what the driver made of it.
    fn set(&self, offer: &Offer) -> Result<(Started, bool), DeviceError> {
        let Mode { width, height, .. } = offer.mode;
        let wanted = v4l::Format::new(width as u32, height as u32, offer.fourcc);
        let got = self.device.set_format(&wanted)?;
        if (got.width, got.height, got.fourcc) != (wanted.width, wanted.height, wanted.fourcc) {
            let text = format!("the driver sets {} {}x{} instead", got.fourcc, got.width, got.height);
            return Err(DeviceError::new(text));
        }
        let mut mode = offer.mode;
        let mut whole = false;
        if let Some(interval) = offer.interval {
            let got = self.device.set_params(&Parameters::new(interval))?.interval;
            if got.numerator > 0 && got.denominator > 0 {
                mode.rate_hz = (f64::from(got.denominator) / f64::from(got.numerator)).round() as u32;
                whole = got.numerator == 1;
            }
        }
        let layout = Layout::tight(mode.format, mode.size()).with_stride(got.stride as usize);
        Ok((Started { mode, layout }, whole))
    }
}

impl Device for LinuxDevice {
    fn modes(&mut self) -> Result<Vec<Mode>, DeviceError> {
        Ok(self.offers()?.iter().map(|offer| offer.mode).collect())
    }

    fn start(&mut self, mode: Mode) -> Result<Started, DeviceError> {
        self.stop();
        let offer = self.offers()?.iter().find(|offer| offer.mode == mode).copied();
        let offer = offer.ok_or_else(|| DeviceError::new("the camera does not offer this mode"))?;
        let (started, whole_rate) = self.set(&offer)?;
        let granted = self.offers.iter().find(|o| o.mode == started.mode && o.fourcc == offer.fourcc);
        let for_nokhwa = whole_rate && fourcc_is_read_by_nokhwa(offer.fourcc) && granted.is_some_and(|o| o.is_plain);
        self.stream = if for_nokhwa && !self.unstamped {
            let mut nokhwa = NokhwaDevice::open_in(self.index, started.mode)?;
            nokhwa.start(started.mode)?;
            Reader::Nokhwa(nokhwa)
        } else {
            self.own_reader()?
        };
        Ok(started)
    }

    fn frame(&mut self) -> Result<Option<Frame<'_>>, DeviceError> {
        if self.unstamped && matches!(self.stream, Reader::Nokhwa(_)) {
            // nokhwa knows no time that lies a little ahead, as drivers give it that stamp a frame's end
            self.stop();
            self.stream = self.own_reader()?;
        }
        match &mut self.stream {
            Reader::Nobody => Err(DeviceError::new("the camera does not stream")),
            Reader::Nokhwa(nokhwa) => {
                let frame = nokhwa.frame()?;
                self.unstamped = frame.as_ref().is_some_and(|frame| frame.stamp.is_none());
                Ok(frame)
            }
            Reader::Own { stream, running } => {
                if *running && stream.handle().poll(POLLIN, LOOK_MS)? == 0 {
                    return Ok(None);
                }
                let (bytes, meta) = stream.next()?;
                *running = true;
                Ok(Some(Frame { bytes: used(bytes, meta), stamp: wall_time(meta) }))
            }
        }
    }

    fn stop(&mut self) {
        match std::mem::replace(&mut self.stream, Reader::Nobody) {
            Reader::Own { mut stream, .. } => {
                if stream.stop().is_err() {
                    // dropping it would stop it once more, and panic where the driver refuses, as some do when unplugged
                    std::mem::forget(stream);
                    log::warn!("camera {} could not be stopped in order", self.index);
                }
            }
            Reader::Nokhwa(mut nokhwa) => nokhwa.stop(),
            Reader::Nobody => {}
        }
    }
}

impl Drop for LinuxDevice {
    fn drop(&mut self) {
        self.stop();
    }
}

/// What the driver filled, nothing where it says that the frame is damaged.
fn used<'a>(bytes: &'a [u8], meta: &Metadata) -> &'a [u8] {
    if meta.flags.contains(Flags::ERROR) {
        return &[];
    }
    match meta.bytesused as usize {
        0 => bytes,
        used => bytes.get(..used).unwrap_or(bytes),
    }
}

/// The driver's time, which is of the monotonic clock, by the wall clock; it may lie a little ahead.
fn wall_time(meta: &Metadata) -> Option<SystemTime> {
    let monotonic = meta.flags & Flags::TIMESTAMP_MASK == Flags::TIMESTAMP_MONOTONIC;
    // drivers that keep no time leave it at 0
    if !monotonic
        || meta.timestamp.sec < 0
        || meta.timestamp.usec < 0
        || (meta.timestamp.sec, meta.timestamp.usec) == (0, 0)
    {
        return None;
    }
    let stamp = Duration::from(meta.timestamp);
    let now = clock_gettime(ClockId::Monotonic);
    let now = Duration::new(now.tv_sec.try_into().ok()?, now.tv_nsec.try_into().ok()?);
    let wall = SystemTime::now();
    match now.checked_sub(stamp) {
        Some(age) => wall.checked_sub(age),
        None => wall.checked_add(stamp.saturating_sub(now)),
    }
}
