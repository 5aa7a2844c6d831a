//! Census transform (Zabih & Woodfill 1994): one bit for each comparison in a window around the pixel.
//!
//! Plain shapes compare each neighbour with the centre, in raster order without the centre: bit = neighbour < centre.
//! The symmetric shape compares opposite pixels: bit = a > its mirror. The first comparison is the lowest bit.
//! Coordinates are clamped at the border.

use super::CostKind;
use crate::image::Image;

/// Window of a census transform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Columns of the window, odd.
    pub width: usize,
    /// Rows of the window, odd.
    pub height: usize,
    /// Whether opposite pixels are compared instead of each with the centre.
    pub symmetric: bool,
}

impl Shape {
    /// The window of a census cost.
    ///
    /// # Panics
    /// For a cost that is no census.
    pub const fn of(cost: CostKind) -> Self {
        let (width, height, symmetric) = match cost {
            CostKind::Census5x5 => (5, 5, false),
            CostKind::Census7x7 => (7, 7, false),
            CostKind::Census9x7 => (9, 7, false),
            CostKind::Census9x7Symmetric => (9, 7, true),
            CostKind::Rank | CostKind::Sad => panic!("not a census cost"),
        };
        Self { width, height, symmetric }
    }

    /// Comparisons: 24, 48, 62, or 31 for the symmetric window.
    pub const fn bits(self) -> usize {
        let neighbours = self.width * self.height - 1;
        if self.symmetric { neighbours / 2 } else { neighbours }
    }
}

/// Bit string of every pixel; the cost of two is their Hamming distance.
pub fn transform(luma: &Image<u16>, shape: Shape) -> Image<u64> {
    let (rx, ry) = ((shape.width / 2) as isize, (shape.height / 2) as isize);
    Image::from_fn(luma.width(), luma.height(), |x, y| {
        let (x, y) = (x as isize, y as isize);
        let centre = luma.at_clamped(x, y);
        let mut bits = 0;
        let mut next = 0;
        'window: for dy in -ry..=ry {
            for dx in -rx..=rx {
                if (dx, dy) == (0, 0) {
                    if shape.symmetric {
                        break 'window; // the other half holds the mirrors
                    }
                    continue;
                }
                let value = luma.at_clamped(x + dx, y + dy);
                let set = if shape.symmetric { value > luma.at_clamped(x - dx, y - dy) } else { value < centre };
                bits |= u64::from(set) << next;
                next += 1;
            }
        }
        bits
    })
}
