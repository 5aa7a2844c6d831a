//! Rank transform (Zabih & Woodfill 1994), the cost of Banz et al. 2011: the number of pixels in the window that are darker than
//! the centre. The cost of two pixels is the absolute difference of their ranks. Coordinates are clamped at the border.

use super::clamped::padded;
use super::comparison::{Comparison, Cost, ExposureTolerance, Scalar};
use crate::params::words::Penalties;
use stereopsis_base::image::Image;

/// Cost: absolute difference of ranks.
pub const RANK: Cost = Cost {
    comparison: Comparison::Difference(Scalar::Rank),
    penalties: Penalties { p1: 40, p2: 120, p2_min: 44, p2_alpha: 80 },
    parameters: &["rank-window"],
    exposure: ExposureTolerance::Similar,
};

/// Computes the rank of every pixel in `window` x `window` px, 0 to `window^2 - 1`; `window` is odd, 3 to 9.
pub fn transform(luma: &Image<u16>, window: usize) -> Image<u8> {
    let (width, height) = luma.size();
    let padded = padded(luma, (window / 2, window / 2));
    let mut ranks = Image::filled(width, height, 0);
    for y in 0..height {
        for (dx, dy) in (0..window).flat_map(|dy| (0..window).map(move |dx| (dx, dy))) {
            let row = ranks.row_mut(y).iter_mut().zip(luma.row(y));
            for ((rank, centre), value) in row.zip(&padded.row(y + dy)[dx..]) {
                *rank += u8::from(value < centre);
            }
        }
    }
    ranks
}
