//! Blur of an image, measured at the edges of a board.

use super::reading::{bilinear, median};
use crate::{Board, Corner, Pattern};
use glam::DVec2;
use stereopsis_base::image::Image;

/// Distance between samples across an edge, px.
const STEP_PX: f64 = 0.25;
const MIN_EDGES: usize = 8;

/// Computes the median 10 to 90 % rise distance across the board's edges in px, limited by the squares or the white margins of markers.
/// A sharp image has 1 to 2 px, a Gaussian blur of sigma px at least 2.6 sigma; `None` if fewer than eight edges can be measured.
pub(crate) fn edge_width_px(picture: &Image<u8>, corners: &[Corner], board: &Board) -> Option<f64> {
    // markers begin beyond this part of a square
    let clear = match board.pattern {
        Pattern::Chessboard => 0.4,
        Pattern::Charuco { marker_mm, .. } => (0.45 * (1.0 - marker_mm / board.square_mm)).min(0.4),
        // the black border of a tag is a fifth of its side
        Pattern::AprilGrid { gap_mm, .. } => (0.9 * gap_mm / board.square_mm).min(0.18),
    };
    let (across, _) = board.inner();
    let at = |id: usize| corners.binary_search_by_key(&id, |corner| corner.id).ok().map(|index| corners[index].at);
    let mut widths = Vec::new();
    for corner in corners {
        let right = ((corner.id + 1) % across != 0).then(|| at(corner.id + 1)).flatten();
        for (next, side) in [(right, at(corner.id + across)), (at(corner.id + across), right)] {
            let (Some(next), Some(side)) = (next, side) else { continue };
            let (edge, side) = (next - corner.at, side - corner.at);
            let normal = edge.perp().normalize_or_zero();
            let reach = clear * side.dot(normal).abs();
            widths.extend(
                [0.35, 0.5, 0.65].iter().filter_map(|part| rise(picture, corner.at + edge * *part, normal, reach)),
            );
        }
    }
    (widths.len() >= MIN_EDGES).then(|| median(widths)).flatten()
}

/// Measures the 10 to 90 % rise distance along `normal`, px.
fn rise(picture: &Image<u8>, centre: DVec2, normal: DVec2, reach: f64) -> Option<f64> {
    let count = (reach / STEP_PX).floor() as i32;
    if count < 4 {
        return None;
    }
    let values: Option<Vec<f64>> =
        (-count..=count).map(|step| bilinear(picture, centre + normal * f64::from(step) * STEP_PX)).collect();
    let mut values = values?;
    if values.first()? > values.last()? {
        values.reverse();
    }
    let end = (values.len() / 6).max(1);
    let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
    let (low, high) = (mean(&values[..end]), mean(&values[values.len() - end..]));
    let level = |share: f64| low + (high - low) * share;
    if high - low < 8.0 {
        return None;
    }
    let middle = values.iter().position(|value| *value >= level(0.5))?;
    let crossing = |from: usize, to: usize, at: f64| from as f64 + (at - values[from]) / (values[to] - values[from]);
    let below = (0..middle).rev().find(|index| values[*index] <= level(0.1))?;
    let above = (middle..values.len()).find(|index| values[*index] >= level(0.9)).filter(|index| *index > 0)?;
    Some((crossing(above - 1, above, level(0.9)) - crossing(below, below + 1, level(0.1))) * STEP_PX)
}
