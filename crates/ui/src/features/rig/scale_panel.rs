//! Step of the scale, which converts disparities to metres: lens and baseline, the unit of a file, or known distances.

use crate::core::{Command, Core, KnownDistance};
use crate::panels::steps::StepState;
use crate::widgets;
use egui::{Button, DragValue, Key, RichText, Role, Ui};
use std::mem::discriminant;
use stereopsis_calibration::{FocalLength, LengthUnit};
use stereopsis_settings::rig::{ASSUMED_BASELINE_M, ASSUMED_FOCAL, CalibrationChoice, RectifyChoice};

/// Width of a common 1/3 inch sensor, mm.
const USUAL_SENSOR_WIDTH_MM: f64 = 4.8;

pub(super) fn state_of(core: &Core) -> (StepState, String) {
    let Some(geometry) = core.geometry() else {
        let choice = &core.rig.choice;
        let missing = match (choice.focal(), choice.baseline_m) {
            (None, Some(_)) => "type the lens angle",
            (Some(_), None) => "type the baseline",
            _ => "type the lens angle and the baseline",
        };
        return (StepState::Open, format!("no depth in metres yet: {missing}"));
    };
    let mut text = format!("baseline {:.4} m", geometry.baseline_m);
    if let Some(lens) = core.rig.lens(&core.status().source) {
        text = format!("lens angle {:.1}°, {text}", lens.fov_deg(core.status().source.width.max(1)));
    }
    if core.rig.doubted_baseline_m().is_some() {
        return (StepState::Doubtful, format!("{text}: baseline doubtful"));
    }
    if let Some(assumed) = core.rig.assumed(&core.status().source) {
        let cure = "metres may be wrong by a factor: type what you know, or take known distances below";
        return (StepState::Doubtful, format!("{assumed}: {cure}"));
    }
    if let Some(doubt) = core.rig.choice.doubts(&core.status().source).into_iter().next() {
        return (StepState::Doubtful, doubt);
    }
    // what the images leave open, at a distance as in a room
    if let Some(between) = geometry.interval_words(geometry.disparity_px(2.0)) {
        text = format!("{text}; a thing shown at 2 m lies {between}");
    }
    let source = if core.rig.choice.depth_fit.is_some() { ", by known distances" } else { "" };
    (StepState::Good, format!("{text}{source}"))
}

pub(super) fn show(ui: &mut Ui, core: &Core, commands: &mut Vec<Command>) {
    let before = &core.rig.choice;
    let mut choice = before.clone();
    match before.rectify() {
        RectifyChoice::Calibration => {
            let help = "Unit of lengths in the file.";
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
            let width = core.status().source.width.max(1);
            // a source with its own calibration needs no typed lens
            let own = core.geometry().filter(|_| before.rectify() == RectifyChoice::Off);
            let own = own.map(|own| FocalLength::Px(own.focal_px / before.scale.factor()).fov_deg(width));
            let own = own.map_or(ASSUMED_FOCAL, FocalLength::FovDeg);
            let lens_in_use = core.rig.lens(&core.status().source).unwrap_or(own);
            lens(ui, width, lens_in_use, &mut choice);
            let baseline_m = choice.baseline_m.or(core.geometry().map(|geometry| geometry.baseline_m));
            let help = "Between the lenses: measure it with a ruler.";
            let shown_m = baseline_m.unwrap_or(ASSUMED_BASELINE_M);
            choice.baseline_m = number(ui, "baseline", "m", help, shown_m, 0.005..=10.0).or(choice.baseline_m);
            if choice.baseline_m != before.baseline_m {
                choice.depth_fit = None; // the fit was made with the lens before
            }
        }
    }
    if choice != *before {
        commands.push(Command::Calibrate(Box::new(choice)));
    }
    known_distances(ui, core, commands);
}

/// Returns the side of a square as given, or of a common board.
fn square_of(choice: &CalibrationChoice) -> LengthUnit {
    match choice.unit {
        Some(square @ LengthUnit::Metres(_)) => square,
        _ => LengthUnit::Metres(0.025),
    }
}

/// Shows the lens in one of three notations, whose change keeps the lens.
fn lens(ui: &mut Ui, width: usize, focal: FocalLength, choice: &mut CalibrationChoice) {
    let px = focal.px(width);
    let sensor_width_mm = choice.sensor_width_mm.unwrap_or(USUAL_SENSOR_WIDTH_MM);
    let ways = [
        FocalLength::FovDeg(focal.fov_deg(width)),
        FocalLength::Px(px),
        FocalLength::Lens { focal_mm: px * sensor_width_mm / width as f64, sensor_width_mm },
    ];
    let words = [
        (0, "angle", "Degrees, horizontal, of the lens of each camera: data sheets of webcams say it."),
        (1, "focal length, px", "Pixels of the images as they come: calibrations say it."),
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
            number(ui, "lens angle", "°", words[0].2, fov_deg, 1.0..=170.0).map(FocalLength::FovDeg)
        }
        FocalLength::Px(px) => number(ui, "focal length", "px", words[1].2, px, 1.0..=100_000.0).map(FocalLength::Px),
        FocalLength::Lens { focal_mm, sensor_width_mm } => {
            let help = "Width of the part of the sensor that the images show: columns times the width of a pixel.";
            let focal = number(ui, "focal length", "mm", words[2].2, focal_mm, 0.1..=1000.0);
            let width = number(ui, "sensor width", "mm", help, sensor_width_mm, 0.1..=100.0);
            let lens = |focal_mm, sensor_width_mm| FocalLength::Lens { focal_mm, sensor_width_mm };
            focal.map(|v| lens(v, sensor_width_mm)).or(width.map(|v| lens(focal_mm, v)))
        }
    };
    if changed.is_some() {
        choice.set_focal(changed);
        choice.depth_fit = None; // the fit was made with another lens
    }
}

/// Shows the fit of depth to things at known distances.
fn known_distances(ui: &mut Ui, core: &Core, commands: &mut Vec<Command>) {
    widgets::heading(ui, "Or from known distances");
    widgets::note(
        ui,
        "Click a thing in the left image, enter its distance, take it. One distance corrects how much the cameras look towards each \
         other; two, one near and one far, correct lens and baseline too.",
    );
    for (which, known) in core.rig.known.iter().enumerate() {
        let name = ["near", "far"].get(which).map_or_else(|| (which + 1).to_string(), ToString::to_string);
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
    let taken = |known: &KnownDistance| known.disparity_px.is_some();
    ui.horizontal(|ui| {
        if ui.add_enabled(core.rig.known.iter().any(taken), Button::new("Fit depth")).clicked() {
            commands.push(Command::FitDepth);
        }
        if core.rig.known.iter().all(taken) && ui.button("Another distance").clicked() {
            commands.push(Command::AddKnownDistance);
        }
        if core.rig.choice.depth_fit.is_some() && ui.button("Undo fit").clicked() {
            commands
                .push(Command::Calibrate(Box::new(CalibrationChoice { depth_fit: None, ..core.rig.choice.clone() })));
        }
    });
}

/// Shows a row with a number and returns the new value after a change, or a value typed unchanged.
pub(super) fn number(
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
        let field = DragValue::new(&mut value).range(range).speed(speed).suffix(suffix);
        let field = field.max_decimals(if unit == "°" { 1 } else { 4 });
        let response = ui.add(field.update_while_editing(false)).on_hover_text(help);
        widgets::name(&response, Role::SpinButton, name, value);
        let is_typed = response.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter));
        (response.changed() || is_typed).then_some(value)
    })
}
