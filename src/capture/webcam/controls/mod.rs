//! What a camera can be set to: exposure, gain, white balance, focus, and what spoils depth when nobody looks.
//!
//! Controls are reached through a descriptor of their own, so that the thread that reads pictures is never touched. Any of
//! these calls may block as long as the driver does. Only Linux has them; elsewhere [`offered`] says what to use instead.

mod apply;
mod equal;
#[cfg_attr(target_os = "linux", path = "node_linux.rs")]
#[cfg_attr(not(target_os = "linux"), path = "node_elsewhere.rs")]
mod node;
mod task;
mod words;

pub use apply::{apply, protect_calibration};
pub use equal::equalise;
pub use task::ControlTask;

use crate::capture::{CaptureError, PowerLine};
use crate::choices;
use node::Node;

choices! {
    /// What can be set.
    pub enum ControlKind {
        /// Time for which each picture is exposed, ms: long is bright and smears what moves.
        Exposure = "exposure",
        /// Amplification, in the driver's steps: high is bright and noisy.
        Gain = "gain",
        /// Colour of the light that counts as white, K.
        WhiteBalance = "white-balance",
        /// Distance that is sharp, in the driver's steps; a calibration holds for one focus only.
        Focus = "focus",
        /// Flicker of lamps that is filtered: off, 50 Hz, 60 Hz, auto.
        PowerLine = "power-line",
        /// Lower rate in the dark, off or on: brighter pictures, and pairs that fit worse.
        DarkRate = "dark-rate",
    }
}

impl ControlKind {
    /// What it is called in a sentence.
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

    /// Unit of its numbers, empty for steps and choices.
    pub const fn unit(self) -> &'static str {
        match self {
            Self::Exposure => "ms",
            Self::WhiteBalance => "K",
            Self::Gain | Self::Focus | Self::PowerLine | Self::DarkRate => "",
        }
    }

    /// One number as people read it, with its unit: `8.3 ms`, `50 Hz`, `off`.
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

/// One control that a camera offers. Numbers are in the unit of the kind; [`ControlKind::PowerLine`] counts the members of
/// [`PowerLine`] from 0, [`ControlKind::DarkRate`] is 0 or 1.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct OfferedControl {
    /// Which one.
    pub kind: ControlKind,
    /// Smallest value.
    pub min: f64,
    /// Largest value.
    pub max: f64,
    /// Distance between values.
    pub step: f64,
    /// The driver's own value.
    pub default: f64,
    /// The value now. Where the automatic is on, some cameras keep the last value that was set.
    pub value: f64,
    /// Whether the camera sets it by itself now; `None`: it cannot.
    pub auto: Option<bool>,
    /// Whether it can be set now without switching an automatic off first.
    pub active: bool,
}

/// What camera `index` offers, in the order of [`ControlKind::ALL`]; empty for a camera that has nothing to set.
///
/// # Errors
/// It cannot be opened or asked; on systems other than Linux always, with words on what to use there.
pub fn offered(index: u32) -> Result<Vec<OfferedControl>, CaptureError> {
    let node = Node::open(index)?;
    Ok(ControlKind::ALL.iter().filter_map(|&kind| offered_by(&node, kind)).collect())
}

/// One control as it stands, if the camera has it and tells its value.
fn offered_by(node: &Node, kind: ControlKind) -> Option<OfferedControl> {
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

/// The driver's numbers for what can be set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Id {
    AutoExposure,
    Exposure,
    AutoGain,
    Gain,
    AutoWhiteBalance,
    WhiteBalance,
    AutoFocus,
    Focus,
    PowerLine,
    DarkRate,
}

/// What a control takes, in the driver's numbers.
#[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "made on Linux only"))]
#[derive(Clone, Debug)]
struct Range {
    min: i64,
    max: i64,
    step: i64,
    default: i64,
    /// Values of a menu; some between the ends may be missing.
    items: Option<Vec<i64>>,
    active: bool,
}

