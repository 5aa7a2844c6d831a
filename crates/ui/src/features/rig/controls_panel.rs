//! Controls of the cameras in use, as offered by their drivers.

use crate::core::{Command, Core};
use crate::widgets;
use egui::{DragValue, RichText, Role, Ui};
use stereopsis_capture::webcam::controls::{ControlKind, OfferedControl};
use stereopsis_frame::{ControlSettings, PowerLine, Setting};

pub(crate) fn show(ui: &mut Ui, core: &Core, commands: &mut Vec<Command>) {
    let cameras = &core.status().cameras.cameras;
    if cameras.is_empty() {
        return;
    }
    widgets::heading(ui, "Cameras");
    ui.horizontal(|ui| {
        if cameras.len() == 2 {
            let help =
                "Takes exposure, gain and white balance that the left camera has settled at, and locks both to them.";
            if ui.button("Equal exposure").on_hover_text(help).clicked() {
                commands.push(Command::EqualExposure);
            }
        }
        if ui.button("Read again").on_hover_text("Automatics change values by themselves.").clicked() {
            commands.push(Command::ReadControls);
        }
    });
    for (view, (camera, offered)) in core.rig.controls.iter().enumerate() {
        ui.label(RichText::new(format!("camera {camera}")).strong());
        match offered {
            Err(why) => widgets::note(ui, why.to_string()),
            Ok(offered) if offered.is_empty() => widgets::note(ui, "its driver offers no controls"),
            Ok(offered) => commands.extend(
                offered
                    .iter()
                    .filter_map(|control| row(ui, *camera, control))
                    .map(|settings| Command::SetControls(view, settings)),
            ),
        }
    }
}

/// Shows one control and returns the new setting after a change.
fn row(ui: &mut Ui, camera: u32, control: &OfferedControl) -> Option<ControlSettings> {
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

fn power_line(ui: &mut Ui, name: &str, control: &OfferedControl) -> Option<ControlSettings> {
    let offered = PowerLine::ALL.iter().enumerate().filter(|(i, _)| (control.min..=control.max).contains(&(*i as f64)));
    let words: Vec<_> = offered.map(|(_, &p)| (p, p.word(), p.help())).collect();
    let mut chosen = PowerLine::ALL.get(control.value as usize).copied().unwrap_or(PowerLine::Off);
    let changed = widgets::choice(ui, name, control.kind.help(), &words, &mut chosen);
    changed.then(|| ControlSettings { power_line: Some(chosen), ..ControlSettings::default() })
}

/// Shows a number, with a box for the camera's automatic value where one exists.
fn value(ui: &mut Ui, name: &str, control: &OfferedControl) -> Option<ControlSettings> {
    let kind = control.kind;
    let mut setting = None;
    let mut auto = control.auto == Some(true);
    if control.auto.is_some() && widgets::checkbox(ui, &mut auto, "auto").on_hover_text("The camera decides.").changed()
    {
        setting = setting_of(kind, if auto { Setting::Auto } else { Setting::Fixed(control.value) });
    }
    let mut value = control.value;
    let field = DragValue::new(&mut value)
        .range(control.min..=control.max)
        .speed(control.step.max((control.max - control.min) / 300.0))
        .suffix(format!(" {}", kind.unit()))
        .update_while_editing(false);
    let response = ui.add_enabled(control.auto != Some(true), field);
    widgets::name(&response, Role::SpinButton, name, value);
    if response.changed() {
        setting = setting_of(kind, Setting::Fixed(value));
    }
    setting
}

fn setting_of(kind: ControlKind, wish: Setting<f64>) -> Option<ControlSettings> {
    let none = ControlSettings::default();
    let whole = match wish {
        Setting::Auto => Setting::Auto,
        Setting::Fixed(value) => Setting::Fixed(value.round() as i64),
    };
    Some(match kind {
        ControlKind::Exposure => ControlSettings { exposure_ms: Some(wish), ..none },
        ControlKind::Gain => ControlSettings { gain: Some(whole), ..none },
        ControlKind::WhiteBalance => ControlSettings { white_balance_k: Some(whole), ..none },
        ControlKind::Focus => ControlSettings { focus: Some(whole), ..none },
        ControlKind::PowerLine | ControlKind::DarkRate => return None,
    })
}
