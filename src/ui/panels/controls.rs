//! What the cameras in use can be set to, as their drivers offer it.

use crate::capture::webcam::controls::{ControlKind, OfferedControl};
use crate::capture::{ControlWishes, PowerLine, Wish};
use crate::ui::session::Session;
use crate::ui::widgets;
use egui::{DragValue, RichText, Role, Ui, WidgetInfo};

/// What the drivers of the cameras in use offer.
pub(crate) fn show(ui: &mut Ui, session: &mut Session) {
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
    let name = format!("{} of camera {camera}", kind.label());
    let content = |ui: &mut Ui| match kind {
        ControlKind::PowerLine => power_line(ui, &name, control),
        ControlKind::DarkRate => {
            ui.label(kind.value_text(control.value));
            None
        }
        _ => value(ui, &name, control),
    };
    ui.push_id((camera, kind.word()), |ui| widgets::row(ui, kind.label(), kind.help(), content)).inner
}

fn power_line(ui: &mut Ui, name: &str, control: &OfferedControl) -> Option<ControlWishes> {
    let offered = PowerLine::ALL.iter().enumerate().filter(|(i, _)| (control.min..=control.max).contains(&(*i as f64)));
    let words: Vec<_> = offered.map(|(_, &p)| (p, p.word(), p.help())).collect();
    let mut chosen = PowerLine::ALL.get(control.value as usize).copied().unwrap_or(PowerLine::Off);
    let changed = widgets::choice(ui, name, control.kind.help(), &words, &mut chosen);
    changed.then(|| ControlWishes { power_line: Some(chosen), ..ControlWishes::default() })
}

/// A number, with the camera's own choice beside it where it has one.
fn value(ui: &mut Ui, name: &str, control: &OfferedControl) -> Option<ControlWishes> {
    let kind = control.kind;
    let mut wished = None;
    let mut auto = control.auto == Some(true);
    if control.auto.is_some() && ui.checkbox(&mut auto, "auto").on_hover_text("The camera decides.").changed() {
        wished = wishes(kind, if auto { Wish::Auto } else { Wish::Fixed(control.value) });
    }
    let mut value = control.value;
    let field = DragValue::new(&mut value)
        .range(control.min..=control.max)
        .speed(control.step.max((control.max - control.min) / 300.0))
        .suffix(format!(" {}", kind.unit()))
        .update_while_editing(false);
    let response = ui.add_enabled(control.auto != Some(true), field);
    response.widget_info(|| WidgetInfo { value: Some(value), ..WidgetInfo::labeled(Role::SpinButton, true, name) });
    if response.changed() {
        wished = wishes(kind, Wish::Fixed(value));
    }
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
        ControlKind::Gain => ControlWishes { gain: Some(whole), ..none },
        ControlKind::WhiteBalance => ControlWishes { white_balance_k: Some(whole), ..none },
        ControlKind::Focus => ControlWishes { focus: Some(whole), ..none },
        ControlKind::PowerLine | ControlKind::DarkRate => return None,
    })
}
