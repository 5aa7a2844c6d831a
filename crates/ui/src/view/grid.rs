//! Arranges the views so that all pictures have the same size, as large as possible.

use super::ViewKind;
use egui::{Rect, Vec2, vec2};

/// Height of the line above each picture, points.
pub(crate) const HEADER: f32 = 18.0;
/// Width of a colour bar with its numbers, points.
pub(crate) const BAR: f32 = 62.0;
const GAP: f32 = 8.0;

/// Rectangles of one view: picture, and right of it the colour bar, if it has one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ViewRects {
    pub(crate) header: Rect,
    pub(crate) picture: Rect,
    pub(crate) bar: Rect,
}

/// Rectangles of `views` in `room` for pictures of `aspect` (width / height), in the same order.
pub(crate) fn arrange(views: &[ViewKind], room: Rect, aspect: f32) -> Vec<ViewRects> {
    let Some(columns) = (1..=views.len()).max_by(|&a, &b| {
        picture_width(views, room.size(), aspect, a).total_cmp(&picture_width(views, room.size(), aspect, b))
    }) else {
        return Vec::new();
    };
    let rows = views.len().div_ceil(columns);
    let width = picture_width(views, room.size(), aspect, columns).max(1.0);
    let size = vec2(width, width / aspect);
    let bars = bars(views, columns);
    let total = vec2(
        columns as f32 * (width + GAP) - GAP + bars.iter().filter(|&&b| b).count() as f32 * BAR,
        rows as f32 * (size.y + HEADER + GAP) - GAP,
    );
    let corner = room.min + ((room.size() - total) / 2.0).max(Vec2::ZERO).floor();
    let rects = |index: usize| {
        let (row, column) = (index / columns, index % columns);
        let before = bars[..column].iter().filter(|&&b| b).count() as f32 * BAR;
        let min = corner
            + vec2(column as f32 * (width + GAP) + before, row as f32 * (size.y + HEADER + GAP))
            + vec2(0.0, HEADER);
        let picture = Rect::from_min_size(min, size);
        ViewRects {
            header: Rect::from_min_max(min - vec2(0.0, HEADER), picture.right_top()),
            picture,
            bar: Rect::from_min_size(picture.right_top(), vec2(BAR, size.y)),
        }
    };
    (0..views.len()).map(rects).collect()
}

/// Which columns have a colour bar.
fn bars(views: &[ViewKind], columns: usize) -> Vec<bool> {
    (0..columns).map(|column| views.iter().skip(column).step_by(columns).any(|v| v.is_map())).collect()
}

/// Width of each picture with this many columns.
fn picture_width(views: &[ViewKind], room: Vec2, aspect: f32, columns: usize) -> f32 {
    let rows = views.len().div_ceil(columns) as f32;
    let bars = bars(views, columns).iter().filter(|&&b| b).count() as f32 * BAR;
    let by_width = (room.x - bars - GAP * (columns as f32 - 1.0)) / columns as f32;
    let by_height = ((room.y - GAP * (rows - 1.0)) / rows - HEADER) * aspect;
    by_width.min(by_height).floor()
}

#[cfg(test)]
mod tests {
    use super::*;
    use egui::pos2;

    #[test]
    fn all_views_fit_and_are_equal() {
        let room = Rect::from_min_size(pos2(200.0, 40.0), vec2(1100.0, 800.0));
        for count in 1..=ViewKind::ALL.len() {
            let all = arrange(&ViewKind::ALL[..count], room, 4.0 / 3.0);
            for (rects, view) in all.iter().zip(ViewKind::ALL) {
                assert_eq!(rects.picture.size(), all[0].picture.size());
                assert!(room.contains_rect(rects.header) && room.contains_rect(rects.picture), "{count}: {rects:?}");
                assert!(!view.is_map() || room.contains_rect(rects.bar), "{count}: {rects:?}");
            }
        }
        let four = arrange(&ViewKind::AT_FIRST, room, 4.0 / 3.0);
        assert!(
            (four[0].picture.left() - four[2].picture.left()).abs() < 1e-3,
            "pictures in one column, maps in the other"
        );
        assert!(four[1].picture.left() > four[0].picture.right());
    }
}
