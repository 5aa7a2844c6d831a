//! Camera device: the interface through which a camera's thread uses V4L2 or nokhwa.

#[cfg(any(not(target_os = "linux"), feature = "nokhwa-linux", test))]
#[cfg_attr(
    all(target_os = "linux", not(feature = "nokhwa-linux")),
    allow(dead_code, reason = "its choices are tested here too")
)]
mod through_nokhwa;
#[cfg(target_os = "linux")]
pub(super) mod v4l2;

use super::mode::Mode;
use std::time::SystemTime;
use stereopsis_base::files;
use stereopsis_base::image::Picture;
use stereopsis_frame::decode_camera::{Damage, DecodeError, Layout, decode};
use stereopsis_frame::{CameraApi, Pixels};

pub(super) trait Device {
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
pub(super) struct StreamFormat {
    /// Granted mode: the requested size, with possibly another rate.
    pub(super) mode: Mode,
    pub(super) layout: Layout,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct ReceivedFrame<'a> {
    /// Received bytes, which may extend beyond the image.
    pub(super) bytes: &'a [u8],
    /// Whether the driver flags it as damaged.
    pub(super) is_flagged: bool,
    /// Driver's sequence number from the start of the stream, which also counts frames that the driver dropped; `None` without one.
    pub(super) number: Option<u32>,
    /// Driver's time stamp, converted to the wall clock.
    pub(super) stamp: Option<SystemTime>,
}

impl ReceivedFrame<'_> {
    /// Decodes the image, unless the frame is damaged.
    pub(super) fn decode(&self, layout: Layout, pixels: Pixels) -> Result<Picture, DecodeError> {
        if self.is_flagged {
            let text = format!("the driver says that its {} bytes are damaged", self.bytes.len());
            return Err(DecodeError::new(Damage::Flagged, text));
        }
        decode(layout, self.bytes, pixels)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub(super) struct DeviceError {
    /// Error number of the operating system; `None` for other errors.
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

/// Returns the error of a device that takes no images: a converter, or a metadata node.
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

/// Advice on nokhwa on Linux, whose build needs a C library.
#[cfg(all(target_os = "linux", not(feature = "nokhwa-linux")))]
const NO_NOKHWA: &str = "this program reads cameras through V4L2 alone; one built with libclang and --features nokhwa-linux has \
     --camera-api nokhwa too";
