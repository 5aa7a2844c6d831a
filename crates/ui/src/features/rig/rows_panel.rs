//! Step of the rows: alignment by an estimate, by a calibration, or none.

use super::scale_panel::number;
use crate::core::{Action, Command, Core, rig::commands::ESTIMATE};
use crate::panels::steps::StepState;
use crate::panels::{action_button, estimate, without_files};
use crate::widgets;
use egui::{Button, Ui};
use stereopsis_calibration::{Crop, FocalLength, RowOffset, RowsChoice, Verdict};
use stereopsis_frame::Scale;
use stereopsis_metrics::Blank;
use stereopsis_settings::rig::{ASSUMED_FOV_DEG, CalibrationChoice, RectifyChoice};
use stereopsis_sources::ESTIMATE_PAIRS;

pub(super) fn state_of(core: &Core) -> (StepState, String) {
    if core.jobs.is_running(ESTIMATE) {
        return (StepState::Open, "looking at the images …".to_owned());
    }
    let health = &core.status().health;
    match health.blank {
        Some(Blank::Dark { mean }) => {
            return (StepState::Doubtful, format!("dark: more light (mean {mean:.0} of 255)"));
        }
        Some(blank) => return (StepState::Doubtful, blank.to_string()),
        None => {}
    }
    let rows = health.row_offset.as_ref();
    let text = rows.map_or("too few matches to say how rows differ".to_owned(), ToString::to_string);
    let done = match rows.map(RowOffset::verdict) {
        Some(Verdict::Good | Verdict::Fair) => StepState::Good,
        Some(Verdict::Bad) => StepState::Doubtful,
        None => StepState::Open,
    };
    (done, text)
}

/// Shows the calibration in use in one sentence, with its parameters.
pub(super) fn show(ui: &mut Ui, core: &Core, commands: &mut Vec<Command>) {
    let text = core.rig.note.clone().unwrap_or_else(|| "no calibration: images are matched as they come".into());
    ui.add(egui::Label::new(text).wrap());
    let before = &core.rig.choice;
    let mut choice = before.clone();
    ui.horizontal_wrapped(|ui| {
        action_button(ui, Action::Calibrate, Button::new(Action::Calibrate.label()), false, commands);
        if ui.button("Load …").on_hover_text("A calibration file, or two that belong together.").clicked() {
            commands.push(Command::ChooseCalibration);
        }
        let auto = before.rectify() == RectifyChoice::Auto;
        let label = if auto { "Estimate again" } else { "Estimate from the images" };
        estimate(ui, label, before, commands);
        let off = |ui: &mut Ui| ui.button("None").on_hover_text("Match images as they come.").clicked();
        if before.rectify() != RectifyChoice::Off && off(ui) {
            commands.push(Command::Calibrate(Box::new(CalibrationChoice {
                alpha: 0.0,
                rectified_fov_deg: None,
                // an explicit choice prevents an automatic estimate
                rectify: Some(RectifyChoice::Off),
                ..without_files(before)
            })));
        }
    });
    let kept = core.estimate_pairs.kept();
    if before.rectify() == RectifyChoice::Auto && kept > ESTIMATE_PAIRS {
        widgets::note(ui, format!("Another estimate counts the {kept} pairs of the last minute together."));
    }
    drift(ui, core, commands);
    ui.collapsing("Crop, row errors, working size", |ui| {
        if before.rectify() != RectifyChoice::Off {
            crop(ui, core, &mut choice);
        }
        rows(ui, core, &mut choice);
        let help = "Smaller is faster and coarser.";
        widgets::row(ui, "working size", help, |ui| {
            let words: Vec<_> = Scale::ALL.iter().map(|&s| (s, s.word(), s.help())).collect();
            let mut scale = before.scale;
            if widgets::choice(ui, "Working size", help, &words, &mut scale) {
                commands.push(Command::SetScale(scale));
            }
        });
    });
    if choice != *before {
        commands.push(Command::Calibrate(Box::new(choice)));
    }
}

