//! Map of the right image from a second match with swapped images (Frommholz 2020, section 2).

use super::winner_takes_all;
use crate::map::DisparityMap;
use crate::params::StereoParams;
use crate::prior::Prior;
use crate::sum_volume;
use stereopsis_base::image::Luma;

/// Matches the right image with the left one. Both are mirrored, so that partners again lie to the left.
pub fn swapped_map(left: &Luma, right: &Luma, params: &StereoParams, prior: &Prior) -> DisparityMap {
    let params = StereoParams { confidence: false, choice: false, ..params.clone() };
    let sums = sum_volume(&right.mirrored(), &left.mirrored(), &params, &prior.swapped());
    winner_takes_all(&sums, &params).mirrored()
}
