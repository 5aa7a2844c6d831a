//! Page of cameras: their images, mode and orientation of those in use, rigs of the network.

use crate::core::{Action, Command, Core};
use crate::panels::chooser::Chooser;
use crate::panels::{Panel, action_button};
use crate::widgets;
use egui::{Button, Role, Ui};
use stereopsis_capture::webcam::Mode;
use stereopsis_frame::decode_camera::PixelFormat;
use stereopsis_frame::{Orientation, SourceSpec};

#[derive(Default)]
pub(crate) struct CamerasPage {
    chooser: Chooser,
    #[cfg(feature = "zenoh")]
    rigs: super::rigs::RigChooser,
}

impl Panel for CamerasPage {
    fn show(&mut self, ui: &mut Ui, core: &Core, commands: &mut Vec<Command>) {
        self.chooser.show(ui, core, commands);
        ui.horizontal_wrapped(|ui| {
            if core.status().source.is_camera {
                let swap = Button::new(Action::SwapPictures.label());
                action_button(ui, Action::SwapPictures, swap, false, commands);
            }
            action_button(ui, Action::Rig, Button::new(Action::Rig.label()), false, commands);
        });
        if core.source.spec.is_camera() {
            ui.separator();
            options(ui, core, commands);
        }
        #[cfg(feature = "zenoh")]
        {
            ui.separator();
            self.rigs.show(ui, core, commands);
        }
    }
}

/// Shows mode and orientation of the cameras in use; a change opens them again.
fn options(ui: &mut Ui, core: &Core, commands: &mut Vec<Command>) {
    let mut options = core.rig.options.clone();
    let modes = modes_in_use(core);
    let views = if matches!(core.source.spec, SourceSpec::WebcamSideBySide(_)) { 2 } else { 1 };
    let help = "Size of each image; the cameras use their nearest mode.";
    widgets::row(ui, "size", help, |ui| {
        let info = &core.status().source;
        let now = (info.width, info.height);
        let sizes = sorted(modes.iter().map(|m| (m.width / views, m.height)).chain([now]));
        let words = sizes.into_iter().map(|size| (size, format!("{}×{}", size.0, size.1)));
        let by_itself = format!("automatic: {}×{}", now.0, now.1);
        list(ui, "Size of an image", &by_itself, words, &mut options.size);
    });
    widgets::row(ui, "format", "How pixels travel: MJPEG spares the bus, YUYV and grey lose nothing.", |ui| {
        let formats = PixelFormat::ALL.iter().filter(|&&format| modes.iter().any(|mode| mode.format == format));
        let words = formats.map(|&format| (format, format.name().to_owned()));
        list(ui, "Format", "any", words, &mut options.cameras.format);
    });
    widgets::row(ui, "rate", "Frames per second asked of the cameras.", |ui| {
        let rates = sorted(modes.iter().map(|mode| mode.rate_hz));
        let words = rates.into_iter().map(|hz| (f64::from(hz), format!("{hz}/s")));
        list(ui, "Rate", "any", words, &mut options.rate_hz);
    });
    let names: &[&str] = if views == 2 { &["image"] } else { &["left", "right"] };
    for (name, view) in names.iter().zip(&mut options.cameras.views) {
        let help = "How the image is turned.";
        widgets::row(ui, name, help, |ui| {
            let words: Vec<_> = Orientation::ALL.iter().map(|&o| (o, o.word(), o.help())).collect();
            widgets::choice(ui, &format!("Orientation {name}"), help, &words, &mut view.orientation);
        });
    }
    for camera in &core.status().cameras.cameras {
        let text = format!("camera {}: {}, {:.1}/s come", camera.index, camera.mode, camera.rate_hz);
        widgets::note(ui, text);
    }
    if options != core.rig.options {
        commands.push(Command::Reopen(Box::new(options)));
    }
}

fn sorted<T: Ord>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut values: Vec<_> = values.collect();
    values.sort_unstable();
    values.dedup();
    values
}

/// Returns the modes that all cameras in use have in common.
fn modes_in_use(core: &Core) -> Vec<Mode> {
    let used = &core.status().cameras.cameras;
    let all = core.source.cameras.iter().flatten();
    let mut cameras = all.filter(|camera| used.iter().any(|used| used.index == camera.index));
    let Some(first) = cameras.next() else { return Vec::new() };
    cameras.fold(first.modes.clone(), |mut modes, camera| {
        modes.retain(|mode| camera.modes.iter().any(|other| other.size() == mode.size()));
        modes
    })
}

/// Shows a list that begins with `none`.
fn list<T: Clone + PartialEq>(
    ui: &mut Ui,
    label: &str,
    none: &str,
    words: impl Iterator<Item = (T, String)>,
    chosen: &mut Option<T>,
) {
    let words: Vec<_> = words.map(|(value, word)| (Some(value), word)).collect();
    let text = words.iter().find(|(value, _)| value == chosen).map_or(none, |(_, word)| word.as_str()).to_owned();
    let combo = egui::ComboBox::from_id_salt(label).selected_text(&text).width(120.0);
    let response = combo.show_ui(ui, |ui| {
        ui.selectable_value(chosen, None, none);
        for (value, word) in words {
            ui.selectable_value(chosen, value, word);
        }
    });
    widgets::name_text(&response.response, Role::ComboBox, label, &text);
}
