//! Camera controls on systems without support for them: opening always returns an error.

use super::ControlRange;
use std::convert::Infallible;
use stereopsis_frame::CaptureError;

/// Controls of a camera, which cannot exist on this system.
pub(super) struct ControlNode(Infallible);

impl ControlNode {
    pub(super) fn open(index: u32) -> Result<Self, CaptureError> {
        let instead = if cfg!(target_os = "macos") {
            "set them with the camera's own program"
        } else {
            "set them with the camera's own program, or in the system's camera settings"
        };
        Err(CaptureError::Camera(
            format!("camera {index}: exposure, focus and the like are set only on Linux so far; {instead}").into(),
        ))
    }

    pub(super) fn index(&self) -> u32 {
        match self.0 {}
    }

    pub(super) fn range(&self, _: u32) -> Option<&ControlRange> {
        match self.0 {}
    }

    pub(super) fn get(&self, _: u32) -> Result<i64, String> {
        match self.0 {}
    }

    pub(super) fn set(&self, _: u32, _: i64) -> Result<i64, String> {
        match self.0 {}
    }
}
