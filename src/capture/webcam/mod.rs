//! Cameras: two cameras paired by capture time, or one camera; also previews of one camera. nokhwa lists and reads
//! cameras on systems other than Linux. On Linux sysfs lists them, and they are read through V4L2, which reports damage flags
//! that nokhwa hides. Only this folder uses nokhwa. A read may block without a limit: each camera has a thread of
//! its own (`reader`), which is detached where it does not stop, and the source waits for channels only.

mod bandwidth;
mod claim;
pub mod controls;
mod device;
mod devices;
mod camera_stream;
mod fault;
mod mode;
mod name;
mod one_camera;
mod opening;
mod pair;
mod preview;
mod reader;
mod reopening;
mod resync;
mod sysfs;
mod thread;

pub use super::CameraName;
pub use bandwidth::bandwidth_warnings;
pub use devices::{CameraInfo, cameras};
pub use mode::{Mode, ModeRequest};
pub use one_camera::{OneCamera, Shown};
pub use pair::WebcamPair;
pub use preview::Preview;
#[cfg(test)]
pub use sysfs::UsbBus;
