//! Marks of a measurement over an image: the rectangle, the points, and the line between them with its length.

use super::Zoom;
use egui::{Align2, Color32, FontId, Galley, Painter, Pos2, Rect, Stroke, StrokeKind, Vec2, pos2, vec2};
use std::sync::Arc;
use stereopsis_metrics::Region;

/// Smallest side of a dragged rectangle, px; a shorter drag counts as a click.
const MIN_SIDE: usize = 4;
const MARGIN: Vec2 = vec2(4.0, 1.0);
/// Horizontal and vertical distance of a text from the pointer, points.
const POINTER_GAP: f32 = 16.0;
const COLOR: Color32 = Color32::from_rgb(255, 200, 60);

/// Marks of a measurement, in px of the working size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Marks<'a> {
    pub(crate) region: Region,
    pub(crate) points: &'a [(usize, usize)],
    pub(crate) length: Option<&'a str>,
}

impl Marks<'_> {
    /// Paints the marks over an image of `size` px.
    pub(super) fn paint(&self, painter: &Painter, picture: Rect, zoom: Zoom, size: (usize, usize)) {
        let at = |x: f32, y: f32| zoom.to_view(picture, pos2(x / size.0 as f32, y / size.1 as f32));
        let Region { x, y, width, height } = self.region;
        let corner = |x: usize, y: usize| at(x as f32, y as f32);
        let rect = Rect::from_min_max(corner(x, y), corner(x + width, y + height));
        let points: Vec<_> = self.points.iter().map(|&(x, y)| at(x as f32 + 0.5, y as f32 + 0.5)).collect();
        // dark under bright: legible on any image
        for (width, color) in [(3.0, Color32::from_black_alpha(160)), (1.5, COLOR)] {
            let stroke = Stroke::new(width, color);
            painter.rect_stroke(rect, 0.0, stroke, StrokeKind::Middle);
            if let [a, b] = points[..] {
                painter.line_segment([a, b], stroke);
            }
            for &point in &points {
                painter.circle_stroke(point, 4.0, stroke);
            }
        }
        if let ([a, b], Some(text)) = (&points[..], self.length) {
            label(painter, *a + (*b - *a) / 2.0, text);
        }
    }
}

fn label(painter: &Painter, at: Pos2, text: &str) {
    let galley = painter.layout_no_wrap(text.to_owned(), FontId::proportional(13.0), COLOR);
    let rect = Align2::CENTER_BOTTOM.anchor_size(at - vec2(0.0, 8.0), galley.size());
    paint_on_ground(painter, rect, galley, COLOR);
}

/// Paints letters on a ground that makes them legible on any image.
fn paint_on_ground(painter: &Painter, rect: Rect, galley: Arc<Galley>, color: Color32) {
    painter.rect_filled(rect.expand2(MARGIN), 2.0, Color32::from_black_alpha(190));
    painter.galley(rect.min, galley, color);
}

/// Paints a text beside the pointer on a side with room in the image, if one exists.
pub(super) fn paint_beside(painter: &Painter, picture: Rect, pointer: Pos2, text: &str) {
    let galley = painter.layout_no_wrap(text.to_owned(), FontId::proportional(13.0), Color32::WHITE);
    let size = galley.size();
    let sides = [
        (Align2::LEFT_TOP, vec2(1.0, 1.0)),
        (Align2::RIGHT_TOP, vec2(-1.0, 1.0)),
        (Align2::LEFT_BOTTOM, vec2(1.0, -1.0)),
        (Align2::RIGHT_BOTTOM, vec2(-1.0, -1.0)),
    ];
    let mut places = sides.iter().map(|(corner, side)| corner.anchor_size(pointer + POINTER_GAP * *side, size));
    if let Some(rect) = places.find(|rect| picture.contains_rect(rect.expand2(MARGIN))) {
        paint_on_ground(painter, rect, galley, Color32::WHITE);
    }
}

/// Returns the rectangle between two pixels including both, or `None` if it is too small.
pub(super) fn region_between(a: (usize, usize), b: (usize, usize)) -> Option<Region> {
    let (left, right) = (a.0.min(b.0), a.0.max(b.0));
    let (top, bottom) = (a.1.min(b.1), a.1.max(b.1));
    let (width, height) = (right - left + 1, bottom - top + 1);
    (width >= MIN_SIDE && height >= MIN_SIDE).then_some(Region { x: left, y: top, width, height })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rectangle_has_both_corners_whichever_way_it_is_dragged() {
        let expected = Some(Region { x: 3, y: 5, width: 10, height: 6 });
        for (a, b) in [((3, 5), (12, 10)), ((12, 10), (3, 5)), ((12, 5), (3, 10))] {
            assert_eq!(region_between(a, b), expected);
        }
        assert_eq!(region_between((3, 5), (5, 50)), None);
    }
}
