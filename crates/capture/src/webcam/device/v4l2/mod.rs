//! Camera device on Linux, directly through V4L2. Compared with nokhwa, it reports the number of received bytes and the driver's damage
//! flags, and supports more modes: grey, 16 bits, rates such as 30000/1001, ranges of sizes, strides.

pub(in super::super) mod calls;
mod kernel;
mod modes;
mod stream;

use self::calls::{FourCc, Node};
use self::kernel::PixFormat;
use self::modes::{OfferedMode, offers};
use self::stream::Stream;
use super::{Device, DeviceError, ReceivedFrame, StreamFormat};
use crate::webcam::mode::Mode;
use std::time::Duration;
use stereopsis_frame::decode_camera::Layout;

pub(super) struct LinuxDevice {
    // declared before the node, because the stream must be dropped first
    stream: Option<Stream>,
    node: Node,
    offers: Vec<OfferedMode>,
}

/// Timeout of waiting for a frame, after which the camera's thread checks its commands.
const POLL_TIMEOUT: Duration = Duration::from_millis(100);

impl LinuxDevice {
    pub(super) fn open(index: u32) -> Result<Self, DeviceError> {
        let node = Node::open(index)?;
        if !calls::gives_pictures(&node)? {
            return Err(DeviceError::NoCamera);
        }
        Ok(Self { stream: None, node, offers: Vec::new() })
    }

    fn offers(&mut self) -> &[OfferedMode] {
        if self.offers.is_empty() {
            self.offers = offers(&self.node);
        }
        &self.offers
    }

    /// Sets size and rate; returns the granted mode.
    fn set(&self, offer: &OfferedMode) -> Result<StreamFormat, DeviceError> {
        let mut mode = offer.mode;
        let size = (mode.width as u32, mode.height as u32);
        check(calls::set_format(&self.node, offer.fourcc, size)?, offer)?;
        if let Some(interval) = offer.interval {
            let got = calls::set_interval(&self.node, interval)?;
            if got.numerator > 0 && got.denominator > 0 {
                mode.rate_hz = (f64::from(got.denominator) / f64::from(got.numerator)).round() as u32;
            }
        }
        // some drivers change the size with the rate
        let got = check(calls::format(&self.node)?, offer)?;
        Ok(StreamFormat {
            mode,
            layout: Layout::tight(mode.format, mode.size()).with_stride(got.bytesperline as usize),
        })
    }
}

fn check(got: PixFormat, offer: &OfferedMode) -> Result<PixFormat, DeviceError> {
    let (fourcc, Mode { width, height, .. }) = (FourCc::from(got.pixelformat), offer.mode);
    if (got.width as usize, got.height as usize, fourcc) == (width, height, offer.fourcc) {
        return Ok(got);
    }
    let code = String::from_utf8_lossy(&fourcc.0).into_owned();
    let code = stereopsis_base::console::foreign(&code);
    Err(DeviceError::OtherMode { code, size: (got.width, got.height) })
}

impl Device for LinuxDevice {
    fn modes(&mut self) -> Result<Vec<Mode>, DeviceError> {
        Ok(self.offers().iter().map(|offer| offer.mode).collect())
    }

    fn start(&mut self, mode: Mode) -> Result<StreamFormat, DeviceError> {
        self.stop();
        let offer = self.offers().iter().find(|offer| offer.mode == mode).copied();
        let offer = offer.ok_or(DeviceError::NoMode)?;
        let started = self.set(&offer)?;
        self.stream = Some(Stream::start(&self.node)?);
        Ok(started)
    }

    fn frame(&mut self) -> Result<Option<ReceivedFrame<'_>>, DeviceError> {
        self.stream.as_mut().ok_or(DeviceError::NoStream)?.next(POLL_TIMEOUT)
    }

    fn stop(&mut self) {
        self.stream = None;
    }
}
