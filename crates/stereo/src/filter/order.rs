//! Order of the filters, and their application to the maps of a pair.

use super::description::{Filter, Function};
use super::{black_border, choice, consistency, fill, median, spatial, speckle, temporal, weighted_median};
use crate::map::Maps;
use crate::params::StereoParams;
use crate::past::Past;
use stereopsis_base::image::PictureRef;
use stereopsis_base::parameter::choices;

choices! {
    /// Filters, in the order in which they run.
    pub enum FilterKind: Filter {
        /// Removal of what lies in the black border of either image.
        BlackBorder = "black-border" => black_border::BLACK_BORDER,
        /// Median of each map.
        Median = "median" => median::MEDIAN,
        /// Left-right check of each map against the other one.
        LeftRight = "left-right" => consistency::LEFT_RIGHT,
        /// Removal of small regions.
        Speckle = "speckle" => speckle::SPECKLE,
        /// Running means along rows and columns.
        Spatial = "spatial" => spatial::SPATIAL,
        /// Running means over the pairs.
        Temporal = "temporal" => temporal::TEMPORAL,
        /// Fill of pixels without a disparity.
        Fill = "fill" => fill::FILL,
        /// Learned choice between the disparities around a pixel.
        Choice = "choice" => choice::CHOICE,
        /// Weighted median at edges of depth.
        WeightedMedian = "weighted-median" => weighted_median::WEIGHTED_MEDIAN,
        /// The median once more, after a filter that leaves single pixels.
        LastMedian = "last-median" => median::LAST_MEDIAN,
    }
}

impl FilterKind {
    /// Returns the filters that the parameters turn on, in their order, each with its [`Filter::size`].
    pub fn active(params: &StereoParams) -> impl Iterator<Item = (Self, u32)> + '_ {
        Self::ALL.iter().filter_map(|&kind| Some((kind, (kind.description().size)(params)?)))
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
    // only the left map has a learned choice after the fill, so only there planes are marked
    let of_right = StereoParams { choice: false, ..params.clone() };
    for (kind, _) in FilterKind::active(params) {
        match &kind.description().function {
            Function::Maps(filter) => filter(&mut maps, pictures),
            Function::Map(filter) => maps.for_each(|map| filter(map, params)),
            Function::MapOfPicture(filter) => {
                let [left, right] = pictures;
                maps.for_each_with([(left, params), (right, &of_right)], |map, (picture, params)| {
                    filter(map, picture, params);
                });
            }
            Function::LeftMap(filter) => filter(&mut maps.left, pictures, past.last.as_ref(), params),
            Function::BothMaps(filter) => {
                if let Some(right) = &mut maps.right {
                    filter(&mut maps.left, right, params);
                }
                maps.right = maps.right.filter(|_| wants_right);
            }
            Function::Sequence(filter) => filter(&mut maps.left, &mut past.smoothed, params),
        }
    }
    Maps { right: maps.right.filter(|_| wants_right), ..maps }
}
