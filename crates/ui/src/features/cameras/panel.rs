//! The cameras with their live pictures; a click makes one left, a second click makes another one right.

use super::thumbnail::{WIDTH, thumbnail};
use crate::action::Action;
use crate::capture::decode_camera::PixelFormat;
use crate::capture::webcam::{CameraInfo, CameraName, Mode, Preview};
use crate::capture::{Orientation, SourceSpec};
use crate::command::Command;
use crate::console::foreign;
use crate::panels::Panel;
use crate::panels::action_button;
use crate::state::State;
use crate::widgets;
use egui::{
    Button, Color32, Image, Label, Rect, RichText, Role, Sense, StrokeKind, TextureHandle, TextureOptions, Ui,
    WidgetInfo, vec2,
};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// Time between two looks for newer pictures.
const REFRESH_INTERVAL: Duration = Duration::from_millis(66);

#[derive(Default)]
pub(crate) struct CameraChooser {
    /// By number of the camera; with the address of the picture that is shown.
    thumbnails: BTreeMap<u32, (TextureHandle, usize)>,
    /// The camera that was clicked first.
    left: Option<CameraName>,
    #[cfg(feature = "zenoh")]
    rigs: super::rigs::RigChooser,
    /// When the panel was shown last, in passes of egui.
    last_pass: u64,
}

impl Panel for CameraChooser {
    fn show(&mut self, ui: &mut Ui, state: &State, commands: &mut Vec<Command>) {
        let pass = ui.ctx().cumulative_pass_nr();
        if pass > self.last_pass + 1 {
            *self = Self::default(); // it was closed
        }
        self.last_pass = pass;
        ui.ctx().request_repaint_after(REFRESH_INTERVAL);
        match state.source.cameras.as_deref() {
            None => drop(ui.label("looking for cameras …")),
            Some([]) => drop(ui.label("no camera found: plug one in, then look again")),
            Some(cameras) => {
                let hint = match &self.left {
                    None => "Click what the left camera sees, as seen from behind the cameras.",
                    Some(_) => "Now click what the right camera sees; the same one again takes it back.",
                };
                widgets::note(ui, hint);
                ui.horizontal_wrapped(|ui| {
                    for camera in cameras {
                        ui.push_id(camera.index, |ui| ui.vertical(|ui| self.tile(ui, state, camera, commands)));
                    }
                });
            }
        }
        ui.horizontal(|ui| {
            if ui.button("Look again").on_hover_text("List the cameras anew.").clicked() {
                commands.push(Command::FindCameras);
            }
            let swap = Button::new(Action::SwapPictures.label());
            action_button(ui, Action::SwapPictures, swap, false, commands);
        });
        if state.source.spec.is_camera() {
            ui.separator();
            options(ui, state, commands);
        }
        #[cfg(feature = "zenoh")]
        {
            ui.separator();
            self.rigs.show(ui, state, commands);
        }
    }
}

impl CameraChooser {
    /// One camera: picture, name, port, use.
    fn tile(&mut self, ui: &mut Ui, state: &State, camera: &CameraInfo, commands: &mut Vec<Command>) {
        ui.set_width(WIDTH as f32);
        let camera_name = name_of(camera);
        let is_left = self.left.as_ref() == Some(&camera_name);
        let used = use_of(state, camera);
        let title = format!("{} {}", camera.index, foreign(&camera.name));
        let help = "Click: the first camera is left, the second one right.";
        // the same room with and without a picture: nothing jumps under the pointer
        let (rect, response) = ui.allocate_exact_size(vec2(WIDTH as f32, WIDTH as f32 * 0.75), Sense::click());
        ui.painter().rect_filled(rect, 2.0, ui.visuals().extreme_bg_color);
        self.update_thumbnail(ui, state, camera);
        if let Some((texture, _)) = self.thumbnails.get(&camera.index) {
            let size = texture.size_vec2();
            let fitted = Rect::from_center_size(rect.center(), size * (rect.size() / size).min_elem());
            Image::new(texture).paint_at(ui, fitted);
        } else {
            let preview = state.source.previews.get(&camera.index);
            let problem = camera.problem.clone().or_else(|| preview.and_then(Preview::problem));
            let text = Label::new(RichText::new(problem.unwrap_or_else(|| "opening …".into())).small()).wrap();
            ui.put(rect.shrink(8.0), text);
        }
        if is_left || used.is_some() {
            let color = if is_left { ui.visuals().selection.bg_fill } else { Color32::from_rgb(90, 160, 90) };
            ui.painter().rect_stroke(response.rect, 2.0, (3.0, color), StrokeKind::Inside);
        }
        response.widget_info(|| WidgetInfo::selected(Role::Button, true, is_left, format!("camera {title}")));
        if response.on_hover_text(help).clicked() {
            match self.left.take() {
                None => self.left = Some(camera_name.clone()),
                Some(left) if left == camera_name => {} // taken back
                Some(left) => commands.push(Command::Open(SourceSpec::WebcamPair(left, camera_name.clone()))),
            }
        }
        let role = if is_left { Some("left") } else { used };
        let name = RichText::new(role.map_or(title.clone(), |role| format!("{title} · {role}")));
        ui.add(Label::new(name).truncate());
        let bus = camera.bus.map_or(String::new(), |bus| format!(" · {bus}"));
        let port = if camera.port.is_empty() { "port not known".to_owned() } else { foreign(&camera.port) };
        ui.add(Label::new(RichText::new(format!("{port}{bus}")).small().weak()).truncate()).on_hover_text(port);
        let proposed = camera.proposes_side_by_side();
        let both = if proposed { "Use: both eyes in one picture" } else { "both eyes in one picture" };
        if ui.small_button(both).on_hover_text("This one camera gives left and right side by side.").clicked() {
            commands.push(Command::Open(SourceSpec::WebcamSideBySide(camera_name)));
        }
    }

