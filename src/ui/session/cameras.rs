//! Choosing cameras by what they see: a live thumbnail of each one, as long as the chooser is open.

use super::Session;
use crate::capture::SourceSpec;
use crate::capture::webcam::{CameraInfo, CameraName, Preview};
use crate::image::{Luma, Picture};
use egui::{Color32, ColorImage, Context, TextureHandle, TextureOptions};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The chooser's state.
#[derive(Default)]
pub(crate) struct Chooser {
    /// Cameras that nobody else reads.
    previews: BTreeMap<u32, Preview>,
    /// What each camera sees.
    pub(crate) thumbnails: BTreeMap<u32, Thumbnail>,
    /// The first of two that was clicked.
    pub(crate) left: Option<CameraName>,
}

/// A small picture of what a camera sees.
pub(crate) struct Thumbnail {
    pub(crate) texture: TextureHandle,
    /// Tells whether a picture is the one that is shown.
    shown: usize,
}

/// Columns of a thumbnail, at most.
const WIDTH: usize = 192;

impl Session {
    /// Opens or closes the chooser; closed, it lets all cameras go.
    pub(crate) fn toggle_chooser(&mut self) {
        if self.chooser.is_some() {
            self.free_previews();
            self.chooser = None;
        } else {
            self.chooser = Some(Chooser::default());
            self.find_cameras();
        }
    }

    /// Lets the cameras of thumbnails go, so that a source can have them. Waiting for their drivers is not the window's.
    pub(super) fn free_previews(&mut self) {
        let Some(chooser) = &mut self.chooser else { return };
        let previews = std::mem::take(&mut chooser.previews);
        if !previews.is_empty() {
            let _ = std::thread::Builder::new().name("old previews".into()).spawn(move || drop(previews));
        }
    }

    /// Newer thumbnails, where there are some. Called once per frame.
    pub(crate) fn update_thumbnails(&mut self, ctx: &Context) {
        let (Some(chooser), Some(cameras)) = (&mut self.chooser, &self.cameras) else { return };
        let used: Vec<u32> = self.status.cameras.cameras.iter().map(|camera| camera.index).collect();
        let opening = self.source.is_camera() && self.jobs.is_running(super::source::OPEN);
        for camera in cameras.iter().filter(|camera| camera.problem.is_none()) {
            let number = camera.index;
            if let Some(eye) = used.iter().position(|&used| used == number) {
                chooser.previews.remove(&number);
                if let Some(output) = &self.output {
                    let raw = &output.job.frame.raw;
                    let picture = if eye == 0 { &raw.left } else { &raw.right };
                    chooser.show(ctx, number, Arc::as_ptr(raw) as usize, picture);
                }
            } else if !opening {
                let preview = chooser.previews.entry(number).or_insert_with(|| Preview::open(number));
                if let Some(picture) = preview.latest() {
                    chooser.show(ctx, number, Arc::as_ptr(&picture) as usize, &picture);
                }
            }
        }
        ctx.request_repaint_after(std::time::Duration::from_millis(66));
    }

    /// Why a camera has no thumbnail.
    pub(crate) fn preview_problem(&self, camera: &CameraInfo) -> Option<String> {
        let preview = self.chooser.as_ref().and_then(|chooser| chooser.previews.get(&camera.index));
        camera.problem.clone().or_else(|| preview.and_then(Preview::problem))
    }

    /// A click on a camera: the first one is left, the second one right, and both are opened.
    pub(crate) fn pick_camera(&mut self, camera: &CameraInfo) {
        let name = name_of(camera);
        let Some(chooser) = &mut self.chooser else { return };
        match chooser.left.take() {
            None => chooser.left = Some(name),
            Some(left) if left == name => {} // taken back
            Some(left) => self.open(SourceSpec::WebcamPair(left, name)),
        }
    }

    /// Opens a camera that gives both eyes side by side.
    pub(crate) fn pick_side_by_side(&mut self, camera: &CameraInfo) {
        self.open(SourceSpec::WebcamSideBySide(name_of(camera)));
    }
}

/// By port, which stays when numbers change.
pub(crate) fn name_of(camera: &CameraInfo) -> CameraName {
    if camera.port.is_empty() { CameraName::Number(camera.index) } else { CameraName::Port(camera.port.clone()) }
}

impl Chooser {
    fn show(&mut self, ctx: &Context, number: u32, id: usize, picture: &Picture) {
        if self.thumbnails.get(&number).is_some_and(|thumbnail| thumbnail.shown == id) {
            return;
        }
        let image = small(picture);
        if let Some(thumbnail) = self.thumbnails.get_mut(&number) {
            thumbnail.texture.set(image, TextureOptions::LINEAR);
            thumbnail.shown = id;
        } else {
            let texture = ctx.load_texture(format!("camera {number}"), image, TextureOptions::LINEAR);
            self.thumbnails.insert(number, Thumbnail { texture, shown: id });
        }
    }
}

/// Every so manieth pixel of a picture.
fn small(picture: &Picture) -> ColorImage {
    let (width, height) = picture.size();
    let step = width.div_ceil(WIDTH).max(1);
    let size = [width.div_ceil(step), height.div_ceil(step)];
    let grey = |v: u8| Color32::from_gray(v);
    let at = |x: usize, y: usize| match (&picture.rgb, &picture.luma) {
        (Some(rgb), _) => {
            let [r, g, b] = rgb.at(x, y);
            Color32::from_rgb(r, g, b)
        }
        (None, Luma::U8(image)) => grey(image.at(x, y)),
        (None, Luma::U16 { image, bits }) => grey((image.at(x, y) >> (bits - 8)).min(255) as u8),
    };
    let rows = (0..height).step_by(step);
    let pixels = rows.flat_map(|y| (0..width).step_by(step).map(move |x| (x, y))).map(|(x, y)| at(x, y)).collect();
    ColorImage::new(size, pixels)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::Image;

    #[test]
    fn thumbnails_are_small_and_keep_what_is_seen() {
        let luma = Luma::U16 { image: Image::from_fn(400, 31, |x, _| (x * 10) as u16), bits: 12 };
        let small = small(&Picture { luma, rgb: None });
        assert_eq!(small.size, [134, 11]);
        assert_eq!(small.pixels[133], Color32::from_gray((3990 >> 4) as u8));
    }
}
