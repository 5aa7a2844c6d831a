//! Camera controls through V4L2, on their own file descriptor. Known controls are queried by their numbers; other controls of the
//! driver are ignored.

use super::super::device::v4l2::calls::{self, Node as CameraNode};
use super::super::error::CameraError;
use super::{ControlKind, ControlRange};
use std::io;

/// Controls of a camera, with their file descriptor.
pub(super) struct ControlNode {
    index: u32,
    node: CameraNode,
    /// Numbers and ranges of the controls that can be set.
    offered: Vec<(u32, ControlRange)>,
}

/// Maximum number of queried menu values; the menus of the known controls have at most four.
const MAX_MENU: usize = 16;

impl ControlNode {
    pub(super) fn open(index: u32) -> Result<Self, CameraError> {
        let explain = |error: io::Error| CameraError::of_device(index, "open it for its controls", error.into());
        let node = CameraNode::open(index).map_err(explain)?;
        let mut offered = Vec::new();
        for id in ControlKind::ALL.iter().flat_map(|kind| [Some(kind.id()), kind.auto_id()]).flatten() {
            match range_of(&node, id) {
                Ok(range) => offered.extend(range.map(|range| (id, range))),
                Err(error) if is_missing(&error) => {}
                Err(error) => return Err(explain(error)),
            }
        }
        Ok(Self { index, node, offered })
    }

    pub(super) fn index(&self) -> u32 {
        self.index
    }

    pub(super) fn range(&self, id: u32) -> Option<&ControlRange> {
        self.offered.iter().find(|(offered, _)| *offered == id).map(|(_, range)| range)
    }

    pub(super) fn get(&self, id: u32) -> io::Result<i64> {
        calls::value(&self.node, id).map(i64::from)
    }

    /// Sets a control, and returns the granted value.
    pub(super) fn set(&self, id: u32, value: i64) -> io::Result<i64> {
        calls::set_value(&self.node, id, i32::try_from(value).map_err(io::Error::other)?)?;
        self.get(id)
    }
}

/// Returns whether the driver lacks the control (EINVAL) or has no controls at all (ENOTTY).
fn is_missing(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(22 | 25))
}

/// Types of controls with 32-bit values (linux/videodev2.h), and the types of menus among them.
const KINDS: [u32; 4] = [1, 2, 3, 9];
const MENUS: [u32; 2] = [3, 9];
/// Flags of controls that can never be set (disabled, read-only), and of controls that cannot be set now (grabbed, inactive).
const NEVER: u32 = 0x1 | 0x4;
const NOT_NOW: u32 = 0x2 | 0x10;

/// Queries the range of a control; `None` for a control that cannot be set or whose description is invalid.
fn range_of(node: &CameraNode, id: u32) -> io::Result<Option<ControlRange>> {
    let description = calls::control(node, id)?;
    let numbers = i64::from(i32::MIN)..=i64::from(i32::MAX);
    let (min, max) = (description.minimum, description.maximum);
    if !KINDS.contains(&description.kind)
        || description.flags & NEVER != 0
        || min > max
        || ![min, max].iter().all(|end| numbers.contains(end))
    {
        return Ok(None);
    }
    let step = i64::from(i32::try_from(description.step).unwrap_or(i32::MAX)).max(1);
    let items = MENUS.contains(&description.kind).then(|| {
        let values = (min..=max).take(MAX_MENU).filter(|&value| value >= 0);
        values.filter(|&value| calls::menu_has(node, id, value as u32)).collect()
    });
    Ok(Some(ControlRange {
        min,
        max,
        step,
        default: description.default_value.clamp(min, max),
        items,
        active: description.flags & NOT_NOW == 0,
    }))
}
