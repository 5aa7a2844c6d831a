//! The menu of sources (the scene, cameras, files) and the strip that offers them beside the scene.

use super::{Action, Command, Panel, State, action_button, menu_entry};
use crate::capture::SourceSpec;
use egui::{Button, RichText, Ui};

/// The menu's button and, opened, its content.
pub(super) fn menu(ui: &mut Ui, state: &State, commands: &mut Vec<Command>) {
    let response = ui.menu_button("Source ▾", |ui| {
        ui.set_min_width(220.0);
        if ui.selectable_label(state.source.spec == SourceSpec::Scene, "Built-in scene").clicked() {
            commands.push(Command::Open(SourceSpec::Scene));
            ui.close();
        }
        ui.separator();
        for action in [Action::Cameras, Action::Rig, Action::Open] {
            menu_entry(ui, action, commands);
        }
    });
    response.response.on_hover_text("Where pairs come from.");
}

/// Other sources, in a line below the toolbar while the scene is shown.
pub(super) struct SourceStrip;

impl Panel for SourceStrip {
    fn is_open(&self, state: &State) -> bool {
        state.source.running == Some(SourceSpec::Scene)
    }

    fn show(&mut self, ui: &mut Ui, state: &State, commands: &mut Vec<Command>) {
        ui.horizontal(|ui| {
            ui.label(RichText::new("This is the built-in scene. Your own:").weak());
            let label = match state.source.cameras.as_ref().map_or(0, Vec::len) {
                0 => "Cameras …".to_owned(),
                1 => "1 camera …".to_owned(),
                count => format!("{count} cameras …"),
            };
            action_button(ui, Action::Cameras, Button::new(label), state.is_open(Action::Cameras), commands);
            action_button(ui, Action::Open, Button::new(Action::Open.label()), false, commands);
        });
    }
}

/// The source in use: `scene 640×480 · 30/s`.
pub(super) fn summary(state: &State) -> String {
    let info = &state.status().source;
    if info.width == 0 {
        return format!("{} …", state.source.spec);
    }
    let rate = info.rate_hz.map_or(String::new(), |hz| format!(" · {hz:.0}/s"));
    format!("{} {}×{}{rate}", info.name, info.width, info.height)
}
