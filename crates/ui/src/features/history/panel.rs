//! Page of the history: every change of the settings, and the settings file that is followed.

use super::HistoryStep;
use super::steps::History;
use crate::core::{Action, Command, Core};
use crate::panels::action_button;
use crate::widgets;
use egui::{Align, Button, Label, Layout, RichText, Role, Ui, WidgetInfo};
use stereopsis_recording::time;

pub(super) fn show(ui: &mut Ui, history: &History, core: &Core, commands: &mut Vec<Command>) {
    file(ui, core, commands);
    ui.separator();
    ui.horizontal(|ui| {
        for (action, can) in
            [(Action::Undo, history.position() > 0), (Action::Redo, history.position() < history.steps().len())]
        {
            ui.add_enabled_ui(can, |ui| action_button(ui, action, Button::new(action.label()), false, commands));
        }
    });
    if history.steps().is_empty() {
        widgets::note(
            ui,
            "No change yet. Each change of a parameter, a preset, the engine or the source is listed here.",
        );
        return;
    }
    for (i, step) in history.steps().iter().enumerate().rev() {
        let clock = time::for_file_name(step.at);
        let clock = clock.split('_').nth(1).unwrap_or_default().replace('-', ":");
        row(ui, &clock, &step.words, i + 1, history.position(), commands);
    }
    row(ui, "", "as it began", 0, history.position(), commands);
}

fn row(ui: &mut Ui, clock: &str, words: &str, place: usize, position: usize, commands: &mut Vec<Command>) {
    let mut text = RichText::new(format!("{clock:8}  {words}"));
    if place > position {
        text = text.weak();
    }
    let is_here = place == position;
    ui.with_layout(Layout::top_down_justified(Align::LEFT), |ui| {
        let response = ui.add(Button::selectable(is_here, text).truncate());
        response.widget_info(|| WidgetInfo::selected(Role::Button, true, is_here, words));
        let help = if is_here { "The settings in force." } else { "Takes the settings that were in force here." };
        if response.on_hover_text(format!("{words}\n{help}")).clicked() {
            commands.push(HistoryStep::Go(place).into());
        }
    });
}

fn file(ui: &mut Ui, core: &Core, commands: &mut Vec<Command>) {
    widgets::heading(ui, "settings file");
    let file = core.settings_file.as_ref();
    ui.horizontal_wrapped(|ui| {
        let mut button = |label: &str, help: &str, step: HistoryStep| {
            if ui.button(label).on_hover_text(help).clicked() {
                commands.push(step.into());
            }
        };
        button(
            "Open …",
            "Takes the settings of a file, and follows it: what is changed in it takes effect.",
            HistoryStep::ChooseFile,
        );
        if file.is_some() {
            button("Save", "Writes the settings to this file.", HistoryStep::Save);
        }
        button(
            "Save as …",
            "Writes the settings to a file that --settings takes, and follows it.",
            HistoryStep::ChooseNewFile,
        );
        if file.is_some() {
            button("Follow no more", "The settings stay; changes of the file have no effect.", HistoryStep::Forget);
        }
    });
    let Some(file) = file else {
        widgets::note(ui, "None is followed.");
        return;
    };
    widgets::note(ui, format!("{}: changes of it take effect here.", file.path.display()));
    if let Some(wrong) = &file.wrong {
        let text =
            RichText::new(format!("▲ {wrong}; the settings stay as they are")).color(ui.visuals().error_fg_color);
        ui.add(Label::new(text).wrap());
    }
}
