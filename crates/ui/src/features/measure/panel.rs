//! Page of measurements: depth quality of a rectangle, the distance of two points, scores; each with its trend.

use super::{Measure, MeasureStep};
use crate::core::{Action, Command, Core, Marked};
use crate::panels::action_button;
use crate::{style, widgets};
use egui::{Button, Color32, DragValue, Grid, Label, RichText, Role, Sense, Shape, Stroke, Ui, WidgetInfo, pos2, vec2};
use stereopsis_live::{Measurement, Row};
use stereopsis_metrics::{Missing, Trend};

const HELP: &str = "Drag a rectangle over a flat surface; click two points for their distance. The other mouse buttons move an enlarged image.";
/// Size of the curve of the last values, points.
const CURVE: egui::Vec2 = vec2(64.0, 14.0);
/// Initial distance, m.
const FIRST_DISTANCE_M: f64 = 1.0;

pub(super) fn show(ui: &mut Ui, measure: &Measure, core: &Core, commands: &mut Vec<Command>) {
    widgets::note(ui, HELP);
    let Some(output) = core.output() else {
        widgets::note(ui, "No result yet.");
        return;
    };
    let size = output.job.frame.size();
    region(ui, &core.marked, size, commands);
    true_distance(ui, measure, commands);
    points(ui, &core.marked, commands);
    let Some(measured) = &core.pipeline.measured else {
        widgets::note(ui, "measuring …");
        return;
    };
    let scores_begin = measured.rows.iter().position(|row| row.quantity.name == "left_right_percent");
    let (of_region, of_pair) = measured.rows.split_at(scores_begin.unwrap_or(measured.rows.len()));
    for (title, rows) in [("rectangle and points", of_region), ("whole image", of_pair)] {
        widgets::heading(ui, title);
        table(ui, title, rows);
        missing(ui, rows, commands);
    }
    end(ui, measured, commands);
}

/// Shows the rectangle in numbers, which can be typed.
fn region(ui: &mut Ui, marked: &Marked, size: (usize, usize), commands: &mut Vec<Command>) {
    let now = marked.subject(size, None).region;
    let mut region = now;
    widgets::row(ui, "rectangle", "Column and row of its upper left pixel, width and height, px.", |ui| {
        ui.spacing_mut().item_spacing.x = 3.0;
        let (columns, rows) = (size.0.saturating_sub(1), size.1.saturating_sub(1));
        for (name, value, range) in [
            ("Left column", &mut region.x, 0..=columns),
            ("Top row", &mut region.y, 0..=rows),
            ("Width", &mut region.width, 1..=size.0),
            ("Height", &mut region.height, 1..=size.1),
        ] {
            let response = ui.add(DragValue::new(value).range(range).update_while_editing(false));
            widgets::name(&response, Role::SpinButton, name, *value as f64);
            response.on_hover_text(format!("{name}, px"));
        }
        let middle = ui.add_enabled(marked.region.is_some(), Button::new("Middle"));
        if middle.on_hover_text("The middle of the image, 40 % of each side.").clicked() {
            commands.push(Command::Mark(Marked { region: None, ..marked.clone() }));
        }
    });
    if region != now {
        commands.push(Command::Mark(Marked { region: Some(region.clipped(size)), ..marked.clone() }));
    }
}

fn true_distance(ui: &mut Ui, measure: &Measure, commands: &mut Vec<Command>) {
    let help = "Distance of the surface in the middle of the image, from the left camera along its line of sight, measured with a ruler: \
                for the Z accuracy.";
    let mut distance_m = measure.true_distance_m;
    widgets::row(ui, "true distance", help, |ui| {
        let mut is_known = distance_m.is_some();
        let known = widgets::checkbox(ui, &mut is_known, "known");
        known.widget_info(|| WidgetInfo::selected(Role::CheckBox, true, is_known, "True distance known"));
        if known.changed() {
            distance_m = is_known.then_some(FIRST_DISTANCE_M);
        }
        if let Some(metres) = &mut distance_m {
            let field = DragValue::new(metres).range(0.01..=1000.0).speed(0.005).suffix(" m").max_decimals(4);
            let response = ui.add(field.update_while_editing(false));
            widgets::name(&response, Role::SpinButton, "True distance", *metres);
        }
    });
    if distance_m != measure.true_distance_m {
        commands.push(MeasureStep::SetTrueDistance(distance_m).into());
    }
}

