//! Explanation of the disparity of one pixel: its costs, sums, winner and tests, computed without a volume.
//!
//! The path costs of a pixel depend only on the lines that end in it, so one pixel takes a millisecond where the volume takes a
//! second. Each number must equal that of [`sum_volume`](super::sum_volume),
//! [`winner_takes_all`](super::disparity::winner_takes_all) and [`right_map`](super::disparity::right_map) at this pixel, before the
//! filters.

mod check;
mod lines;
mod partner;
mod side;
mod verdict;
mod window;

pub use check::Checked;
pub use partner::Partner;
pub use side::DirectionWinner;
pub use verdict::{Finished, Verdict};
pub use window::Windows;

use super::disparity::{confidence, is_unique, is_whole};
use super::map::{NO_PICTURE, SUBPIXEL_STEPS, reason, rounded_px};
use super::params::words::{Aggregation, MiStart, RightMatching, Subpixel};
use super::params::{ParamsError, StereoParams};
use super::prior::Prior;
use super::pyramid;
use side::{Side, smallest};
use stereopsis_base::image::PictureRef;

/// Data that the explanations of all pixels of a pair share.
pub struct Explainer {
    left: Side,
    /// Mirrored right image, searched in the mirrored left one; only with [`RightMatching::Swapped`].
    right: Option<Side>,
}

/// Reason why there is no explanation.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Unexplained {
    /// The explanation was abandoned for a newer one.
    #[error("abandoned for a newer pixel")]
    Abandoned,
    /// The images are empty, or of two sizes.
    #[error("not explained: the images have no pixels, or different sizes")]
    Images,
    /// The parameters contradict each other.
    #[error("not explained: {0}")]
    Params(#[from] ParamsError),
    /// Costs are learned from the pair before.
    #[error(
        "not explained with mi-start {}: its costs are learned from the pair before; mi-start {} needs only this one",
        MiStart::LastFrame.word(),
        MiStart::Random.word()
    )]
    LastFrame,
    /// The paths need the weights of whole lines.
    #[error(
        "not explained with aggregation {} before paths: the paths need the weights of whole lines, which take minutes; aggregation {}, \
         or 0 paths, can be explained",
        .0.word(),
        Aggregation::Cross.word()
    )]
    Weights(Aggregation),
    /// Smaller images would be matched for too long.
    #[error(
        "not explained with {} here: the smaller images of it, searched over {num_disparities} disparities, would take many seconds; a \
         smaller working size or search range can be explained",
        if *.is_gated { "gating" } else { "mutual information" }
    )]
    Work {
        /// Whether they are matched for gates, and not for mutual information.
        is_gated: bool,
        /// Number of disparities in the smaller images.
        num_disparities: u32,
    },
    /// The pixel lies outside the images.
    #[error("not explained: pixel {}, {} lies outside images of {} x {} px", .pixel.0, .pixel.1, .size.0, .size.1)]
    Outside {
        /// Column and row of the pixel.
        pixel: (usize, usize),
        /// Width and height of the images, px.
        size: (usize, usize),
    },
}

/// Steps by which a pixel got its disparity.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// Column and row in the left image.
    pub pixel: (usize, usize),
    /// Parameters of the match.
    pub params: StereoParams,
    /// Smallest existing disparity of the pixel, px: the first one of `costs` and `sums`.
    pub first_px: i32,
    /// Matching cost of each candidate: of the two pixels, or of the window with `sad`.
    pub costs: Vec<u32>,
    /// Costs that enter the paths after local aggregation: means, 0 to 255; `None` without it.
    pub means: Option<Vec<u32>>,
    /// Costs that the winner is taken from: path costs summed over all directions; without paths the aggregated costs.
    pub sums: Vec<u32>,
    /// Index of the smallest sum; ties go to the smaller disparity.
    pub winner: usize,
    /// Index of the smallest sum more than 1 px from the winner; `None` where there is no such candidate.
    pub second: Option<usize>,
    /// Sums around the winner with which it was refined; `None` at an end of the range, or without sub-pixel refinement.
    pub refinement: Option<Refinement>,
    /// Disparity that is tested, 1/16 px.
    pub disparity_16th: i32,
    /// Confidence of the winner, 0 to 255.
    pub confidence: u8,
    /// Bits of [`reason`] before the median: border, match threshold, uniqueness, or range for a partner in a black border; 0 if valid.
    pub reasons: u8,
    /// Winners of the single directions of the paths, in their order.
    pub directions: Vec<DirectionWinner>,
    /// Partner in the right image, with its own winner; `None` without a left-right check.
    pub partner: Option<Partner>,
    /// Windows that are compared, and the right image along the epipolar line.
    pub windows: Windows,
    /// Whether gates or costs come from smaller images, which are matched with the same left-right check.
    pub has_smaller_images: bool,
}

