//! Examination of pairs: the cameras, and their automatic controls.

use super::commands::GuideStep;
use crate::core::{Action, Command, Core, RunningCalibration};
use crate::panels::action_button;
use crate::panels::steps::StepState;
use crate::widgets;
use crate::widgets::warning;
use egui::{Button, Ui};
use stereopsis_base::console::counted;
use stereopsis_capture::webcam::controls::ControlKind;

pub(crate) fn done(core: &Core) -> (StepState, String) {
    let source = &core.status().source;
    let what = format!("{}, {}×{}", source.name, source.width, source.height);
    let cameras = &core.status().cameras.cameras;
    let what = if cameras.is_empty() { what } else { format!("{what}, {}", counted(cameras.len() as u64, "camera")) };
    match &core.guide.running {
        Some(RunningCalibration { ended: Some(why), .. }) => (StepState::Doubtful, format!("has ended: {why}")),
        Some(running) if running.is_looking => (StepState::Good, format!("looking at {what}")),
        Some(_) => (StepState::Open, format!("{what}: stopped")),
        None => (StepState::Open, format!("{what}: not looking yet")),
    }
}

pub(crate) fn show(ui: &mut Ui, core: &Core, commands: &mut Vec<Command>) {
    let running = core.guide.running.as_ref();
    buttons(ui, core, running, commands);
    let source = &core.status().source;
    if let Some(lost) = core.source.lost_text() {
        warning(ui, lost);
    }
    if let Some(blank) = &core.status().health.blank {
        warning(ui, blank.to_string());
    }
    if let Some(exchanged) = &core.status().health.exchanged {
        warning(ui, exchanged.to_string());
    }
    if source.is_rectified {
        widgets::note(
            ui,
            format!("The images of {} are rectified already: what is found here is a rig of such images.", source.name),
        );
    }
    if core.status().cameras.cameras.is_empty() {
        ui.horizontal_wrapped(|ui| {
            widgets::note(ui, "No cameras are in use:");
            action_button(ui, Action::Cameras, Button::new(Action::Cameras.label()), false, commands);
        });
    } else {
        automatics(ui, core, commands);
    }
}

fn buttons(ui: &mut Ui, core: &Core, running: Option<&RunningCalibration>, commands: &mut Vec<Command>) {
    let unsaved = running.map_or(0, RunningCalibration::unsaved);
    ui.horizontal_wrapped(|ui| match running {
        Some(running) if running.is_looking => {
            if ui.button("Stop").on_hover_text("Looks no more. The views stay until they are discarded.").clicked() {
                commands.push(GuideStep::Hold.into());
            }
        }
        Some(running) if running.ended.is_none() => {
            let help = "Looks at pairs again; the views so far count.";
            if ui.button("Go on").on_hover_text(help).clicked() {
                commands.push(GuideStep::Look.into());
            }
            discard(ui, running, commands);
        }
        Some(running) if unsaved > 0 => discard(ui, running, commands),
        _ => {
            let help = "Shows the raw images of both cameras, looks for the board, and takes views.";
            let start = ui.add_enabled(core.guide.board.is_ok(), Button::new("Start"));
            if start.on_hover_text(help).on_disabled_hover_text("The board is not understood.").clicked() {
                commands.push(GuideStep::Look.into());
            }
        }
    });
}

fn discard(ui: &mut Ui, running: &RunningCalibration, commands: &mut Vec<Command>) {
    let help = "Ends this calibration. Its views are lost, but for those that were saved.";
    let views = counted(running.count() as u64, "view");
    let label = if running.unsaved() > 0 { format!("Discard {views}?") } else { "Begin anew".to_owned() };
    if ui.button(label).on_hover_text(help).clicked() {
        commands.push(GuideStep::Discard.into());
    }
}

/// Shows the automatic controls of the cameras during a calibration, with a button that locks them.
fn automatics(ui: &mut Ui, core: &Core, commands: &mut Vec<Command>) {
    let mut found = Vec::new();
    for (camera, offered) in &core.rig.controls {
        let automatic = offered.iter().flatten().filter(|control| control.auto == Some(true));
        let kinds = automatic.filter(|control| matches!(control.kind, ControlKind::Focus | ControlKind::Exposure));
        found.extend(kinds.map(|control| format!("{} of camera {camera}", control.kind.label())));
    }
    if found.is_empty() {
        widgets::note(ui, "Focus and exposure must not change by themselves: no camera in use says that its own do.");
        return;
    }
    warning(
        ui,
        format!(
            "Automatic: {}. A calibration holds for one focus; steady light makes sharp corners.",
            found.join(", ")
        ),
    );
    let help =
        "Switches autofocus off, and automatic exposure: two cameras get the values that the left one has settled at.";
    if ui.button("Lock focus and exposure").on_hover_text(help).clicked() {
        commands.push(GuideStep::LockCameras.into());
    }
}
