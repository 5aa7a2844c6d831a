//! Page from two cameras to metres in six steps (cameras, rows, range, scale, colours, file), each with its state and quality.

use super::{rows_panel, scale_panel};
use crate::core::{Action, Command, Core};
use crate::panels::chooser::Chooser;
use crate::panels::source::short_name;
use crate::panels::steps::{StepState, step};
use crate::panels::{Panel, action_button};
use crate::view::metres;
use crate::widgets;
use egui::{Button, RichText, Ui, WidgetInfo};
use stereopsis_live::Cause;
use stereopsis_settings::rig::{RectifyChoice, RigFile};

#[derive(Default)]
pub(crate) struct RigPage {
    chooser: Chooser,
}

impl Panel for RigPage {
    fn show(&mut self, ui: &mut Ui, core: &Core, commands: &mut Vec<Command>) {
        let (done, text) = cameras_state(core);
        step(ui, 1, "Cameras", done, &text, |ui| self.cameras(ui, core, commands));
        if core.source.is_replaced() {
            return; // the other steps would describe the scene
        }
        let (done, text) = rows_panel::state_of(core);
        step(ui, 2, "Rows", done, &text, |ui| rows_panel::show(ui, core, commands));
        let (done, text) = range_state(core);
        step(ui, 3, "Range", done, &text, |ui| buttons(ui, &[Action::FitRange, Action::Widen], commands));
        let (done, text) = scale_panel::state_of(core);
        step(ui, 4, "Scale", done, &text, |ui| scale_panel::show(ui, core, commands));
        let (done, text) = colours_state(core);
        step(ui, 5, "Colours", done, &text, |ui| {
            ui.add_enabled_ui(core.has_depth(), |ui| buttons(ui, &[Action::FitDepth], commands));
        });
        let (done, text) = file_state(core);
        step(ui, 6, "Save", done, &text, |ui| file(ui, core, commands));
    }
}

impl RigPage {
    /// Shows the images of all cameras until two are open, then their sides and controls.
    fn cameras(&mut self, ui: &mut Ui, core: &Core, commands: &mut Vec<Command>) {
        if core.chooses_cameras() {
            self.chooser.show(ui, core, commands);
            widgets::note(ui, "Rows, range and colours follow by themselves then; Ctrl+Z takes each of them back.");
        } else {
            sides(ui, core, commands);
        }
        buttons(ui, &[Action::Cameras, Action::Open], commands);
        if core.source.is_replaced() && ui.button("Open again").clicked() {
            commands.push(Command::OpenAgain);
        }
        if !core.status().cameras.cameras.is_empty() {
            ui.collapsing("Exposure, gain, focus", |ui| super::controls_panel::show(ui, core, commands));
        }
    }
}

fn buttons(ui: &mut Ui, actions: &[Action], commands: &mut Vec<Command>) {
    ui.horizontal_wrapped(|ui| {
        for &action in actions {
            action_button(ui, action, Button::new(action.label()), false, commands);
        }
    });
}

fn cameras_state(core: &Core) -> (StepState, String) {
    let source = &core.source;
    if let Some(opening) = &source.opening {
        return (StepState::Open, format!("opening {opening} …"));
    }
    if source.is_replaced() {
        return (
            StepState::Doubtful,
            format!("{} cannot be opened: this is the built-in scene", short_name(&source.spec)),
        );
    }
    if core.chooses_cameras() {
        return (StepState::Open, "this is the built-in scene: choose your two cameras".to_owned());
    }
    if let Some(lost) = source.lost_text() {
        return (StepState::Doubtful, lost);
    }
    let used = match &core.status().cameras.cameras[..] {
        [left, right] => format!("camera {} left, camera {} right", left.index, right.index),
        [both] => format!("camera {} gives left and right", both.index),
        _ => core.status().source.name.clone(),
    };
    let health = &core.status().health;
    match (&health.exchanged, &health.row_offset) {
        _ if core.rig.sides_checked => (StepState::Good, format!("{used}: checked with a hand")),
        (Some(exchanged), _) => (StepState::Doubtful, exchanged.to_string()),
        (None, Some(rows)) => (StepState::Good, format!("{used}, by {} matches", rows.matches)),
        (None, None) => (StepState::Open, format!("{used}: too few matches to say whether that is right")),
    }
}

