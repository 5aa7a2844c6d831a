//! Resolves the name of a camera: port to current number, and number to port.

use super::devices::{DetectedCamera, listed};
use super::{fault, sysfs};
use crate::CameraName;
use stereopsis_base::console::foreign;
use stereopsis_frame::CaptureError;

impl CameraName {
    /// Returns the current number of the camera.
    ///
    /// # Errors
    /// There is no such camera, or the system cannot list cameras.
    pub fn resolve(&self) -> Result<u32, CaptureError> {
        let cameras = listed()?;
        let found: Vec<u32> = cameras.iter().map(|c| c.index).collect();
        match self {
            Self::Number(number) if found.contains(number) => Ok(*number),
            Self::Number(number) => Err(fault::missing(*number, &found)),
            Self::Port(port) => cameras.iter().find(|c| is_at(c, port)).map(|c| c.index).ok_or_else(|| {
                let ports: Vec<_> = cameras.iter().map(|c| foreign(&c.port)).collect();
                let found = if ports.is_empty() { "none".to_owned() } else { ports.join(", ") };
                let port = foreign(port);
                CaptureError::Camera(format!(
                    "no camera at port {port}: found {found}; plug it in there, or see `stereopsis devices`"
                ))
            }),
        }
    }
}

/// Returns whether a camera is at this port, given as its listed name or as the bus's name of the device.
fn is_at(camera: &DetectedCamera, port: &str) -> bool {
    camera.port == port || sysfs::device_name(camera.index).is_some_and(|name| name == port)
}

impl CameraName {
    /// Returns the name of the camera by its port, if the system reports one; after a restart a number may belong to another camera.
    #[must_use]
    pub fn lasting(&self) -> Self {
        let port = |number: u32| {
            let camera = listed().ok()?.into_iter().find(|c| c.index == number)?;
            (!camera.port.is_empty()).then_some(Self::Port(camera.port))
        };
        match self {
            Self::Number(number) => port(*number).unwrap_or_else(|| self.clone()),
            Self::Port(_) => self.clone(),
        }
    }
}