/// Three points of the curve of [`Subpixel`], and its lowest point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refinement {
    /// Sums 1 px below the winner, at it, and 1 px above it.
    pub sums: [u32; 3],
    /// Lowest point of the curve, 1/16 px from the winner, -8 to 8.
    pub offset_16th: i32,
}

impl Explainer {
    /// Prepares a pair of images of one size. With `gating` and mutual information this takes longest: both match smaller images first.
    ///
    /// # Errors
    /// The images or the parameters are unusable, or the result depends on earlier pairs.
    pub fn new<'a>(
        left: impl Into<PictureRef<'a>>,
        right: impl Into<PictureRef<'a>>,
        params: &StereoParams,
    ) -> Result<Self, Unexplained> {
        let [PictureRef { luma: left, is_masked, .. }, PictureRef { luma: right, .. }] = [left.into(), right.into()];
        if left.size() != right.size() || left.size().0 == 0 || left.size().1 == 0 {
            return Err(Unexplained::Images);
        }
        params.validate()?;
        if params.starts_from_last() {
            return Err(Unexplained::LastFrame);
        }
        if params.paths > 0 && params.aggregation.has_weights() {
            return Err(Unexplained::Weights(params.aggregation));
        }
        let coarse = pyramid::coarser(params, left.size());
        if let Some(coarse) = coarse.filter(|coarse| prior_work(left.size(), coarse) > MAX_PRIOR_WORK) {
            let (is_gated, num_disparities) = (params.gating.is_some(), coarse.num_disparities);
            return Err(Unexplained::Work { is_gated, num_disparities });
        }
        let prior = Prior::of(left, right, params, None);
        let is_swapped = params.left_right.is_some() && params.right_matching == RightMatching::Swapped;
        let swapped =
            is_swapped.then(|| Side::new(&right.mirrored(), &left.mirrored(), is_masked, params, &prior.swapped()));
        Ok(Self { left: Side::new(left, right, is_masked, params, &prior), right: swapped })
    }

    /// Explains pixel `(x, y)`. `goes_on` is called regularly; the work ends when it returns false.
    ///
    /// # Errors
    /// The pixel lies outside, or `goes_on` returned false.
    pub fn explain(&self, pixel: (usize, usize), goes_on: &dyn Fn() -> bool) -> Result<Explanation, Unexplained> {
        let (side, size) = (&self.left, self.left.size());
        if pixel.0 >= size.0 || pixel.1 >= size.1 {
            return Err(Unexplained::Outside { pixel, size });
        }
        let params = &side.params;
        let gate = side.gate(pixel);
        let found = side.candidates(pixel, goes_on).ok_or(Unexplained::Abandoned)?;
        let choice = TestedWinner::of(&found.sums, pixel, side);
        let first_px = params.disparity(usize::from(gate.first));
        let disparity_16th = choice.disparity_16th;
        let partner =
            params.left_right.map(|_| self.partner(pixel, &found.sums, disparity_16th, goes_on)).transpose()?;
        let winner_px = first_px + choice.winner as i32;
        let second_px = choice.second.map(|second| first_px + second as i32);
        let is_inside = choice.winner > 0 && choice.winner + 1 < found.sums.len();
        let refinement = (params.subpixel != Subpixel::Off && is_inside).then(|| Refinement {
            sums: std::array::from_fn(|k| found.sums[choice.winner + k - 1]),
            offset_16th: choice.offset_16th,
        });
        Ok(Explanation {
            pixel,
            params: params.clone(),
            first_px,
            costs: found.costs,
            means: found.means,
            winner: choice.winner,
            second: choice.second,
            refinement,
            disparity_16th,
            confidence: confidence(&found.sums, choice.winner),
            reasons: choice.reasons,
            directions: found.directions,
            partner,
            windows: Windows::of(side, pixel, first_px..first_px + found.sums.len() as i32, (winner_px, second_px)),
            sums: found.sums,
            has_smaller_images: pyramid::coarser(params, size).is_some(),
        })
    }
}

