//! Camera devices: the interface that a camera's thread uses, independent of the library behind it.

#[cfg(any(not(target_os = "linux"), feature = "nokhwa-linux", test))]
#[cfg_attr(
    all(target_os = "linux", not(feature = "nokhwa-linux")),
    allow(dead_code, reason = "its choices are tested here too")
)]
mod through_nokhwa;
#[cfg(target_os = "linux")]
pub(super) mod v4l2;

use super::mode::Mode;
use crate::decode_camera::{Damage, DecodeError, Layout, decode};
use crate::files;
use crate::image::Picture;
use crate::{CameraApi, Pixels};
use std::time::SystemTime;

/// An open camera.
pub(super) trait Device {
    /// Modes that can be decoded, sorted.
    fn modes(&mut self) -> Result<Vec<Mode>, DeviceError>;

    /// Sets one of these modes and starts the stream. Only the first frame proves that the camera streams.
    fn start(&mut self, mode: Mode) -> Result<Started, DeviceError>;

    /// Waits for the next frame: briefly, then returns `None`; or without a limit where the library has no timeout.
    fn frame(&mut self) -> Result<Option<Frame<'_>>, DeviceError>;

    /// Stops the stream, if it runs.
    fn stop(&mut self);
}

/// The mode that a camera granted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Started {
    /// The requested size; the rate may differ from the requested one.
    pub(super) mode: Mode,
    pub(super) layout: Layout,
}

/// One frame as received.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame<'a> {
    /// All received bytes; they may extend behind the image.
    pub(super) bytes: &'a [u8],
    /// Whether the driver flags it as damaged.
    pub(super) is_flagged: bool,
    /// Sequence number from the start of the stream, including frames that the driver dropped; where the driver counts.
    pub(super) number: Option<u32>,
    /// The driver's time stamp, converted to the wall clock.
    pub(super) stamp: Option<SystemTime>,
}

impl Frame<'_> {
    /// Decodes the image, unless the frame is damaged.
    pub(super) fn decode(&self, layout: Layout, pixels: Pixels) -> Result<Picture, DecodeError> {
        if self.is_flagged {
            let text = format!("the driver says that its {} bytes are damaged", self.bytes.len());
            return Err(DecodeError::new(Damage::Flagged, text));
        }
        decode(layout, self.bytes, pixels)
    }
}

/// Error of a device.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub(super) struct DeviceError {
    /// The operating system's error number, if there is one.
    pub(super) number: Option<i32>,
    pub(super) text: String,
}

impl DeviceError {
    pub(super) fn new(text: impl Into<String>) -> Self {
        Self { number: None, text: text.into() }
    }
}

impl From<std::io::Error> for DeviceError {
    fn from(error: std::io::Error) -> Self {
        Self { number: error.raw_os_error(), text: files::cause(&error) }
    }
}

/// Error text of a device listed among the cameras that is none: a converter, or a metadata node.
pub(super) fn no_camera() -> DeviceError {
    DeviceError::new("it takes no images")
}

/// Opens a camera without starting its stream.
pub(super) fn open(index: u32, api: CameraApi) -> Result<Box<dyn Device>, DeviceError> {
    match api {
        #[cfg(target_os = "linux")]
        CameraApi::System => Ok(Box::new(v4l2::LinuxDevice::open(index)?)),
        #[cfg(all(target_os = "linux", not(feature = "nokhwa-linux")))]
        CameraApi::Nokhwa => Err(DeviceError::new(NO_NOKHWA)),
        #[cfg(any(not(target_os = "linux"), feature = "nokhwa-linux"))]
        _ => Ok(Box::new(through_nokhwa::NokhwaDevice::open(index)?)),
    }
}

/// How to get nokhwa on Linux, where it needs a C library to be built.
#[cfg(all(target_os = "linux", not(feature = "nokhwa-linux")))]
const NO_NOKHWA: &str = "this program reads cameras through V4L2 alone; one built with libclang and --features nokhwa-linux has \
     --camera-api nokhwa too";
