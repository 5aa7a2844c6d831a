//! Visible part of the image common to all views, in shares of the image's width and height.

use egui::{Pos2, Rect, Vec2, pos2, vec2};

const MAX_FACTOR: f32 = 64.0;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Zoom {
    /// Magnification; 1 shows the whole image.
    pub(crate) factor: f32,
    /// Point in the middle of the view, 0 to 1 in both directions.
    centre: Vec2,
}

impl Default for Zoom {
    fn default() -> Self {
        Self { factor: 1.0, centre: vec2(0.5, 0.5) }
    }
}

impl Zoom {
    /// Returns the visible part, 0 to 1 in both directions.
    pub(crate) fn visible(&self) -> Rect {
        Rect::from_center_size(self.centre.to_pos2(), Vec2::splat(1.0 / self.factor))
    }

    /// Enlarges by `ratio` around the fixed point `at` (0 to 1 in the image).
    pub(crate) fn zoom_at(&mut self, at: Pos2, ratio: f32) {
        let factor = (self.factor * ratio).clamp(1.0, MAX_FACTOR);
        self.centre = at.to_vec2() + (self.centre - at.to_vec2()) * (self.factor / factor);
        self.factor = factor;
        self.keep_inside();
    }

    pub(crate) fn enlarge(&mut self, ratio: f32) {
        self.zoom_at(self.centre.to_pos2(), ratio);
    }

    /// Moves the image by a share of the view's size.
    pub(crate) fn pan(&mut self, share: Vec2) {
        self.centre -= share / self.factor;
        self.keep_inside();
    }

    fn keep_inside(&mut self) {
        let half = 0.5 / self.factor;
        self.centre = self.centre.clamp(Vec2::splat(half), Vec2::splat(1.0 - half));
    }

    /// Returns the point of the image (0 to 1) at a point of the view.
    pub(crate) fn to_picture(self, view: Rect, point: Pos2) -> Pos2 {
        let visible = self.visible();
        visible.min + (point - view.min) / view.size() * visible.size()
    }

    /// Returns the point of the view at a point of the image (0 to 1).
    pub(crate) fn to_view(self, view: Rect, point: Pos2) -> Pos2 {
        let visible = self.visible();
        let share = (point - visible.min) / visible.size();
        pos2(view.min.x + share.x * view.width(), view.min.y + share.y * view.height())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zoom_keeps_the_point_under_the_pointer() {
        let view = Rect::from_min_size(pos2(100.0, 50.0), vec2(640.0, 480.0));
        let pointer = pos2(300.0, 200.0);
        let mut zoom = Zoom::default();
        let before = zoom.to_picture(view, pointer);
        zoom.zoom_at(before, 3.0);
        let after = zoom.to_picture(view, pointer);
        assert!((before - after).length() < 1e-5, "{before:?} {after:?}");
        assert!((zoom.to_view(view, after) - pointer).length() < 1e-3);
    }

    #[test]
    fn the_picture_never_leaves_the_view() {
        let mut zoom = Zoom::default();
        zoom.zoom_at(pos2(0.9, 0.1), 4.0);
        zoom.pan(vec2(-40.0, 40.0));
        let visible = zoom.visible();
        assert!(Rect::from_min_max(pos2(-1e-5, -1e-5), pos2(1.00001, 1.00001)).contains_rect(visible), "{visible:?}");
        zoom.zoom_at(pos2(0.2, 0.2), 1e-3);
        assert_eq!(zoom, Zoom::default());
    }
}
