//! Description of a filter.

use crate::image::{Image, PictureRef};
use crate::map::{DisparityMap, INVALID, Maps};
use crate::params::StereoParams;

/// Description of a filter.
pub struct Filter {
    /// The number that decides its loops, such as a radius; 0 for a filter without one, `None` where the parameters turn it off.
    pub size: fn(&StereoParams) -> Option<u32>,
    /// The filter in plain loops.
    pub function: Function,
}

/// Kinds of filters, by their inputs and outputs.
pub enum Function {
    /// Changes the maps after the left and the right image.
    Maps(fn(&mut Maps, [PictureRef<'_>; 2])),
    /// Changes each map by itself.
    Map(fn(&mut DisparityMap, &StereoParams)),
    /// Changes each map after the image that it belongs to.
    MapOfPicture(fn(&mut DisparityMap, PictureRef<'_>, &StereoParams)),
    /// Changes the left map after the left and the right image, and the finished left map of the pair before where it is kept.
    LeftMap(fn(&mut DisparityMap, [PictureRef<'_>; 2], Option<&DisparityMap>, &StereoParams)),
    /// Changes the left and the right map together. Behind it the right map is dropped unless it is a result.
    BothMaps(fn(&mut DisparityMap, &mut DisparityMap, &StereoParams)),
    /// Changes the left map and its own state, which is kept from pair to pair.
    Sequence(fn(&mut DisparityMap, &mut Option<Smoothed>, &StereoParams)),
}

/// State of the temporal filter, for each pixel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Smoothed {
    /// The running mean, 1/16 px; [`INVALID`] where no disparity was ever measured.
    pub values: Image<i16>,
    /// In which of the last eight pairs it was measured, the last one in bit 0.
    pub seen: Image<u8>,
}

impl Smoothed {
    /// Before the first pair.
    pub fn empty((width, height): (usize, usize)) -> Self {
        Self { values: Image::filled(width, height, INVALID), seen: Image::filled(width, height, 0) }
    }
}
