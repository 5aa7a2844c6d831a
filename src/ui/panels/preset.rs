//! The chooser of presets, in two groups, and the mark that something was changed since.

use super::tooltip;
use crate::settings::preset_groups;
use crate::stereo::Preset;
use crate::ui::command::Command;
use crate::ui::session::Session;
use crate::ui::widgets;
use egui::{Button, ComboBox, RichText, Role, Ui, WidgetInfo};

/// Width of the chooser, points: the longest name fits.
const WIDTH: f32 = 110.0;
const LIST_WIDTH: f32 = 250.0;
const LIST_HEIGHT: f32 = 420.0;

/// Shows the chooser and the mark; gives the command of its button.
pub(crate) fn show(ui: &mut Ui, session: &mut Session) -> Option<Command> {
    ui.label(RichText::new("Preset").weak());
    let preset = session.preset;
    let mut chosen = None;
    let combo = ComboBox::from_id_salt("Preset").selected_text(preset.word()).width(WIDTH).height(LIST_HEIGHT);
    let response = combo.show_ui(ui, |ui| {
        ui.set_min_width(LIST_WIDTH);
        for group in preset_groups() {
            if let Some(heading) = group.heading {
                widgets::heading(ui, heading);
            }
            for &offered in &group.presets {
                if entry(ui, session, offered) {
                    chosen = Some(offered);
                }
            }
        }
    });
    response.response.widget_info(|| {
        let mut info = WidgetInfo::labeled(Role::ComboBox, true, "Preset");
        info.current_text_value = Some(preset.word().to_owned());
        info
    });
    let help = about(session, preset);
    widgets::explain(response.response, &format!("A named set of parameters; the search range stays.\n\n{help}"));
    // the one in use, chosen again, puts back what was changed
    if let Some(preset) = chosen {
        session.set_preset(preset);
    }
    mark(ui, session)
}

/// One preset with its rate; true if it was clicked.
fn entry(ui: &mut Ui, session: &Session, preset: Preset) -> bool {
    let is_chosen = session.preset == preset;
    let rate = RichText::new(session.rate_text(preset)).weak().small();
    let response = ui.add(Button::selectable(is_chosen, preset.word()).right_text(rate));
    response.widget_info(|| WidgetInfo::selected(Role::RadioButton, true, is_chosen, preset.word()));
    response.on_hover_text(about(session, preset)).clicked()
}

/// What it is, where it comes from, how fast it has been here.
fn about(session: &Session, preset: Preset) -> String {
    let paper = preset.paper().map_or_else(String::new, |paper| format!("\n{paper}"));
    let rate = session.rate_text(preset);
    format!("{}{paper}\n{rate}, at this size and range", preset.help())
}

/// Says that parameters were changed since the preset was chosen, which ones, and takes that back.
fn mark(ui: &mut Ui, session: &Session) -> Option<Command> {
    let changes = session.changes();
    // keeps its room while it is hidden: nothing jumps
    ui.scope(|ui| {
        if changes.is_empty() {
            ui.set_invisible();
        }
        let list = format!("Changed since the preset was chosen:\n{}", changes.join("\n"));
        let text = RichText::new("changed").small().color(ui.visuals().warn_fg_color);
        ui.label(text).on_hover_text(&list);
        let back = ui.button(format!("Back to {}", session.preset));
        let back = back.on_hover_text(format!("{list}\n\n{}", tooltip(ui, Command::ResetParameters)));
        back.clicked().then_some(Command::ResetParameters)
    })
    .inner
}
