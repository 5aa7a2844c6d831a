//! Names of cameras: a number, which may change, or a port, which does not.

use super::devices::{CameraInfo, listed};
use super::{fault, sysfs};
use crate::capture::CaptureError;
use crate::console::foreign;
use std::fmt;
use std::str::FromStr;

/// Name of a camera.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum CameraName {
    /// Its number, as in /dev/video0; another one may have it after a restart.
    Number(u32),
    /// Its port, as in [`super::CameraInfo::port`].
    Port(String),
}

impl CameraName {
    /// The camera's current number.
    ///
    /// # Errors
    /// No such camera, or the system lists none.
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

/// A port may have its listed name, or the bus's name of the device.
fn is_at(camera: &CameraInfo, port: &str) -> bool {
    camera.port == port || sysfs::device_name(camera.index).is_some_and(|name| name == port)
}

impl CameraName {
    /// The same camera named by its port, where the system reports one; after a restart a number may mean another camera.
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

impl fmt::Display for CameraName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Port(port) => port.fmt(f),
        }
    }
}

impl FromStr for CameraName {
    type Err = String;

    /// A number, or the name of a port, which contains a dash, a dot or a colon.
    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if let Ok(number) = text.parse() {
            return Ok(Self::Number(number));
        }
        let is_port = text.contains(['-', '.', ':', '/', '\\', '{']) && !text.contains(',');
        if is_port { Ok(Self::Port(text.to_owned())) } else { Err(format!("'{text}' is neither a number nor a port")) }
    }
}

crate::stands_as_its_word!(CameraName);
