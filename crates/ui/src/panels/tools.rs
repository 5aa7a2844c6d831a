//! Tools: their menu, and in wide windows a row of buttons below the toolbar, beside the offer of sources.

use super::{Action, Command, Core, Panel, action_button, menu_entry, source};
use egui::{Align, Button, Layout, Ui};
use stereopsis_frame::SourceSpec;

const GROUPS: [&[Action]; 5] = [
    &[Action::KeepAsA, Action::ShowA, Action::EndComparison, Action::History, Action::Undo, Action::Redo],
    &[Action::Explain, Action::Sweep, Action::Suggest],
    &[Action::Measure, Action::Reach],
    &[Action::SavePicture, Action::CopyPicture, Action::Pictures],
    &[Action::FitRange, Action::Widen, Action::FitDepth, Action::SwapPictures, Action::Rig, Action::Convert],
];

pub(crate) fn menu(ui: &mut Ui, commands: &mut Vec<Command>) {
    ui.menu_button("Tools ▾", |ui| {
        for (number, group) in GROUPS.iter().enumerate() {
            if number > 0 {
                ui.separator();
            }
            for &action in *group {
                menu_entry(ui, action, commands);
            }
        }
        ui.separator();
        menu_entry(ui, Action::Find, commands);
    });
}

/// Smallest width of windows with the offer of sources in the row of tools, points.
const ONE_ROW_WIDTH: f32 = 1400.0;

pub(crate) struct ToolStrip;

impl Panel for ToolStrip {
    fn is_open(&self, core: &Core) -> bool {
        shows_scene(core) || !core.view.is_narrow
    }

    fn show(&mut self, ui: &mut Ui, core: &Core, commands: &mut Vec<Command>) {
        let has_tools = !core.view.is_narrow;
        let is_divided =
            has_tools && shows_scene(core) && (ui.available_width() < ONE_ROW_WIDTH || core.source.is_replaced());
        if is_divided {
            ui.horizontal(|ui| source::offer(ui, core, commands));
        }
        ui.horizontal(|ui| {
            if shows_scene(core) && !is_divided {
                source::offer(ui, core, commands);
            }
            if !has_tools {
                return;
            }
            let compares = core.comparison.is_some();
            let buttons = [
                (Action::Find, "Find"),
                (Action::Convert, "Export"),
                (Action::Pictures, "Image"),
                (Action::History, "History"),
                (Action::Measure, "Measure"),
                (Action::Suggest, "Suggest"),
                (Action::Sweep, "Sweep"),
                (Action::Explain, "Explain"),
                (if compares { Action::EndComparison } else { Action::KeepAsA }, "A | B"),
            ];
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                for (action, name) in buttons {
                    let key = ui.ctx().format_shortcut(&action.shortcut());
                    let is_open = core.is_open(action) || action == Action::EndComparison;
                    action_button(ui, action, Button::new(name).shortcut_text(key), is_open, commands);
                }
            });
        });
    }
}

fn shows_scene(core: &Core) -> bool {
    core.source.running == Some(SourceSpec::Scene)
}
