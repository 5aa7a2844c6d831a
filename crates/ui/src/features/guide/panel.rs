//! Page of the live calibration in four steps: board, look, views, result; the images are in `guide_pictures`.

use super::{board, look, result, views};
use crate::core::{Command, Core};
use crate::panels::steps::step;
use egui::Ui;

pub(crate) fn show(ui: &mut Ui, core: &Core, commands: &mut Vec<Command>) {
    let (done, text) = board::done(core);
    step(ui, 1, "Board", done, &text, |ui| board::show(ui, core, commands));
    let (done, text) = look::done(core);
    step(ui, 2, "Look", done, &text, |ui| look::show(ui, core, commands));
    let (done, text) = views::done(core);
    step(ui, 3, "Views", done, &text, |ui| views::show(ui, core, commands));
    let (done, text) = result::done(core);
    step(ui, 4, "Result", done, &text, |ui| result::show(ui, core, commands));
}
