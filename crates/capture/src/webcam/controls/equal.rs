//! Equal exposure: locks both cameras to the present values of the left one. Two automatic modes would measure different images and
//! drift apart, which reduces the number of matches.

use super::super::error::CameraError;
use super::apply::{end_auto, lock, range_of};
use super::error::ControlError;
use super::node::ControlNode;
use super::{ControlKind, words};
use stereopsis_frame::CaptureError;

/// Locks exposure, gain and white balance of both cameras to the left one's present values; returns a text with these values and the
/// failures. The left camera's automatic modes must have settled, one or two seconds after its first image.
///
/// # Errors
/// A camera cannot be opened, or lacks or rejects a common exposure. Then no other control is set.
pub fn equalise(left: u32, right: u32) -> Result<String, CaptureError> {
    let nodes = [ControlNode::open(left)?, ControlNode::open(right)?];
    let exposure = lock_both(&nodes, ControlKind::Exposure).map_err(|cause| CameraError::UnequalExposure {
        left,
        right,
        cause,
    })?;
    let mut done = vec![exposure];
    let mut not_done = Vec::new();
    for kind in [ControlKind::Gain, ControlKind::WhiteBalance] {
        if nodes.iter().all(|node| node.range(kind.id()).is_none()) {
            continue;
        }
        match lock_both(&nodes, kind) {
            Ok(words) => done.push(words),
            Err(why) => not_done.push(format!("; not equal: {why}")),
        }
    }
    Ok(format!("cameras {left} and {right} are locked alike: {}{}", done.join(", "), not_done.concat()))
}

/// Sets a control of both cameras to the left one's value, or to the nearest value that both accept; returns a text with the value.
fn lock_both(nodes: &[ControlNode; 2], kind: ControlKind) -> Result<String, ControlError> {
    let name = kind.label();
    let [left, right] = nodes;
    let ranges = [range_of(left, kind)?, range_of(right, kind)?];
    let takes = || ranges.map(|range| words::range(kind, range));
    let alike = ranges.iter().all(|r| (r.min, r.max, r.step) == (ranges[0].min, ranges[0].max, ranges[0].step));
    if kind == ControlKind::Gain && !alike {
        // gain steps of different drivers are not comparable: each keeps its value, without automatic mode
        for node in nodes {
            end_auto(node, kind)?;
        }
        return Err(ControlError::OtherSteps { kind, takes: takes() });
    }
    let (min, max) = (ranges[0].min.max(ranges[1].min), ranges[0].max.min(ranges[1].max));
    let present = left.get(kind.id()).map_err(|cause| ControlError::Untold { index: left.index(), kind, cause })?;
    if min > max {
        return Err(ControlError::NoCommonRange { kind, takes: takes() });
    }
    let value = present.clamp(min, max) as f64 / kind.per_unit();
    // the left camera may round to its steps, so the right one gets the granted value
    let granted = lock(left, kind, value)?.raw;
    let followed = lock(right, kind, granted as f64 / kind.per_unit())?.raw;
    let [granted_text, followed_text] = [granted, followed].map(|raw| words::value(kind, raw));
    Ok(match (granted == followed, granted == present) {
        (true, true) => format!("{name} {granted_text}"),
        (true, false) => {
            format!("{name} {granted_text} (the nearest to {} that both take)", words::value(kind, present))
        }
        (false, _) => format!("{name} {granted_text} and {followed_text} (the nearest that it takes)"),
    })
}
