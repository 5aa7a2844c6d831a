//! Cameras: two paired by capture time, or one that shows both eyes side by side; a thumbnail of any. nokhwa reads them, and
//! on Linux V4L2 itself what nokhwa cannot; nothing outside this folder names either. A read may block for ever: each camera
//! has a thread of its own (`reader`), which is left behind where it does not come back, and whoever takes pictures waits
//! for a channel only.

mod claim;
pub mod controls;
mod device;
mod devices;
mod eye;
mod fault;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
mod linux_modes;
mod mode;
mod name;
mod opening;
mod pair;
mod preview;
mod reader;
mod reopening;
mod resync;
mod side_by_side;
mod sysfs;
mod thread;
mod through_nokhwa;

pub use devices::{CameraInfo, cameras};
pub use mode::{Mode, ModeRequest};
pub use name::CameraName;
pub use pair::WebcamPair;
pub use preview::Preview;
pub use side_by_side::SideBySide;
pub use sysfs::UsbBus;
