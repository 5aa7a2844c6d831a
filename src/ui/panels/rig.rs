//! The rig: calibration with its sentence to confirm, depth from two known distances, the file that keeps it all.

use crate::calibration::{FocalLength, LengthUnit};
use crate::capture::Scale;
use crate::rig::{CalibrationChoice, RectifyChoice, USUAL_FOCAL};
use crate::ui::session::Session;
use crate::ui::widgets;
use egui::{Button, DragValue, RichText, Role, ScrollArea, Ui, WidgetInfo};
use std::mem::discriminant;

/// Width of a sensor of 1/3 inch, which many cameras are near to, mm.
const USUAL_SENSOR_WIDTH_MM: f64 = 4.8;

/// Shows the window while it is open.
pub(crate) fn show(ui: &mut Ui, session: &mut Session) {
    let mut open = session.rig.open;
    let window = egui::Window::new("Rig").default_pos([640.0, 60.0]).auto_sized().collapsible(false);
    window.open(&mut open).show(ui, |ui| {
        ui.set_width(330.0);
        ScrollArea::vertical().max_height(520.0).show(ui, |ui| {
            calibration(ui, session);
            known_distances(ui, session);
            super::controls::show(ui, session);
        });
        file(ui, session);
    });
    session.rig.open &= open;
}

/// The calibration in use, in one sentence, with what can be wrong beside it.
fn calibration(ui: &mut Ui, session: &mut Session) {
    widgets::heading(ui, "Calibration");
    let text = session.rig.note.clone().unwrap_or_else(|| "none: pictures are matched as they come".into());
    ui.add(egui::Label::new(text).wrap());
    let before = session.rig.choice.clone();
    let mut choice = before.clone();
    ui.horizontal(|ui| {
        if ui.button("Load …").on_hover_text("A calibration file, or two that belong together.").clicked() {
            session.choose_calibration();
        }
        let auto = before.rectify() == RectifyChoice::Auto;
        let label = if auto { "Estimate again" } else { "Estimate from the pictures" };
        let help = "Rectifies by what both pictures show: no board, no file. Point the cameras at something with texture, \
                    near and far. Depth is then an estimate.";
        if ui.button(label).on_hover_text(help).clicked() {
            let CalibrationChoice { baseline_m, alpha, scale, .. } = before.clone();
            let rectify = Some(RectifyChoice::Auto);
            let mut estimate = CalibrationChoice { alpha, rectify, baseline_m, scale, ..Default::default() };
            estimate.set_focal(before.focal());
            session.calibrate(estimate);
        }
        if before.rectify() != RectifyChoice::Off && ui.button("None").on_hover_text("Match pictures as they come.").clicked() {
            session.calibrate(CalibrationChoice { scale: before.scale, ..CalibrationChoice::default() });
        }
    });
    match before.rectify() {
        RectifyChoice::Calibration => {
            widgets::row(ui, "unit of file", "What one unit of the file's lengths is.", |ui| {
                let units = [
                    (None, "as found", "By the kind of file, or what makes a plausible baseline."),
                    (Some(LengthUnit::Metre), "m", "Metres."),
                    (Some(LengthUnit::Centimetre), "cm", "Centimetres."),
                    (Some(LengthUnit::Millimetre), "mm", "Millimetres."),
                ];
                widgets::choice(
                    ui,
                    "Unit of file",
                    "What one unit of the file's lengths is.",
                    &units,
                    &mut choice.unit,
                );
            });
            let help = "The file's left camera is the one that stands right, as seen from behind.";
            ui.checkbox(&mut choice.swapped, "Left and right are exchanged in the file").on_hover_text(help);
        }
        RectifyChoice::Auto => {
            lens(ui, session.status.source.width, &mut choice);
            number(
                ui,
                "baseline",
                "m",
                "Between the lenses: measure it with a ruler.",
                choice.baseline_m.unwrap_or(0.06),
                0.005..=10.0,
                |v| {
                    choice.baseline_m = Some(v);
                },
            );
        }
        RectifyChoice::Off => {}
    }
    if before.rectify() != RectifyChoice::Off {
        number(ui, "keep", "", "0: no black border; 1: every pixel of both pictures.", choice.alpha, 0.0..=1.0, |v| {
            choice.alpha = v;
        });
    }
    widgets::row(ui, "working size", "Smaller is faster and coarser.", |ui| {
        let words: Vec<_> = Scale::ALL.iter().map(|&s| (s, s.word(), s.help())).collect();
        let mut scale = before.scale;
        if widgets::choice(ui, "Working size", "Smaller is faster and coarser.", &words, &mut scale) {
            session.set_scale(scale);
        }
    });
    if choice != before {
        session.calibrate(choice);
    }
}

