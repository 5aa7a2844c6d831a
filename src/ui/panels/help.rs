//! The page of keys.

use super::{Action, Command, State};
use egui::{Align2, Grid, RichText, Ui, Window};

/// Gestures and their effects.
const POINTER: [(&str, &str); 7] = [
    ("wheel on a picture", "zoom where the pointer is, all views together"),
    ("drag a picture", "move all views"),
    ("double-click", "whole picture; on a slider: its default"),
    ("click a picture", "hold the read-out there; again: let go"),
    ("wheel, ← → on a slider", "one step"),
    ("drag the time line", "any pair of a recording; wheel: one pair"),
    ("files dropped here", "open a recording, a pair or a folder"),
];

/// The window around the panel.
pub(super) fn window() -> Window<'static> {
    Window::new("Keys").anchor(Align2::CENTER_CENTER, [0.0, 0.0]).resizable(false)
}

pub(super) fn show(ui: &mut Ui, _: &State, _: &mut Vec<Command>) {
    let actions: Vec<_> = Action::all().collect();
    let half = actions.len().div_ceil(2);
    Grid::new("keys").num_columns(4).spacing([18.0, 4.0]).show(ui, |ui| {
        for row in 0..half {
            for action in [actions.get(row), actions.get(row + half)].into_iter().flatten() {
                ui.monospace(ui.ctx().format_shortcut(&action.shortcut()));
                ui.label(action.label()).on_hover_text(action.help());
            }
            ui.end_row();
        }
    });
    ui.separator();
    Grid::new("pointer").num_columns(2).spacing([18.0, 4.0]).show(ui, |ui| {
        for (gesture, effect) in POINTER {
            ui.label(RichText::new(gesture).weak());
            ui.label(effect);
            ui.end_row();
        }
    });
}
