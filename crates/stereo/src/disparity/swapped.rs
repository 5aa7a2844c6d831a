//! The right image's map from matching once more with the images swapped (Frommholz 2020, section 2).

use super::winner_takes_all;
use crate::image::Luma;
use crate::map::DisparityMap;
use crate::params::StereoParams;
use crate::prior::Prior;
use crate::sum_volume;

/// Matches the right image with the left one. Both are mirrored too, so that partners lie to the left of their pixels.
pub fn swapped_map(left: &Luma, right: &Luma, params: &StereoParams, prior: &Prior) -> DisparityMap {
    let params = StereoParams { confidence: false, choice: false, ..params.clone() };
    let sums = sum_volume(&right.mirrored(), &left.mirrored(), &params, &prior.swapped());
    winner_takes_all(&sums, &params).mirrored()
}
