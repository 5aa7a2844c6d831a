//! Gradient-census: difference of brightness gradients plus Hamming distance of census strings, both on one scale.
//!
//! It is AD-census (`super::ad_census`) with gradients in place of brightness: as exact at edges, but the exposures of the cameras may
//! differ.

use super::comparison::{Channel, Comparison, Cost, ExposureTolerance, SHAPE_7X7};
use super::tables::Scale;
use crate::params::words::Penalties;
use stereopsis_base::image::Image;

/// Cost: gradient and census 7x7, 0 to 63 each, so that path costs fit in bytes.
pub const GRADIENT_CENSUS: Cost = Cost {
    comparison: Comparison::Tables {
        census: SHAPE_7X7,
        channel: Channel::Gradients,
        scale: Scale { largest: 63, lambda_difference: 5, lambda_census: 24 },
    },
    penalties: Penalties { p1: 20, p2: 80, p2_min: 22, p2_alpha: 50 },
    parameters: &[],
    exposure: ExposureTolerance::Similar,
};

/// Computes the slope of brightness along x and y: half the difference of both clamped neighbours, rounded down, plus 128.
pub fn gradients(picture: &Image<u8>) -> Image<[u8; 2]> {
    let slope = |from: u8, to: u8| (((i32::from(to) - i32::from(from)) >> 1) + 128) as u8;
    Image::from_fn(picture.width(), picture.height(), |x, y| {
        let at = |dx: isize, dy: isize| picture.at_clamped(x as isize + dx, y as isize + dy);
        [slope(at(-1, 0), at(1, 0)), slope(at(0, -1), at(0, 1))]
    })
}

/// Returns the difference of two gradients: half the sum of both differences, rounded up; 0 to 254.
pub fn difference(left: [u8; 2], right: [u8; 2]) -> u8 {
    let sum = u32::from(left[0].abs_diff(right[0])) + u32::from(left[1].abs_diff(right[1]));
    sum.div_ceil(2) as u8
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CostKind;

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
        let Comparison::Tables { scale, .. } = CostKind::GradientCensus.comparison() else { unreachable!() };
        let tables = scale.tables();
        assert_eq!((tables.cost(0, 0), tables.cost(254, 0), tables.cost(255, 48)), (0, 63, 63 + 54));
        assert_eq!((tables.difference[5], tables.census[24]), (40, 40), "63 (1 - 1 / e)");
    }
}
