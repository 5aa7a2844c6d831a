//! Menu of sources (the scene, cameras, files), and the offer of others beside the scene.

use super::{Action, Command, Core, action_button, menu_entry};
use egui::{Button, Label, RichText, Ui};
use std::path::{Path, PathBuf};
use stereopsis_base::console;
use stereopsis_frame::SourceSpec;

pub(crate) fn menu(ui: &mut Ui, core: &Core, commands: &mut Vec<Command>) {
    let response = ui.menu_button("Source ▾", |ui| {
        ui.set_min_width(220.0);
        if ui.selectable_label(core.source.spec == SourceSpec::Scene, "Built-in scene").clicked() {
            commands.push(Command::Open(SourceSpec::Scene));
            ui.close();
        }
        ui.separator();
        for action in [Action::Cameras, Action::Rig, Action::Calibrate, Action::Open, Action::Convert] {
            menu_entry(ui, action, commands);
        }
        recent(ui, core, commands);
    });
    response.response.on_hover_text("Source of the pairs.");
}

/// Width of the names of recent sources, points.
const RECENT_WIDTH: f32 = 320.0;

fn recent(ui: &mut Ui, core: &Core, commands: &mut Vec<Command>) {
    if core.source.recent.is_empty() {
        return;
    }
    ui.separator();
    ui.label(RichText::new("Opened before").weak());
    ui.set_max_width(RECENT_WIDTH);
    for spec in &core.source.recent {
        let entry = Button::selectable(core.source.spec == *spec, short_name(spec)).truncate();
        if ui.add(entry).on_hover_text(console::foreign(&spec.to_string())).clicked() {
            commands.push(Command::Open(spec.clone()));
            ui.close();
        }
    }
}

/// Returns the name of a source by the ends of its paths, as `teddy/left.png, right.png`.
pub(crate) fn short_name(spec: &SourceSpec) -> String {
    let end = |path: &Path, parts: usize| {
        let skipped = path.components().count().saturating_sub(parts);
        path.components().skip(skipped).collect::<PathBuf>().to_string_lossy().into_owned()
    };
    let text = match spec {
        SourceSpec::Files { left, right, .. } => format!("{}, {}", end(left, 2), end(right, 1)),
        SourceSpec::Folder(path) | SourceSpec::Recording(path) => end(path, 2),
        other => other.to_string(),
    };
    console::foreign(&text)
}

/// Largest share of the window's width for the notice that the scene replaces another source.
const REPLACED_SHARE: f32 = 0.3;

/// Offers other sources while the scene is shown.
pub(crate) fn offer(ui: &mut Ui, core: &Core, commands: &mut Vec<Command>) {
    if core.source.is_replaced() {
        let text = format!("This is the built-in scene: {} cannot be opened.", short_name(&core.source.spec));
        ui.scope(|ui| {
            ui.set_max_width(REPLACED_SHARE * ui.ctx().content_rect().width());
            let label = Label::new(RichText::new(&text).color(ui.visuals().warn_fg_color)).truncate();
            ui.add(label).on_hover_text(console::foreign(&core.source.spec.to_string()));
        });
        if ui.button("Open again").clicked() {
            commands.push(Command::OpenAgain);
        }
    } else {
        ui.label(RichText::new("This is the built-in scene. Your own:").weak());
    }
    let label = match core.source.cameras.as_ref().map_or(0, Vec::len) {
        0 => "Cameras …".to_owned(),
        1 => "1 camera …".to_owned(),
        count => format!("{count} cameras …"),
    };
    action_button(ui, Action::Cameras, Button::new(label), core.is_open(Action::Cameras), commands);
    action_button(ui, Action::Rig, Button::new(Action::Rig.label()), core.is_open(Action::Rig), commands);
    action_button(ui, Action::Open, Button::new(Action::Open.label()), false, commands);
}

/// Describes the source in use, as `scene 640×480 · 30/s`.
pub(crate) fn summary(core: &Core) -> String {
    let info = &core.status().source;
    if info.width == 0 {
        return format!("{} …", core.source.spec);
    }
    let rate = info.rate_hz.map_or(String::new(), |hz| format!(" · {hz:.0}/s"));
    format!("{} {}×{}{rate}", info.name, info.width, info.height)
}
