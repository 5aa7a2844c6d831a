//! Images of all cameras; a click makes one the left camera, a second click another one the right camera.

use crate::core::{Command, Core};
use crate::panels::thumbnail::{WIDTH, thumbnail};
use crate::widgets;
use egui::{
    Color32, Image, Label, Rect, RichText, Role, Sense, StrokeKind, TextureHandle, TextureOptions, Ui, WidgetInfo, vec2,
};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use stereopsis_base::console::foreign;
use stereopsis_capture::webcam::{DetectedCamera, Preview};
use stereopsis_frame::{CameraName, SourceSpec};

/// Interval of the check for newer images.
const REFRESH_INTERVAL: Duration = Duration::from_millis(66);

#[derive(Default)]
pub(crate) struct Chooser {
    /// Textures by camera number, with the address of the shown image.
    thumbnails: BTreeMap<u32, (TextureHandle, usize)>,
    /// Camera that was clicked first.
    left: Option<CameraName>,
    /// Pass of egui in which the chooser was shown last.
    last_pass: u64,
}

impl Chooser {
    pub(crate) fn show(&mut self, ui: &mut Ui, core: &Core, commands: &mut Vec<Command>) {
        let pass = ui.ctx().cumulative_pass_nr();
        if pass > self.last_pass + 1 {
            *self = Self::default(); // it was closed
        }
        self.last_pass = pass;
        ui.ctx().request_repaint_after(REFRESH_INTERVAL);
        match core.source.cameras.as_deref() {
            None => drop(ui.label("looking for cameras …")),
            Some([]) => drop(ui.label("no camera found: plug one in, then look again")),
            Some(cameras) => {
                let hint = match &self.left {
                    None => {
                        "Click what the left camera sees: left as you stand behind the cameras and look where they look."
                    }
                    Some(_) => "Now click what the right camera sees; the same one again takes it back.",
                };
                widgets::note(ui, hint);
                ui.horizontal_wrapped(|ui| {
                    for camera in cameras {
                        ui.push_id(camera.index, |ui| ui.vertical(|ui| self.tile(ui, core, camera, commands)));
                    }
                });
            }
        }
        if ui.button("Look again").on_hover_text("List the cameras anew.").clicked() {
            commands.push(Command::FindCameras);
        }
    }

    fn tile(&mut self, ui: &mut Ui, core: &Core, camera: &DetectedCamera, commands: &mut Vec<Command>) {
        ui.set_width(WIDTH as f32);
        let camera_name = name_of(camera);
        let is_left = self.left.as_ref() == Some(&camera_name);
        let used = use_of(core, camera);
        let title = format!("{} {}", camera.index, foreign(&camera.name));
        let help = "Click: the first camera is left, the second one right.";
        // equal room with and without an image: nothing jumps under the pointer
        let (rect, response) = ui.allocate_exact_size(vec2(WIDTH as f32, WIDTH as f32 * 0.75), Sense::click());
        ui.painter().rect_filled(rect, 2.0, ui.visuals().extreme_bg_color);
        self.update_thumbnail(ui, core, camera);
        if let Some((texture, _)) = self.thumbnails.get(&camera.index) {
            let size = texture.size_vec2();
            let fitted = Rect::from_center_size(rect.center(), size * (rect.size() / size).min_elem());
            Image::new(texture).paint_at(ui, fitted);
        } else {
            let preview = core.source.previews.get(&camera.index);
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
        let both = if proposed { "Use: left and right side by side" } else { "left and right side by side" };
        if ui
            .small_button(both)
            .on_hover_text("This one camera gives left and right side by side in one image.")
            .clicked()
        {
            commands.push(Command::Open(SourceSpec::WebcamSideBySide(camera_name)));
        }
    }

    /// Updates the image of a camera from the source that uses it, or else from its preview.
    fn update_thumbnail(&mut self, ui: &Ui, core: &Core, camera: &DetectedCamera) {
        let number = camera.index;
        let position = core.status().cameras.cameras.iter().position(|used| used.index == number);
        let preview = core.source.previews.get(&number).and_then(Preview::latest);
        let (address, picture) = match (position, core.output(), &preview) {
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

/// Returns the name of a camera by its port, which stays the same when numbers change.
fn name_of(camera: &DetectedCamera) -> CameraName {
    if camera.port.is_empty() { CameraName::Number(camera.index) } else { CameraName::Port(camera.port.clone()) }
}

fn use_of(core: &Core, camera: &DetectedCamera) -> Option<&'static str> {
    let used = &core.status().cameras.cameras;
    let position = used.iter().position(|used| used.index == camera.index)?;
    Some(match (used.len(), position) {
        (1, _) => "left and right",
        (_, 0) => "left",
        _ => "right",
    })
}
