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
pub use sysfs::UsbBus;

use super::{CameraOptions, CaptureError, PairSource, SourceSpec};

/// Opens the two cameras of `spec`, or its one, of which `one_camera` is shown.
///
/// # Errors
/// `spec` is no camera, or a camera is missing, busy, inaccessible, or has no such mode; the text gives advice.
pub fn open(
    spec: &SourceSpec,
    one_camera: Shown,
    mode: &ModeRequest,
    options: &CameraOptions,
) -> Result<Box<dyn PairSource>, CaptureError> {
    Ok(match spec {
        SourceSpec::WebcamPair(left, right) => {
            Box::new(WebcamPair::open(left.resolve()?, right.resolve()?, mode, options)?)
        }
        SourceSpec::WebcamSideBySide(camera) => {
            Box::new(OneCamera::open(camera.resolve()?, one_camera, mode, options)?)
        }
        other => {
            let why = format!("'{other}' is no camera: give webcam:0,1 (two cameras) or webcam:0 (one, side by side)");
            return Err(CaptureError::Grammar(why));
        }
    })
}
