//! Order of the filters, and their application to the maps of a pair.

use super::RunningMean;
use super::choice::ChoiceSettings;
use super::planes::Fillable;
use super::{black_border, choice, consistency, fill, median, spatial, speckle, temporal, weighted_median};
use crate::map::{Maps, reason};
use crate::params::StereoParams;
use crate::params::words::{Fill, Median};
use crate::past::Past;
use stereopsis_base::image::PictureRef;
use stereopsis_base::parameter::choices;

choices! {
    /// Filters, in the order in which they run.
    pub enum FilterKind {
        /// Removal of what lies in the black border of either image.
        BlackBorder = "black-border",
        /// Median of each map.
        Median = "median",
        /// Left-right check of each map against the other one.
        LeftRight = "left-right",
        /// Removal of small regions.
        Speckle = "speckle",
        /// Running means along rows and columns.
        Spatial = "spatial",
        /// Running means over the pairs.
        Temporal = "temporal",
        /// Fill of pixels without a disparity.
        Fill = "fill",
        /// Learned choice between the disparities around a pixel.
        Choice = "choice",
        /// Weighted median at edges of depth.
        WeightedMedian = "weighted-median",
        /// The median once more, after a filter that leaves single pixels.
        LastMedian = "last-median",
    }
}

impl FilterKind {
    /// Returns the filters that the parameters turn on, in their order, each with its size.
    pub fn active(params: &StereoParams) -> impl Iterator<Item = (Self, u32)> + '_ {
        Self::ALL.iter().filter_map(|&kind| Some((kind, kind.size(params)?)))
    }

    /// Returns the size of the filter, such as a radius; 0 for a filter without one, `None` where the parameters turn it off.
    fn size(self, params: &StereoParams) -> Option<u32> {
        match self {
            Self::BlackBorder => Some(0),
            Self::Median => (params.median != Median::Off).then(|| params.median.radius() as u32),
            Self::LeftRight => params.left_right.map(|_| 0),
            Self::Speckle => (params.speckle_size > 0).then_some(0),
            Self::Spatial => params.spatial,
            Self::Temporal => params.smooths_over_time().then_some(0),
            Self::Fill => (params.fill != Fill::None).then_some(params.fill as u32),
            Self::Choice => params.choice.then_some(0),
            Self::WeightedMedian => params.weighted_median.then_some(weighted_median::RADIUS as u32),
            Self::LastMedian => {
                let follows = params.fill != Fill::None || params.choice || params.weighted_median;
                Self::Median.size(params).filter(|_| follows)
            }
        }
    }
}

/// Filters the maps of a pair; `pictures` are the left and the right image.
///
/// The right map is filtered like the left one, except over time and by the learned choice.
pub fn filter_maps(
    mut maps: Maps,
    pictures: [PictureRef<'_>; 2],
    params: &StereoParams,
    past: &mut Past,
    wants_right: bool,
) -> Maps {
    for (kind, size) in FilterKind::active(params) {
        match kind {
            FilterKind::BlackBorder => black_border::drop_black_borders(&mut maps, pictures),
            FilterKind::Median | FilterKind::LastMedian => {
                maps.for_each(|map| *map = median::median(map, params.median));
            }
            FilterKind::LeftRight => {
                if let Some(right) = &mut maps.right {
                    consistency::check_both(&mut maps.left, right, params.left_right.unwrap_or(0));
                }
                maps.right = maps.right.filter(|_| wants_right);
            }
            FilterKind::Speckle => {
                maps.for_each(|map| speckle::remove_speckle(map, params.speckle_size, params.speckle_range));
            }
            FilterKind::Spatial => {
                maps.for_each(|map| spatial::smooth_along_surfaces(map, size, RunningMean::along_surfaces(params)));
            }
            FilterKind::Temporal => {
                let state = &mut past.smoothed;
                temporal::smooth_over_time(&mut maps.left, state, RunningMean::over_time(params), params.persistence);
            }
            FilterKind::Fill => {
                // only the left map has a learned choice after the fill, so only there planes are marked
                let of_right = Fillable { mark: reason::FILLED, ..Fillable::of(params) };
                let [left, right] = pictures;
                maps.for_each_with([(left, Fillable::of(params)), (right, of_right)], |map, (picture, fillable)| {
                    fill::fill(map, picture, params.fill, &fillable);
                });
            }
            FilterKind::Choice => {
                choice::choose(&mut maps.left, pictures, past.last.as_ref(), &ChoiceSettings::of(params));
            }
            FilterKind::WeightedMedian => {
                maps.for_each_with(pictures, |map, picture| {
                    weighted_median::weighted_median(map, &picture.guide());
                });
            }
        }
    }
    Maps { right: maps.right.filter(|_| wants_right), ..maps }
}
