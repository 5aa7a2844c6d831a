//! The rig in five steps: cameras, sides, rectification, scale, file. Each says whether it is done and how well.

use crate::action::Action;
use crate::calibration::{Crop, FocalLength, LengthUnit, RowOffset, RowsChoice, Verdict};
use crate::capture::Scale;
use crate::command::Command;
use crate::panels::action_button;
use crate::panels::source::short_name;
use crate::panels::steps::{Done, step};
use crate::rig::{ASSUMED_BASELINE_M, ASSUMED_FOCAL, ASSUMED_FOV_DEG, CalibrationChoice, RectifyChoice, RigFile};
use crate::state::State;
use crate::widgets;
use egui::{Button, DragValue, RichText, Role, Ui, WidgetInfo};
use std::mem::discriminant;

/// Width of a sensor of 1/3 inch, which many cameras are near to, mm.
const USUAL_SENSOR_WIDTH_MM: f64 = 4.8;

pub(crate) fn show(ui: &mut Ui, state: &State, commands: &mut Vec<Command>) {
    let (done, text) = cameras_state(state);
    step(ui, 1, "Cameras", done, &text, |ui| cameras(ui, state, commands));
    if state.source.is_replaced() {
        return; // the other steps would speak of the scene
    }
    let (done, text) = sides_state(state);
    step(ui, 2, "Sides", done, &text, |ui| sides(ui, state, commands));
    let (done, text) = rows_state(state);
    step(ui, 3, "Rectify", done, &text, |ui| rectify(ui, state, commands));
    let (done, text) = scale_state(state);
    step(ui, 4, "Scale", done, &text, |ui| scale(ui, state, commands));
    let (done, text) = file_state(state);
    step(ui, 5, "Save", done, &text, |ui| file(ui, state, commands));
}

fn cameras_state(state: &State) -> (Done, String) {
    let source = &state.source;
    let cameras = &state.status().cameras.cameras;
    if let Some(opening) = &source.opening {
        return (Done::Open, format!("opening {opening} …"));
    }
    match (source.lost_text(), cameras.len()) {
        (Some(lost), _) => (Done::Doubtful, lost),
        _ if source.is_replaced() => {
            (Done::Doubtful, format!("{} cannot be opened: this is the built-in scene", short_name(&source.spec)))
        }
        (None, 0) => (Done::Good, format!("{}: no cameras", state.status().source.name)),
        (None, count) => (Done::Good, format!("{count} in use")),
    }
}

fn cameras(ui: &mut Ui, state: &State, commands: &mut Vec<Command>) {
    ui.horizontal(|ui| {
        for action in [Action::Cameras, Action::Open] {
            action_button(ui, action, Button::new(action.label()), false, commands);
        }
        if state.source.is_replaced() && ui.button("Open again").clicked() {
            commands.push(Command::OpenAgain);
        }
    });
    super::controls_panel::show(ui, state, commands);
}

fn sides_state(state: &State) -> (Done, String) {
    let health = &state.status().health;
    match (&health.exchanged, &health.row_offset) {
        (Some(exchanged), _) => (Done::Doubtful, exchanged.to_string()),
        (None, Some(rows)) => (Done::Good, format!("left is left, by {} matches", rows.matches)),
        (None, None) => (Done::Open, "too little matches to say".to_owned()),
    }
}

/// One switch for the pictures, and one for the calibration, or without one for the mounting.
fn sides(ui: &mut Ui, state: &State, commands: &mut Vec<Command>) {
    let swap = Button::new(Action::SwapPictures.label());
    action_button(ui, Action::SwapPictures, swap, state.rig.choice.swap_pictures, commands);
    if state.rig.choice.rectify() == RectifyChoice::Calibration {
        let mut choice = state.rig.choice.clone();
        let help = "The file's left camera is the one that stands right, as seen from behind. The pictures stay where they are.";
        let label = "Left and right are exchanged in the calibration file";
        if ui.checkbox(&mut choice.swapped, label).on_hover_text(help).changed() {
            commands.push(Command::Calibrate(choice));
        }
    } else {
        let mut choice = state.rig.choice.clone();
        let help = "Points lie in the same column of both pictures then. The upper camera's picture is the left one. A calibration says \
                    so itself.";
        if ui.checkbox(&mut choice.vertical, "One camera stands above the other").on_hover_text(help).changed() {
            commands.push(Command::Calibrate(choice));
        }
    }
}

