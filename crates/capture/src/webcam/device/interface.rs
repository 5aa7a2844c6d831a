//! Interface of a camera device, and what it hands over.

use crate::webcam::mode::Mode;
use std::io;
use std::time::{Duration, SystemTime};
use stereopsis_base::files;
use stereopsis_base::image::Picture;
use stereopsis_frame::Pixels;
use stereopsis_frame::decode_camera::{Damaged, DecodeError, Layout, decode};

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

/// Fault of a device.
#[derive(Debug, thiserror::Error)]
pub(in crate::webcam) enum DeviceError {
    #[error("{}", files::cause(.0))]
    System(#[from] io::Error),
    #[cfg(any(not(target_os = "linux"), feature = "nokhwa-linux", test))]
    #[error("{0}")]
    Nokhwa(#[from] nokhwa::NokhwaError),
    /// The device takes no images: a converter, or a metadata node.
    #[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "made on Linux only"))]
    #[error("it takes no images")]
    NoCamera,
    /// Another thread of this program is opening it.
    #[error("this program is just opening it")]
    Held,
    #[error("the camera does not offer this mode")]
    NoMode,
    #[error("the camera does not stream")]
    NoStream,
    #[error("for {} s every frame came damaged ({}), as through a bad cable, port or hub", .since.as_secs(), .damaged.causes())]
    AllDamaged { since: Duration, damaged: Damaged },
    #[cfg(target_os = "linux")]
    #[error("the driver sets {code} {}x{} instead", .size.0, .size.1)]
    OtherMode { code: String, size: (u32, u32) },
    #[cfg(target_os = "linux")]
    #[error("the driver gives no buffers")]
    NoBuffers,
    #[cfg(target_os = "linux")]
    #[error("the driver fills buffer {0}, which it never gave")]
    UnknownBuffer(u32),
    /// nokhwa is not built in: its build needs a C library on Linux.
    #[cfg(all(target_os = "linux", not(feature = "nokhwa-linux")))]
    #[error(
        "this program reads cameras through V4L2 alone; one built with libclang and --features nokhwa-linux has {} too",
        stereopsis_base::remedy::Remedy::set("camera-api", "nokhwa")
    )]
    NoNokhwa,
}

impl DeviceError {
    /// Returns the error number of the operating system, if the error has one.
    pub(in crate::webcam) fn number(&self) -> Option<i32> {
        match self {
            Self::System(err) => err.raw_os_error(),
            #[cfg(any(not(target_os = "linux"), feature = "nokhwa-linux", test))]
            Self::Nokhwa(err) => {
                // nokhwa has the number in its text alone
                let text = err.to_string();
                text.rsplit_once("(os error ")?.1.split(')').next()?.parse().ok()
            }
            _ => None,
        }
    }
}
