//! Page of the live calibration in four steps: board, look, views, result; the images are in `guide_pictures`.

use super::{board, look, result, views};
use crate::command::Command;
use crate::panels::steps::step;
use crate::state::State;
use egui::{Label, RichText, Ui};

pub(crate) fn show(ui: &mut Ui, state: &State, commands: &mut Vec<Command>) {
    let (done, text) = board::done(state);
    step(ui, 1, "Board", done, &text, |ui| board::show(ui, state, commands));
    let (done, text) = look::done(state);
    step(ui, 2, "Look", done, &text, |ui| look::show(ui, state, commands));
    let (done, text) = views::done(state);
    step(ui, 3, "Views", done, &text, |ui| views::show(ui, state, commands));
    let (done, text) = result::done(state);
    step(ui, 4, "Result", done, &text, |ui| result::show(ui, state, commands));
}

pub(super) fn warning(ui: &mut Ui, text: impl Into<String>) {
    let text = RichText::new(text.into()).color(ui.visuals().warn_fg_color);
    ui.add(Label::new(text).wrap());
}
