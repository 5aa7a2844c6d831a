//! Absolute difference of the brightness of two pixels, in eight bits (Scharstein & Szeliski 2002, section 3.1).

use super::comparison::{Comparison, Cost, ExposureTolerance, Scalar};
use crate::params::words::Penalties;

/// Cost: absolute difference of brightness.
pub const AD: Cost = Cost {
    comparison: Comparison::Difference(Scalar::Brightness),
    penalties: Penalties { p1: 10, p2: 60, p2_min: 15, p2_alpha: 40 },
    parameters: &[],
    exposure: ExposureTolerance::Equal,
};

/// Returns the absolute difference of two bytes, 0 to 255.
pub fn difference(left: u8, right: u8) -> u8 {
    left.abs_diff(right)
}
