//! Scores of a map without ground truth, from the images alone. None of them is an error, and each can be good for a wrong map.
//! `stereopsis-lab scores` measures their agreement with truth.

mod combined;
mod measured;
mod photometric;
mod smoothness;
mod temporal;
#[cfg(test)]
mod tests;

pub use combined::{NUM_PARTS, PARTS, combined, parts, score_without_truth};
pub use photometric::{Photometric, photometric};
pub use smoothness::smoothness_px;
pub use temporal::View;
pub(crate) use temporal::temporal_agreement_percent;

use super::quantity::{Better, Measured, Missing, Quantity};
use measured::is_measured;
use stereopsis_base::image::Luma;
use stereopsis_stereo::{DisparityMap, reason};

/// Scores of one map.
#[derive(Clone, Debug, PartialEq)]
pub struct Scores {
    /// Pixels that pass the left-right check, % of all.
    pub left_right_percent: Measured,
    /// Agreement of the left image with the right one warped by the map.
    pub photometric: Result<Photometric, Missing>,
    /// Pixels that kept their disparity since the pair before, % of those without motion.
    pub agreement_percent: Measured,
    /// Steps of the disparity between neighbours of similar brightness, px.
    pub smoothness_px: Measured,
    /// Pixels without a disparity measured in this pair, %.
    pub unmeasured_percent: f64,
}

/// Computes the scores of a map of these images. `checked` is whether the left-right check was on; `previous` is the pair before.
pub fn scores(view: View<'_>, right: &Luma, checked: bool, previous: Option<View<'_>>) -> Scores {
    let View { left, map } = view;
    Scores {
        left_right_percent: if checked { Ok(left_right_percent(map)) } else { Err(Missing::LeftRightCheck) },
        photometric: photometric(left, right, map).ok_or(Missing::Nothing),
        agreement_percent: previous
            .ok_or(Missing::Previous)
            .and_then(|previous| temporal_agreement_percent(previous, view).ok_or(Missing::Moving)),
        smoothness_px: smoothness_px(left, map).ok_or(Missing::Nothing),
        unmeasured_percent: unmeasured_percent(map),
    }
}

/// Reasons of pixels that did not reach the left-right check, or failed it.
const NOT_PASSED: u8 = reason::RANGE | reason::UNIQUENESS | reason::LEFT_RIGHT | reason::MATCH | reason::BORDER;

/// Returns the pixels that passed the left-right check, % of all, including those that a later filter removed, without held and filled
/// ones. Meaningful only if the check was on.
pub fn left_right_percent(map: &DisparityMap) -> f64 {
    let passed = map.reasons.pixels().iter().filter(|&&reasons| reasons & NOT_PASSED == 0).count();
    100.0 * passed as f64 / map.reasons.pixels().len().max(1) as f64
}

/// Returns the pixels without a disparity measured in this pair, % of all.
pub fn unmeasured_percent(map: &DisparityMap) -> f64 {
    let pixels = map.values.pixels().iter().zip(map.reasons.pixels());
    let measured = pixels.filter(|&(&value, &reasons)| is_measured(value, reasons)).count();
    100.0 - 100.0 * measured as f64 / map.values.pixels().len().max(1) as f64
}

impl Scores {
    /// Returns all numbers, in display order.
    pub fn quantities(&self) -> Vec<Quantity> {
        let photometric = |of: fn(&Photometric) -> f64| self.photometric.as_ref().map(of).map_err(|&why| why);
        let quantity = |title, name, unit, better, value| Quantity { title, name, unit, better, value };
        vec![
            quantity("left-right passed", "left_right_percent", "%", Better::Higher, self.left_right_percent),
            quantity("census error", "census_bits", "bits of 24", Better::Lower, photometric(|p| p.census_bits)),
            quantity("grey error", "grey_levels", "grey levels", Better::Lower, photometric(|p| p.grey_levels)),
            quantity("agreement in time", "agreement_percent", "%", Better::Higher, self.agreement_percent),
            quantity("roughness off edges", "smoothness_px", "px", Better::Lower, self.smoothness_px),
            quantity(
                "score without truth",
                "score_without_truth",
                "(0 is best)",
                Better::Lower,
                score_without_truth(self),
            ),
        ]
    }
}