fn points(ui: &mut Ui, marked: &Marked, commands: &mut Vec<Command>) {
    widgets::row(ui, "points", "Two pixels whose distance in space is measured.", |ui| {
        let text = match marked.points[..] {
            [] => "click two".to_owned(),
            [(x, y)] => format!("{x}, {y} – click the second one"),
            [(x1, y1), (x2, y2), ..] => format!("{x1}, {y1} – {x2}, {y2}"),
        };
        ui.label(text);
        if !marked.points.is_empty() && ui.button("Clear").clicked() {
            commands.push(Command::Mark(Marked { points: Vec::new(), ..marked.clone() }));
        }
    });
}

/// Shows each number with its unit, its trend, and the curve of its last values.
fn table(ui: &mut Ui, name: &str, rows: &[Row]) {
    Grid::new(name).num_columns(4).spacing([10.0, 2.0]).show(ui, |ui| {
        // the error of one step is for scripts; the window shows its parts and their sum
        for Row { quantity, values, trend } in rows.iter().filter(|row| row.quantity.name != "distance_error_mm") {
            let value = quantity.value.map_or_else(|_| "–".to_owned(), digits);
            ui.label(quantity.title);
            let text = format!("{value} {}", quantity.unit);
            let response = ui.monospace(&text);
            response.widget_info(|| WidgetInfo::labeled(Role::Label, true, format!("{} {text}", quantity.title)));
            if let Err(why) = quantity.value {
                response.on_hover_text(why.to_string());
            }
            curve(ui, values);
            ui.label(trend.map_or_else(|| RichText::new(""), |trend| trend_text(ui, trend)));
            ui.end_row();
        }
    });
}

/// Formats a value with four significant digits.
fn digits(value: f64) -> String {
    match value.abs() {
        size if size >= 1000.0 => format!("{value:.0}"),
        size if size >= 100.0 => format!("{value:.1}"),
        size if size >= 10.0 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

fn trend_text(ui: &Ui, trend: Trend) -> RichText {
    let text = RichText::new(trend.word()).small();
    match trend {
        Trend::Better => text.color(style::good(ui.visuals())),
        Trend::Worse => text.color(ui.visuals().warn_fg_color),
        Trend::Grows | Trend::Falls | Trend::Steady => text.weak(),
    }
}

/// Draws the last values as a line, the lowest at the bottom and the highest at the top.
fn curve(ui: &mut Ui, values: &[f64]) {
    let (rect, _) = ui.allocate_exact_size(CURVE, Sense::hover());
    if values.len() < 2 {
        return;
    }
    let (low, high) = values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), &v| (l.min(v), h.max(v)));
    let share = |value: f64| if high > low { ((value - low) / (high - low)) as f32 } else { 0.5 };
    let inside = rect.shrink(1.0);
    let x = |i: usize| inside.left() + inside.width() * i as f32 / (values.len() - 1) as f32;
    let line = values.iter().enumerate().map(|(i, &v)| pos2(x(i), inside.bottom() - share(v) * inside.height()));
    ui.painter().add(Shape::line(line.collect(), Stroke::new(1.0, ui.visuals().text_color())));
}

/// Shows each reason for missing numbers once, with the names of these numbers.
fn missing(ui: &mut Ui, rows: &[Row], commands: &mut Vec<Command>) {
    let mut reasons: Vec<(Missing, Vec<&str>)> = Vec::new();
    for row in rows {
        let Err(why) = row.quantity.value else { continue };
        match reasons.iter_mut().find(|(known, _)| *known == why) {
            Some((_, titles)) if titles.contains(&row.quantity.title) => {}
            Some((_, titles)) => titles.push(row.quantity.title),
            None => reasons.push((why, vec![row.quantity.title])),
        }
    }
    for (why, titles) in reasons {
        let text = RichText::new(format!("{}: {why}.", titles.join(", "))).small();
        let color: Color32 = ui.visuals().weak_text_color();
        ui.add(Label::new(text.color(color)).wrap());
        if why == Missing::Calibration {
            action_button(ui, Action::Rig, Button::new(Action::Rig.label()), false, commands);
        }
    }
}

fn end(ui: &mut Ui, measured: &Measurement, commands: &mut Vec<Command>) {
    ui.separator();
    ui.horizontal_wrapped(|ui| {
        let again = ui.button("Begin anew").on_hover_text("Forgets the values so far: trends and noise begin again.");
        if again.clicked() {
            commands.push(MeasureStep::BeginAnew.into());
        }
        let help = "Puts a command on the clipboard that measures the same without a window, into a table if you like (--csv).";
        if ui.button("Copy as measure command").on_hover_text(help).clicked() {
            commands.push(MeasureStep::CopyCommand.into());
        }
    });
    let pairs = stereopsis_base::console::counted(measured.results as u64, "result");
    widgets::note(
        ui,
        format!(
            "{pairs} so far. A trend needs 20: it says whether the last 10 differ from those before by more than 20 %, and by more than they scatter."
        ),
    );
}
