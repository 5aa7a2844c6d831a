//! Messages about past events and present causes.

mod overload;
mod panel;

pub(crate) use panel::show;

use crate::core::Command;
use crate::core::notices::Level;

/// Message with its remedies.
struct Message {
    text: String,
    level: Level,
    /// Labels of the buttons with their commands.
    remedies: Vec<(String, Command)>,
    /// Index among the notices, which can be dismissed.
    notice: Option<usize>,
    is_new: bool,
}
