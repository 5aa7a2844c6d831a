//! Applies control settings to one camera, and returns remarks on what differs. The order matters: drivers reject a value while
//! automatic mode is on. Each value is read back, because drivers may grant another one.

use super::error::{ControlError, SwitchError};
use super::node::ControlNode;
use super::{ControlKind, ControlRange, auto_value, is_auto, words};
use stereopsis_frame::{ControlSettings, PowerLine, Setting};

/// Applies settings to camera `index`; `None` leaves a control unchanged. Returns remarks on rejected, missing and clamped controls;
/// none if all settings are in effect.
pub fn apply(index: u32, settings: &ControlSettings) -> Vec<String> {
    if *settings == ControlSettings::default() {
        return Vec::new();
    }
    match ControlNode::open(index) {
        Ok(node) => apply_to(&node, settings),
        Err(error) => vec![error.to_string()],
    }
}

fn apply_to(node: &ControlNode, settings: &ControlSettings) -> Vec<String> {
    let whole = |setting: Setting<i64>| match setting {
        Setting::Auto => Setting::Auto,
        Setting::Fixed(value) => Setting::Fixed(value as f64),
    };
    let member = |flicker: PowerLine| PowerLine::ALL.iter().position(|&m| m == flicker).unwrap_or_default() as f64;
    // exposure first: some drivers reset the gain when automatic exposure ends
    let requested = [
        (ControlKind::PowerLine, settings.power_line.map(|flicker| Setting::Fixed(member(flicker)))),
        (ControlKind::Exposure, settings.exposure_ms),
        (ControlKind::Gain, settings.gain.map(whole)),
        (ControlKind::WhiteBalance, settings.white_balance_k.map(whole)),
        (ControlKind::Focus, settings.focus.map(whole)),
    ];
    let set = |(kind, setting): (ControlKind, Option<Setting<f64>>)| match setting? {
        Setting::Auto => set_auto(node, kind).err().map(|err| err.to_string()),
        Setting::Fixed(value) => {
            lock(node, kind, value).map_or_else(|err| Some(err.to_string()), |locked| locked.remark)
        }
    };
    requested.into_iter().filter_map(set).collect()
}

pub(super) struct LockedValue {
    /// Value in the driver's unit.
    pub(super) raw: i64,
    pub(super) remark: Option<String>,
}

/// Switches automatic mode off and sets the nearest possible value; `requested` is in the unit of the kind.
///
/// # Errors
/// The camera lacks the control or rejects the value.
pub(super) fn lock(node: &ControlNode, kind: ControlKind, requested: f64) -> Result<LockedValue, ControlError> {
    let (index, name) = (node.index(), kind.label());
    let range = range_of(node, kind)?;
    let takes = words::range(kind, range);
    if !requested.is_finite() {
        return Err(ControlError::NoNumber { index, kind, requested, takes });
    }
    let requested = (requested * kind.per_unit()).round() as i64;
    let value = requested.clamp(range.min, range.max);
    if range.items.is_some() && !range.has(value) || kind == ControlKind::PowerLine && value != requested {
        return Err(ControlError::NoValue { index, kind, value: requested, takes });
    }
    end_auto(node, kind)?;
    let steps = (value - range.min + range.step / 2) / range.step;
    let value = (range.min + steps * range.step).min(range.max);
    let refused = |cause| ControlError::Refused { index, kind, value, cause };
    let raw = node.set(kind.id(), value).map_err(refused)?;
    let remark = (raw != requested).then(|| {
        let [got, wanted_text] = [raw, requested].map(|v| words::value(kind, v));
        let why = if raw == value {
            let steps = if range.step > 1 { format!(" in steps of {}", range.step) } else { String::new() };
            format!("it takes {takes}{steps}")
        } else {
            "its driver granted that".to_owned()
        };
        format!("camera {index}: {name} is {got} instead of {wanted_text}: {why}")
    });
    Ok(LockedValue { raw, remark })
}

