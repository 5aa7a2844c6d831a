//! The line at the top: run or hold, source, preset, engine, snapshot, views.

use super::{command_button, preset, record, source, tooltip};
use crate::engine::EngineChoice;
use crate::ui::command::Command;
use crate::ui::session::Session;
use crate::ui::view::ViewKind;
use crate::ui::widgets;
use egui::{Align, Button, Label, Layout, RichText, Ui};

/// How much of the window's width the source's name may take, which is as long as a file's.
const SOURCE_SHARE: f32 = 0.17;
/// Windows of this width and more have all in one row, points.
const ONE_ROW_WIDTH: f32 = 1250.0;
/// Width of the chooser of engines, points.
const ENGINE_WIDTH: f32 = 64.0;

/// Shows the toolbar; gives the command of the button that was pressed.
pub(crate) fn show(ui: &mut Ui, session: &mut Session) -> Option<Command> {
    let mut pressed = Vec::new();
    let commands = &mut pressed;
    if ui.ctx().content_rect().width() < ONE_ROW_WIDTH {
        ui.horizontal(|ui| what(ui, session, commands));
        ui.horizontal(|ui| how(ui, session, commands));
    } else {
        ui.horizontal(|ui| {
            what(ui, session, commands);
            ui.separator();
            how(ui, session, commands);
        });
    }
    pressed.pop()
}

/// What is shown, and with which preset.
fn what(ui: &mut Ui, session: &mut Session, commands: &mut Vec<Command>) {
    // a recording has them on its time line
    if session.live.transport().is_none() {
        let (sign, held) = if session.status.paused { ("▶ Go on", true) } else { ("‖ Pause", false) };
        button(ui, commands, Command::Pause, sign, held);
        button(ui, commands, Command::Step, "▸| Step", false);
        ui.separator();
    }
    ui.scope(|ui| {
        ui.set_max_width(SOURCE_SHARE * ui.ctx().content_rect().width());
        let summary = source::summary(session);
        ui.add(Label::new(&summary).truncate()).on_hover_text(summary);
    });
    commands.extend(source::show(ui, session));
    ui.separator();
    commands.extend(preset::show(ui, session));
}

/// What computes, and at the right what is taken away and what is seen.
fn how(ui: &mut Ui, session: &mut Session, commands: &mut Vec<Command>) {
    engine(ui, session);
    ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
        button(ui, commands, Command::Help, "?", session.help);
        button(ui, commands, Command::Controls, "≡", session.look.controls);
        ui.menu_button("Views ▾", |ui| views(ui, session, commands));
        button(ui, commands, Command::Snapshot, "Snapshot", false);
        commands.extend(record::show(ui, session));
    });
}

fn button(ui: &mut Ui, commands: &mut Vec<Command>, command: Command, text: &str, selected: bool) {
    if command_button(ui, command, Button::new(text), selected).clicked() {
        commands.push(command);
    }
}

fn views(ui: &mut Ui, session: &Session, commands: &mut Vec<Command>) {
    for &view in ViewKind::ALL {
        let command = Command::View(view);
        let mut open = session.look.views.contains(&view);
        if ui.checkbox(&mut open, view.word()).on_hover_text(tooltip(ui, command)).clicked() {
            commands.push(command);
        }
    }
    ui.separator();
    let others = [Command::Reach, Command::WholePicture, Command::CopyCommand, Command::FullScreen, Command::Quit];
    for command in others {
        let key = ui.ctx().format_shortcut(&command.shortcut());
        let button = Button::new(command.label()).shortcut_text(key);
        if ui.add(button).on_hover_text(command.tooltip()).clicked() {
            commands.push(command);
            ui.close();
        }
    }
}

fn engine(ui: &mut Ui, session: &mut Session) {
    ui.label(RichText::new("Engine").weak());
    let options: Vec<_> = EngineChoice::ALL.iter().map(|&e| (e, e.word(), e.help())).collect();
    let mut engine = session.engine.choice;
    // the same one again opens it anew: that is how a lost GPU comes back
    let chosen = ui.scope(|ui| {
        ui.set_max_width(ENGINE_WIDTH);
        widgets::choice_again(ui, "Engine", "What computes the disparities.", &options, &mut engine)
    });
    if chosen.inner {
        session.set_engine(engine);
    }
}