    /// Takes a newer picture of the camera: from the source that uses it, or else from its preview.
    fn update_thumbnail(&mut self, ui: &Ui, state: &State, camera: &CameraInfo) {
        let number = camera.index;
        let position = state.status().cameras.cameras.iter().position(|used| used.index == number);
        let preview = state.source.previews.get(&number).and_then(Preview::latest);
        let (address, picture) = match (position, state.output(), &preview) {
            (Some(position), Some(output), _) => {
                let raw = &output.job.frame.raw;
                (Arc::as_ptr(raw) as usize, if position == 0 { &raw.left } else { &raw.right })
            }
            (None, _, Some(picture)) => (Arc::as_ptr(picture) as usize, &**picture),
            _ => return,
        };
        if self.thumbnails.get(&number).is_none_or(|(_, shown)| *shown != address) {
            let name = format!("camera {number}");
            let texture = ui.ctx().load_texture(name, thumbnail(picture), TextureOptions::LINEAR);
            self.thumbnails.insert(number, (texture, address));
        }
    }
}

/// The name of a camera by its port, which stays when numbers change.
fn name_of(camera: &CameraInfo) -> CameraName {
    if camera.port.is_empty() { CameraName::Number(camera.index) } else { CameraName::Port(camera.port.clone()) }
}

/// The use of a camera by the open source.
fn use_of(state: &State, camera: &CameraInfo) -> Option<&'static str> {
    let used = &state.status().cameras.cameras;
    let position = used.iter().position(|used| used.index == camera.index)?;
    Some(match (used.len(), position) {
        (1, _) => "both eyes",
        (_, 0) => "left",
        _ => "right",
    })
}

/// Mode and orientation of the cameras in use; a change opens them again.
fn options(ui: &mut Ui, state: &State, commands: &mut Vec<Command>) {
    let mut options = state.rig.options.clone();
    let modes = modes_in_use(state);
    let views = if matches!(state.source.spec, SourceSpec::WebcamSideBySide(_)) { 2 } else { 1 };
    let help = "What is asked of the cameras; what they have nearest to it is taken.";
    widgets::row(ui, "size per eye", help, |ui| {
        let sizes = sorted(modes.iter().map(|m| (m.width / views, m.height)));
        let words = sizes.into_iter().map(|size| (size, format!("{}×{}", size.0, size.1)));
        list(ui, "Size per eye", "640×480", words, &mut options.size);
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
    let names: &[&str] = if views == 2 { &["picture"] } else { &["left", "right"] };
    for (name, view) in names.iter().zip(&mut options.cameras.views) {
        let help = "How the picture is turned.";
        widgets::row(ui, name, help, |ui| {
            let words: Vec<_> = Orientation::ALL.iter().map(|&o| (o, o.word(), o.help())).collect();
            widgets::choice(ui, &format!("Orientation {name}"), help, &words, &mut view.orientation);
        });
    }
    for camera in &state.status().cameras.cameras {
        let text = format!("camera {}: {}, {:.1}/s come", camera.index, camera.mode, camera.rate_hz);
        widgets::note(ui, text);
    }
    if options != state.rig.options {
        commands.push(Command::Reopen(Box::new(options)));
    }
}

fn sorted<T: Ord>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut values: Vec<_> = values.collect();
    values.sort_unstable();
    values.dedup();
    values
}

/// The modes that all cameras in use have.
fn modes_in_use(state: &State) -> Vec<Mode> {
    let used = &state.status().cameras.cameras;
    let all = state.source.cameras.iter().flatten();
    let mut cameras = all.filter(|camera| used.iter().any(|used| used.index == camera.index));
    let Some(first) = cameras.next() else { return Vec::new() };
    cameras.fold(first.modes.clone(), |mut modes, camera| {
        modes.retain(|mode| camera.modes.iter().any(|other| other.size() == mode.size()));
        modes
    })
}

/// A list that begins with `none`.
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
