//! Name of a camera as users give it: a number, which may change after a restart, or a port, which does not.

use std::fmt;
use std::str::FromStr;
use stereopsis_base::parameter::ValueError;

/// Name of a camera.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum CameraName {
    /// Number, as in /dev/video0.
    Number(u32),
    /// Port, as listed by `stereopsis devices`.
    Port(String),
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
    type Err = ValueError;

    /// Parses a number, or the name of a port, which contains a dash, a dot or a colon.
    fn from_str(text: &str) -> Result<Self, ValueError> {
        let text = text.trim();
        if let Ok(number) = text.parse() {
            return Ok(Self::Number(number));
        }
        let is_port = text.contains(['-', '.', ':', '/', '\\', '{']) && !text.contains(',');
        let text = text.to_owned();
        if is_port {
            Ok(Self::Port(text))
        } else {
            Err(ValueError::Form { text, expected: "the number or port of a camera" })
        }
    }
}

stereopsis_base::parameter::stands_as_its_word!(CameraName);
