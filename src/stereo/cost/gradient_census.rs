//! Gradient-census: how unlike two pixels are in the slope of brightness, and how unlike their surroundings are in structure,
//! both on one scale.
//!
//! Made like AD-census (`super::ad_census`), with the difference of gradients in place of that of brightness: an edge lies as
//! exactly, and cameras may expose differently, which a difference of brightness does not bear.

use super::CostKind;
use super::tables::Tables;
use crate::image::Image;

/// The census whose Hamming distance counts: with 48 bits it leaves two bytes for the gradient beside it.
pub const CENSUS: CostKind = CostKind::Census7x7;
/// Slope of brightness along x and y, 128 standing for none: half the difference of both neighbours, rounded down,
/// coordinates clamped.
pub fn gradients(picture: &Image<u8>) -> Image<[u8; 2]> {
    let slope = |from: u8, to: u8| (((i32::from(to) - i32::from(from)) >> 1) + 128) as u8;
    Image::from_fn(picture.width(), picture.height(), |x, y| {
        let at = |dx: isize, dy: isize| picture.at_clamped(x as isize + dx, y as isize + dy);
        [slope(at(-1, 0), at(1, 0)), slope(at(0, -1), at(0, 1))]
    })
}

/// How unlike two gradients are: half the sum of both differences, rounded up; 0 to 254.
pub fn difference(left: [u8; 2], right: [u8; 2]) -> u8 {
    let sum = u32::from(left[0].abs_diff(right[0])) + u32::from(left[1].abs_diff(right[1]));
    sum.div_ceil(2) as u8
}

/// What both parts cost, 0 to 63 each, so that paths keep to bytes: the one place where it is computed, for all engines.
pub fn tables() -> Tables {
    Tables::new(63.0, 5.0, 24.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gradients_are_half_the_step_rounded_down_and_clamped_at_borders() {
        let picture = Image::new(3, 2, vec![10, 20, 0, 13, 255, 0]);
        let gradients = gradients(&picture);
        assert_eq!(gradients.at(0, 0), [128 + 5, 128 + 1], "(20 - 10) / 2, (13 - 10) / 2");
        assert_eq!(gradients.at(1, 0), [128 - 5, 128 + 117]);
        assert_eq!(gradients.at(1, 1), [128 - 7, 128 + 117], "-13 / 2 rounded down");
        assert_eq!(difference([128, 128], [131, 126]), 3, "5 / 2 rounded up");
        assert_eq!(difference([1, 1], [255, 255]), 254);
    }

    #[test]
    fn both_parts_weigh_alike() {
        let tables = tables();
        assert_eq!((tables.cost(0, 0), tables.cost(254, 0), tables.cost(255, 48)), (0, 63, 63 + 54));
        assert_eq!((tables.difference[5], tables.census[24]), (40, 40), "63 (1 - 1 / e)");
    }
}
