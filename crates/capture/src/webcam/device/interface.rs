//! Interface of a camera device, and what it hands over.

use crate::webcam::mode::Mode;
use std::time::SystemTime;
use stereopsis_base::files;
use stereopsis_base::image::Picture;
use stereopsis_frame::Pixels;
use stereopsis_frame::decode_camera::{DecodeError, Layout, decode};

pub(in crate::webcam) trait Device {
    /// Returns the modes that can be decoded, sorted.
    fn modes(&mut self) -> Result<Vec<Mode>, DeviceError>;

    /// Sets one of these modes and starts the stream. Only the first frame proves that the camera streams.
    fn start(&mut self, mode: Mode) -> Result<StreamFormat, DeviceError>;

    /// Waits briefly for the next frame; `None` if there is none. A library without a timeout waits without a limit.
    fn frame(&mut self) -> Result<Option<ReceivedFrame<'_>>, DeviceError>;

    fn stop(&mut self);
}

/// Format of a started stream.
#[derive(Clone, Copy, Debug)]
pub(in crate::webcam) struct StreamFormat {
    /// Granted mode: the requested size, with possibly another rate.
    pub(in crate::webcam) mode: Mode,
    pub(in crate::webcam) layout: Layout,
}

#[derive(Clone, Copy, Debug)]
pub(in crate::webcam) struct ReceivedFrame<'a> {
    /// Received bytes, which may extend beyond the image.
    pub(in crate::webcam) bytes: &'a [u8],
    /// Whether the driver flags it as damaged.
    pub(in crate::webcam) is_flagged: bool,
    /// Driver's sequence number from the start of the stream, which also counts frames that the driver dropped; `None` without one.
    pub(in crate::webcam) number: Option<u32>,
    /// Driver's time stamp, converted to the wall clock.
    pub(in crate::webcam) stamp: Option<SystemTime>,
}

impl ReceivedFrame<'_> {
    /// Decodes the image, unless the frame is damaged.
    pub(in crate::webcam) fn decode(&self, layout: Layout, pixels: Pixels) -> Result<Picture, DecodeError> {
        if self.is_flagged {
            return Err(DecodeError::Flagged(self.bytes.len()));
        }
        decode(layout, self.bytes, pixels)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub(in crate::webcam) struct DeviceError {
    /// Error number of the operating system; `None` for other errors.
    pub(in crate::webcam) number: Option<i32>,
    pub(in crate::webcam) text: String,
}

impl DeviceError {
    pub(in crate::webcam) fn new(text: impl Into<String>) -> Self {
        Self { number: None, text: text.into() }
    }
}

impl From<std::io::Error> for DeviceError {
    fn from(error: std::io::Error) -> Self {
        Self { number: error.raw_os_error(), text: files::cause(&error) }
    }
}

/// Returns the error of a device that takes no images: a converter, or a metadata node.
pub(in crate::webcam) fn no_camera() -> DeviceError {
    DeviceError::new("it takes no images")
}
