//! Cost volume of a pair: the cost of every pixel at every disparity of the range.

use super::kind::CostSettings;
use super::mutual_information::Table;
use super::pixel::PixelCosts;
use crate::volume::Volume;
use std::ops::RangeInclusive;
use stereopsis_base::image::Luma;

/// Computes the cost of every pixel at all `disparities`, px; a learned cost without its table is 0.
pub fn volume(
    left: &Luma,
    right: &Luma,
    settings: &CostSettings,
    disparities: &RangeInclusive<i32>,
    information: Option<&Table>,
) -> Volume<u8> {
    let (width, height) = left.size();
    let costs = PixelCosts::new(left, right, settings, information);
    let mut volume = Volume::zero(width, height, disparities.clone().count());
    for y in 0..height {
        for x in 0..width {
            costs.fill((x, y), *disparities.start(), volume.at_mut(x, y));
        }
    }
    volume
}