fn rows_state(state: &State) -> (Done, String) {
    let rows = state.status().health.row_offset.as_ref();
    let text = rows.map_or("too little matches to say how rows differ".to_owned(), ToString::to_string);
    let done = match rows.map(RowOffset::verdict) {
        Some(Verdict::Good | Verdict::Fair) => Done::Good,
        Some(Verdict::Bad) => Done::Doubtful,
        None => Done::Open,
    };
    (done, text)
}

/// The calibration in use, in one sentence, with its parameters.
fn rectify(ui: &mut Ui, state: &State, commands: &mut Vec<Command>) {
    let text = state.rig.note.clone().unwrap_or_else(|| "no calibration: pictures are matched as they come".into());
    ui.add(egui::Label::new(text).wrap());
    let before = &state.rig.choice;
    let mut choice = before.clone();
    ui.horizontal_wrapped(|ui| {
        action_button(ui, Action::Calibrate, Button::new(Action::Calibrate.label()), false, commands);
        if ui.button("Load …").on_hover_text("A calibration file, or two that belong together.").clicked() {
            commands.push(Command::ChooseCalibration);
        }
        let auto = before.rectify() == RectifyChoice::Auto;
        let label = if auto { "Estimate again" } else { "Estimate from the pictures" };
        estimate(ui, label, before, commands);
        let off = |ui: &mut Ui| ui.button("None").on_hover_text("Match pictures as they come.").clicked();
        if before.rectify() != RectifyChoice::Off && off(ui) {
            commands.push(Command::Calibrate(CalibrationChoice {
                alpha: 0.0,
                rectified_fov_deg: None,
                ..without_files(before)
            }));
        }
    });
    if before.rectify() != RectifyChoice::Off {
        crop(ui, state, &mut choice);
    }
    rows(ui, state, &mut choice);
    let help = "Smaller is faster and coarser.";
    widgets::row(ui, "working size", help, |ui| {
        let words: Vec<_> = Scale::ALL.iter().map(|&s| (s, s.word(), s.help())).collect();
        let mut scale = before.scale;
        if widgets::choice(ui, "Working size", help, &words, &mut scale) {
            commands.push(Command::SetScale(scale));
        }
    });
    if choice != *before {
        commands.push(Command::Calibrate(choice));
    }
}

