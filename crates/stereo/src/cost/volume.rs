//! The cost volume of a pair.

use super::PixelCosts;
use super::mutual_information::Table;
use crate::Volume;
use crate::image::Luma;
use crate::params::StereoParams;

/// Cost of every pixel and candidate, 0 to [`StereoParams::largest_cost`]. A learned cost needs its table; without one all
/// its costs are 0.
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
