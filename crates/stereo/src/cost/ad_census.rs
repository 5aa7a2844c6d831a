//! AD-census (Mei et al. 2011, eqs. 1 to 3; the cost of Fang et al. 2012): difference of brightness plus Hamming distance of census
//! strings, both on one scale. The paper takes the mean difference over three colours; here only brightness is matched.

use super::comparison::{Channel, Comparison, Cost, ExposureTolerance, SHAPE_7X7};
use super::tables::Scale;
use crate::params::words::Penalties;

/// Cost: absolute difference and census 7x7, 0 to 127 each.
pub const AD_CENSUS: Cost = Cost {
    comparison: Comparison::Tables {
        census: SHAPE_7X7,
        channel: Channel::Brightness,
        scale: Scale { largest: 127, lambda_difference: 10, lambda_census: 30 },
    },
    penalties: Penalties { p1: 40, p2: 160, p2_min: 44, p2_alpha: 100 },
    parameters: &[],
    exposure: ExposureTolerance::Equal,
};
