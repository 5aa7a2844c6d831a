//! Result of a calibration: lenses, errors, expected accuracy of depth, and the file.

use super::commands::GuideStep;
use crate::core::{Command, Core, RunningCalibration};
use crate::panels::steps::StepState;
use crate::widgets;
use crate::widgets::warning;
use egui::{Label, RichText, TextEdit, Ui, WidgetInfo};
use stereopsis_calibrate::{DepthError, Judgement, Outcome};
use stereopsis_frame::Side;

pub(crate) fn done(core: &Core) -> (StepState, String) {
    let Some(running) = &core.guide.running else { return (StepState::Open, "none yet".to_owned()) };
    let Some(outcome) = running.outcome() else {
        let text = if running.progress.is_solving { "solving …" } else { "none yet: views are missing" };
        return (StepState::Open, text.to_owned());
    };
    let saved = running.saved.as_ref().filter(|_| running.unsaved() == 0);
    let saved = saved.map_or(String::new(), |(path, _)| format!("; saved: {}", path.display()));
    let done = if outcome.refusals.is_empty() { StepState::Good } else { StepState::Doubtful };
    (done, format!("{}{saved}", outcome.verdict()))
}

pub(crate) fn show(ui: &mut Ui, core: &Core, commands: &mut Vec<Command>) {
    let Some((running, outcome)) = core.guide.running.as_ref().and_then(|running| Some((running, running.outcome()?)))
    else {
        return;
    };
    for refusal in &outcome.refusals {
        let text = RichText::new(format!("▲ {refusal}")).color(ui.visuals().error_fg_color);
        ui.add(Label::new(text).wrap());
    }
    for doubt in &outcome.doubts {
        let text = RichText::new(format!("▲ {doubt}")).color(ui.visuals().warn_fg_color);
        ui.add(Label::new(text).wrap());
    }
    numbers(ui, outcome);
    if let Some(judgement) = &outcome.judgement {
        depth(ui, judgement);
    }
    ui.add(Label::new(format!("• {}", outcome.scale_note())).wrap());
    for advice in &outcome.advice {
        widgets::note(ui, format!("• {advice}"));
    }
    file(ui, core, running, outcome, commands);
}

fn numbers(ui: &mut Ui, outcome: &Outcome) {
    let solution = &outcome.solution;
    let px = |px: Option<f64>| px.map_or("–".to_owned(), |px| format!("{px:.2} px"));
    let value = |ui: &mut Ui, name: &str, help: &str, text: String| {
        widgets::row(ui, name, help, |ui| {
            let response = ui.monospace(&text);
            response.widget_info(|| WidgetInfo::labeled(egui::Role::Label, true, format!("{name} {text}")));
        });
    };
    let help = "The lens model that errs least on views which the solution has not used.";
    value(ui, "lens model", help, solution.kind.to_string());
    let both = Side::ALL.map(|side| px(solution.rms_px(side)));
    let help = "Root mean square of the re-projection errors of each camera.";
    value(ui, "errors", help, format!("left {}, right {}", both[0], both[1]));
    if let Some(judgement) = &outcome.judgement {
        let lines = solution.rig.axis().lines();
        let help = format!(
            "By how much {lines} differ in rectified images of views that the solution has not used, root mean square."
        );
        value(ui, lines, &help, px(Some(judgement.left_out_rows_px)));
    }
    let (rig, help) = (
        &solution.rig,
        "Focal length of the left camera, and distance between the lenses; ± what 95 of 100 stay below.",
    );
    let bounds = outcome.judgement.as_ref().map(|judgement| (judgement.focal_percent, judgement.baseline_percent));
    let bound = |value: f64, percent: Option<f64>, digits: usize| {
        percent.map_or(String::new(), |percent| format!(" ± {:.digits$}", value * percent / 100.0))
    };
    let (focal_px, baseline_mm) = (rig.left.fx, 1e3 * rig.baseline_m());
    let focal = bound(focal_px, bounds.map(|(focal, _)| focal), 1);
    let baseline = bound(baseline_mm, bounds.map(|(_, baseline)| baseline), 2);
    value(ui, "focal length", help, format!("{focal_px:.1}{focal} px"));
    value(ui, "baseline", help, format!("{baseline_mm:.2}{baseline} mm"));
}

fn depth(ui: &mut Ui, judgement: &Judgement) {
    ui.label(RichText::new("Error of depth, for 95 of 100 calibrations like this one at most:").strong());
    for error in &judgement.depth {
        let DepthError { distance_m, calibration_percent, .. } = error;
        let help = "Together with a quarter of a pixel by matching; behind it, the share of the calibration alone.";
        let name = format!("at {distance_m} m");
        let text =
            format!("{} = {:.1} %, calibration {calibration_percent:.1} %", length(error.error_m()), error.percent());
        widgets::row(ui, &name, help, |ui| {
            let response = ui.monospace(&text);
            response.widget_info(|| WidgetInfo::labeled(egui::Role::Label, true, format!("{name} {text}")));
        });
    }
}

/// Formats a length, as `4 mm` or `12 cm`.
fn length(metres: f64) -> String {
    if metres < 0.095 { format!("{:.0} mm", 1e3 * metres) } else { format!("{:.0} cm", 1e2 * metres) }
}

/// Shows the file, and the question whether one may be replaced.
fn file(ui: &mut Ui, core: &Core, running: &RunningCalibration, outcome: &Outcome, commands: &mut Vec<Command>) {
    ui.add_space(4.0);
    ui.horizontal_wrapped(|ui| {
        let mut name = core.guide.save_as.clone();
        let response = ui.add(TextEdit::singleline(&mut name).desired_width(200.0));
        response.widget_info(|| WidgetInfo {
            label: Some("Name of the calibration".into()),
            ..WidgetInfo::text_edit(true, "", &name, "")
        });
        let help = "A file that --calibration takes, .toml or OpenCV's .yml or .xml; beside it a folder with the views, a report, and \
                    the same calibration for other programs.";
        if response.on_hover_text(help).changed() {
            commands.push(GuideStep::NameFile(name).into());
        }
        if ui.button("Choose …").on_hover_text("Chooses the place of the file.").clicked() {
            commands.push(GuideStep::ChooseFile.into());
        }
    });
    if let Some(there) = &core.guide.asks_to_replace {
        warning(ui, format!("{} exists. Replace it, and what belongs to it?", there.display()));
        ui.horizontal(|ui| {
            if ui.button("Replace").on_hover_text("Writes over what is there.").clicked() {
                commands.push(GuideStep::Save { replaces: true }.into());
            }
            if ui.button("Keep").on_hover_text("Leaves it as it is; choose another name.").clicked() {
                commands.push(GuideStep::KeepFile.into());
            }
        });
        return;
    }
    let (label, help) = match (outcome.refusals.is_empty(), running.ended.is_none()) {
        (true, true) => ("Save and use", "Writes the calibration, and shows live depth with it."),
        (true, false) => ("Save", "Writes the calibration; its source is not open any more."),
        (false, _) => ("Save as doubtful", "Writes the calibration, marked as an estimate, for the reasons in red."),
    };
    if ui.button(label).on_hover_text(help).clicked() {
        commands.push(GuideStep::Save { replaces: false }.into());
    }
}
