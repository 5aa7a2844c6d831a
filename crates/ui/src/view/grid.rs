//! Layout of the views, as large as possible: all of one size, or one large and the others in a strip.

use super::ViewKind;
use egui::{Pos2, Rect, Vec2, vec2};
use std::cmp::Ordering;

/// Height of the line above each image, points.
pub(crate) const HEADER: f32 = 18.0;
/// Width of a colour bar with its numbers, points.
pub(crate) const BAR: f32 = 62.0;
const GAP: f32 = 8.0;
/// Smallest and largest width of an image in the strip, points; little room reduces the smallest one.
const STRIP: std::ops::RangeInclusive<f32> = 130.0..=320.0;
/// Largest share of the room's width for such an image in little room.
const SMALL_SHARE: f32 = 0.15;

/// Rectangles of one view: image, and at its right the colour bar of a map outside a strip.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ViewRects {
    pub(crate) header: Rect,
    pub(crate) picture: Rect,
    pub(crate) bar: Rect,
}

impl ViewRects {
    pub(crate) fn at(corner: Pos2, size: Vec2, bar: f32) -> Self {
        let picture = Rect::from_min_size(corner + vec2(0.0, HEADER), size);
        Self {
            header: Rect::from_min_max(corner, picture.right_top()),
            picture,
            bar: Rect::from_min_size(picture.right_top(), vec2(bar, size.y)),
        }
    }
}

/// Returns the rectangles in `room` for images of `aspect` (width / height) in the order of `views`, with the one at index `large` large.
/// The others form a strip below or beside it, where it becomes larger.
pub(crate) fn arrange_around(views: &[ViewKind], large: usize, room: Rect, aspect: f32) -> Vec<ViewRects> {
    let others = views.len().saturating_sub(1);
    if others == 0 {
        return arrange(views, room, aspect);
    }
    let bar = if views[large].is_map() { BAR } else { 0.0 };
    let count = others as f32;
    // width of the large image beside a strip with images of this width
    let below = |small: f32| (room.width() - bar).min((room.height() - 2.0 * HEADER - GAP - small / aspect) * aspect);
    let beside = |small: f32| (room.width() - bar - GAP - small).min((room.height() - HEADER) * aspect);
    let max_below = STRIP.end().min((room.width() - GAP * (count - 1.0)) / count);
    let max_beside = STRIP.end().min(((room.height() - GAP * (count - 1.0)) / count - HEADER) * aspect);
    // the widest strip that reduces the large image no more than the narrowest one does
    let widest = |most: f32, large: &dyn Fn(f32) -> f32| {
        let least = STRIP.start().min(SMALL_SHARE * room.width()).min(most);
        let mut widths = (0..=20).map(|step| most + (least - most) * step as f32 / 20.0);
        widths.find(|&small| large(small) >= large(least) - 0.5).unwrap_or(least)
    };
    let (small_below, small_beside) = (widest(max_below, &below), widest(max_beside, &beside));
    let is_below = below(small_below) >= beside(small_beside);
    let small = if is_below { small_below } else { small_beside }.max(1.0).floor();
    let width = if is_below { below(small) } else { beside(small) }.max(1.0).floor();
    let (large_size, small_size) = (vec2(width, width / aspect), vec2(small, small / aspect));
    let strip = if is_below {
        vec2(count * (small + GAP) - GAP, HEADER + small_size.y)
    } else {
        vec2(small, count * (HEADER + small_size.y + GAP) - GAP)
    };
    let whole = vec2(width + bar, HEADER + large_size.y);
    let total = if is_below {
        vec2(whole.x.max(strip.x), whole.y + GAP + strip.y)
    } else {
        vec2(whole.x + GAP + strip.x, whole.y.max(strip.y))
    };
    let corner = room.min + ((room.size() - total) / 2.0).max(Vec2::ZERO).floor();
    let in_strip = |place: usize| {
        let place = place as f32;
        corner
            + if is_below {
                vec2(place * (small + GAP), whole.y + GAP)
            } else {
                vec2(whole.x + GAP, place * (HEADER + small_size.y + GAP))
            }
    };
    let place = |index: usize| match index.cmp(&large) {
        Ordering::Equal => ViewRects::at(corner, large_size, bar),
        Ordering::Less => ViewRects::at(in_strip(index), small_size, 0.0),
        Ordering::Greater => ViewRects::at(in_strip(index - 1), small_size, 0.0),
    };
    (0..views.len()).map(place).collect()
}

/// Returns the rectangles in `room` for images of `aspect` (width / height) of one size, in the order of `views`.
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
        let place = vec2(column as f32 * (width + GAP) + before, row as f32 * (size.y + HEADER + GAP));
        ViewRects::at(corner + place, size, BAR)
    };
    (0..views.len()).map(rects).collect()
}

fn bars(views: &[ViewKind], columns: usize) -> Vec<bool> {
    (0..columns).map(|column| views.iter().skip(column).step_by(columns).any(|v| v.is_map())).collect()
}

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
            "images in one column, maps in the other"
        );
        assert!(four[1].picture.left() > four[0].picture.right());
    }

    #[test]
    fn one_view_is_large_and_the_others_stand_in_a_strip() {
        for room in [(1100.0, 800.0), (760.0, 780.0), (1800.0, 700.0), (630.0, 560.0), (300.0, 300.0)] {
            let room = Rect::from_min_size(pos2(200.0, 40.0), room.into());
            for aspect in [4.0 / 3.0, 16.0 / 9.0, 0.75] {
                for count in 1..=5 {
                    let views = &ViewKind::ALL[..count];
                    for large in 0..count {
                        let all = arrange_around(views, large, room, aspect);
                        let what = format!("{room:?} {aspect} {count} {large}: {all:?}");
                        for (number, rects) in all.iter().enumerate() {
                            assert!(room.contains_rect(rects.header) && room.contains_rect(rects.picture), "{what}");
                            assert!((rects.picture.aspect_ratio() - aspect).abs() < 0.01, "{what}");
                            let others = all.iter().enumerate().filter(|(other, _)| *other != number);
                            let own = rects.header.union(rects.picture).union(rects.bar);
                            for (_, other) in others {
                                assert!(!own.shrink(0.5).intersects(other.header.union(other.picture)), "{what}");
                                assert!(number != large || rects.picture.width() > other.picture.width(), "{what}");
                            }
                        }
                        let in_grid = arrange(views, room, aspect)[large].picture.width();
                        assert!(all[large].picture.width() + 1.0 >= in_grid, "{what}: {in_grid} in a grid");
                    }
                }
            }
        }
    }
}
