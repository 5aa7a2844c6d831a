//! Sparse matches of a pair, rectified or not: corners of both images, compared by their patches.
//!
//! Every left corner is compared with every right one in a window of rows and columns. Matches that are mutually best, unambiguous and
//! consistent with their neighbours are refined to sub-pixel accuracy. The arithmetic has a fixed order, so the result is deterministic.

mod corners;
mod patch;
mod point;
mod pyramid;
mod refine;

use corners::Corner;
use glam::DVec2;
use patch::Patch;
pub use point::Match;
use pyramid::Pyramid;
use stereopsis_base::image::{Image, Luma};

/// Search window and resolution of the matches.
#[derive(Clone, Copy, Debug)]
pub struct Search {
    /// Smallest and largest disparity, as a fraction of the width.
    pub disparity: (f64, f64),
    /// Largest row offset, as a fraction of the height.
    pub rows: f64,
    /// Largest width of the pyramid level in which corners are detected, px.
    pub width_px: usize,
}

/// Window for two cameras side by side with left and right swapped.
pub(crate) const EXCHANGED: Search = Search { disparity: (-0.40, 0.10), rows: 0.08, width_px: WIDTH_PX };
/// Window for two cameras side by side that are not aligned.
pub(crate) const STEREO: Search = Search { disparity: (-0.10, 0.40), rows: 0.08, width_px: WIDTH_PX };
/// Window for rectified images of two cameras that look towards each other.
pub(crate) const VERGED: Search = Search { disparity: (-0.40, 0.40), rows: 0.02, width_px: WIDTH_PX };
/// Width of the level for several hundred corners, px.
pub(super) const WIDTH_PX: usize = 800;

/// Smallest correlation of two corners.
const MIN_CORRELATION: f64 = 0.6;
/// Smallest correlation after refinement.
const MIN_REFINED_CORRELATION: f64 = 0.8;
/// Ratio test: largest ratio of the distances from correlation 1 of the best and the second partner.
const MAX_DISTANCE_RATIO: f64 = 0.7;
/// Largest distance between right corners that count as the same point, px.
const SAME_POINT_PX: f32 = 4.0;

/// Finds matches in the window for two cameras side by side: disparities from -10 to 40 % of the width, row offsets up to 8 % of the
/// height. Empty for images of different sizes or without texture.
pub fn matches(left: &Luma, right: &Luma) -> Vec<Match> {
    search(left, right, STEREO)
}

/// Finds matches like [`matches`] of the edges alone, whichever side of them is brighter: of images of two kinds of light, such as thermal
/// and visible ones.
pub fn edge_matches(left: &Luma, right: &Luma) -> Vec<Match> {
    let [left, right] = [left, right].map(|luma| Luma::U8(edges(&luma.to_u8())));
    matches(&left, &right)
}

/// Returns how much the brightness changes at each pixel.
fn edges(image: &Image<u8>) -> Image<u8> {
    let (width, height) = image.size();
    Image::from_fn(width, height, |x, y| {
        let at = |x: usize, y: usize| i32::from(image.at(x.min(width - 1), y.min(height - 1)));
        let change = |before: i32, behind: i32| (behind - before).unsigned_abs();
        let (x_change, y_change) =
            (change(at(x.saturating_sub(1), y), at(x + 1, y)), change(at(x, y.saturating_sub(1)), at(x, y + 1)));
        (x_change + y_change).min(255) as u8
    })
}

/// Finds matches in the window of `search`.
pub fn search(left: &Luma, right: &Luma, search: Search) -> Vec<Match> {
    if left.size() != right.size() || left.size().0 < 32 || left.size().1 < 32 {
        return Vec::new();
    }
    let levels = [left, right].map(Pyramid::new);
    let work = levels[0].level_at_most(search.width_px);
    let described = levels.each_ref().map(|pyramid| {
        let corners = corners::find(pyramid.level(work));
        let patches: Vec<_> = corners.iter().map(|&corner| Patch::cut(pyramid, work, corner)).collect();
        (corners, patches)
    });
    let size = levels[0].level(work).size();
    let pairs = mutual(&described, search, DVec2::new(size.0 as f64, size.1 as f64));
    let found: Vec<_> = pairs
        .into_iter()
        .filter_map(|(l, r)| refine::refine(&levels, work, described[0].0[l], described[1].0[r]))
        .filter(|found| found.score >= MIN_REFINED_CORRELATION)
        .collect();
    supported(&found, DVec2::new(left.size().0 as f64, left.size().1 as f64))
}