/// Shows one switch for the images, and one for the calibration, or for the mounting where there is none.
fn sides(ui: &mut Ui, core: &Core, commands: &mut Vec<Command>) {
    ui.horizontal_wrapped(|ui| {
        let swap = Button::new(Action::SwapPictures.label());
        action_button(ui, Action::SwapPictures, swap, core.rig.choice.swap_pictures, commands);
        if !core.status().source.is_camera {
            return;
        }
        let help =
            "Hold a hand before one lens: the window sees which image changes, and swaps them where that is needed.";
        let watches = core.rig.sides_watch.is_some();
        let label = if watches { "Stop checking" } else { "Check with a hand" };
        if ui.button(label).on_hover_text(help).clicked() {
            commands.push(Command::WatchSides(!watches));
        }
    });
    if let Some(watch) = &core.rig.sides_watch {
        let lens = if core.rig.choice.vertical {
            "the upper lens with a hand for a second"
        } else {
            "the left lens with a hand for a second (left as you stand behind the cameras)"
        };
        let text = format!("Cover {lens}: {} s left", watch.seconds_left());
        ui.add(egui::Label::new(RichText::new(text).strong()).wrap());
    }
    if core.rig.choice.rectify() == RectifyChoice::Calibration {
        let mut choice = core.rig.choice.clone();
        let help =
            "The file's left camera is the one that stands right, as seen from behind. The images stay where they are.";
        let label = "Left and right are exchanged in the calibration file";
        if widgets::checkbox(ui, &mut choice.swapped, label).on_hover_text(help).changed() {
            commands.push(Command::Calibrate(Box::new(choice)));
        }
    } else {
        let mut choice = core.rig.choice.clone();
        let help = "Points lie in the same column of both images then. The upper camera's image is the left one. A calibration says \
                    so itself.";
        if widgets::checkbox(ui, &mut choice.vertical, "One camera stands above the other")
            .on_hover_text(help)
            .changed()
        {
            commands.push(Command::Calibrate(Box::new(choice)));
        }
    }
}

/// Describes the searched distances and the share of the image with a disparity.
fn range_state(core: &Core) -> (StepState, String) {
    let params = &core.matching.params;
    let (first, last) = (params.min_disparity, params.last_disparity());
    let mut text = format!("{first} to {last} px");
    let depth_m = core.geometry().and_then(|geometry| geometry.depth_m(f64::from(last)));
    let between = core.geometry().and_then(|geometry| geometry.interval_words(f64::from(last)));
    let between = between.map_or(String::new(), |between| format!(" ({between})"));
    if let Some(depth_m) = depth_m {
        text = format!("{text}: {} m{between} and farther", metres(depth_m as f32));
    }
    let Some(figures) = core.status().engine.figures else { return (StepState::Open, text) };
    text = format!("{text}; {:.0} % measured", 100.0 * figures.shares.measured);
    let cut = core.status().warnings.iter().find_map(|warning| match warning.cause {
        Cause::TooNear => Some("nearer things are cut off"),
        Cause::TooFar => Some("farther things are cut off"),
        Cause::Blank | Cause::Exchanged | Cause::Rows | Cause::Matches | Cause::Range => Some("not to be judged yet"),
        Cause::Drift | Cause::Skew | Cause::Light | Cause::Source => None,
    });
    match cut {
        Some(cut) => (StepState::Doubtful, format!("{text}; {cut}")),
        None => (StepState::Good, text),
    }
}

fn colours_state(core: &Core) -> (StepState, String) {
    match core.view.depth_range_m.filter(|_| core.has_depth()) {
        Some((near, far)) => (StepState::Good, format!("{} to {} m", metres(near as f32), metres(far as f32))),
        None => (StepState::Open, "fitted once there is depth in metres".to_owned()),
    }
}

fn file_state(core: &Core) -> (StepState, String) {
    let rig = &core.rig;
    let now = RigFile::of(&core.source.spec, &rig.options, &rig.choice);
    match &rig.file {
        Some((path, saved)) if *saved == now => (StepState::Good, format!("saved: {}", path.display())),
        Some((path, _)) => (StepState::Open, format!("changed since {}", path.display())),
        None => (StepState::Open, "not saved to a file; the window keeps it for its next start".to_owned()),
    }
}

fn file(ui: &mut Ui, core: &Core, commands: &mut Vec<Command>) {
    ui.horizontal(|ui| {
        let mut name = core.rig.save_as.clone();
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
