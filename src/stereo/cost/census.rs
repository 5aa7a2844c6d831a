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
            CostKind::Rank
            | CostKind::Sad
            | CostKind::Ad
            | CostKind::AdCensus
            | CostKind::GradientCensus
            | CostKind::MutualInformation => {
                panic!("not a census cost")
            }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_stand_for_darker_neighbours_in_raster_order() {
        let mut image = Image::filled(9, 9, 10_u16);
        image.set(2, 2, 3); // first comparison of the 5 x 5 window around (4, 4)
        image.set(5, 4, 9); // just right of the centre: number 12
        image.set(6, 6, 11); // last one, brighter
        let shape = Shape::of(CostKind::Census5x5);
        assert_eq!(shape.bits(), 24);
        assert_eq!(transform(&image, shape).at(4, 4), 1 | 1 << 12);
        let lengths = [CostKind::Census7x7, CostKind::Census9x7, CostKind::Census9x7Symmetric];
        assert_eq!(lengths.map(|cost| Shape::of(cost).bits()), [48, 62, 31]);
    }

    #[test]
    fn symmetric_bits_compare_opposite_pixels() {
        let mut image = Image::filled(9, 7, 10_u16);
        image.set(0, 0, 11); // first of the window around (4, 3), its mirror is (8, 6)
        image.set(3, 3, 12); // last one, its mirror is (5, 3)
        assert_eq!(transform(&image, Shape::of(CostKind::Census9x7Symmetric)).at(4, 3), 1 | 1 << 30);
    }

    #[test]
    fn the_border_repeats_its_pixels() {
        let image = Image::new(2, 1, vec![5_u16, 4]);
        let bits = transform(&image, Shape::of(CostKind::Census5x5)).at(0, 0);
        // Every row of the window is 5 5 [5] 4 4, because both neighbours on the right are the last column.
        let row = |from: usize| 0b11_u64 << from;
        assert_eq!(bits, row(3) | row(8) | row(12) | row(17) | row(22));
    }
}
