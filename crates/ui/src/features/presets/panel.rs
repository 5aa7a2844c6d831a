//! Chooser of presets, in two groups, and the mark of parameters changed since.

use crate::core::{Action, Command, Core};
use crate::panels::tooltip;
use crate::widgets;
use egui::{Align, Button, ComboBox, Layout, PopupCloseBehavior, RichText, Role, TextEdit, Ui, WidgetInfo};
use stereopsis_settings::settings::{differences, preset_groups};
use stereopsis_stereo::Preset;

/// Width of the chooser, points: the longest name fits.
const WIDTH: f32 = 110.0;
/// Width below which the mark has no words, points.
const MARK_WIDTH: f32 = 200.0;
const LIST_WIDTH: f32 = 250.0;
const LIST_HEIGHT: f32 = 420.0;

pub(crate) fn show(ui: &mut Ui, core: &Core, commands: &mut Vec<Command>) {
    ui.label(RichText::new("Preset").weak());
    let name = core.matching.preset_name();
    let combo = ComboBox::from_id_salt("Preset").selected_text(name).width(WIDTH).height(LIST_HEIGHT);
    let combo = combo.close_behavior(PopupCloseBehavior::CloseOnClickOutside);
    let response = combo.show_ui(ui, |ui| {
        ui.set_min_width(LIST_WIDTH);
        for group in preset_groups() {
            if let Some(heading) = group.heading {
                widgets::heading(ui, heading);
            }
            for &offered in &group.presets {
                // a click on the present preset restores its values
                if entry(ui, core, offered) {
                    commands.push(Command::SetPreset(offered));
                    ui.close();
                }
            }
        }
        own(ui, core, commands);
    });
    widgets::name_text(&response.response, Role::ComboBox, "Preset", name);
    let help = match &core.matching.own {
        Some(own) => format!("Your own preset {}.", own.name),
        None => about(core, core.matching.preset),
    };
    widgets::explain(response.response, &format!("A named set of parameters; the search range stays.\n\n{help}"));
    mark(ui, core, commands);
}

/// Shows the user's presets, each with a button that deletes it, and a field that saves one.
fn own(ui: &mut Ui, core: &Core, commands: &mut Vec<Command>) {
    widgets::heading(ui, "your own");
    for name in &core.matching.own_presets {
        ui.horizontal(|ui| {
            let is_chosen = core.matching.preset_name() == name;
            if ui.selectable_label(is_chosen, name).clicked() {
                commands.push(Command::TakeOwnPreset(name.clone()));
                ui.close();
            }
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                let delete = ui.small_button("×");
                delete.widget_info(|| WidgetInfo::labeled(Role::Button, true, format!("Delete preset {name}")));
                if delete.on_hover_text("Delete this preset's file").clicked() {
                    commands.push(Command::DeleteOwnPreset(name.clone()));
                }
            });
        });
    }
    ui.horizontal(|ui| {
        let id = ui.scope_id().with("name of a preset");
        let mut name = ui.data(|data| data.get_temp::<String>(id)).unwrap_or_default();
        let response = ui.add(TextEdit::singleline(&mut name).hint_text("name").desired_width(130.0));
        response.widget_info(|| WidgetInfo {
            label: Some("Name of the preset".into()),
            ..WidgetInfo::text_edit(true, "", &name, "")
        });
        let save = ui.add_enabled(!name.trim().is_empty(), Button::new("Save preset"));
        if save.on_hover_text("Save all that differs from the defaults under this name.").clicked() {
            commands.push(Command::SaveOwnPreset(name.trim().to_owned()));
        }
        ui.data_mut(|data| data.insert_temp(id, name));
    });
}

/// Shows one preset with its rate, and returns whether it was clicked.
fn entry(ui: &mut Ui, core: &Core, preset: Preset) -> bool {
    let is_chosen = core.matching.own.is_none() && core.matching.preset == preset;
    let rate = RichText::new(core.rate_text(preset)).weak().small();
    let response = ui.add(Button::selectable(is_chosen, preset.word()).right_text(rate));
    response.widget_info(|| WidgetInfo::selected(Role::RadioButton, true, is_chosen, preset.word()));
    response.on_hover_text(about(core, preset)).clicked()
}

/// Describes method, paper, and measured rate.
fn about(core: &Core, preset: Preset) -> String {
    let paper = preset.paper().map_or_else(String::new, |paper| format!("\n{paper}"));
    format!("{}{paper}\n{}, at this size and range", preset.help(), core.rate_text(preset))
}

/// Names the parameters that were changed since the preset was chosen, and offers to restore them.
fn mark(ui: &mut Ui, core: &Core, commands: &mut Vec<Command>) {
    let changes = differences(&core.matching.params, &core.matching.base());
    // occupies its room while hidden, so that nothing moves
    ui.scope(|ui| {
        if changes.is_empty() {
            ui.set_invisible();
        }
        let list = format!("Changed since the preset was chosen:\n{}", changes.join("\n"));
        let name = format!("Back to {}", core.matching.preset_name());
        let is_short = ui.available_width() < MARK_WIDTH;
        if !is_short {
            let text = RichText::new("changed").small().color(ui.visuals().warn_fg_color);
            ui.label(text).on_hover_text(&list);
        }
        let back = ui.button(if is_short { "↺" } else { &name });
        let enabled = back.enabled();
        back.widget_info(|| WidgetInfo::labeled(Role::Button, enabled, &name));
        if back.on_hover_text(format!("{list}\n\n{}", tooltip(ui, Action::ResetParameters))).clicked() {
            commands.push(Action::ResetParameters.into());
        }
    });
}
