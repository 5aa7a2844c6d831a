//! Black quadrilaterals whose corners are saddles: tags whose corners touch those of black squares.
//!
//! At a saddle two dark and two bright sectors meet. A dark sector has a quadrilateral if one comes from saddle to saddle along its
//! edges, black always on the same side, and is back after four.

use super::reading::bilinear;
use crate::image::Image;
use calib_targets_chessboard::ChessCorner;
use glam::DVec2;

/// Most corners that are looked at, the strongest: every dark sector is compared with every other.
const MAX_CORNERS: usize = 2500;
/// Shortest edge, px.
const SHORTEST_PX: f64 = 6.0;
/// Cosine of the largest angle between an edge and the direction that a corner gives it: 14 degrees.
const STRAIGHT: f64 = 0.97;
/// Smallest step of brightness across an edge, grey levels.
const LEAST_STEP: f64 = 8.0;

/// A dark sector of a saddle, clockwise from one edge to the other.
struct Sector {
    at: DVec2,
    first: DVec2,
    second: DVec2,
}

/// The corners of all quadrilaterals, each clockwise.
pub(super) fn quads(picture: &Image<u8>, corners: &[ChessCorner], least_response: f32) -> Vec<[DVec2; 4]> {
    let mut strong: Vec<&ChessCorner> = corners.iter().filter(|corner| corner.strength >= least_response).collect();
    strong.sort_by(|a, b| b.strength.total_cmp(&a.strength));
    strong.truncate(MAX_CORNERS);
    let sectors: Vec<Sector> = strong
        .into_iter()
        .flat_map(|corner| {
            let at = DVec2::new(f64::from(corner.position.x), f64::from(corner.position.y));
            // the angles grow clockwise, as rows grow downwards, and between them it is dark
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
        // each is found from all of its corners
        let is_first = all.iter().all(|other| *other >= start);
        (next[fourth] == Some(start) && is_first).then(|| all.map(|number| sectors[number].at))
    };
    (0..sectors.len()).filter_map(quad).collect()
}

/// The sector at the other end of the first edge.
fn next(picture: &Image<u8>, sectors: &[Sector], from: &Sector) -> Option<usize> {
    let mut found: Vec<(f64, usize)> = Vec::new();
    for (number, to) in sectors.iter().enumerate() {
        let way = to.at - from.at;
        let length = way.length();
        if length >= SHORTEST_PX && from.first.dot(way) > STRAIGHT * length && -to.second.dot(way) > STRAIGHT * length {
            found.push((length, number));
        }
    }
    found.sort_by(|a, b| a.0.total_cmp(&b.0));
    found.into_iter().map(|(_, number)| number).find(|number| is_edge(picture, from, sectors[*number].at))
}

/// Whether it is dark on the right side of the whole way, and bright on the left one.
fn is_edge(picture: &Image<u8>, from: &Sector, to: DVec2) -> bool {
    let way = to - from.at;
    // inside the border of a tag, and outside before the next one
    let inwards = way.perp().normalize_or_zero() * (0.07 * way.length()).clamp(1.0, 4.0);
    let is_step = |part: f64| {
        let at = from.at + way * part;
        let both = bilinear(picture, at + inwards).zip(bilinear(picture, at - inwards));
        both.is_some_and(|(inside, outside)| outside - inside > LEAST_STEP)
    };
    let steps = (0..9).filter(|i| is_step(0.1 + 0.1 * f64::from(*i))).count();
    steps >= 8
}
