//! Compared windows of both images, and the right image along the epipolar line.

use super::curves::{AxisOnScreen, RIGHT_COLOR, SECOND_COLOR, WINNER_COLOR};
use egui::{
    Color32, ColorImage, Context, Image as Painted, Rect, RichText, Role, Sense, Stroke, StrokeKind, TextureHandle,
    TextureOptions, Ui, WidgetInfo, pos2, vec2,
};
use stereopsis_base::image::Image;
use stereopsis_stereo::Explanation;
use stereopsis_stereo::explain::Windows;

/// Largest side of a window on the screen, points.
const WINDOW_SIDE: f32 = 96.0;
/// Height of the epipolar line on the screen, points.
const LINE_HEIGHT: f32 = 28.0;

/// Images of an explanation as textures.
pub(crate) struct ExplanationPictures {
    left: TextureHandle,
    right: TextureHandle,
    second: Option<TextureHandle>,
    line: TextureHandle,
}

impl ExplanationPictures {
    pub(crate) fn new(ctx: &Context, windows: &Windows) -> Self {
        let texture = |name: &str, image: &Image<u8>| {
            let size = [image.width(), image.height()];
            ctx.load_texture(name, ColorImage::from_gray(size, image.pixels()), TextureOptions::NEAREST)
        };
        Self {
            left: texture("explained left window", &windows.left),
            right: texture("explained right window", &windows.right),
            second: windows.second.as_ref().map(|second| texture("explained second window", second)),
            line: texture("explained epipolar line", &windows.line),
        }
    }

    /// Shows the right image along the epipolar line: each candidate below its place on the axis of the curves.
    pub(crate) fn line(&self, ui: &mut Ui, axis: AxisOnScreen) {
        let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), LINE_HEIGHT), Sense::hover());
        let candidates = self.line.size()[0].max(1) as f32;
        let half_px = (axis.last - axis.first) / (candidates - 1.0).max(1.0) / 2.0;
        let x =
            if candidates > 1.0 { (axis.first - half_px)..=(axis.last + half_px) } else { rect.left()..=rect.right() };
        let place = Rect::from_x_y_ranges(x, rect.y_range());
        let whole = Rect::from_min_max(pos2(0.0, 0.0), pos2(1.0, 1.0));
        ui.painter().with_clip_rect(rect).image(self.line.id(), place, whole, Color32::WHITE);
        let name = "Right image along the epipolar line, each candidate below its disparity";
        response.widget_info(|| WidgetInfo::labeled(Role::Image, true, name));
    }

    pub(crate) fn windows(&self, ui: &mut Ui, explanation: &Explanation) {
        let winner = format!("right, winner {} px", explanation.disparity_px(explanation.winner));
        let second = explanation.second.map(|second| format!("right, second {} px", explanation.disparity_px(second)));
        ui.horizontal(|ui| {
            window(ui, &self.left, "left", RIGHT_COLOR);
            window(ui, &self.right, &winner, WINNER_COLOR);
            if let (Some(texture), Some(name)) = (&self.second, second) {
                window(ui, texture, &name, SECOND_COLOR);
            }
        });
    }
}

/// Shows one window with its name below it and a frame around its centre.
fn window(ui: &mut Ui, texture: &TextureHandle, name: &str, color: Color32) {
    ui.vertical(|ui| {
        let [columns, rows] = texture.size().map(|side| side as f32);
        let pixel = (WINDOW_SIDE / columns.max(rows)).floor().max(1.0);
        let painted = Painted::new(texture).fit_to_exact_size(vec2(pixel * columns, pixel * rows));
        let response = ui.add(painted);
        let centre = Rect::from_center_size(response.rect.center(), vec2(pixel, pixel));
        ui.painter().rect_stroke(centre, 0.0, Stroke::new(1.0, color), StrokeKind::Outside);
        response.widget_info(|| WidgetInfo::labeled(Role::Image, true, format!("Window, {name}")));
        ui.label(RichText::new(name).small().weak());
    });
}
