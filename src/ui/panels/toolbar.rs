//! The line at the top: pause, source, preset, engine, recording, snapshot, views.

use super::{Action, Command, State, action_button, menu_entry, preset, recording, source, tooltip, widgets};
use crate::engine::EngineChoice;
use crate::ui::view::ViewKind;
use egui::{Align, Button, Label, Layout, RichText, Ui};

/// Share of the window's width for the source's name, which may be that of a file.
const SOURCE_SHARE: f32 = 0.17;
/// Windows of at least this width have one row, points.
const ONE_ROW_WIDTH: f32 = 1250.0;
/// Width of the chooser of engines, points.
const ENGINE_WIDTH: f32 = 64.0;

pub(super) fn show(ui: &mut Ui, state: &State, commands: &mut Vec<Command>) {
    if ui.ctx().content_rect().width() < ONE_ROW_WIDTH {
        ui.horizontal(|ui| input(ui, state, commands));
        ui.horizontal(|ui| output(ui, state, commands));
    } else {
        ui.horizontal(|ui| {
            input(ui, state, commands);
            ui.separator();
            output(ui, state, commands);
        });
    }
}

/// Source and preset.
fn input(ui: &mut Ui, state: &State, commands: &mut Vec<Command>) {
    // a recording has them on its time line
    if state.pipeline.playback.is_none() {
        let (text, held) = if state.status().paused { ("▶ Go on", true) } else { ("‖ Pause", false) };
        action_button(ui, Action::Pause, Button::new(text), held, commands);
        action_button(ui, Action::Step, Button::new("▸| Step"), false, commands);
        ui.separator();
    }
    ui.scope(|ui| {
        ui.set_max_width(SOURCE_SHARE * ui.ctx().content_rect().width());
        let summary = source::summary(state);
        ui.add(Label::new(&summary).truncate()).on_hover_text(summary);
    });
    source::menu(ui, state, commands);
    ui.separator();
    preset::show(ui, state, commands);
}

/// The engine; at the right, files and views.
fn output(ui: &mut Ui, state: &State, commands: &mut Vec<Command>) {
    engine(ui, state, commands);
    ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
        action_button(ui, Action::Help, Button::new("?"), state.is_open(Action::Help), commands);
        action_button(ui, Action::Controls, Button::new("≡"), state.view.controls, commands);
        ui.menu_button("Views ▾", |ui| views(ui, state, commands));
        action_button(ui, Action::Snapshot, Button::new("Snapshot"), false, commands);
        recording::show(ui, state, commands);
    });
}

fn views(ui: &mut Ui, state: &State, commands: &mut Vec<Command>) {
    for &view in ViewKind::ALL {
        let mut open = state.view.views.contains(&view);
        if ui.checkbox(&mut open, view.word()).on_hover_text(tooltip(ui, Action::View(view))).clicked() {
            commands.push(Action::View(view).into());
        }
    }
    ui.separator();
    for action in [Action::Reach, Action::WholePicture, Action::CopyCommand, Action::FullScreen, Action::Quit] {
        menu_entry(ui, action, commands);
    }
}

fn engine(ui: &mut Ui, state: &State, commands: &mut Vec<Command>) {
    ui.label(RichText::new("Engine").weak());
    let options: Vec<_> = EngineChoice::ALL.iter().map(|&e| (e, e.word(), e.help())).collect();
    let mut engine = state.matching.engine.choice;
    // the same one again opens it anew: that is how a lost GPU comes back
    let chosen = ui.scope(|ui| {
        ui.set_max_width(ENGINE_WIDTH);
        widgets::choice_again(ui, "Engine", "What computes the disparities.", &options, &mut engine)
    });
    if chosen.inner {
        commands.push(Command::SetEngine(engine));
    }
}
