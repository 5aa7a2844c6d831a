//! Camera controls on systems without support for them: opening always returns an error.

use super::super::error::CameraError;
use super::ControlRange;
use std::convert::Infallible;
use std::io;

/// Controls of a camera, which cannot exist on this system.
pub(super) struct ControlNode(Infallible);

impl ControlNode {
    pub(super) fn open(index: u32) -> Result<Self, CameraError> {
        Err(CameraError::NoControls(index))
    }

    pub(super) fn index(&self) -> u32 {
        match self.0 {}
    }

    pub(super) fn range(&self, _: u32) -> Option<&ControlRange> {
        match self.0 {}
    }

    pub(super) fn get(&self, _: u32) -> io::Result<i64> {
        match self.0 {}
    }

    pub(super) fn set(&self, _: u32, _: i64) -> io::Result<i64> {
        match self.0 {}
    }
}
