//! A camera's controls through V4L2, on a descriptor of their own.

use super::super::fault;
use super::{Id, Range};
use crate::capture::CaptureError;
use std::io;
use std::panic::AssertUnwindSafe;
use v4l::Device;
use v4l::control::{Control, Description, Flags, Value};

/// A camera, open for its controls.
pub(super) struct Node {
    index: u32,
    device: Device,
    offered: Vec<(Id, Range)>,
    ranges_known: bool,
}

const ALL: [Id; 10] = [
    Id::AutoExposure,
    Id::Exposure,
    Id::AutoGain,
    Id::Gain,
    Id::AutoWhiteBalance,
    Id::WhiteBalance,
    Id::AutoFocus,
    Id::Focus,
    Id::PowerLine,
    Id::DarkRate,
];

/// Whatever the driver takes; no default.
const UNKNOWN: Range =
    Range { min: i32::MIN as i64, max: i32::MAX as i64, step: 1, default: -1, items: None, active: true };

/// V4L2's numbers (linux/v4l2-controls.h).
const fn number(id: Id) -> u32 {
    const USER: u32 = 0x0098_0900;
    const CAMERA: u32 = 0x009a_0900;
    match id {
        Id::AutoWhiteBalance => USER + 12,
        Id::AutoGain => USER + 18,
        Id::Gain => USER + 19,
        Id::PowerLine => USER + 24,
        Id::WhiteBalance => USER + 26,
        Id::AutoExposure => CAMERA + 1,
        Id::Exposure => CAMERA + 2,
        Id::DarkRate => CAMERA + 3,
        Id::Focus => CAMERA + 10,
        Id::AutoFocus => CAMERA + 12,
    }
}

impl Node {
    pub(super) fn open(index: u32) -> Result<Self, CaptureError> {
        let explain = |error: io::Error| fault::explain(index, "open it for its controls", &error.into());
        let device = Device::new(index as usize).map_err(explain)?;
        // the binding panics at a control of a kind that is newer than itself, such as the rectangles of Linux 6.16
        let Ok(asked) = std::panic::catch_unwind(AssertUnwindSafe(|| device.query_controls())) else {
            let offered =
                ALL.into_iter().filter(|&id| device.control(number(id)).is_ok()).map(|id| (id, UNKNOWN)).collect();
            return Ok(Self { index, device, offered, ranges_known: false });
        };
        let descriptions = match asked {
            Ok(descriptions) => descriptions,
            Err(error) if has_none(&error) => Vec::new(),
            Err(error) => return Err(explain(error)),
        };
        let find = |id| descriptions.iter().find(|d| d.id == number(id)).and_then(range_of).map(|range| (id, range));
        let offered = ALL.into_iter().filter_map(find).collect();
        Ok(Self { index, device, offered, ranges_known: true })
    }

    pub(super) fn index(&self) -> u32 {
        self.index
    }

    /// False where the driver lists a control that the binding cannot read: each one can be set, and no range is known.
    pub(super) fn ranges_known(&self) -> bool {
        self.ranges_known
    }

    /// What the camera takes; `None` if it lacks the control.
    pub(super) fn range(&self, id: Id) -> Option<&Range> {
        self.offered.iter().find(|(offered, _)| *offered == id).map(|(_, range)| range)
    }

    /// The value now, or the driver's refusal in words.
    pub(super) fn get(&self, id: Id) -> Result<i64, String> {
        match self.device.control(number(id)).map_err(|e| e.to_string())?.value {
            Value::Integer(value) => Ok(value),
            Value::Boolean(on) => Ok(i64::from(on)),
            _ => Err("it is no number".to_owned()),
        }
    }

    /// Sets it and reads back what was granted, or says the driver's refusal.
    pub(super) fn set(&self, id: Id, value: i64) -> Result<i64, String> {
        let control = Control { id: number(id), value: Value::Integer(value) };
        self.device.set_control(control).map_err(|e| e.to_string())?;
        self.get(id)
    }
}

/// How drivers without any control answer: EINVAL, ENOTTY.
fn has_none(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(22 | 25))
}

/// `None` for what is listed and cannot be set.
fn range_of(description: &Description) -> Option<Range> {
    if description.flags.intersects(Flags::DISABLED | Flags::READ_ONLY) {
        return None;
    }
    let items = description.items.as_ref().map(|items| items.iter().map(|(value, _)| i64::from(*value)).collect());
    Some(Range {
        min: description.minimum,
        max: description.maximum,
        step: (description.step as i64).max(1),
        default: description.default,
        items,
        active: !description.flags.intersects(Flags::INACTIVE | Flags::GRABBED),
    })
}
