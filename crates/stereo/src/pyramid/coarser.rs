//! Parameters of the coarser levels, derived from those of the pair.

use super::COARSE_PATHS;
use crate::cost::mutual_information::Start;
use crate::disparity::{RightMatching, Subpixel};
use crate::filter::{Fill, Temporal};
use crate::params::StereoParams;

/// Smallest side of the images of a level, px; there are no coarser levels below it.
const MIN_SIDE_PX: usize = 2;

/// Smallest side of a level that only serves to learn mutual information, px; a histogram needs more pixels.
const MIN_INFORMATIVE_SIDE_PX: usize = 16;

/// Returns the smallest and largest disparity at half the size: each of `params` is twice a coarser one, or 1 px above that.
pub fn coarse_range(params: &StereoParams) -> (i32, i32) {
    let (min, max) = (params.min_disparity, params.disparity(params.num_disparities as usize - 1));
    (min.div_euclid(2), max.div_euclid(2))
}

/// Returns the parameters for half the size, for images of `size` with `params`; `None` where there is no such level.
///
/// Cost, aggregation, penalties, median and left-right check stay. All other tests and filters are off: whole pixels suffice for a
/// gate, and a wrongly dropped, filled or moved disparity would narrow it.
pub fn coarser(size: (usize, usize), params: &StereoParams) -> Option<StereoParams> {
    if !is_gated(size, params) && !has_coarse_information(size, params) {
        return None;
    }
    let (min, max) = coarse_range(params);
    Some(StereoParams {
        min_disparity: min,
        num_disparities: (max - min + 1) as u32,
        gating: params.gating.filter(|&levels| levels > 1).map(|levels| levels - 1),
        mi_levels: params.mi_levels.max(2) - 1,
        paths: if params.paths == 0 { 0 } else { COARSE_PATHS },
        start_angle_deg: 0,
        subpixel: Subpixel::Off,
        uniqueness: 0,
        match_threshold: None,
        drop_border: false,
        confidence: false,
        right_matching: RightMatching::Diagonal,
        speckle_size: 0,
        spatial: None,
        temporal: Temporal::Off,
        choice: false,
        weighted_median: false,
        fill: Fill::None,
        ..params.clone()
    })
}

fn half_side((width, height): (usize, usize)) -> usize {
    width.min(height).div_ceil(2)
}

/// Whether images of `size` are gated by a coarser level.
pub fn is_gated(size: (usize, usize), params: &StereoParams) -> bool {
    params.gating.is_some() && half_side(size) >= MIN_SIDE_PX
}

/// Whether mutual information of images of `size` is learned from a coarser level's map.
pub fn has_coarse_information(size: (usize, usize), params: &StereoParams) -> bool {
    let is_asked_for = params.cost.is_learned() && params.mi_levels > 1;
    is_asked_for && half_side(size) >= MIN_INFORMATIVE_SIDE_PX
}

impl StereoParams {
    /// Whether mutual information starts from the pair before.
    pub fn starts_from_last(&self) -> bool {
        self.cost.is_learned() && self.mi_start == Start::LastFrame
    }
}