/// Returns the number of corners of an image, a measure of its texture.
pub(super) fn corner_count(luma: &Luma) -> usize {
    let pyramid = Pyramid::new(luma);
    corners::find(pyramid.level(pyramid.level_at_most(WIDTH_PX))).len()
}

/// Returns pairs of corners that are mutually best and pass the ratio test.
fn mutual(described: &[(Vec<Corner>, Vec<Patch>); 2], search: Search, size: DVec2) -> Vec<(usize, usize)> {
    let [(left, left_patches), (right, right_patches)] = described;
    let (low, high) = ((search.disparity.0 * size.x) as f32, (search.disparity.1 * size.x) as f32);
    let rows = (search.rows * size.y) as f32;
    let mut best_of_right = vec![(MIN_CORRELATION as f32, usize::MAX); right.len()];
    let mut best_of_left = Vec::with_capacity(left.len());
    let mut candidates = Vec::new();
    for (l, at) in left.iter().enumerate() {
        candidates.clear();
        let first = right.partition_point(|c| c.y < at.y - rows);
        for (r, to) in right.iter().enumerate().skip(first).take_while(|(_, c)| c.y <= at.y + rows) {
            let disparity = at.x - to.x;
            if disparity < low || disparity > high {
                continue;
            }
            let Some(score) = left_patches[l].likeness(&right_patches[r]) else { continue };
            candidates.push((score, r));
            if score > best_of_right[r].0 {
                best_of_right[r] = (score, l);
            }
        }
        let best =
            candidates.iter().copied().fold((MIN_CORRELATION as f32, usize::MAX), |a, b| if b.0 > a.0 { b } else { a });
        let elsewhere = |r: usize| {
            let (dx, dy) = (right[r].x - right[best.1].x, right[r].y - right[best.1].y);
            dx * dx + dy * dy > SAME_POINT_PX * SAME_POINT_PX
        };
        let clear = best.1 != usize::MAX
            && candidates.iter().all(|&(s, r)| 1.0 - best.0 <= MAX_DISTANCE_RATIO as f32 * (1.0 - s) || !elsewhere(r));
        best_of_left.push(if clear { best.1 } else { usize::MAX });
    }
    let both = best_of_left.iter().enumerate().filter(|&(l, &r)| r != usize::MAX && best_of_right[r].1 == l);
    both.map(|(l, &r)| (l, r)).collect()
}

/// Keeps matches that move like at least two of their eight nearest neighbours.
fn supported(found: &[Match], size: DVec2) -> Vec<Match> {
    const NEIGHBOURS: usize = 8;
    let limit = (size * DVec2::new(0.02, 0.008)).max(DVec2::splat(1.5));
    let agrees = |a: &Match, b: &Match| ((a.right - a.left) - (b.right - b.left)).abs().cmple(limit).all();
    let mut nearest: Vec<(f64, usize)> = Vec::new();
    let mut keep = |&(i, a): &(usize, &Match)| {
        nearest.clear();
        for (j, b) in found.iter().enumerate().filter(|&(j, _)| j != i) {
            let place = (a.left.distance_squared(b.left), j);
            if nearest.len() < NEIGHBOURS || place.0 < nearest[NEIGHBOURS - 1].0 {
                let at = nearest.partition_point(|near| near.0 <= place.0);
                nearest.insert(at, place);
                nearest.truncate(NEIGHBOURS);
            }
        }
        nearest.iter().filter(|&&(_, j)| agrees(a, &found[j])).count() >= 2
    };
    found.iter().enumerate().filter(|pair| keep(pair)).map(|(_, a)| *a).collect()
}

#[cfg(test)]
mod tests;
