//! Camera controls: exposure, gain, white balance, focus, flicker filter and lower rate in the dark.
//!
//! Controls use their own file descriptor, independent of the thread that reads images. Each call may block as long as the driver does.
//! Only Linux supports them; elsewhere the error of [`offered`] names an alternative.

mod apply;
mod equal;
mod error;
#[cfg_attr(target_os = "linux", path = "node_linux.rs")]
#[cfg_attr(not(target_os = "linux"), path = "node_elsewhere.rs")]
mod node;
mod task;
mod words;

pub use apply::{apply, protect_calibration};
pub use equal::equalise;
pub(super) use error::ControlError;
pub use task::ControlTask;

use node::ControlNode;
use stereopsis_base::parameter::choices;
use stereopsis_frame::{CaptureError, PowerLine};

choices! {
    /// Kind of a control.
    pub enum ControlKind {
        /// Exposure time of each image, ms: a long one gives bright images with motion blur.
        Exposure = "exposure",
        /// Amplification, in the driver's steps: high is bright and noisy.
        Gain = "gain",
        /// Colour temperature of the light that is shown as white, K.
        WhiteBalance = "white-balance",
        /// Focus distance, in the driver's steps; a calibration holds for one focus only.
        Focus = "focus",
        /// Flicker filter for lamps: off, 50 Hz, 60 Hz, auto.
        PowerLine = "power-line",
        /// Lower frame rate in the dark, off or on: brighter images, but larger skew of pairs.
        DarkRate = "dark-rate",
    }
}

impl ControlKind {
    /// Returns its name in a sentence.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Exposure => "exposure",
            Self::Gain => "gain",
            Self::WhiteBalance => "white balance",
            Self::Focus => "focus",
            Self::PowerLine => "flicker filter",
            Self::DarkRate => "lower rate in the dark",
        }
    }

    /// Returns the unit of its numbers, empty for steps and choices.
    pub const fn unit(self) -> &'static str {
        match self {
            Self::Exposure => "ms",
            Self::WhiteBalance => "K",
            Self::Gain | Self::Focus | Self::PowerLine | Self::DarkRate => "",
        }
    }

    /// Formats a value with its unit: `8.3 ms`, `50 Hz`, `off`.
    pub fn value_text(self, value: f64) -> String {
        match self {
            Self::PowerLine => match PowerLine::ALL.get(value as usize) {
                Some(flicker @ (PowerLine::Hz50 | PowerLine::Hz60)) => format!("{flicker} Hz"),
                Some(flicker) => flicker.to_string(),
                None => value.to_string(),
            },
            Self::DarkRate => (if value == 0.0 { "off" } else { "on" }).to_owned(),
            Self::Exposure | Self::WhiteBalance => format!("{value} {}", self.unit()),
            Self::Gain | Self::Focus => value.to_string(),
        }
    }
}

/// Control that a camera offers. Numbers are in the unit of the kind; [`ControlKind::PowerLine`] is an index into [`PowerLine`] from 0,
/// [`ControlKind::DarkRate`] is 0 or 1.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct OfferedControl {
    /// Kind of the control.
    pub kind: ControlKind,
    /// Smallest value.
    pub min: f64,
    /// Largest value.
    pub max: f64,
    /// Step between values.
    pub step: f64,
    /// Default of the driver.
    pub default: f64,
    /// Current value. In automatic mode some cameras report the last value that was set.
    pub value: f64,
    /// Whether automatic mode is on; `None` without such a mode.
    pub auto: Option<bool>,
    /// Whether the value can be set now, without switching automatic mode off first.
    pub active: bool,
}

/// Returns the controls of camera `index`, in the order of [`ControlKind::ALL`]; empty for a camera without controls.
///
/// # Errors
/// The camera cannot be opened or queried. Systems other than Linux always return an error, which names an alternative.
pub fn offered(index: u32) -> Result<Vec<OfferedControl>, CaptureError> {
    let node = ControlNode::open(index)?;
    Ok(ControlKind::ALL.iter().filter_map(|&kind| offered_by(&node, kind)).collect())
}

/// Returns the current state of a control, if the camera has it and reports its value.
fn offered_by(node: &ControlNode, kind: ControlKind) -> Option<OfferedControl> {
    let range = node.range(kind.id())?;
    let value = node.get(kind.id()).ok()?;
    let per_unit = kind.per_unit();
    let in_unit = |raw: i64| raw as f64 / per_unit;
    Some(OfferedControl {
        kind,
        min: in_unit(range.min),
        max: in_unit(range.max),
        step: in_unit(range.step),
        default: in_unit(range.default),
        value: in_unit(value),
        auto: is_auto(node, kind),
        active: range.active,
    })
}

