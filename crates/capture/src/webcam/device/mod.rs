//! Camera device: the interface through which a camera's thread uses V4L2 or nokhwa.

mod interface;
#[cfg(any(not(target_os = "linux"), feature = "nokhwa-linux", test))]
#[cfg_attr(
    all(target_os = "linux", not(feature = "nokhwa-linux")),
    allow(dead_code, reason = "its choices are tested here too")
)]
mod through_nokhwa;
#[cfg(target_os = "linux")]
pub(super) mod v4l2;

use stereopsis_frame::CameraApi;

pub(super) use interface::{Device, DeviceError, ReceivedFrame, StreamFormat};

/// Opens a camera without starting its stream.
pub(super) fn open(index: u32, api: CameraApi) -> Result<Box<dyn Device>, DeviceError> {
    match api {
        #[cfg(target_os = "linux")]
        CameraApi::System => Ok(Box::new(v4l2::LinuxDevice::open(index)?)),
        #[cfg(all(target_os = "linux", not(feature = "nokhwa-linux")))]
        CameraApi::Nokhwa => Err(DeviceError::NoNokhwa),
        #[cfg(any(not(target_os = "linux"), feature = "nokhwa-linux"))]
        _ => Ok(Box::new(through_nokhwa::NokhwaDevice::open(index)?)),
    }
}
