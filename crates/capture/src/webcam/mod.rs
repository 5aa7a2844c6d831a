//! Cameras as a source: two cameras paired by capture time, or one camera; and previews. On Linux sysfs lists cameras, and V4L2 reads
//! them, since it reports damage flags that nokhwa hides; other systems use nokhwa, which only this folder may name. A read may block
//! without a limit: each camera has its own thread (`reader`), which is detached if it does not stop; sources wait only for channels.

mod bandwidth;
mod claim;
pub mod controls;
mod device;
mod devices;
mod camera_stream;
mod error;
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

pub use bandwidth::bandwidth_warnings;
pub use devices::{DetectedCamera, cameras};
pub use mode::{Mode, ModeRequest};
pub use name::{lasting, number_of};
pub use one_camera::{CameraViews, OneCamera};
pub use pair::WebcamPair;
pub use preview::Preview;
pub use sysfs::UsbBus;

use stereopsis_frame::{CameraOptions, CaptureError, PairSource, SourceSpec};

/// Opens the two cameras of `spec`, or its single camera, whose images contain `one_camera`.
///
/// # Errors
/// `spec` is no camera, or a camera is missing, busy, inaccessible, or has no suitable mode; the text gives advice.
pub fn open(
    spec: &SourceSpec,
    one_camera: CameraViews,
    mode: &ModeRequest,
    options: &CameraOptions,
) -> Result<Box<dyn PairSource>, CaptureError> {
    Ok(match spec {
        SourceSpec::WebcamPair(left, right) => {
            Box::new(WebcamPair::open(number_of(left)?, number_of(right)?, mode, options)?)
        }
        SourceSpec::WebcamSideBySide(camera) => {
            Box::new(OneCamera::open(number_of(camera)?, one_camera, mode, options)?)
        }
        other => return Err(error::CameraError::NoCamera(other.to_string()).into()),
    })
}
