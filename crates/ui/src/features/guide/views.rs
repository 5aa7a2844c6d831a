//! List of the views: number, position, and error of each with respect to the solution.

use super::commands::GuideStep;
use crate::core::{Command, Core, RunningCalibration};
use crate::panels::steps::StepState;
use crate::widgets;
use crate::widgets::warning;
use egui::{Button, Checkbox, Grid, RichText, Role, ScrollArea, Ui, WidgetInfo};
use stereopsis_base::console::counted;
use stereopsis_calibrate::{MIN_VIEWS, Outcome, TakenView};
use stereopsis_frame::Side;

/// Height of the table, points.
const TABLE_HEIGHT: f32 = 190.0;

pub(crate) fn done(core: &Core) -> (StepState, String) {
    let Some(running) = &core.guide.running else { return (StepState::Open, "none yet".to_owned()) };
    let count = counted(running.count() as u64, "view");
    let solving = if running.progress.is_solving { ", solving …" } else { "" };
    match running.count() {
        few if few < MIN_VIEWS => (StepState::Open, format!("{count}, {} to go at least{solving}", MIN_VIEWS - few)),
        _ => (StepState::Good, format!("{count}{solving}")),
    }
}

pub(crate) fn show(ui: &mut Ui, core: &Core, commands: &mut Vec<Command>) {
    let Some(running) = &core.guide.running else {
        widgets::note(
            ui,
            "Hold the board still in front of both cameras, each time in another place, nearer or farther, tilted to all sides, \
             and up to the borders of the images. The image shows where next.",
        );
        return;
    };
    ui.horizontal_wrapped(|ui| {
        let help = "Takes the next pair that shows the board, whatever speaks against it (Space).";
        if ui.add_enabled(running.is_looking, Button::new("Take view")).on_hover_text(help).clicked() {
            commands.push(GuideStep::Take.into());
        }
        let mut is_automatic = running.progress.is_automatic;
        let help = "Takes a view when the board is sharp, still, and held in a new way.";
        let check = ui.add_enabled(running.is_looking, Checkbox::new(&mut is_automatic, "by itself"));
        if check.on_hover_text(help).changed() {
            commands.push(GuideStep::SetAutomatic(is_automatic).into());
        }
    });
    if let Some([left, right]) = &running.progress.coverage {
        let help = "Share of the cells of each image in which the board was seen.";
        let percent = |share: f64| format!("{:.0} %", 100.0 * share);
        let text = format!("left {}, right {} of the image", percent(left.share()), percent(right.share()));
        widgets::row(ui, "seen", help, |ui| ui.label(&text));
    }
    if let Some(why) = &running.progress.failure {
        warning(ui, why.clone());
    }
    if running.count() > 0 {
        let table = ScrollArea::vertical().id_salt("table of views").max_height(TABLE_HEIGHT).stick_to_bottom(true);
        table.auto_shrink([false, true]).show(ui, |ui| table_of(ui, running, commands));
    }
}

fn table_of(ui: &mut Ui, running: &RunningCalibration, commands: &mut Vec<Command>) {
    let outcome = running.outcome().map(AsRef::as_ref);
    Grid::new("views").num_columns(5).spacing([12.0, 2.0]).striped(true).show(ui, |ui| {
        for title in ["view", "left", "right", "", ""] {
            ui.label(RichText::new(title).small().weak()).on_hover_text(
                "Root mean square of the distances between the corners as they are seen and as the solution has them, px.",
            );
        }
        ui.end_row();
        for (place, taken) in running.progress.taken.iter().enumerate() {
            row(ui, taken, outcome, place, commands);
            ui.end_row();
        }
    });
}

fn row(ui: &mut Ui, taken: &TakenView, outcome: Option<&Outcome>, place: usize, commands: &mut Vec<Command>) {
    let name = &taken.view.name;
    ui.monospace(name);
    for side in Side::ALL {
        let side_name = side.word();
        let corners = taken.view.of(side).len();
        let text = match rms_px(outcome, name, side) {
            Some(px) => format!("{px:.2} px"),
            None if corners == 0 => "–".to_owned(),
            None => counted(corners as u64, "corner"),
        };
        let response = ui.monospace(&text);
        response.widget_info(|| WidgetInfo::labeled(Role::Label, true, format!("view {name} {side_name}: {text}")));
    }
    if is_split(outcome, name) {
        let mark = ui.label(RichText::new("▲ sides disagree").small().color(ui.visuals().warn_fg_color));
        mark.on_hover_text("Both cameras saw the board, but not at the same place: it moved. Each image counts alone.");
    } else if taken.view.corners.iter().any(Vec::is_empty) {
        ui.label(RichText::new("one side").small().weak()).on_hover_text("Only one camera sees the board here.");
    } else {
        ui.label("");
    }
    let delete = ui.small_button("×");
    delete.widget_info(|| WidgetInfo::labeled(Role::Button, true, format!("Delete view {name}")));
    if delete.on_hover_text("Deletes this view, and solves again.").clicked() {
        commands.push(GuideStep::Delete(place).into());
    }
}

/// Returns the re-projection error of a view, px; `None` where the solution lacks it.
fn rms_px(outcome: Option<&Outcome>, name: &str, side: Side) -> Option<f64> {
    // a split view appears twice, once for each side
    outcome?.solution.views.iter().filter(|fit| fit.view.name == name).find_map(|fit| fit.rms_px(side))
}

fn is_split(outcome: Option<&Outcome>, name: &str) -> bool {
    outcome.is_some_and(|outcome| outcome.solution.views.iter().any(|fit| fit.view.name == name && fit.is_split))
}