/// The lens, named in one of three ways; another way begins with the same lens.
fn lens(ui: &mut Ui, width: usize, choice: &mut CalibrationChoice) {
    let focal = choice.focal().unwrap_or(USUAL_FOCAL);
    let px = focal.px(width.max(1));
    let sensor_width_mm = choice.sensor_width_mm.unwrap_or(USUAL_SENSOR_WIDTH_MM);
    let ways = [
        FocalLength::FovDeg(2.0 * (width.max(1) as f64 / 2.0 / px).atan().to_degrees()),
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
    let mut set = |focal| choice.set_focal(Some(focal));
    match focal {
        FocalLength::FovDeg(fov_deg) => number(ui, "field of view", "°", words[0].2, fov_deg, 1.0..=170.0, |v| {
            set(FocalLength::FovDeg(v));
        }),
        FocalLength::Px(px) => number(ui, "focal length", "px", words[1].2, px, 1.0..=100_000.0, |v| {
            set(FocalLength::Px(v));
        }),
        FocalLength::Lens { focal_mm, sensor_width_mm } => {
            number(ui, "focal length", "mm", words[2].2, focal_mm, 0.1..=1000.0, |v| {
                set(FocalLength::Lens { focal_mm: v, sensor_width_mm });
            });
            let help = "Of the part of the sensor that the pictures show: columns times the width of a pixel.";
            number(ui, "sensor width", "mm", help, sensor_width_mm, 0.1..=100.0, |v| {
                set(FocalLength::Lens { focal_mm, sensor_width_mm: v });
            });
        }
    }
}

/// Depth from two things at known distances.
fn known_distances(ui: &mut Ui, session: &mut Session) {
    widgets::heading(ui, "Depth from two known distances");
    widgets::note(
        ui,
        "Click something near in the left picture, say how far it is, take it; then something far. One alone would be wrong: \
         how much the cameras look towards each other is a second unknown.",
    );
    for (which, name) in ["near", "far"].into_iter().enumerate() {
        ui.horizontal(|ui| {
            let mut metres = session.rig.known[which].metres;
            let field = DragValue::new(&mut metres).range(0.05..=1000.0).speed(0.01).suffix(" m").max_decimals(3);
            let response = ui.add(field);
            response.widget_info(|| WidgetInfo {
                value: Some(metres),
                ..WidgetInfo::labeled(Role::SpinButton, true, format!("Distance of the {name} thing"))
            });
            session.rig.known[which].metres = metres;
            if ui
                .button(format!("Take {name}"))
                .on_hover_text("Use the disparity at the place that a click holds.")
                .clicked()
            {
                session.click_known(which);
            }
            let taken = session.rig.known[which].disparity_px;
            ui.label(RichText::new(taken.map_or("not taken yet".into(), |d| format!("{d:.2} px"))).weak());
        });
    }
    let ready = session.rig.known.iter().all(|known| known.disparity_px.is_some());
    ui.horizontal(|ui| {
        if ui.add_enabled(ready, Button::new("Fit depth")).clicked() {
            session.fit_depth();
        }
        if session.rig.choice.depth_fit.is_some() && ui.button("Undo fit").clicked() {
            session.calibrate(CalibrationChoice { depth_fit: None, ..session.rig.choice.clone() });
        }
    });
}

/// Where the rig is kept.
fn file(ui: &mut Ui, session: &mut Session) {
    widgets::heading(ui, "Save");
    ui.horizontal(|ui| {
        let field = egui::TextEdit::singleline(&mut session.rig.save_as).desired_width(200.0);
        let response =
            ui.add(field).on_hover_text("A file that --rig takes: cameras by port, mode, controls, calibration.");
        let text = session.rig.save_as.clone();
        response.widget_info(|| WidgetInfo {
            label: Some("Name of the rig file".into()),
            ..WidgetInfo::text_edit(true, "", &text, "")
        });
        if ui.button("Save rig").clicked() {
            session.save_rig();
        }
    });
}

fn number(
    ui: &mut Ui,
    name: &str,
    unit: &str,
    help: &str,
    mut value: f64,
    range: std::ops::RangeInclusive<f64>,
    set: impl FnOnce(f64),
) {
    widgets::row(ui, name, help, |ui| {
        let speed = (range.end() - range.start()) / 500.0;
        let suffix = if unit.is_empty() { String::new() } else { format!(" {unit}") };
        let field = DragValue::new(&mut value).range(range).speed(speed).suffix(suffix).max_decimals(4);
        let response = ui.add(field.update_while_editing(false)).on_hover_text(help);
        response.widget_info(|| WidgetInfo { value: Some(value), ..WidgetInfo::labeled(Role::SpinButton, true, name) });
        if response.changed() {
            set(value);
        }
    });
}
