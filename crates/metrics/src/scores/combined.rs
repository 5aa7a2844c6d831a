//! Combination of the scores into one number, fitted to the truth.

use super::Scores;
use crate::quantity::{Measured, Missing};

/// Number of parts.
pub const NUM_PARTS: usize = 5;

/// Names of the parts, each with its unit.
pub const PARTS: [&str; NUM_PARTS] =
    ["left-right failed, %", "census error, bits", "grey error, levels", "roughness off edges, px", "not measured, %"];

/// Differences of the parts that count equally: about the spread of each over settings on the Middlebury pairs.
const UNITS: [f64; NUM_PARTS] = [10.0, 1.0, 4.0, 0.1, 10.0];

/// Weights of the parts in tenths, fitted by `stereopsis-lab scores` over all its scenes.
pub(crate) const WEIGHTS: [u32; NUM_PARTS] = [2, 2, 0, 1, 5];

/// Returns the parts of a map's scores; large values are bad.
///
/// # Errors
/// A part is missing. Without the left-right check a wrong match counts as measured, so there is no score.
pub fn parts(scores: &Scores) -> Result<[f64; NUM_PARTS], Missing> {
    let photometric = scores.photometric?;
    Ok([
        100.0 - scores.left_right_percent?,
        photometric.census_bits,
        photometric.grey_levels,
        scores.smoothness_px?,
        scores.unmeasured_percent,
    ])
}

/// Returns the weighted sum of parts, with weights in tenths; large values are bad.
pub fn combined(parts: &[f64; NUM_PARTS], weights: &[u32; NUM_PARTS]) -> f64 {
    (0..NUM_PARTS).map(|k| f64::from(weights[k]) / 10.0 * parts[k] / UNITS[k]).sum()
}

/// Returns the score without truth: 0 for a perfect map. It orders settings on one pair, but hardly compares different scenes.
///
/// # Errors
/// Errors of [`parts`].
pub fn score_without_truth(scores: &Scores) -> Measured {
    parts(scores).map(|parts| combined(&parts, &WEIGHTS))
}
