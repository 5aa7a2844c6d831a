//! Camera controls through V4L2, on a file descriptor of their own. Each control is queried by its number; other controls
//! of the driver are ignored.

use super::super::device::v4l2::calls;
use super::super::fault;
use super::{ControlKind, Range};
use crate::capture::CaptureError;
use std::io;
use v4l::Device;
use v4l::control::{Control, Flags, Type, Value};

/// File descriptor of a camera's controls.
pub(super) struct Node {
    index: u32,
    device: Device,
    /// Controls that can be set, by their numbers.
    offered: Vec<(u32, Range)>,
}

/// Longest menu that is queried; V4L2's menus among these controls have at most four values.
const MAX_MENU: usize = 16;

impl Node {
    pub(super) fn open(index: u32) -> Result<Self, CaptureError> {
        let explain = |error: io::Error| fault::explain(index, "open it for its controls", &error.into());
        let device = Device::new(index as usize).map_err(explain)?;
        let mut offered = Vec::new();
        for id in ControlKind::ALL.iter().flat_map(|kind| [Some(kind.id()), kind.auto_id()]).flatten() {
            match range_of(&device, id) {
                Ok(range) => offered.extend(range.map(|range| (id, range))),
                Err(error) if is_missing(&error) => {}
                Err(error) => return Err(explain(error)),
            }
        }
        Ok(Self { index, device, offered })
    }

    pub(super) fn index(&self) -> u32 {
        self.index
    }

    /// Range of a control; `None` if the camera lacks it.
    pub(super) fn range(&self, id: u32) -> Option<&Range> {
        self.offered.iter().find(|(offered, _)| *offered == id).map(|(_, range)| range)
    }

    /// Current value, or the driver's error as text.
    pub(super) fn get(&self, id: u32) -> Result<i64, String> {
        calls::value(&self.device, id).map(i64::from).map_err(|e| e.to_string())
    }

    /// Sets it and reads back the granted value, or returns the driver's error as text.
    pub(super) fn set(&self, id: u32, value: i64) -> Result<i64, String> {
        let control = Control { id, value: Value::Integer(value) };
        self.device.set_control(control).map_err(|e| e.to_string())?;
        self.get(id)
    }
}

/// Error numbers of drivers without a control, or without any control: EINVAL, ENOTTY.
fn is_missing(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(22 | 25))
}

/// `None` for a control that cannot be set, or whose description is invalid.
fn range_of(device: &Device, id: u32) -> io::Result<Option<Range>> {
    let description = calls::control(device, id)?;
    let flags = Flags::from(description.flags);
    let Ok(kind @ (Type::Integer | Type::Boolean | Type::Menu | Type::IntegerMenu)) = Type::try_from(description.type_)
    else {
        return Ok(None);
    };
    let numbers = i64::from(i32::MIN)..=i64::from(i32::MAX);
    let (min, max) = (description.minimum, description.maximum);
    if flags.intersects(Flags::DISABLED | Flags::READ_ONLY)
        || min > max
        || ![min, max].iter().all(|end| numbers.contains(end))
    {
        return Ok(None);
    }
    let step = i64::from(i32::try_from(description.step).unwrap_or(i32::MAX)).max(1);
    let is_menu = matches!(kind, Type::Menu | Type::IntegerMenu);
    let items = is_menu.then(|| {
        let values = (min..=max).take(MAX_MENU).filter(|&value| value >= 0);
        values.filter(|&value| calls::menu_has(device, id, value as u32)).collect()
    });
    Ok(Some(Range {
        min,
        max,
        step,
        default: description.default_value.clamp(min, max),
        items,
        active: !flags.intersects(Flags::INACTIVE | Flags::GRABBED),
    }))
}
