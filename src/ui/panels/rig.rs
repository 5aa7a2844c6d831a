//! The rig: calibration with its sentence to confirm, depth from two known distances, the cameras' controls, the file that
//! keeps it all.

use crate::calibration::LengthUnit;
use crate::capture::Scale;
use crate::capture::webcam::controls::{ControlKind, OfferedControl};
use crate::capture::{ControlWishes, PowerLine, Wish};
use crate::rig::{CalibrationChoice, RectifyChoice};
use crate::ui::session::Session;
use crate::ui::widgets;
use egui::{Button, DragValue, RichText, Role, ScrollArea, Ui, WidgetInfo};

/// Shows the window while it is open.
pub(crate) fn show(ui: &mut Ui, session: &mut Session) {
    let mut open = session.rig.open;
    let window = egui::Window::new("Rig").default_pos([640.0, 60.0]).auto_sized().collapsible(false);
    window.open(&mut open).show(ui, |ui| {
        ui.set_width(330.0);
        ScrollArea::vertical().max_height(520.0).show(ui, |ui| {
            calibration(ui, session);
            known_distances(ui, session);
            controls(ui, session);
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
            let CalibrationChoice { fov_deg, baseline_m, alpha, scale, .. } = before.clone();
            let rectify = Some(RectifyChoice::Auto);
            session.calibrate(CalibrationChoice { alpha, rectify, fov_deg, baseline_m, scale, ..Default::default() });
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
            number(
                ui,
                "field of view",
                "°",
                "Horizontal, of each camera; data sheets say it.",
                choice.fov_deg.unwrap_or(60.0),
                5.0..=170.0,
                |v| {
                    choice.fov_deg = Some(v);
                },
            );
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

/// What the drivers of the cameras in use offer.
fn controls(ui: &mut Ui, session: &mut Session) {
    if session.status.cameras.cameras.is_empty() {
        return;
    }
    widgets::heading(ui, "Cameras");
    ui.horizontal(|ui| {
        if session.status.cameras.cameras.len() == 2 {
            let help =
                "Takes exposure, gain and white balance that the left camera has settled at, and locks both to them.";
            if ui.button("Equal exposure").on_hover_text(help).clicked() {
                session.equal_exposure();
            }
        }
        if ui.button("Read again").on_hover_text("Automatics change values by themselves.").clicked() {
            session.read_controls();
        }
    });
    for (eye, (camera, offered)) in session.rig.controls.clone().into_iter().enumerate() {
        ui.label(RichText::new(format!("camera {camera}")).strong());
        match offered {
            Err(why) => widgets::note(ui, why),
            Ok(offered) if offered.is_empty() => widgets::note(ui, "its driver offers no controls"),
            Ok(offered) => offered.iter().for_each(|control| {
                if let Some(wishes) = row(ui, camera, control) {
                    session.set_controls(eye, wishes);
                }
            }),
        }
    }
}

/// One control; gives what is wished once it is changed.
fn row(ui: &mut Ui, camera: u32, control: &OfferedControl) -> Option<ControlWishes> {
    let kind = control.kind;
    let mut wished = None;
    let name = format!("{kind} of camera {camera}");
    ui.push_id((camera, kind.word()), |ui| {
        widgets::row(ui, kind.word(), kind.help(), |ui| {
            if kind == ControlKind::PowerLine {
                let words: Vec<_> = PowerLine::ALL.iter().map(|&p| (p, p.word(), p.help())).collect();
                let mut chosen = PowerLine::ALL.get(control.value as usize).copied().unwrap_or(PowerLine::Off);
                if widgets::choice(ui, &name, kind.help(), &words, &mut chosen) {
                    wished = Some(ControlWishes { power_line: Some(chosen), ..ControlWishes::default() });
                }
                return;
            }
            let is_auto = control.auto == Some(true);
            if control.auto.is_some() {
                let mut auto = is_auto;
                if ui.checkbox(&mut auto, "auto").on_hover_text("The camera decides.").changed() {
                    wished = wishes(kind, if auto { Wish::Auto } else { Wish::Fixed(control.value) });
                }
            }
            let mut value = control.value;
            let field = DragValue::new(&mut value)
                .range(control.min..=control.max)
                .speed(control.step.max((control.max - control.min) / 300.0))
                .suffix(format!(" {}", kind.unit()))
                .update_while_editing(false);
            let response = ui.add_enabled(!is_auto && wishes(kind, Wish::Auto).is_some(), field);
            response.widget_info(|| WidgetInfo {
                value: Some(value),
                ..WidgetInfo::labeled(Role::SpinButton, true, &name)
            });
            if response.changed() {
                wished = wishes(kind, Wish::Fixed(value));
            }
        });
    });
    wished
}

/// A control as it is wished; `None` for what a person does not set.
fn wishes(kind: ControlKind, wish: Wish<f64>) -> Option<ControlWishes> {
    let none = ControlWishes::default();
    let whole = match wish {
        Wish::Auto => Wish::Auto,
        Wish::Fixed(value) => Wish::Fixed(value.round() as i64),
    };
    Some(match kind {
        ControlKind::Exposure => ControlWishes { exposure_ms: Some(wish), ..none },
        ControlKind::Gain => match whole {
            Wish::Fixed(gain) => ControlWishes { gain: Some(gain), ..none },
            Wish::Auto => none,
        },
        ControlKind::WhiteBalance => ControlWishes { white_balance_k: Some(whole), ..none },
        ControlKind::Focus => ControlWishes { focus: Some(whole), ..none },
        ControlKind::PowerLine | ControlKind::DarkRate => return None,
    })
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
