//! Control values as text.

use super::{ControlKind, Range};
use crate::PowerLine;

/// A driver's value as text with its unit.
pub(super) fn value(kind: ControlKind, raw: i64) -> String {
    kind.value_text(raw as f64 / kind.per_unit())
}

/// Range of a control as text: `0.3 to 204.7 ms`, `off, 50 Hz, 60 Hz`.
pub(super) fn range(kind: ControlKind, range: &Range) -> String {
    if let ControlKind::PowerLine = kind {
        let members = (0..PowerLine::ALL.len() as i64).filter(|&v| range.has(v));
        return members.map(|v| value(kind, v)).collect::<Vec<_>>().join(", ");
    }
    format!("{} to {}", range.min as f64 / kind.per_unit(), value(kind, range.max))
}
