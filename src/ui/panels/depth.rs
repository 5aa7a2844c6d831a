//! How depth is shown: range, colour map, reasons.

use super::command_button;
use crate::colormap::{Colormap, reason_color};
use crate::stereo::reason;
use crate::ui::command::Command;
use crate::ui::session::Session;
use crate::ui::view::metres;
use crate::ui::widgets;
use egui::{Button, Color32, RichText, Role, Sense, Ui, WidgetInfo, vec2};

/// Shows the panel; gives the command of its button.
pub(crate) fn show(ui: &mut Ui, session: &mut Session) -> Option<Command> {
    let mut command = None;
    let has_depth = session.output.as_ref().is_none_or(|output| output.job.frame.geometry.is_some());
    widgets::heading(ui, "Depth display");
    let look = &mut session.look;
    if let Some((near, far)) = look.depth_range_m.as_mut().filter(|_| has_depth) {
        ui.horizontal(|ui| {
            ui.label("range");
            let limit = *far;
            metre_field(ui, near, "Nearest depth in colour", 0.001..=limit * 0.99);
            ui.label("…");
            let limit = *near;
            metre_field(ui, far, "Farthest depth in colour", limit * 1.01..=10_000.0);
            ui.label("m");
        });
    } else if !has_depth {
        widgets::note(ui, "No depth, no range: there is no calibration.");
    } else {
        widgets::note(ui, "The range is fitted to the first depth and then fixed.");
    }
    ui.horizontal(|ui| {
        ui.add_enabled_ui(has_depth, |ui| {
            if command_button(ui, Command::FitDepth, Button::new("Fit now"), false).clicked() {
                command = Some(Command::FitDepth);
            }
        });
        let options: Vec<_> = Colormap::ALL.iter().map(|&map| (map, map.word(), map.help())).collect();
        let help = "Colours of the maps; the upper end is near, or sure.";
        widgets::choice(ui, "Colour map", help, &options, &mut look.colormap);
    });
    widgets::note(ui, look.colormap.help());
    let mut on = look.colour_reasons;
    let response = ui.checkbox(&mut on, Command::ColourReasons.label());
    if response.on_hover_text(super::tooltip(ui, Command::ColourReasons)).changed() {
        command = Some(Command::ColourReasons);
    }
    if look.colour_reasons {
        for (bit, word, sentence) in reason::of_holes() {
            ui.horizontal(|ui| {
                let (rect, _) = ui.allocate_exact_size(vec2(12.0, 12.0), Sense::hover());
                let [r, g, b] = reason_color(bit);
                ui.painter().rect_filled(rect, 1.0, Color32::from_rgb(r, g, b));
                ui.label(RichText::new(word).small()).on_hover_text(sentence);
            });
        }
    }
    command
}

fn metre_field(ui: &mut Ui, value: &mut f64, name: &str, range: std::ops::RangeInclusive<f64>) {
    let speed = *value * 0.01;
    let field = egui::DragValue::new(value)
        .range(range)
        .speed(speed)
        .custom_formatter(|v, _| metres(v as f32))
        .update_while_editing(false);
    let response = ui.add_sized(vec2(52.0, ui.spacing().interact_size.y), field);
    let v = *value;
    response.widget_info(|| WidgetInfo { value: Some(v), ..WidgetInfo::labeled(Role::SpinButton, true, name) });
    response.on_hover_text(format!("{name}, m. Drag, or click and type."));
}
