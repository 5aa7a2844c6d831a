//! The list of keys.

use crate::ui::command::Command;
use egui::{RichText, Ui};

/// Shows the page over the pictures; false once it is closed.
pub(crate) fn show(ui: &mut Ui) -> bool {
    let mut open = true;
    let pointer = [
        ("wheel on a picture", "zoom where the pointer is, all views together"),
        ("drag a picture", "move all views"),
        ("double-click", "whole picture; on a slider: its default"),
        ("click a picture", "hold the read-out there; again: let go"),
        ("wheel, ← → on a slider", "one step"),
        ("drag the time line", "any pair of a recording; wheel: one pair"),
        ("files dropped here", "open a recording, a pair or a folder"),
    ];
    let page = egui::Window::new("Keys").anchor(egui::Align2::CENTER_CENTER, [0.0, 0.0]);
    page.open(&mut open).resizable(false).collapsible(false).show(ui, |ui| {
        let half = Command::ALL.len().div_ceil(2);
        egui::Grid::new("keys").num_columns(4).spacing([18.0, 4.0]).show(ui, |ui| {
            for row in 0..half {
                for command in [Command::ALL.get(row), Command::ALL.get(row + half)].into_iter().flatten() {
                    ui.monospace(ui.ctx().format_shortcut(&command.shortcut()));
                    ui.label(command.label()).on_hover_text(command.tooltip());
                }
                ui.end_row();
            }
        });
        ui.separator();
        egui::Grid::new("pointer").num_columns(2).spacing([18.0, 4.0]).show(ui, |ui| {
            for (what, does) in pointer {
                ui.label(RichText::new(what).weak());
                ui.label(does);
                ui.end_row();
            }
        });
    });
    open
}
