//! Cameras through nokhwa; nothing outside this folder names it. Two cameras paired by capture time, or one that shows both
//! eyes side by side. nokhwa's `frame()` may block for ever: each camera has a thread of its own (`camera`), which is
//! left behind where it does not come back, and whoever reads waits for a channel only.

mod camera;
mod claim;
pub mod controls;
mod devices;
mod fault;
mod mode;
mod name;
mod pair;
mod side_by_side;

pub use devices::{CameraInfo, cameras};
pub use mode::{Mode, ModeRequest};
pub use name::CameraName;
pub use pair::WebcamPair;
pub use side_by_side::SideBySide;
