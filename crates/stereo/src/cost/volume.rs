//! Cost volume of a pair: the cost of every pixel at every disparity of the range.

use super::PixelCosts;
use super::mutual_information::Table;
use crate::Volume;
use crate::params::StereoParams;
use stereopsis_base::image::Luma;

/// Computes the cost of every pixel and candidate, 0 to [`StereoParams::largest_cost`]; a learned cost without its table is 0.
pub fn volume(left: &Luma, right: &Luma, params: &StereoParams, information: Option<&Table>) -> Volume<u8> {
    let (width, height) = left.size();
    let costs = PixelCosts::new(left, right, params, information);
    let mut volume = Volume::zero(width, height, params.num_disparities as usize);
    for y in 0..height {
        for x in 0..width {
            costs.fill((x, y), params.min_disparity, volume.at_mut(x, y));
        }
    }
    volume
}
