//! The menu of sources (the scene, cameras, files) and the strip that offers them beside the scene.

use super::{command_button, tooltip};
use crate::capture::SourceSpec;
use crate::ui::command::Command;
use crate::ui::session::Session;
use egui::{Button, RichText, Ui};

/// Shows the menu's button and, opened, its content; gives the command that was chosen.
pub(crate) fn show(ui: &mut Ui, session: &mut Session) -> Option<Command> {
    let mut command = None;
    let response = ui.menu_button("Source ▾", |ui| {
        ui.set_min_width(220.0);
        if entry(ui, session, &SourceSpec::Scene, "Built-in scene") {
            ui.close();
        }
        ui.separator();
        for offered in [Command::Cameras, Command::Rig] {
            let key = ui.ctx().format_shortcut(&offered.shortcut());
            let button = Button::new(offered.label()).shortcut_text(key);
            if ui.add(button).on_hover_text(tooltip(ui, offered)).clicked() {
                command = Some(offered);
                ui.close();
            }
        }
        let key = ui.ctx().format_shortcut(&Command::Open.shortcut());
        let open = Button::new(Command::Open.label()).shortcut_text(key);
        if ui.add(open).on_hover_text(tooltip(ui, Command::Open)).clicked() {
            command = Some(Command::Open);
            ui.close();
        }
    });
    response.response.on_hover_text("Where pairs come from.");
    command
}

/// What else there is, in a line under the toolbar, as long as the scene is shown.
pub(crate) fn strip(ui: &mut Ui, session: &mut Session) -> Option<Command> {
    if session.cameras.is_none() {
        session.find_cameras();
    }
    ui.horizontal(|ui| {
        ui.label(RichText::new("This is the built-in scene. Your own:").weak());
        let found = session.cameras.as_ref().map_or(0, Vec::len);
        let label = match found {
            0 => "Cameras …".to_owned(),
            1 => "1 camera …".to_owned(),
            count => format!("{count} cameras …"),
        };
        let cameras = command_button(ui, Command::Cameras, Button::new(label), session.chooser.is_some());
        let open = command_button(ui, Command::Open, Button::new(Command::Open.label()), false);
        let chosen = [(cameras, Command::Cameras), (open, Command::Open)];
        chosen.into_iter().find_map(|(button, command)| button.clicked().then_some(command))
    })
    .inner
}

fn entry(ui: &mut Ui, session: &mut Session, spec: &SourceSpec, name: &str) -> bool {
    let chosen = ui.selectable_label(session.source == *spec, name).clicked();
    if chosen {
        session.open(spec.clone());
    }
    chosen
}

/// `scene 640×480 · 30/s`: what is read now.
pub(crate) fn summary(session: &Session) -> String {
    let info = &session.status.source;
    if info.width == 0 {
        return format!("{} …", session.source);
    }
    let rate = info.rate_hz.map_or(String::new(), |hz| format!(" · {hz:.0}/s"));
    format!("{} {}×{}{rate}", info.name, info.width, info.height)
}
