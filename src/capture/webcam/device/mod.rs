//! What a camera's thread needs of a camera, whatever library stands behind it.

#[cfg(any(not(target_os = "linux"), test))]
#[cfg_attr(target_os = "linux", allow(dead_code, reason = "for other systems; its choices are tested here too"))]
mod through_nokhwa;
#[cfg(target_os = "linux")]
pub(super) mod v4l2;

use super::mode::Mode;
use crate::capture::decode_camera::{Damage, DecodeError, Layout, decode};
use crate::image::Picture;
use std::fmt;
use std::time::SystemTime;

/// An open camera.
pub(super) trait Device {
    /// What it can send, as far as it can be read here; sorted.
    fn modes(&mut self) -> Result<Vec<Mode>, DeviceError>;

    /// Sets a mode out of the list and starts the stream. Only the first frame shows that the camera really streams.
    fn start(&mut self, mode: Mode) -> Result<Started, DeviceError>;

    /// Waits for the next frame: for a short time, then there is `None`, or for ever where the library cannot do better.
    fn frame(&mut self) -> Result<Option<Frame<'_>>, DeviceError>;

    /// Stops the stream, where there is one.
    fn stop(&mut self);
}

/// What a camera made of the mode that it was told.
#[derive(Clone, Copy, Debug)]
pub(super) struct Started {
    /// The size as told; the rate may be another one.
    pub(super) mode: Mode,
    pub(super) layout: Layout,
}

/// One frame as it came.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame<'a> {
    /// As many as came; they may go on behind the picture.
    pub(super) bytes: &'a [u8],
    /// The driver says that it is damaged.
    pub(super) is_flagged: bool,
    /// Counts the driver's frames since the start of the stream, also those that it could give nobody; where it counts.
    pub(super) number: Option<u32>,
    /// The driver's time, by the wall clock.
    pub(super) stamp: Option<SystemTime>,
}

impl Frame<'_> {
    /// The picture, unless the frame is damaged.
    pub(super) fn decode(&self, layout: Layout, color: bool) -> Result<Picture, DecodeError> {
        if self.is_flagged {
            let text = format!("the driver says that its {} bytes are damaged", self.bytes.len());
            return Err(DecodeError::new(Damage::Flagged, text));
        }
        decode(layout, self.bytes, color)
    }
}

/// Why a device does not do what it was told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DeviceError {
    /// The operating system's number for it, where there is one.
    pub(super) number: Option<i32>,
    pub(super) text: String,
}

impl DeviceError {
    pub(super) fn new(text: impl Into<String>) -> Self {
        Self { number: None, text: text.into() }
    }
}

impl fmt::Display for DeviceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl From<std::io::Error> for DeviceError {
    fn from(error: std::io::Error) -> Self {
        Self { number: error.raw_os_error(), text: error.to_string() }
    }
}

/// What is listed among the cameras and is none: a converter, metadata.
pub(super) fn no_camera() -> DeviceError {
    DeviceError::new("it takes no pictures")
}

/// Opens a camera; it does not stream yet.
pub(super) fn open(index: u32) -> Result<Box<dyn Device>, DeviceError> {
    #[cfg(target_os = "linux")]
    let device = v4l2::LinuxDevice::open(index)?;
    #[cfg(not(target_os = "linux"))]
    let device = through_nokhwa::NokhwaDevice::open(index)?;
    Ok(Box::new(device))
}
