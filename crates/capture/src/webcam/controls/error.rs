//! Faults of controls.

use super::{ControlKind, words};
use std::io;

/// Reason why a control is not set, with the number of the camera.
#[derive(Debug, thiserror::Error)]
pub(in crate::webcam) enum ControlError {
    #[error("camera {index} has no {} to set", .kind.label())]
    Missing { index: u32, kind: ControlKind },
    #[error("camera {index}: {} cannot be {requested}; it takes {takes}", .kind.label())]
    NoNumber { index: u32, kind: ControlKind, requested: f64, takes: String },
    #[error("camera {index}: its {} has no {}, only {takes}", .kind.label(), words::value(*.kind, *.value))]
    NoValue { index: u32, kind: ControlKind, value: i64, takes: String },
    #[error("camera {index}: {} could not be set to {}: {cause}", .kind.label(), words::value(*.kind, *.value))]
    Refused { index: u32, kind: ControlKind, value: i64, cause: io::Error },
    #[error("camera {index} has no automatic {}; it stays as it is", .kind.label())]
    NoAuto { index: u32, kind: ControlKind },
    #[error(
        "camera {index}: the automatic of its {} could not be switched {}: {cause}", .kind.label(), if *.on { "on" } else { "off" }
    )]
    Switch { index: u32, kind: ControlKind, on: bool, cause: SwitchError },
    #[error("camera {index} does not tell its {}: {cause}", .kind.label())]
    Untold { index: u32, kind: ControlKind, cause: io::Error },
    #[error("{} counts differently ({} and {}), each camera keeps its own", .kind.label(), .takes[0], .takes[1])]
    OtherSteps { kind: ControlKind, takes: [String; 2] },
    #[error("no {} is in the range of both ({} and {})", .kind.label(), .takes[0], .takes[1])]
    NoCommonRange { kind: ControlKind, takes: [String; 2] },
}

/// Reason why an automatic mode is not switched.
#[derive(Debug, thiserror::Error)]
pub(in crate::webcam) enum SwitchError {
    #[error("it has none")]
    Missing,
    #[error("its driver has no such choice")]
    NoChoice,
    #[error("its driver left it as it was")]
    Kept,
    #[error("{0}")]
    Refused(#[from] io::Error),
}