/// Shows how the rig has changed since its calibration, with the expected errors of depth, and the steps of a correction: on request or by
/// itself, frozen, undone.
fn drift(ui: &mut Ui, core: &Core, commands: &mut Vec<Command>) {
    let before = &core.rig.choice;
    if before.rectify() != RectifyChoice::Calibration {
        return;
    }
    let found = core.status().health.drift.as_ref();
    if let Some(drift) = found {
        widgets::note(ui, drift.words());
        if drift.is_enough {
            widgets::note(ui, drift.depth_words());
        }
        if let Some(lens) = drift.lens {
            widgets::note(ui, lens.words());
        }
    }
    let mut choice = before.clone();
    ui.horizontal_wrapped(|ui| {
        if let Some(drift) = found.filter(|drift| drift.is_offered) {
            let help =
                "Takes the cameras as these views show them, until you undo it. The calibration file stays as it is.";
            if ui.button("Apply").on_hover_text(help).clicked() {
                choice = before.with_correction(Some(drift.correction.clone()));
            }
        }
        if before.correction.is_some() {
            let help = "Takes the cameras as the calibration file says again.";
            if ui.button("Undo").on_hover_text(help).clicked() {
                choice = CalibrationChoice { self_calibrate: false, ..before.with_correction(None) };
            }
        }
        if before.correction.is_some() && before.self_calibrate {
            let help =
                "Keeps the correction as it is now, whatever the images show later; Save rig keeps it in the rig file.";
            if ui.button("Freeze").on_hover_text(help).clicked() {
                choice.self_calibrate = false;
            }
        }
    });
    let help = "Corrects the calibration as soon as several different views show that the rig has changed, never by one picture.";
    widgets::checkbox(ui, &mut choice.self_calibrate, "Keep it calibrated by itself").on_hover_text(help);
    if choice != *before {
        commands.push(Command::Calibrate(Box::new(choice)));
    }
}

/// Shows the correction of remaining row errors, its gain, and a button that stores the correction field.
fn rows(ui: &mut Ui, core: &Core, choice: &mut CalibrationChoice) {
    let source = &core.status().source;
    if source.is_rectified && source.geometry.is_some() {
        return; // rows of a source with its own calibration are never corrected
    }
    let fit = core.status().health.row_fit;
    let mut way = choice.rows.unwrap_or_default();
    let ways: Vec<_> = RowsChoice::ALL
        .iter()
        .filter(|&&way| way != RowsChoice::Field || choice.row_field.is_some())
        .map(|&way| (way, way.word(), way.help()))
        .collect();
    let help = "Mounts bend and calibrations are never exact: a smooth field of row errors is found in the images and taken out.";
    widgets::row(ui, "row errors", help, |ui| {
        if widgets::choice(ui, "Row errors", help, &ways, &mut way) {
            choice.rows = Some(way);
        }
    });
    let Some(fit) = fit.filter(|_| way != RowsChoice::Off) else { return };
    widgets::note(ui, fit.to_string());
    let keep = Button::new("Keep these rows");
    let help = "Freezes the correction as it is now; saved with the rig.";
    if way == RowsChoice::Auto && !fit.field.is_zero() && ui.add(keep).on_hover_text(help).clicked() {
        (choice.rows, choice.row_field) = (Some(RowsChoice::Field), Some(fit.field));
    }
}

/// Shows the visible part of the rectified images as a share or an angle, and its cost in resolution.
fn crop(ui: &mut Ui, core: &Core, choice: &mut CalibrationChoice) {
    let source = &core.status().source;
    let focal_px = core.rig.rectified_px();
    let ways = [
        (false, "share kept", "Between no black border and every pixel of both images."),
        (true, "angle shown", "An angle along a row: a smaller one shows the middle of a wide lens larger."),
    ];
    let mut by_angle = choice.rectified_fov_deg.is_some();
    let help = "Rule that sets the size of the rectified images.";
    widgets::row(ui, "show by", help, |ui| widgets::choice(ui, "Show by", help, &ways, &mut by_angle));
    match (by_angle, choice.rectified_fov_deg) {
        (false, None) => {
            let help = "0: no black border; 1: every pixel of both images.";
            choice.alpha = number(ui, "keep", "", help, choice.alpha, 0.0..=1.0).unwrap_or(choice.alpha);
        }
        (false, Some(_)) => choice.rectified_fov_deg = None,
        (true, None) => {
            let shown_deg = focal_px.map_or(ASSUMED_FOV_DEG, |px| FocalLength::Px(px).fov_deg(source.width.max(1)));
            choice.alpha = 0.0;
            choice.rectified_fov_deg = Some(shown_deg.round().clamp(*Crop::FOV_DEG.start(), *Crop::FOV_DEG.end()));
        }
        (true, Some(fov_deg)) => {
            let help = "Field of view of the rectified images along a row. What the cameras do not see is black.";
            let changed = number(ui, "angle shown", "°", help, fov_deg, Crop::FOV_DEG);
            choice.rectified_fov_deg = changed.or(choice.rectified_fov_deg);
        }
    }
    let camera_px = core.rig.rig.as_ref().map(|rig| {
        let width = rig.size.map_or(source.width, |(width, _)| width);
        rig.left.fx * source.width as f64 / width.max(1) as f64
    });
    if let (Some(focal_px), Some(camera_px)) = (focal_px, camera_px) {
        let percent = 100.0 * focal_px / camera_px;
        let text = format!(
            "focal length of the lens {camera_px:.0} px, of the rectified images {focal_px:.0} px, which show {:.1}°: {percent:.0} % of \
             the resolution in the middle",
            FocalLength::Px(focal_px).fov_deg(source.width.max(1))
        );
        widgets::note(ui, text);
    }
}
