//! The chooser of presets, in two groups, and the mark that parameters were changed since.

use super::{Action, Command, State, tooltip, widgets};
use crate::settings::{differences, preset_groups};
use crate::stereo::Preset;
use egui::{Button, ComboBox, RichText, Role, Ui, WidgetInfo};

/// Width of the chooser, points: the longest name fits.
const WIDTH: f32 = 110.0;
const LIST_WIDTH: f32 = 250.0;
const LIST_HEIGHT: f32 = 420.0;

/// Shows the chooser and the mark.
pub(super) fn show(ui: &mut Ui, state: &State, commands: &mut Vec<Command>) {
    ui.label(RichText::new("Preset").weak());
    let preset = state.matching.preset;
    let combo = ComboBox::from_id_salt("Preset").selected_text(preset.word()).width(WIDTH).height(LIST_HEIGHT);
    let response = combo.show_ui(ui, |ui| {
        ui.set_min_width(LIST_WIDTH);
        for group in preset_groups() {
            if let Some(heading) = group.heading {
                widgets::heading(ui, heading);
            }
            for &offered in &group.presets {
                // the one in use, chosen again, puts back what was changed
                if entry(ui, state, offered) {
                    commands.push(Command::SetPreset(offered));
                }
            }
        }
    });
    widgets::name_text(&response.response, Role::ComboBox, "Preset", preset.word());
    let help = about(state, preset);
    widgets::explain(response.response, &format!("A named set of parameters; the search range stays.\n\n{help}"));
    mark(ui, state, commands);
}

/// One preset with its rate; true if it was clicked.
fn entry(ui: &mut Ui, state: &State, preset: Preset) -> bool {
    let is_chosen = state.matching.preset == preset;
    let rate = RichText::new(state.rate_text(preset)).weak().small();
    let response = ui.add(Button::selectable(is_chosen, preset.word()).right_text(rate));
    response.widget_info(|| WidgetInfo::selected(Role::RadioButton, true, is_chosen, preset.word()));
    response.on_hover_text(about(state, preset)).clicked()
}

/// Method, paper, and measured rate.
fn about(state: &State, preset: Preset) -> String {
    let paper = preset.paper().map_or_else(String::new, |paper| format!("\n{paper}"));
    format!("{}{paper}\n{}, at this size and range", preset.help(), state.rate_text(preset))
}

/// Names the parameters that were changed since the preset was chosen, and offers to take that back.
fn mark(ui: &mut Ui, state: &State, commands: &mut Vec<Command>) {
    let changes = differences(&state.matching.params, state.matching.preset);
    // keeps its room while it is hidden: nothing jumps
    ui.scope(|ui| {
        if changes.is_empty() {
            ui.set_invisible();
        }
        let list = format!("Changed since the preset was chosen:\n{}", changes.join("\n"));
        let text = RichText::new("changed").small().color(ui.visuals().warn_fg_color);
        ui.label(text).on_hover_text(&list);
        let back = ui.button(format!("Back to {}", state.matching.preset));
        if back.on_hover_text(format!("{list}\n\n{}", tooltip(ui, Action::ResetParameters))).clicked() {
            commands.push(Action::ResetParameters.into());
        }
    });
}
