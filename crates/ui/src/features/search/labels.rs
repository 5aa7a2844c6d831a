//! Placement of labels beside their points.

use egui::{Pos2, Rect, Vec2, vec2};

/// Distance of a label from its point and step of its displacement, points.
const GAP: f32 = 7.0;
/// Largest number of steps, after which a label covers the fewest others.
const MAX_STEPS: usize = 40;

/// Returns rectangles for labels of these sizes beside their points, in `area` and where possible without overlap.
pub(super) fn place(points: &[Pos2], sizes: &[Vec2], area: Rect) -> Vec<Rect> {
    let mut placed: Vec<Rect> = Vec::new();
    for (&point, &size) in points.iter().zip(sizes) {
        let inside = |rect: Rect| {
            let room = (area.size() - size).max(Vec2::ZERO);
            Rect::from_min_size(rect.min.clamp(area.min, area.min + room), size)
        };
        // covered labels count before covered points
        let overlaps = |rect: &Rect| {
            let labels = placed.iter().filter(|other| other.intersects(*rect)).count();
            (labels, points.iter().filter(|point| rect.contains(**point)).count())
        };
        let candidates = around(point, size).map(inside);
        let best = candidates.map(|rect| (overlaps(&rect), rect)).reduce(|best, next| match best.0 {
            (0, 0) => best,
            _ if next.0 < best.0 => next,
            _ => best,
        });
        placed.extend(best.map(|(_, rect)| rect));
    }
    placed
}

/// Returns rectangles of this size around a point, in the order right, left, above, below, then further away.
fn around(point: Pos2, size: Vec2) -> impl Iterator<Item = Rect> {
    (0..MAX_STEPS).flat_map(move |step| {
        let away = GAP * (1 + step) as f32;
        let (x, y) = (size.x / 2.0 + GAP, size.y / 2.0 + away);
        let level = vec2(size.x / 2.0 + away, 0.0);
        let centres = [level, -level, vec2(0.0, -y), vec2(0.0, y), vec2(x, -y), vec2(-x, -y), vec2(x, y), vec2(-x, y)];
        centres.map(|from_point| Rect::from_center_size(point + from_point, size))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use egui::pos2;

    const AREA: Rect = Rect { min: Pos2 { x: 10.0, y: 20.0 }, max: Pos2 { x: 290.0, y: 220.0 } };

    fn check(points: &[Pos2]) -> Vec<Rect> {
        let sizes: Vec<_> = (0..points.len()).map(|k| vec2(32.0 + 9.0 * (k % 3) as f32, 14.0)).collect();
        let places = place(points, &sizes, AREA);
        assert_eq!(places.len(), points.len());
        for (k, (rect, size)) in places.iter().zip(&sizes).enumerate() {
            assert!((rect.size() - *size).length() < 1e-3 && AREA.contains_rect(*rect), "{rect:?} is cut");
            assert!(!places[..k].iter().any(|other| other.intersects(*rect)), "{places:?}");
            assert!(!points.iter().any(|point| rect.contains(*point)), "{rect:?} hides a point of {points:?}");
        }
        places
    }

    #[test]
    fn labels_lie_beside_their_points() {
        let places = check(&[pos2(60.0, 100.0), pos2(160.0, 60.0)]);
        assert!(places[0].left() > 60.0 && (places[0].center().y - 100.0).abs() < 1e-3, "{places:?}");
    }

    #[test]
    fn labels_of_close_points_lie_on_no_other_and_none_is_cut() {
        check(&[pos2(100.0, 100.0), pos2(103.0, 101.0), pos2(105.0, 98.0), pos2(101.0, 104.0), pos2(98.0, 99.0)]);
        check(&[pos2(150.0, 150.0); 6]);
        for x in [10.0, 12.0, 150.0, 288.0, 290.0] {
            for y in [20.0, 23.0, 120.0, 218.0, 220.0] {
                check(&[pos2(x, y), pos2(x, y), pos2(x, y)]);
            }
        }
    }
}
