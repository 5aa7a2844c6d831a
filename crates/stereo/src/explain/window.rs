//! Windows of both images that are compared at a pixel, and the epipolar line, for display.

use super::Side;
use crate::cost::partner;
use stereopsis_base::image::Image;

/// Smallest distance from the centre of a shown window to its edge, px; a single pixel shows no structure.
const MIN_REACH_PX: usize = 3;

/// Brightness around a pixel and its candidates, in eight bits; coordinates are clamped at borders, as in the costs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Windows {
    /// Window around the left pixel.
    pub left: Image<u8>,
    /// Window around the winner's partner in the right image.
    pub right: Image<u8>,
    /// Window around the partner of the second best.
    pub second: Option<Image<u8>>,
    /// Right image along the epipolar line: a column for each existing candidate, in their order, and as many rows as the windows.
    pub line: Image<u8>,
    /// Width of the images, px.
    pub picture_width: usize,
}

impl Windows {
    /// Cuts out the windows of left pixel `(x, y)`; `candidates`, `winner_px` and `second_px` are disparities, px.
    pub(super) fn of(
        side: &Side,
        (x, y): (usize, usize),
        candidates: std::ops::Range<i32>,
        (winner_px, second_px): (i32, Option<i32>),
    ) -> Self {
        let [left, right] = &side.pictures;
        let (across, down) = side.params.window_reach();
        let (across, down) = (across.max(MIN_REACH_PX), down.max(MIN_REACH_PX));
        let width = left.width();
        let around = |picture: &Image<u8>, column: usize| {
            Image::from_fn(2 * across + 1, 2 * down + 1, |i, k| {
                let (dx, dy) = (i as isize - across as isize, k as isize - down as isize);
                picture.at_clamped(column as isize + dx, y as isize + dy)
            })
        };
        Self {
            left: around(left, x),
            right: around(right, partner(x, winner_px, width)),
            second: second_px.map(|d| around(right, partner(x, d, width))),
            picture_width: width,
            line: Image::from_fn(candidates.len(), 2 * down + 1, |i, k| {
                let column = partner(x, candidates.start + i as i32, width);
                right.at_clamped(column as isize, y as isize + k as isize - down as isize)
            }),
        }
    }
}
