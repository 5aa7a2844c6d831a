//! What is wished of cameras beside size and rate: how they hang, what they are set to. Plain data, the same words on the
//! command line, in rig files and in the window.

use super::decode_camera::PixelFormat;
use crate::choices;
use std::fmt;
use std::str::FromStr;

/// What is wished of the cameras of a source.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CameraOptions {
    /// Only this format; any if not given.
    pub format: Option<PixelFormat>,
    /// The left and the right camera; one that gives both eyes takes the first.
    pub eyes: [EyeOptions; 2],
    /// A camera with both eyes in one picture has the right eye in its left half.
    pub swapped_halves: bool,
    /// A calibration is in use: what would void it (autofocus) or spoil pairs (a lower rate in the dark) is switched off
    /// where the camera has it and nothing else is wished.
    pub calibrated: bool,
}

/// What is wished of one camera.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EyeOptions {
    /// How its picture is turned.
    pub orientation: Orientation,
    /// What it is set to.
    pub controls: ControlWishes,
}

choices! {
    /// How a camera's picture is turned before anything else is done with it.
    pub enum Orientation {
        /// As it comes.
        Upright = "upright",
        /// Turned by half a turn: the camera hangs upside down.
        HalfTurn = "rotate-180",
        /// Left and right exchanged, as webcams show their owners.
        FlipX = "flip-x",
        /// Top and bottom exchanged.
        FlipY = "flip-y",
    }
}

#[allow(clippy::derivable_impls, reason = "the macro's members take no attribute")]
impl Default for Orientation {
    fn default() -> Self {
        Self::Upright
    }
}

/// A control that a camera can set by itself, or that is locked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Wish<T> {
    /// The camera decides.
    Auto,
    /// This value.
    Fixed(T),
}

/// What a camera's controls shall be; `None` leaves one as it is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ControlWishes {
    /// Time of exposure, ms.
    pub exposure_ms: Option<Wish<f64>>,
    /// Gain, in the driver's steps.
    pub gain: Option<i64>,
    /// White balance, K.
    pub white_balance_k: Option<Wish<i64>>,
    /// Focus, in the driver's steps.
    pub focus: Option<Wish<i64>>,
    /// Flicker of the lights that is filtered.
    pub power_line: Option<PowerLine>,
}

choices! {
    /// Which flicker of the lights a camera filters.
    pub enum PowerLine {
        /// None.
        Off = "off",
        /// 50 Hz: Europe, most of Asia, Africa, Australia.
        Hz50 = "50",
        /// 60 Hz: the Americas.
        Hz60 = "60",
        /// The camera finds out.
        Auto = "auto",
    }
}

impl<T: fmt::Display> fmt::Display for Wish<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Fixed(value) => value.fmt(f),
        }
    }
}

impl<T: FromStr> FromStr for Wish<T> {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "auto" => Ok(Self::Auto),
            _ => text.parse().map(Self::Fixed).map_err(|_| format!("'{text}': expected auto or a number")),
        }
    }
}
