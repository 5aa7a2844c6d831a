//! Resolves the name of a camera: port to current number, and number to port.

use super::devices::{DetectedCamera, listed};
use super::error::CameraError;
use super::sysfs;
use stereopsis_frame::{CameraName, CaptureError, SourceSpec};

/// Returns the current number of a camera.
///
/// # Errors
/// There is no such camera, or the system cannot list cameras.
pub fn number_of(name: &CameraName) -> Result<u32, CaptureError> {
    let cameras = listed()?;
    let found: Vec<u32> = cameras.iter().map(|c| c.index).collect();
    match name {
        CameraName::Number(number) if found.contains(number) => Ok(*number),
        CameraName::Number(number) => Err(CameraError::Missing { index: *number, found }.into()),
        CameraName::Port(port) => match cameras.iter().find(|c| is_at(c, port)) {
            Some(camera) => Ok(camera.index),
            None => Err(CameraError::NoPort {
                port: port.clone(),
                found: cameras.into_iter().map(|camera| camera.port).collect(),
            }
            .into()),
        },
    }
}

/// Returns whether a camera is at this port, given as its listed name or as the bus's name of the device.
fn is_at(camera: &DetectedCamera, port: &str) -> bool {
    camera.port == port || sysfs::device_name(camera.index).is_some_and(|name| name == port)
}

/// Returns a source with the names of its cameras by their ports, where the system reports them; after a restart a number may belong to
/// another camera.
#[must_use]
pub fn lasting(source: &SourceSpec) -> SourceSpec {
    match source {
        SourceSpec::WebcamPair(left, right) => SourceSpec::WebcamPair(lasting_name(left), lasting_name(right)),
        SourceSpec::WebcamSideBySide(camera) => SourceSpec::WebcamSideBySide(lasting_name(camera)),
        other => other.clone(),
    }
}

fn lasting_name(name: &CameraName) -> CameraName {
    let port = |number: u32| {
        let camera = listed().ok()?.into_iter().find(|c| c.index == number)?;
        (!camera.port.is_empty()).then_some(CameraName::Port(camera.port))
    };
    match name {
        CameraName::Number(number) => port(*number).unwrap_or_else(|| name.clone()),
        CameraName::Port(_) => name.clone(),
    }
}
