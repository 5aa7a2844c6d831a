//! Description of a filter, from which the reference and both engines run it.

use crate::map::{DisparityMap, INVALID, Maps};
use crate::params::StereoParams;
use stereopsis_base::image::{Image, PictureRef};

/// Filter of disparity maps.
pub struct Filter {
    /// Size of the filter, such as a radius; 0 for a filter without one, `None` where the parameters turn it off.
    pub size: fn(&StereoParams) -> Option<u32>,
    /// Function of the filter in plain loops.
    pub function: Function,
}

/// Kind of a filter, by its inputs and outputs.
pub enum Function {
    /// Changes both maps, with the left and the right image as guides.
    Maps(fn(&mut Maps, [PictureRef<'_>; 2])),
    /// Changes each map by itself.
    Map(fn(&mut DisparityMap, &StereoParams)),
    /// Changes each map, with its own image as guide.
    MapOfPicture(fn(&mut DisparityMap, PictureRef<'_>, &StereoParams)),
    /// Changes the left map, with both images and the finished left map of the pair before, if kept.
    LeftMap(fn(&mut DisparityMap, [PictureRef<'_>; 2], Option<&DisparityMap>, &StereoParams)),
    /// Changes the left and the right map together. The right map is dropped afterwards unless it is requested.
    BothMaps(fn(&mut DisparityMap, &mut DisparityMap, &StereoParams)),
    /// Changes the left map and the filter's state, which is kept from pair to pair.
    Sequence(fn(&mut DisparityMap, &mut Option<Smoothed>, &StereoParams)),
}

/// State of the temporal filter, for each pixel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Smoothed {
    /// Running mean, 1/16 px; [`INVALID`] where no disparity was ever measured.
    pub values: Image<i16>,
    /// Pairs among the last eight in which the pixel was measured, the latest in bit 0.
    pub seen: Image<u8>,
}

impl Smoothed {
    /// Returns the state before the first pair.
    pub fn empty((width, height): (usize, usize)) -> Self {
        Self { values: Image::filled(width, height, INVALID), seen: Image::filled(width, height, 0) }
    }
}