/// Range of a control, in the driver's unit.
#[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "made on Linux only"))]
#[derive(Clone, Debug)]
struct ControlRange {
    min: i64,
    max: i64,
    step: i64,
    default: i64,
    /// Values of a menu, which may lack values between minimum and maximum.
    items: Option<Vec<i64>>,
    active: bool,
}

impl ControlRange {
    fn has(&self, value: i64) -> bool {
        match &self.items {
            Some(items) => items.contains(&value),
            None => (self.min..=self.max).contains(&value),
        }
    }
}

/// Bases of V4L2's control numbers (linux/v4l2-controls.h).
const USER: u32 = 0x0098_0900;
const CAMERA: u32 = 0x009a_0900;

impl ControlKind {
    /// Returns V4L2's number of the control.
    const fn id(self) -> u32 {
        match self {
            Self::Exposure => CAMERA + 2,
            Self::Gain => USER + 19,
            Self::WhiteBalance => USER + 26,
            Self::Focus => CAMERA + 10,
            Self::PowerLine => USER + 24,
            Self::DarkRate => CAMERA + 3,
        }
    }

    /// Returns V4L2's number of the control that switches its automatic mode.
    const fn auto_id(self) -> Option<u32> {
        match self {
            Self::Exposure => Some(CAMERA + 1),
            Self::Gain => Some(USER + 18),
            Self::WhiteBalance => Some(USER + 12),
            Self::Focus => Some(CAMERA + 12),
            Self::PowerLine | Self::DarkRate => None,
        }
    }

    /// Returns the driver's units per unit of the kind: V4L2 counts exposure in 100 µs.
    const fn per_unit(self) -> f64 {
        if matches!(self, Self::Exposure) { 10.0 } else { 1.0 }
    }
}

/// Values of V4L2's menu of exposure modes.
mod exposure_menu {
    /// Automatic exposure time and iris.
    pub(super) const AUTO: i64 = 0;
    /// Manual exposure time and iris.
    pub(super) const MANUAL: i64 = 1;
    /// Manual exposure time, automatic iris.
    pub(super) const SHUTTER_PRIORITY: i64 = 2;
    /// Automatic exposure time, manual iris; the automatic mode of USB cameras.
    pub(super) const APERTURE_PRIORITY: i64 = 3;
}

/// Returns the value that switches automatic mode on or off; `None` if there is no such value.
fn auto_value(kind: ControlKind, range: &ControlRange, on: bool) -> Option<i64> {
    use exposure_menu::{APERTURE_PRIORITY, AUTO, MANUAL, SHUTTER_PRIORITY};
    if kind != ControlKind::Exposure {
        return Some(i64::from(on)).filter(|&v| range.has(v));
    }
    let preferred = if on { [range.default, APERTURE_PRIORITY, AUTO] } else { [MANUAL, SHUTTER_PRIORITY, MANUAL] };
    let fits = |&v: &i64| range.has(v) && matches!(v, AUTO | APERTURE_PRIORITY) == on;
    preferred.into_iter().find(fits)
}

/// Returns whether automatic mode is on; `None` without such a mode.
fn is_auto(node: &ControlNode, kind: ControlKind) -> Option<bool> {
    let id = kind.auto_id()?;
    auto_value(kind, node.range(id)?, true)?;
    let value = node.get(id).ok()?;
    Some(match kind {
        ControlKind::Exposure => matches!(value, exposure_menu::AUTO | exposure_menu::APERTURE_PRIORITY),
        _ => value != 0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn menu(items: &[i64], default: i64) -> ControlRange {
        ControlRange { min: 0, max: 3, step: 1, default, items: Some(items.to_vec()), active: true }
    }

    #[test]
    fn chooses_automatic_exposure_from_the_menu() {
        let value = |range: &ControlRange, on| auto_value(ControlKind::Exposure, range, on);
        let usb = menu(&[1, 3], 3);
        assert_eq!((value(&usb, true), value(&usb, false)), (Some(3), Some(1)));
        let sensor = menu(&[0, 1], 0);
        assert_eq!((value(&sensor, true), value(&sensor, false)), (Some(0), Some(1)));
        // a manual default must not be used as the automatic mode
        let lazy = menu(&[0, 1, 2, 3], 1);
        assert_eq!((value(&lazy, true), value(&lazy, false)), (Some(3), Some(1)));
        let iris = menu(&[0, 2], 0);
        assert_eq!(value(&iris, false), Some(2));
        assert_eq!(value(&menu(&[1], 1), true), None);
    }

    #[test]
    fn formats_values_with_units() {
        assert_eq!(ControlKind::Exposure.value_text(8.3), "8.3 ms");
        assert_eq!(ControlKind::PowerLine.value_text(1.0), "50 Hz");
        assert_eq!(ControlKind::PowerLine.value_text(3.0), "auto");
        assert_eq!(ControlKind::DarkRate.value_text(0.0), "off");
        assert_eq!(ControlKind::Gain.value_text(20.0), "20");
    }
}
