//! Options of cameras except size and rate: mounting and controls, as plain data with the words of the command line, rig files and the
//! window.

use super::decode_camera::PixelFormat;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;
use stereopsis_base::parameter::{ValueError, choices, is_default, set_options};

/// Options for the cameras of a source.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CameraOptions {
    /// Interface to the cameras.
    pub api: CameraApi,
    /// Pixel format; `None` accepts any.
    pub format: Option<PixelFormat>,
    /// Options of the left and the right camera; a side-by-side camera takes the first.
    pub views: [ViewOptions; 2],
    /// Whether the right view is in the left half of a side-by-side camera's image.
    pub swapped_halves: bool,
    /// Whether a calibration is in use. Autofocus, which would invalidate it, and a lower frame rate in the dark are then switched off if
    /// the camera has them and no other setting is given.
    pub calibrated: bool,
    /// Whether exposure, gain and white balance of the right camera are locked to the values at which the left one settled.
    pub equal_exposure: bool,
}

impl CameraOptions {
    /// Returns the options that differ from their defaults, each with its value unless it is a switch. These set the controls of both
    /// cameras alike; only a rig file has different ones.
    pub fn options(&self) -> Vec<(&'static str, Option<String>)> {
        let [left, right] = &self.views;
        let turned = (left.orientation, right.orientation) != (Orientation::Upright, Orientation::Upright);
        let ControlSettings { exposure_ms, gain, white_balance_k, focus, power_line } = left.controls;
        let valued = [
            ("camera-api", (self.api != CameraApi::default()).then(|| self.api.word().to_owned())),
            ("format", self.format.map(|format| format.word().to_owned())),
            ("orientation", turned.then(|| format!("{},{}", left.orientation, right.orientation))),
            ("exposure-ms", exposure_ms.map(|setting| setting.to_string())),
            ("gain", gain.map(|setting| setting.to_string())),
            ("white-balance-k", white_balance_k.map(|setting| setting.to_string())),
            ("focus", focus.map(|setting| setting.to_string())),
            ("power-line-hz", power_line.map(|hz| hz.to_string())),
        ];
        let switches = [("swap-halves", self.swapped_halves), ("equal-exposure", self.equal_exposure)];
        set_options(valued, switches)
    }
}

/// Options for one camera.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ViewOptions {
    /// Orientation of the camera's image.
    #[serde(skip_serializing_if = "is_default")]
    pub orientation: Orientation,
    /// Settings of the camera's controls.
    #[serde(skip_serializing_if = "is_default")]
    pub controls: ControlSettings,
}

choices! {
    /// The way to cameras.
    pub enum CameraApi, default System {
        /// The system's own: V4L2 on Linux, nokhwa elsewhere.
        System = "system",
        /// The crate nokhwa on every system; on Linux it tells no damaged frames and no numbers of frames.
        Nokhwa = "nokhwa",
    }
}

choices! {
    /// Orientation of a camera's image; applied before all other steps.
    pub enum Orientation, default Upright {
        /// Unchanged.
        Upright = "upright",
        /// Rotated by 180 degrees: the camera hangs upside down.
        HalfTurn = "rotate-180",
        /// Left and right exchanged, as video calls show the user.
        FlipX = "flip-x",
        /// Top and bottom exchanged.
        FlipY = "flip-y",
    }
}

/// Setting of a control: automatic mode, or a fixed value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Setting<T> {
    /// Automatic mode.
    Auto,
    /// Locked at this value.
    Fixed(T),
}

/// Settings of a camera's controls; `None` leaves a control unchanged. In TOML: `exposure_ms = "auto"`, or a number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ControlSettings {
    /// Exposure time, ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exposure_ms: Option<Setting<f64>>,
    /// Gain, in the driver's steps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gain: Option<Setting<i64>>,
    /// White balance, K.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub white_balance_k: Option<Setting<i64>>,
    /// Focus, in the driver's steps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub focus: Option<Setting<i64>>,
    /// Power line frequency whose flicker is filtered.
    #[serde(rename = "power_line_hz", skip_serializing_if = "Option::is_none")]
    pub power_line: Option<PowerLine>,
}