/// How row errors that are left are corrected, what that gains, and a button that keeps the field.
fn rows(ui: &mut Ui, state: &State, choice: &mut CalibrationChoice) {
    let source = &state.status().source;
    if source.is_rectified && source.geometry.is_some() {
        return; // the rows of a source that knows itself are never corrected
    }
    let fit = state.status().health.row_fit;
    let mut way = choice.rows.unwrap_or_default();
    let ways: Vec<_> = RowsChoice::ALL
        .iter()
        .filter(|&&way| way != RowsChoice::Field || choice.row_field.is_some())
        .map(|&way| (way, way.word(), way.help()))
        .collect();
    let help = "Mounts bend and calibrations are never exact: a smooth field of row errors is found in the pictures and taken out.";
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

/// How much the rectified pictures show, as a share or as an angle, and what that costs in resolution.
fn crop(ui: &mut Ui, state: &State, choice: &mut CalibrationChoice) {
    let source = &state.status().source;
    let focal_px = state.geometry().map(|geometry| geometry.focal_px / choice.scale.factor());
    let ways = [
        (false, "share kept", "Between no black border and every pixel of both pictures."),
        (true, "field of view", "An angle along a row: a smaller one shows the middle of a wide lens larger."),
    ];
    let mut by_angle = choice.rectified_fov_deg.is_some();
    let help = "What the size of the rectified pictures is chosen by.";
    widgets::row(ui, "show by", help, |ui| widgets::choice(ui, "Show by", help, &ways, &mut by_angle));
    match (by_angle, choice.rectified_fov_deg) {
        (false, None) => {
            let help = "0: no black border; 1: every pixel of both pictures.";
            choice.alpha = number(ui, "keep", "", help, choice.alpha, 0.0..=1.0).unwrap_or(choice.alpha);
        }
        (false, Some(_)) => choice.rectified_fov_deg = None,
        (true, None) => {
            let shown_deg = focal_px.map_or(ASSUMED_FOV_DEG, |px| FocalLength::Px(px).fov_deg(source.width.max(1)));
            choice.alpha = 0.0;
            choice.rectified_fov_deg = Some(shown_deg.round().clamp(*Crop::FOV_DEG.start(), *Crop::FOV_DEG.end()));
        }
        (true, Some(fov_deg)) => {
            let help = "Field of view of the rectified pictures along a row. What the cameras do not see is black.";
            let changed = number(ui, "shown", "°", help, fov_deg, Crop::FOV_DEG);
            choice.rectified_fov_deg = changed.or(choice.rectified_fov_deg);
        }
    }
    let camera_px = state.rig.rig.as_ref().map(|rig| {
        let width = rig.size.map_or(source.width, |(width, _)| width);
        rig.left.fx * source.width as f64 / width.max(1) as f64
    });
    if let (Some(focal_px), Some(camera_px)) = (focal_px, camera_px) {
        let percent = 100.0 * focal_px / camera_px;
        let text = format!(
            "focal length {camera_px:.0} px, rectified {focal_px:.0} px: {percent:.0} % of the resolution in the middle"
        );
        widgets::note(ui, text);
    }
}

/// A button that estimates the rig from the pictures.
pub(crate) fn estimate(ui: &mut Ui, label: &str, before: &CalibrationChoice, commands: &mut Vec<Command>) {
    let help = "Rectifies by what both pictures show: no board, no file. Point the cameras at something with texture, near and \
                far. Depth is then an estimate.";
    if ui.button(label).on_hover_text(help).clicked() {
        let mut estimate = CalibrationChoice { rectify: Some(RectifyChoice::Auto), ..without_files(before) };
        estimate.set_focal(before.focal());
        commands.push(Command::Calibrate(estimate));
    }
}

/// The choice without its files, estimate and fit: size, sides, mounting, crop and baseline stay.
fn without_files(choice: &CalibrationChoice) -> CalibrationChoice {
    let CalibrationChoice { baseline_m, alpha, rectified_fov_deg, rows, scale, swap_pictures, vertical, .. } = *choice;
    CalibrationChoice {
        // a kept field corrects the calibration that it was found with
        rows: rows.filter(|rows| *rows != RowsChoice::Field),
        swap_pictures,
        vertical,
        alpha,
        rectified_fov_deg,
        baseline_m,
        scale,
        ..CalibrationChoice::default()
    }
}

fn scale_state(state: &State) -> (Done, String) {
    let Some(geometry) = state.geometry() else {
        return (Done::Open, "no depth in metres: focal length and baseline are not known".to_owned());
    };
    let text = format!("focal length {:.0} px, baseline {:.4} m", geometry.focal_px, geometry.baseline_m);
    match state.depth_mark() {
        Some(mark) => (Done::Doubtful, format!("{text}: {mark}")),
        None => (Done::Good, text),
    }
}

/// What makes metres of disparities.
fn scale(ui: &mut Ui, state: &State, commands: &mut Vec<Command>) {
    let before = &state.rig.choice;
    let mut choice = before.clone();
    match before.rectify() {
        RectifyChoice::Calibration => {
            let help = "What one unit of the file's lengths is.";
            widgets::row(ui, "unit of file", help, |ui| {
                let units = [
                    (None, "as found", "By the kind of file, or what makes a plausible baseline."),
                    (Some(LengthUnit::Metre), "m", "Metres."),
                    (Some(LengthUnit::Centimetre), "cm", "Centimetres."),
                    (Some(LengthUnit::Millimetre), "mm", "Millimetres."),
                    (Some(square_of(before)), "squares", "Squares of the chessboard, whose side is given below."),
                ];
                widgets::choice(ui, "Unit of file", help, &units, &mut choice.unit);
            });
            if let Some(LengthUnit::Metres(side_m)) = choice.unit {
                let help = "Side of a square of the chessboard: measure it with a ruler.";
                if let Some(mm) = number(ui, "square", "mm", help, 1e3 * side_m, 1.0..=1000.0) {
                    choice.unit = Some(LengthUnit::Metres(mm / 1e3));
                }
            }
        }
        RectifyChoice::Auto | RectifyChoice::Off => {
            // what is in use, where the user has said nothing
            let known =
                state.geometry().map(|geometry| (geometry.focal_px / before.scale.factor(), geometry.baseline_m));
            let width = state.status().source.width;
            let assumed = known.map_or(ASSUMED_FOCAL, |(focal_px, _)| {
                FocalLength::FovDeg(FocalLength::Px(focal_px).fov_deg(width.max(1)))
            });
            lens(ui, width, assumed, &mut choice);
            let baseline_m =
                choice.baseline_m.or(known.map(|(_, baseline_m)| baseline_m)).unwrap_or(ASSUMED_BASELINE_M);
            let help = "Between the lenses: measure it with a ruler.";
            if let Some(v) = number(ui, "baseline", "m", help, baseline_m, 0.005..=10.0) {
                choice.baseline_m = Some(v);
                if before.rectify() == RectifyChoice::Off && choice.focal().is_none() {
                    choice.set_focal(Some(assumed));
                }
            }
        }
    }
    if choice != *before {
        commands.push(Command::Calibrate(choice));
    }
    known_distances(ui, state, commands);
}

/// The side of a square, as given, or that of a common board.
fn square_of(choice: &CalibrationChoice) -> LengthUnit {
    match choice.unit {
        Some(square @ LengthUnit::Metres(_)) => square,
        _ => LengthUnit::Metres(0.025),
    }
}

fn file_state(state: &State) -> (Done, String) {
    let rig = &state.rig;
    let now = RigFile::of(&state.source.spec, &rig.options, &rig.choice);
    match &rig.file {
        Some((path, saved)) if *saved == now => (Done::Good, format!("saved: {}", path.display())),
        Some((path, _)) => (Done::Open, format!("changed since {}", path.display())),
        None => (Done::Open, "not saved to a file; the window keeps it for its next start".to_owned()),
    }
}

/// The lens, named in one of three ways; another way begins with the same lens.
fn lens(ui: &mut Ui, width: usize, assumed: FocalLength, choice: &mut CalibrationChoice) {
    let focal = choice.focal().unwrap_or(assumed);
    let px = focal.px(width.max(1));
    let sensor_width_mm = choice.sensor_width_mm.unwrap_or(USUAL_SENSOR_WIDTH_MM);
    let ways = [
        FocalLength::FovDeg(focal.fov_deg(width.max(1))),
        FocalLength::Px(px),
        FocalLength::Lens { focal_mm: px * sensor_width_mm / width.max(1) as f64, sensor_width_mm },
    ];
    let words = [
        (0, "field of view", "Degrees, horizontal, of each camera: data sheets of webcams say it."),
        (1, "focal length, px", "Pixels of the pictures as they come: calibrations say it."),
        (2, "focal length, mm", "As the lens says it, with the width of the sensor."),
    ];
    let way = |focal| ways.iter().position(|way| discriminant(way) == discriminant(&focal)).unwrap_or(0);
    let mut chosen = way(focal);
    let help = "How the lens of each camera is named.";
    widgets::row(ui, "lens by", help, |ui| {
        if widgets::choice(ui, "Lens by", help, &words, &mut chosen) {
            choice.set_focal(Some(ways[chosen]));
        }
    });
    let changed = match focal {
        FocalLength::FovDeg(fov_deg) => {
            number(ui, "field of view", "°", words[0].2, fov_deg, 1.0..=170.0).map(FocalLength::FovDeg)
        }
        FocalLength::Px(px) => number(ui, "focal length", "px", words[1].2, px, 1.0..=100_000.0).map(FocalLength::Px),
        FocalLength::Lens { focal_mm, sensor_width_mm } => {
            let help = "Of the part of the sensor that the pictures show: columns times the width of a pixel.";
            let focal = number(ui, "focal length", "mm", words[2].2, focal_mm, 0.1..=1000.0);
            let width = number(ui, "sensor width", "mm", help, sensor_width_mm, 0.1..=100.0);
            let lens = |focal_mm, sensor_width_mm| FocalLength::Lens { focal_mm, sensor_width_mm };
            focal.map(|v| lens(v, sensor_width_mm)).or(width.map(|v| lens(focal_mm, v)))
        }
    };
    if changed.is_some() {
        choice.set_focal(changed);
    }
}

/// Depth from two objects at known distances.
fn known_distances(ui: &mut Ui, state: &State, commands: &mut Vec<Command>) {
    widgets::heading(ui, "Or from two known distances");
    widgets::note(
        ui,
        "Click something near in the left picture, enter its distance, take it; then something far. One alone would be wrong: \
         how much the cameras look towards each other is a second unknown.",
    );
    for (which, (name, known)) in ["near", "far"].into_iter().zip(&state.rig.known).enumerate() {
        ui.horizontal(|ui| {
            let mut metres = known.metres;
            let field = DragValue::new(&mut metres).range(0.05..=1000.0).speed(0.01).suffix(" m").max_decimals(3);
            let response = ui.add(field);
            widgets::name(&response, Role::SpinButton, &format!("Distance of the {name} thing"), metres);
            if response.changed() {
                commands.push(Command::SetKnownDistance(which, metres));
            }
            let take = ui.button(format!("Take {name}"));
            if take.on_hover_text("Use the disparity at the place that a click holds.").clicked() {
                commands.push(Command::TakeKnownDisparity(which));
            }
            let taken = known.disparity_px.map_or("not taken yet".into(), |d| format!("{d:.2} px"));
            ui.label(RichText::new(taken).weak());
        });
    }
    let ready = state.rig.known.iter().all(|known| known.disparity_px.is_some());
    ui.horizontal(|ui| {
        if ui.add_enabled(ready, Button::new("Fit depth")).clicked() {
            commands.push(Command::FitDepth);
        }
        if state.rig.choice.depth_fit.is_some() && ui.button("Undo fit").clicked() {
            commands.push(Command::Calibrate(CalibrationChoice { depth_fit: None, ..state.rig.choice.clone() }));
        }
    });
}

/// The file of the rig.
fn file(ui: &mut Ui, state: &State, commands: &mut Vec<Command>) {
    ui.horizontal(|ui| {
        let mut name = state.rig.save_as.clone();
        let response = ui.add(egui::TextEdit::singleline(&mut name).desired_width(200.0));
        response.widget_info(|| WidgetInfo {
            label: Some("Name of the rig file".into()),
            ..WidgetInfo::text_edit(true, "", &name, "")
        });
        let help = "A file that --rig takes: cameras by port, mode, controls, calibration.";
        if response.on_hover_text(help).changed() {
            commands.push(Command::NameRigFile(name));
        }
        if ui.button("Save rig").clicked() {
            commands.push(Command::SaveRig);
        }
    });
}

/// A row with a number; gives the new value once it is changed.
fn number(
    ui: &mut Ui,
    name: &str,
    unit: &str,
    help: &str,
    mut value: f64,
    range: std::ops::RangeInclusive<f64>,
) -> Option<f64> {
    widgets::row(ui, name, help, |ui| {
        let speed = (range.end() - range.start()) / 500.0;
        let suffix = if unit.is_empty() { String::new() } else { format!(" {unit}") };
        let field = DragValue::new(&mut value).range(range).speed(speed).suffix(suffix).max_decimals(4);
        let response = ui.add(field.update_while_editing(false)).on_hover_text(help);
        widgets::name(&response, Role::SpinButton, name, value);
        response.changed().then_some(value)
    })
}
