//! The controls at the edge: one file for each panel.

pub(crate) mod cameras;
pub(crate) mod controls;
pub(crate) mod depth;
pub(crate) mod health;
pub(crate) mod help;
pub(crate) mod notices;
pub(crate) mod parameters;
pub(crate) mod pixel;
pub(crate) mod preset;
pub(crate) mod reach;
pub(crate) mod record;
pub(crate) mod rig;
pub(crate) mod slow;
pub(crate) mod source;
pub(crate) mod status;
pub(crate) mod timeline;
pub(crate) mod toolbar;

use super::command::Command;
use egui::{Button, Response, Ui};

/// The button of a command, with what it does and its key.
pub(crate) fn command_button(ui: &mut Ui, command: Command, button: Button<'_>, selected: bool) -> Response {
    let response = ui.add(button.selected(selected));
    let enabled = response.enabled();
    response.widget_info(|| egui::WidgetInfo::selected(egui::Role::Button, enabled, selected, command.label()));
    response.on_hover_text(tooltip(ui, command))
}

/// What a command does, and its key.
pub(crate) fn tooltip(ui: &Ui, command: Command) -> String {
    format!("{}\n{}", command.tooltip(), ui.ctx().format_shortcut(&command.shortcut()))
}