/// Limit of [`prior_work`]: some seconds.
const MAX_PRIOR_WORK: u64 = 800_000_000;

/// Returns the approximate number of additions for the reference to match images of half this size.
fn prior_work(size: (usize, usize), coarse: &StereoParams) -> u64 {
    let candidates = (size.0 as u64).div_ceil(2) * (size.1 as u64).div_ceil(2) * u64::from(coarse.num_disparities);
    let across = 2 * coarse.local_reach() as u64 + 1;
    candidates * (u64::from(coarse.paths.max(1)) + across * across)
}

/// Winner among the sums of a pixel, with its tests in their order.
struct TestedWinner {
    winner: usize,
    second: Option<usize>,
    offset_16th: i32,
    disparity_16th: i32,
    reasons: u8,
}

impl TestedWinner {
    fn of(sums: &[u32], pixel: (usize, usize), side: &Side) -> Self {
        let (params, size) = (&side.params, side.size());
        let winner = smallest(sums, |_| true).unwrap_or(0);
        let offset_16th = params.subpixel.refine(sums, winner);
        let first = usize::from(side.gate(pixel).first);
        let disparity_16th = SUBPIXEL_STEPS * params.disparity(first + winner) + offset_16th;
        let reasons = if side.is_black(false, pixel.0 as i64, pixel.1) {
            NO_PICTURE
        } else if params.drop_border && !is_whole(pixel, size, params.window_reach(), &params.disparities()) {
            reason::BORDER
        } else if params.largest_accepted_sum().is_some_and(|largest| sums[winner] > largest) {
            reason::MATCH
        } else if !is_unique(sums, winner, params.uniqueness) {
            reason::UNIQUENESS
        } else if side.is_black(true, partner_column(pixel.0, disparity_16th), pixel.1) {
            reason::RANGE
        } else {
            0
        };
        let second = smallest(sums, |i| i.abs_diff(winner) > 1);
        Self { winner, second, offset_16th, disparity_16th, reasons }
    }
}

/// Returns the column of the partner of a left pixel in column `x`; it may lie outside.
fn partner_column(x: usize, disparity_16th: i32) -> i64 {
    x as i64 - i64::from(rounded_px(disparity_16th))
}

impl Explanation {
    /// Returns the disparity of candidate `index` of this pixel, px.
    pub fn disparity_px(&self, index: usize) -> i32 {
        self.first_px + index as i32
    }

    /// Returns the margin of the winner to the second best, per cent of the second's sum; 0 where both are 0.
    pub fn lead_percent(&self) -> Option<f64> {
        let (best, second) = (f64::from(self.sums[self.winner]), f64::from(self.sums[self.second?]));
        Some(if second > 0.0 { 100.0 * (second - best) / second } else { 0.0 })
    }

    /// Returns the smallest sum of a candidate more than 1 px from the winner with which the winner is unique.
    pub fn uniqueness_limit(&self) -> f64 {
        100.0 * f64::from(self.sums[self.winner]) / f64::from(100 - self.params.uniqueness)
    }
}

#[cfg(test)]
mod tests;
