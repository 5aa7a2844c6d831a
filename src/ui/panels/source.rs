//! The menu of sources, the scene, cameras, files, and the strip that offers them beside the scene.

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
        if cameras(ui, session) {
            ui.close();
        }
        if ui.button("Look for cameras again").clicked() {
            session.cameras = None;
        }
        ui.separator();
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
    ui.horizontal(|ui| {
        ui.label(RichText::new("This is the built-in scene. Your own:").weak());
        cameras(ui, session);
        let open = command_button(ui, Command::Open, Command::Open.label(), false);
        open.clicked().then_some(Command::Open)
    })
    .inner
}

/// The cameras that were found, and looks for them the first time; true if one was chosen.
fn cameras(ui: &mut Ui, session: &mut Session) -> bool {
    if session.cameras.is_none() {
        session.look_for_cameras();
    }
    match session.cameras.clone().as_deref() {
        None => drop(ui.label(RichText::new("looking for cameras …").weak())),
        Some([]) => drop(ui.label(RichText::new("no camera found").weak())),
        Some(cameras) => {
            return cameras.iter().fold(false, |chosen, (spec, name)| entry(ui, session, spec, name) | chosen);
        }
    }
    false
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
