//! Black quadrilaterals whose corners are saddles, as of tags whose corners touch those of black squares.
//! Two dark and two bright sectors meet at a saddle. A dark sector belongs to a quadrilateral if the path along its edges from saddle to
//! saddle, with black always on the same side, returns after four steps.

use super::reading::bilinear;
use calib_targets_chessboard::ChessCorner;
use glam::DVec2;
use stereopsis_base::image::Image;

/// Largest number of corners, the strongest ones, because all dark sectors are compared with each other.
const MAX_CORNERS: usize = 2500;
const MIN_EDGE_PX: f64 = 6.0;
/// Smallest cosine between an edge and its direction at a corner (14 degrees).
const MIN_EDGE_COSINE: f64 = 0.97;
/// Smallest step of brightness across an edge, grey levels.
const MIN_STEP: f64 = 8.0;

/// Dark sector of a saddle, clockwise from one edge to the other.
struct Sector {
    at: DVec2,
    first: DVec2,
    second: DVec2,
}

/// Finds all quadrilaterals and returns their corners clockwise.
pub(super) fn quads(picture: &Image<u8>, corners: &[ChessCorner], min_response: f32) -> Vec<[DVec2; 4]> {
    let mut strong: Vec<&ChessCorner> = corners.iter().filter(|corner| corner.strength >= min_response).collect();
    strong.sort_by(|a, b| b.strength.total_cmp(&a.strength));
    strong.truncate(MAX_CORNERS);
    let sectors: Vec<Sector> = strong
        .into_iter()
        .flat_map(|corner| {
            let at = DVec2::new(f64::from(corner.position.x), f64::from(corner.position.y));
            // angles grow clockwise because rows grow downwards; the sector between them is dark
            let [first, second] = corner.axes.map(|axis| DVec2::from_angle(f64::from(axis.angle)));
            [Sector { at, first, second }, Sector { at, first: -first, second: -second }]
        })
        .collect();
    let next: Vec<Option<usize>> = sectors.iter().map(|sector| next(picture, &sectors, sector)).collect();
    let quad = |start: usize| {
        let second = next[start]?;
        let third = next[second]?;
        let fourth = next[third]?;
        let all = [start, second, third, fourth];
        // each quadrilateral is found from all of its corners
        let is_first = all.iter().all(|other| *other >= start);
        (next[fourth] == Some(start) && is_first).then(|| all.map(|number| sectors[number].at))
    };
    (0..sectors.len()).filter_map(quad).collect()
}

/// Finds the sector at the other end of the first edge.
fn next(picture: &Image<u8>, sectors: &[Sector], from: &Sector) -> Option<usize> {
    let mut found: Vec<(f64, usize)> = Vec::new();
    for (number, to) in sectors.iter().enumerate() {
        let way = to.at - from.at;
        let length = way.length();
        if length >= MIN_EDGE_PX
            && from.first.dot(way) > MIN_EDGE_COSINE * length
            && -to.second.dot(way) > MIN_EDGE_COSINE * length
        {
            found.push((length, number));
        }
    }
    found.sort_by(|a, b| a.0.total_cmp(&b.0));
    found.into_iter().map(|(_, number)| number).find(|number| is_edge(picture, from, sectors[*number].at))
}

/// Whether the whole edge is dark on its right side and bright on its left.
fn is_edge(picture: &Image<u8>, from: &Sector, to: DVec2) -> bool {
    let way = to - from.at;
    // sampled inside a tag's border, and outside before the next tag
    let inwards = way.perp().normalize_or_zero() * (0.07 * way.length()).clamp(1.0, 4.0);
    let is_step = |part: f64| {
        let at = from.at + way * part;
        let both = bilinear(picture, at + inwards).zip(bilinear(picture, at - inwards));
        both.is_some_and(|(inside, outside)| outside - inside > MIN_STEP)
    };
    let steps = (0..9).filter(|i| is_step(0.1 + 0.1 * f64::from(*i))).count();
    steps >= 8
}