impl ControlSettings {
    /// Returns these settings; those that are `None` are taken from `other`.
    #[must_use]
    pub fn or(&self, other: &Self) -> Self {
        Self {
            exposure_ms: self.exposure_ms.or(other.exposure_ms),
            gain: self.gain.or(other.gain),
            white_balance_k: self.white_balance_k.or(other.white_balance_k),
            focus: self.focus.or(other.focus),
            power_line: self.power_line.or(other.power_line),
        }
    }
}

choices! {
    /// Power line frequency whose flicker a camera filters.
    pub enum PowerLine {
        /// None.
        Off = "off",
        /// 50 Hz: Europe, most of Asia, Africa, Australia.
        Hz50 = "50",
        /// 60 Hz: the Americas.
        Hz60 = "60",
        /// The camera detects it.
        Auto = "auto",
    }
}

impl<T: fmt::Display> fmt::Display for Setting<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Fixed(value) => value.fmt(f),
        }
    }
}

impl<T: FromStr + fmt::Display> FromStr for Setting<T> {
    type Err = ValueError;

    fn from_str(text: &str) -> Result<Self, ValueError> {
        if text == "auto" {
            return Ok(Self::Auto);
        }
        // "nan" and "inf" are numbers in Rust and TOML, but no control accepts them
        let has_digits = |value: &T| value.to_string().contains(|c: char| c.is_ascii_digit());
        let value = text.parse().ok().filter(has_digits);
        value.map(Self::Fixed).ok_or_else(|| ValueError::Form { text: text.to_owned(), expected: "auto or a number" })
    }
}

impl<T: Serialize> Serialize for Setting<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Auto => serializer.serialize_str("auto"),
            Self::Fixed(value) => value.serialize(serializer),
        }
    }
}

impl<'de, T: FromStr + fmt::Display + Deserialize<'de>> Deserialize<'de> for Setting<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "expected \"auto\" or a number")]
        enum Written<T> {
            Number(T),
            Word(String),
        }
        let word = match Written::<T>::deserialize(deserializer)? {
            Written::Number(value) => value.to_string(),
            Written::Word(word) => word,
        };
        word.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_survive_a_toml_file() {
        let text = "exposure_ms = 8\ngain = 20\nwhite_balance_k = \"auto\"\npower_line_hz = \"50\"\n";
        let settings: ControlSettings = toml::from_str(text).expect("reads");
        let expected = ControlSettings {
            exposure_ms: Some(Setting::Fixed(8.0)),
            gain: Some(Setting::Fixed(20)),
            white_balance_k: Some(Setting::Auto),
            focus: None,
            power_line: Some(PowerLine::Hz50),
        };
        assert_eq!(settings, expected);
        let written = toml::to_string(&settings).expect("writes");
        assert!(!written.contains("focus"), "{written}");
        assert_eq!(toml::from_str::<ControlSettings>(&written).expect("reads again"), expected);
    }

    #[test]
    fn invalid_toml_settings_are_refused_with_the_reason() {
        let refusal = |text: &str| toml::from_str::<ControlSettings>(text).expect_err("refused").to_string();
        assert!(refusal("exposure_ms = true").contains("expected \"auto\" or a number"));
        for number in ["nan", "inf", "-inf", "\"nan\"", "\"1e999\""] {
            let text = refusal(&format!("exposure_ms = {number}"));
            assert!(text.contains("expected auto or a number"), "{text}");
        }
        assert!(refusal("focus = \"far\"").contains("'far': expected auto or a number"));
        assert!(refusal("power_line_hz = \"55\"").contains("'55': expected one of off, 50, 60, auto"));
        assert!(refusal("zoom = 3").contains("unknown field `zoom`"));
    }
}
