//! Cameras: two paired by capture time, or one that shows both eyes side by side; a thumbnail of any. nokhwa finds them, and
//! reads them where the system is not Linux; there V4L2 is asked itself, because it tells which frames are damaged and nokhwa
//! does not. Nothing outside this folder names either. A read may block for ever: each camera
//! has a thread of its own (`reader`), which is left behind where it does not come back, and whoever takes pictures waits
//! for a channel only.

mod claim;
pub mod controls;
mod counts;
mod device;
mod devices;
mod camera_stream;
mod fault;
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

pub use devices::{CameraInfo, cameras};
pub use mode::{Mode, ModeRequest};
pub use name::CameraName;
pub use pair::WebcamPair;
pub use preview::Preview;
pub use side_by_side::SideBySide;
pub use sysfs::UsbBus;
