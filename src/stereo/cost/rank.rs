//! Rank transform (Zabih & Woodfill 1994), the cost of Banz et al. 2011: how many pixels of the window are darker than
//! its centre. The cost of two pixels is the absolute difference of their ranks. Coordinates are clamped at the border.

use super::{Comparison, Cost, ExposureTolerance, Penalties, Scalar};
use crate::image::Image;

/// Absolute difference of ranks.
pub const RANK: Cost = Cost {
    comparison: Comparison::Difference(Scalar::Rank),
    penalties: Penalties { p1: 40, p2: 120, p2_min: 44, p2_alpha: 80 },
    parameters: &["rank-window"],
    exposure: ExposureTolerance::Similar,
};

/// Rank of every pixel in a `window` x `window` neighbourhood, 0 to `window^2 - 1`; `window` is odd, 3 to 9.
pub fn transform(luma: &Image<u16>, window: usize) -> Image<u8> {
    let r = (window / 2) as isize;
    Image::from_fn(luma.width(), luma.height(), |x, y| {
        let (x, y) = (x as isize, y as isize);
        let centre = luma.at_clamped(x, y);
        let mut darker = 0;
        for dy in -r..=r {
            for dx in -r..=r {
                darker += u8::from(luma.at_clamped(x + dx, y + dy) < centre);
            }
        }
        darker
    })
}
