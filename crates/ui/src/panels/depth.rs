//! Display of depth: range, colour map, reasons.

use super::{Action, Command, Core, action_button, tooltip, widgets};
use crate::core::ViewSettings;
use crate::view::metres;
use egui::{Align, Button, Color32, ComboBox, Layout, Mesh, Rect, RichText, Role, Sense, Ui, pos2, vec2};
use stereopsis_images::colormap::{Colormap, reason_color};
use stereopsis_stereo::reason;

/// Width of a colour map in the list of maps, points.
const SWATCH_WIDTH: f32 = 56.0;

pub(crate) fn show(ui: &mut Ui, core: &Core, commands: &mut Vec<Command>) {
    let has_depth = core.has_depth();
    let mut view = core.view.clone();
    widgets::heading(ui, "Depth display");
    if let Some((near, far)) = view.depth_range_m.as_mut().filter(|_| has_depth) {
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
        let fit = Button::new(Action::FitDepth.label());
        ui.add_enabled_ui(has_depth, |ui| action_button(ui, Action::FitDepth, fit, false, commands));
        colour_map(ui, &mut view);
    });
    swatch(ui, &view, ui.available_width());
    let help = "Near has the map's first colour instead of its last one.";
    widgets::checkbox(ui, &mut view.inverted, "Inverted").on_hover_text(help);
    widgets::note(ui, if view.inverted { "Inverted: near has the first colour." } else { view.colormap.help() });
    let reasons = widgets::checkbox(ui, &mut view.colour_reasons, Action::ColourReasons.label());
    reasons.on_hover_text(tooltip(ui, Action::ColourReasons));
    if core.view.colour_reasons {
        let shares = core.status().engine.figures.map(|figures| figures.shares.holes);
        for (bit, word, sentence) in reason::of_holes() {
            ui.horizontal(|ui| {
                let (rect, _) = ui.allocate_exact_size(vec2(12.0, 12.0), Sense::hover());
                let [r, g, b] = reason_color(bit);
                ui.painter().rect_filled(rect, 1.0, Color32::from_rgb(r, g, b));
                ui.label(RichText::new(word).small()).on_hover_text(sentence);
                let share = shares.map_or("–".to_owned(), |shares| {
                    format!("{:.1} %", 100.0 * shares[bit.trailing_zeros() as usize])
                });
                ui.with_layout(Layout::right_to_left(Align::Center), |ui| ui.label(RichText::new(share).small()));
            });
        }
    }
    if view != core.view {
        commands.push(Command::SetView(view));
    }
}

fn colour_map(ui: &mut Ui, view: &mut ViewSettings) {
    let chosen = view.colormap.word();
    let combo = ComboBox::from_id_salt("Colour map").selected_text(chosen).width(ui.available_width().min(150.0));
    let list = combo.show_ui(ui, |ui| {
        for &map in Colormap::ALL {
            ui.horizontal(|ui| {
                swatch(ui, &ViewSettings { colormap: map, ..view.clone() }, SWATCH_WIDTH);
                ui.selectable_value(&mut view.colormap, map, map.word()).on_hover_text(map.help());
            });
        }
    });
    widgets::name_text(&list.response, Role::ComboBox, "Colour map", chosen);
    widgets::explain(list.response, "Colours of the maps; the upper end is near, or sure.");
}

/// Draws the colours of the map, far at the left.
fn swatch(ui: &mut Ui, view: &ViewSettings, width: f32) {
    let (rect, _) = ui.allocate_exact_size(vec2(width, 10.0), Sense::hover());
    let colours = view.colours();
    let mut mesh = Mesh::default();
    for (i, &[r, g, b]) in colours.iter().enumerate() {
        let x = |i: usize| rect.left() + rect.width() * i as f32 / colours.len() as f32;
        let step = Rect::from_min_max(pos2(x(i), rect.top()), pos2(x(i + 1), rect.bottom()));
        mesh.add_colored_rect(step, Color32::from_rgb(r, g, b));
    }
    ui.painter().add(mesh);
}

fn metre_field(ui: &mut Ui, value: &mut f64, name: &str, range: std::ops::RangeInclusive<f64>) {
    let speed = *value * 0.01;
    let field = egui::DragValue::new(value)
        .range(range)
        .speed(speed)
        .custom_formatter(|v, _| metres(v as f32))
        .update_while_editing(false);
    let response = ui.add_sized(vec2(52.0, ui.spacing().interact_size.y), field);
    widgets::name(&response, Role::SpinButton, name, *value);
    response.on_hover_text(format!("{name}, m. Drag, or click and type."));
}
