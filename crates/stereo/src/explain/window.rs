//! The windows of both images that are compared, and the epipolar line.

use super::Side;
use crate::cost::partner;
use crate::image::Image;

/// Smallest distance from the centre of a shown window to its edge, px: single pixels show nothing.
const MIN_REACH_PX: usize = 3;

/// Brightness around a pixel and its candidates, in eight bits; coordinates are clamped at borders, as costs have it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Windows {
    /// Around the left pixel.
    pub left: Image<u8>,
    /// Around the winner's partner in the right image.
    pub right: Image<u8>,
    /// Around the partner of the second best.
    pub second: Option<Image<u8>>,
    /// The right image along the epipolar line: a column for each candidate that exists, in their order, as many rows as the
    /// windows have.
    pub line: Image<u8>,
    /// Width of the images, px.
    pub picture_width: usize,
}

impl Windows {
    /// The windows of left pixel `(x, y)`, whose candidates are `candidates` px, the winner and the second best among them.
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