/// Returns the range of a control.
///
/// # Errors
/// The camera lacks the control.
pub(super) fn range_of(node: &ControlNode, kind: ControlKind) -> Result<&ControlRange, ControlError> {
    node.range(kind.id()).ok_or(ControlError::Missing { index: node.index(), kind })
}

/// Switches automatic mode off if it is on.
///
/// # Errors
/// Automatic mode stays on.
pub(super) fn end_auto(node: &ControlNode, kind: ControlKind) -> Result<(), ControlError> {
    match is_auto(node, kind) {
        Some(true) => switch(node, kind, false),
        _ => Ok(()),
    }
}

fn set_auto(node: &ControlNode, kind: ControlKind) -> Result<(), ControlError> {
    let index = node.index();
    if node.range(kind.id()).is_none() && kind.auto_id().is_none_or(|id| node.range(id).is_none()) {
        return Err(ControlError::Missing { index, kind });
    }
    match is_auto(node, kind) {
        Some(true) => Ok(()),
        Some(false) => switch(node, kind, true),
        None => Err(ControlError::NoAuto { index, kind }),
    }
}

fn switch(node: &ControlNode, kind: ControlKind, on: bool) -> Result<(), ControlError> {
    let switched = || {
        let range_of = |id| node.range(id).map(|range| (id, range));
        let (id, range) = kind.auto_id().and_then(range_of).ok_or(SwitchError::Missing)?;
        let value = auto_value(kind, range, on).ok_or(SwitchError::NoChoice)?;
        if node.set(id, value)? == value { Ok(()) } else { Err(SwitchError::Kept) }
    };
    switched().map_err(|cause| ControlError::Switch { index: node.index(), kind, on, cause })
}

/// Keeps a calibration valid on camera `index`: switches off autofocus at the present focus, unless `settings` sets the focus, and the
/// lower rate in the dark. Returns remarks on changes and failures.
pub fn protect_calibration(index: u32, settings: &ControlSettings) -> Vec<String> {
    let node = match ControlNode::open(index) {
        Ok(node) => node,
        Err(error) => return vec![format!("autofocus, which voids a calibration, may be on: {error}")],
    };
    let mut remarks = Vec::new();
    match settings.focus {
        None => remarks.extend(lock_focus(&node)),
        Some(Setting::Auto) => {
            remarks
                .push(format!("camera {index}: autofocus is on, as wished; the calibration holds for one focus only"));
        }
        Some(Setting::Fixed(_)) => {}
    }
    remarks.extend(lock_rate(&node));
    remarks
}

fn lock_focus(node: &ControlNode) -> Option<String> {
    let index = node.index();
    if is_auto(node, ControlKind::Focus) != Some(true) {
        return None;
    }
    let focus = node.get(ControlKind::Focus.id()).ok();
    if let Err(refusal) = switch(node, ControlKind::Focus, false) {
        return Some(format!("{refusal}; the calibration holds for one focus only"));
    }
    // some lenses move to their home position when autofocus ends
    let held = focus.map(|focus| lock(node, ControlKind::Focus, focus as f64));
    Some(match held {
        Some(Ok(LockedValue { raw, .. })) => {
            format!(
                "camera {index}: autofocus is switched off, focus stays at {raw}: the calibration holds for one focus only"
            )
        }
        Some(Err(refusal)) => format!("camera {index}: autofocus is switched off for the calibration, but {refusal}"),
        None => format!("camera {index}: autofocus is switched off: the calibration holds for one focus only"),
    })
}

fn lock_rate(node: &ControlNode) -> Option<String> {
    let (index, id) = (node.index(), ControlKind::DarkRate.id());
    node.range(id)?;
    if matches!(node.get(id), Ok(0)) {
        return None;
    }
    Some(match node.set(id, 0) {
        Ok(0) => {
            format!("camera {index}: keeps its rate in the dark now, so that pairs fit; its images get darker instead")
        }
        Ok(_) => format!("camera {index}: its driver insists on a lower rate in the dark; give it light"),
        Err(error) => format!("camera {index}: its lower rate in the dark could not be switched off: {error}"),
    })
}
