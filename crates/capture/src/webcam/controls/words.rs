//! Formats values and ranges of controls for messages.

use super::{ControlKind, ControlRange};
use stereopsis_frame::PowerLine;

pub(super) fn value(kind: ControlKind, raw: i64) -> String {
    kind.value_text(raw as f64 / kind.per_unit())
}

/// Formats the range of a control: `0.3 to 204.7 ms`, `off, 50 Hz, 60 Hz`.
pub(super) fn range(kind: ControlKind, range: &ControlRange) -> String {
    if let ControlKind::PowerLine = kind {
        let members = (0..PowerLine::ALL.len() as i64).filter(|&v| range.has(v));
        return members.map(|v| value(kind, v)).collect::<Vec<_>>().join(", ");
    }
    format!("{} to {}", range.min as f64 / kind.per_unit(), value(kind, range.max))
}
