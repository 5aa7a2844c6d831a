//! Prior of a pair: gates and learned costs, from the same pair at half the size and from the pair before.

use super::cost::mutual_information::{Table, histogram, start, table};
use super::gating::{Gates, bounds_from};
use super::map::DisparityMap;
use super::params::StereoParams;
use super::past::Past;
use super::pyramid::{coarser, halve, has_coarse_information, is_gated};
use super::{Maps, RightMatching, match_level};
use stereopsis_base::image::{Image, Luma, PictureRef};

/// Gates and learned costs, known before the pair itself is matched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prior {
    /// Gates of the left image; `None` without gating.
    pub gates: Option<Gates>,
    /// Gates of the right image, where it is matched on its own.
    pub right_gates: Option<Gates>,
    /// Costs of mutual information.
    pub information: Option<Table>,
}

impl Prior {
    /// Computes the prior from the coarser levels and `last`, the finished map of the pair before, at this size.
    pub fn of(left: &Luma, right: &Luma, params: &StereoParams, last: Option<&DisparityMap>) -> Self {
        let size = left.size();
        let is_swapped = params.right_matching == RightMatching::Swapped;
        let coarse = coarser(size, params).map(|coarse_params| {
            let [left, right] = &[left, right].map(halve);
            match_level(PictureRef::pair(left, right), &coarse_params, &mut Past::coarser(last), is_swapped)
        });
        let gated = coarse.as_ref().filter(|_| is_gated(size, params));
        let bounds = |map: &DisparityMap| bounds_from(map, size, params.gate_bounds, &params.disparities());
        let information = params.cost.is_learned().then(|| {
            let coarse_map =
                coarse.as_ref().filter(|_| has_coarse_information(size, params)).map(|maps: &Maps| &maps.left);
            let start = start(size, coarse_map, last, params);
            table(&histogram(&left.to_u8(), &right.to_u8(), &start))
        });
        Self {
            gates: gated.map(|maps| bounds(&maps.left)),
            right_gates: gated.and_then(|maps| maps.right.as_ref()).map(bounds),
            information,
        }
    }

    /// Returns the prior for swapped and mirrored images.
    #[must_use]
    pub fn swapped(&self) -> Self {
        Self {
            gates: self.right_gates.as_ref().map(Image::mirrored),
            right_gates: self.gates.as_ref().map(Image::mirrored),
            information: self.information.as_ref().map(Table::swapped),
        }
    }
}