impl Range {
    fn has(&self, value: i64) -> bool {
        match &self.items {
            Some(items) => items.contains(&value),
            None => (self.min..=self.max).contains(&value),
        }
    }
}

impl ControlKind {
    const fn id(self) -> Id {
        match self {
            Self::Exposure => Id::Exposure,
            Self::Gain => Id::Gain,
            Self::WhiteBalance => Id::WhiteBalance,
            Self::Focus => Id::Focus,
            Self::PowerLine => Id::PowerLine,
            Self::DarkRate => Id::DarkRate,
        }
    }

    const fn auto_id(self) -> Option<Id> {
        match self {
            Self::Exposure => Some(Id::AutoExposure),
            Self::Gain => Some(Id::AutoGain),
            Self::WhiteBalance => Some(Id::AutoWhiteBalance),
            Self::Focus => Some(Id::AutoFocus),
            Self::PowerLine | Self::DarkRate => None,
        }
    }

    /// The driver's numbers in one unit: V4L2 counts exposure in 100 us.
    const fn per_unit(self) -> f64 {
        if matches!(self, Self::Exposure) { 10.0 } else { 1.0 }
    }
}

/// Members of V4L2's menu of automatic exposures.
mod exposure_menu {
    /// Time and iris by the camera.
    pub(super) const AUTO: i64 = 0;
    /// Time and iris as set.
    pub(super) const MANUAL: i64 = 1;
    /// Time as set, iris by the camera.
    pub(super) const SHUTTER_PRIORITY: i64 = 2;
    /// Time by the camera, iris as set; what USB cameras call automatic.
    pub(super) const APERTURE_PRIORITY: i64 = 3;
}

/// The value of the automatic's own control that switches it on or off; `None` if it has none such.
fn auto_value(kind: ControlKind, range: &Range, on: bool) -> Option<i64> {
    use exposure_menu::{APERTURE_PRIORITY, AUTO, MANUAL, SHUTTER_PRIORITY};
    if kind != ControlKind::Exposure {
        return Some(i64::from(on)).filter(|&v| range.has(v));
    }
    let preferred = if on { [range.default, APERTURE_PRIORITY, AUTO] } else { [MANUAL, SHUTTER_PRIORITY, MANUAL] };
    let fits = |&v: &i64| range.has(v) && matches!(v, AUTO | APERTURE_PRIORITY) == on;
    preferred.into_iter().find(fits)
}

/// Whether the camera sets it by itself now; `None` if it cannot.
fn is_auto(node: &Node, kind: ControlKind) -> Option<bool> {
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

    fn menu(items: &[i64], default: i64) -> Range {
        Range { min: 0, max: 3, step: 1, default, items: Some(items.to_vec()), active: true }
    }

    #[test]
    fn automatic_exposure_takes_what_the_menu_has() {
        let value = |range: &Range, on| auto_value(ControlKind::Exposure, range, on);
        let usb = menu(&[1, 3], 3);
        assert_eq!((value(&usb, true), value(&usb, false)), (Some(3), Some(1)));
        let sensor = menu(&[0, 1], 0);
        assert_eq!((value(&sensor, true), value(&sensor, false)), (Some(0), Some(1)));
        // a default of manual is no automatic
        let lazy = menu(&[0, 1, 2, 3], 1);
        assert_eq!((value(&lazy, true), value(&lazy, false)), (Some(3), Some(1)));
        let iris = menu(&[0, 2], 0);
        assert_eq!(value(&iris, false), Some(2));
        assert_eq!(value(&menu(&[1], 1), true), None);
    }

    #[test]
    fn values_read_like_what_they_are() {
        assert_eq!(ControlKind::Exposure.value_text(8.3), "8.3 ms");
        assert_eq!(ControlKind::PowerLine.value_text(1.0), "50 Hz");
        assert_eq!(ControlKind::PowerLine.value_text(3.0), "auto");
        assert_eq!(ControlKind::DarkRate.value_text(0.0), "off");
        assert_eq!(ControlKind::Gain.value_text(20.0), "20");
    }
}
