//! Census transform (Zabih & Woodfill 1994): one bit for each comparison in a window around the pixel.
//!
//! Plain shapes compare each neighbour with the centre: bit = neighbour < centre. The symmetric shape compares opposite pixels:
//! bit = pixel > its mirror. Bits follow raster order from the lowest bit, without the centre. Coordinates are clamped at the border.

use super::clamped::padded;
use super::comparison::{Comparison, Cost, ExposureTolerance, SHAPE_7X7, Shape};
use crate::params::words::Penalties;
use stereopsis_base::image::Image;

/// Census over 5 x 5 pixels.
pub const CENSUS_5X5: Cost =
    cost(Shape { width: 5, height: 5, symmetric: false }, Penalties { p1: 14, p2: 60, p2_min: 15, p2_alpha: 44 });
/// Census over 7 x 7 pixels.
pub const CENSUS_7X7: Cost = cost(SHAPE_7X7, Penalties { p1: 26, p2: 120, p2_min: 27, p2_alpha: 88 });
/// Census over 9 x 7 pixels.
pub const CENSUS_9X7: Cost =
    cost(Shape { width: 9, height: 7, symmetric: false }, Penalties { p1: 32, p2: 150, p2_min: 33, p2_alpha: 110 });
/// Centre-symmetric census over 9 x 7 pixels.
pub const CENSUS_9X7_SYMMETRIC: Cost =
    cost(Shape { width: 9, height: 7, symmetric: true }, Penalties { p1: 10, p2: 100, p2_min: 15, p2_alpha: 64 });

const fn cost(shape: Shape, penalties: Penalties) -> Cost {
    Cost { comparison: Comparison::Hamming(shape), penalties, parameters: &[], exposure: ExposureTolerance::Similar }
}

impl Shape {
    /// Returns column and row in the window of each pixel that is compared, in the order of the bits.
    fn compared(self) -> impl Iterator<Item = (usize, usize)> {
        let centre = self.width * self.height / 2;
        let places = (0..self.width * self.height).filter(move |&place| place != centre);
        places.take(self.bits()).map(move |place| (place % self.width, place / self.width))
    }
}

/// Computes the bit string of each pixel; the cost of two pixels is their Hamming distance.
pub fn transform(luma: &Image<u16>, shape: Shape) -> Image<u64> {
    let (width, height) = luma.size();
    let (rx, ry) = (shape.width / 2, shape.height / 2);
    let padded = padded(luma, (rx, ry));
    let places: Vec<_> = shape.compared().collect();
    let mut strings = Image::filled(width, height, 0);
    let mut part = vec![0u16; width];
    for y in 0..height {
        let row = |dx: usize, dy: usize| &padded.row(y + dy)[dx..dx + width];
        // 16 bits at a time: words as wide as the pixels vectorise best
        for (first, places) in (0..).step_by(16).zip(places.chunks(16)) {
            part.fill(0);
            for (next, &(dx, dy)) in places.iter().enumerate() {
                let other = if shape.symmetric { row(2 * rx - dx, 2 * ry - dy) } else { row(rx, ry) };
                let pixels = part.iter_mut().zip(row(dx, dy)).zip(other);
                if shape.symmetric {
                    pixels.for_each(|((bits, value), other)| *bits |= u16::from(value > other) << next);
                } else {
                    pixels.for_each(|((bits, value), other)| *bits |= u16::from(value < other) << next);
                }
            }
            strings.row_mut(y).iter_mut().zip(&part).for_each(|(string, &bits)| *string |= u64::from(bits) << first);
        }
    }
    strings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CostKind;

    fn shape_of(cost: CostKind) -> Shape {
        cost.comparison().census().unwrap()
    }

    #[test]
    fn bits_stand_for_darker_neighbours_in_raster_order() {
        let mut image = Image::filled(9, 9, 10_u16);
        image.set(2, 2, 3); // first comparison of the 5 x 5 window around (4, 4)
        image.set(5, 4, 9); // just right of the centre: number 12
        image.set(6, 6, 11); // last one, brighter
        let shape = shape_of(CostKind::Census5x5);
        assert_eq!(shape.bits(), 24);
        assert_eq!(transform(&image, shape).at(4, 4), 1 | 1 << 12);
        let lengths = [CostKind::Census7x7, CostKind::Census9x7, CostKind::Census9x7Symmetric];
        assert_eq!(lengths.map(|cost| shape_of(cost).bits()), [48, 62, 31]);
    }

    #[test]
    fn symmetric_bits_compare_opposite_pixels() {
        let mut image = Image::filled(9, 7, 10_u16);
        image.set(0, 0, 11); // first of the window around (4, 3), its mirror is (8, 6)
        image.set(3, 3, 12); // last one, its mirror is (5, 3)
        assert_eq!(transform(&image, shape_of(CostKind::Census9x7Symmetric)).at(4, 3), 1 | 1 << 30);
    }

    #[test]
    fn the_border_repeats_its_pixels() {
        let image = Image::new(2, 1, vec![5_u16, 4]);
        let bits = transform(&image, shape_of(CostKind::Census5x5)).at(0, 0);
        // Every row of the window is 5 5 [5] 4 4, because both neighbours on the right are the last column.
        let row = |from: usize| 0b11_u64 << from;
        assert_eq!(bits, row(3) | row(8) | row(12) | row(17) | row(22));
    }
}
