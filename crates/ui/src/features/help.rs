//! The page of keys.

use crate::core::{Action, Command, Core};
use egui::{Grid, Label, RichText, Ui};

const POINTER: [(&str, &str); 16] = [
    ("wheel on an image", "zoom where the pointer is, all views together"),
    ("drag an image", "move all views"),
    ("double-click", "whole image; on a slider: its default"),
    ("click an image in the strip", "that view large; so does a click on its title"),
    ("double-click a title", "that view alone; again: all"),
    ("drag in 3d", "turn around the middle; with Shift, or the right or middle button: move along"),
    ("wheel in 3d", "nearer, farther"),
    ("← → ↑ ↓, Page ↑ ↓ in 3d", "fly: left, right, on, back, up, down; after a click, while the pointer is there"),
    ("double-click in 3d", "as the camera sees it"),
    ("click the large image", "hold the read-out there; again: let go; in a grid any image"),
    ("drag the line between A and B", "more of one, less of the other"),
    ("wheel, ← → on a slider", "one step, once the pointer has rested there"),
    ("Ctrl +, Ctrl −", "larger or smaller text"),
    ("drag the time line", "any pair of a recording; wheel: one pair"),
    ("Space beside Calibrate", "take a view of the board"),
    ("files dropped here", "open a recording, a pair, a folder or a model"),
];

pub(crate) fn show(ui: &mut Ui, _: &Core, _: &mut Vec<Command>) {
    Grid::new("keys").num_columns(2).spacing([18.0, 3.0]).show(ui, |ui| {
        for action in Action::all() {
            ui.monospace(ui.ctx().format_shortcut(&action.shortcut()));
            ui.label(action.label()).on_hover_text(action.help());
            ui.end_row();
        }
    });
    ui.separator();
    Grid::new("pointer").num_columns(2).spacing([18.0, 4.0]).show(ui, |ui| {
        for (gesture, effect) in POINTER {
            ui.label(RichText::new(gesture).weak());
            ui.add(Label::new(effect).wrap());
            ui.end_row();
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use egui::ModifierNames;
    use std::path::Path;
    use stereopsis_base::testing::check_table;

    #[test]
    fn the_page_lists_all_keys_and_gestures() {
        let keys = Action::all().map(|action| {
            let key = action.shortcut().format(&ModifierNames::NAMES, false);
            format!("| {key} | *{}*: {} |\n", action.label().trim_end_matches(" …"), action.help())
        });
        let gestures = POINTER.map(|(gesture, effect)| format!("| {gesture} | {effect} |\n"));
        let table =
            format!("| key or gesture | effect |\n|---|---|\n{}{}", keys.collect::<String>(), gestures.concat());
        check_table(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/keys.md"), &table);
    }
}
