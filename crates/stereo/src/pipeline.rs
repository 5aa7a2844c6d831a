//! Pipeline of the stages: a pair and parameters in, finished maps out.

use super::aggregate;
use super::cost::mutual_information::{histogram, start, table};
use super::cost::{self, CostSettings, sad};
use super::disparity::{WinnerRules, right_map, winner_takes_all};
use super::filter::filter_maps;
use super::gating::bounds_from;
use super::local::{self, LocalSettings};
use super::map::{DisparityMap, Maps};
use super::params::StereoParams;
use super::params::words::{Aggregation, Penalties, RightMatching};
use super::past::Past;
use super::prior::Prior;
use super::pyramid::{self, halve};
use super::volume::Volume;
use stereopsis_base::image::{Luma, PictureRef};

/// Matches a single pair: a rectified pair in, the left image's disparity map out.
///
/// `left` and `right`, images or only their luma, have the same size, from 1x1; `params` are valid. Colours are used if both have them.
pub fn match_pair<'a>(
    left: impl Into<PictureRef<'a>>,
    right: impl Into<PictureRef<'a>>,
    params: &StereoParams,
) -> DisparityMap {
    match_next(&mut Past::default(), left, right, params, false).left
}

/// Matches the next pair of a sequence; the right map is returned if `wants_right`.
pub fn match_next<'a>(
    past: &mut Past,
    left: impl Into<PictureRef<'a>>,
    right: impl Into<PictureRef<'a>>,
    params: &StereoParams,
    wants_right: bool,
) -> Maps {
    let pair = PictureRef::pair(left, right);
    past.follow(pair[0].luma.size(), params);
    let maps = match_level(pair, params, past, wants_right);
    past.remember(&maps.left, params);
    maps
}

/// Matches one level of the pyramid, after the coarser ones; `past` has the size of this level.
fn match_level(pair: [PictureRef<'_>; 2], params: &StereoParams, past: &mut Past, wants_right: bool) -> Maps {
    let [left, right] = pair.map(|picture| picture.luma);
    let prior = Prior::of(left, right, params, past.start(params));
    let sums = sum_volume(left, right, params, &prior);
    let left_map = winner_takes_all(&sums, &WinnerRules::of(params));
    let needs_right = wants_right || params.left_right.is_some();
    let right_map = needs_right.then(|| match params.right_matching {
        RightMatching::Diagonal => right_map(&sums, params.min_disparity),
        RightMatching::Swapped => swapped_map(left, right, params, &prior),
    });
    filter_maps(Maps { left: left_map, right: right_map }, pair, params, past, wants_right)
}

/// Computes the sums that winners are taken from: matching costs, with local aggregation and paths as the parameters require.
pub fn sum_volume(left: &Luma, right: &Luma, params: &StereoParams, prior: &Prior) -> Volume<u32> {
    let (left8, right8) = (left.to_u8(), right.to_u8());
    let gates = prior.gates.clone();
    if params.is_block_matching() {
        return Volume { gates, ..sad::sum_volume(&left8, &right8, params.sad_window, &params.disparities()) };
    }
    let costs = cost::volume(left, right, &CostSettings::of(params), &params.disparities(), prior.information.as_ref());
    if params.aggregation == Aggregation::None && params.paths == 0 {
        return Volume { gates, ..costs.map(|&cost| u32::from(cost)) };
    }
    let costs = if params.aggregation == Aggregation::None {
        costs
    } else {
        let aggregated = local::aggregate(&costs, &left8, &right8, &LocalSettings::of(params), params.min_disparity);
        if params.paths == 0 {
            return Volume { gates, ..aggregated };
        }
        aggregated.map(|&cost| params.unit().mean(cost))
    };
    let directions = aggregate::directions(params.paths, params.start_angle_deg);
    let p2_of_step = aggregate::penalty_table(params.adaptive_p2, &Penalties::of(params));
    aggregate::sum_paths(&Volume { gates, ..costs }, &left8, &directions, params.p1, &p2_of_step)
}

/// Matches the right image with the left one (Frommholz 2020, section 2). Both are mirrored, so that partners again lie to the left.
pub fn swapped_map(left: &Luma, right: &Luma, params: &StereoParams, prior: &Prior) -> DisparityMap {
    let sums = sum_volume(&right.mirrored(), &left.mirrored(), params, &prior.swapped());
    let rules = WinnerRules { with_confidence: false, ..WinnerRules::of(params) };
    winner_takes_all(&sums, &rules).mirrored()
}

impl Prior {
    /// Computes the prior from the coarser levels and `last`, the finished map of the pair before, at this size.
    pub fn of(left: &Luma, right: &Luma, params: &StereoParams, last: Option<&DisparityMap>) -> Self {
        let size = left.size();
        let is_swapped = params.right_matching == RightMatching::Swapped;
        let coarse = pyramid::coarser(params, size).map(|coarse_params| {
            let [left, right] = &[left, right].map(halve);
            match_level(PictureRef::pair(left, right), &coarse_params, &mut Past::coarser(last), is_swapped)
        });
        let gated = coarse.as_ref().filter(|_| pyramid::is_gated(params, size));
        let bounds = |map: &DisparityMap| bounds_from(map, size, params.gate_bounds, &params.disparities());
        let information = params.cost.is_learned().then(|| {
            let coarse_map =
                coarse.as_ref().filter(|_| pyramid::has_coarse_information(params, size)).map(|maps: &Maps| &maps.left);
            let start = start(size, coarse_map, last, &params.disparities());
            table(&histogram(&left.to_u8(), &right.to_u8(), &start))
        });
        Self {
            gates: gated.map(|maps| bounds(&maps.left)),
            right_gates: gated.and_then(|maps| maps.right.as_ref()).map(bounds),
            information,
        }
    }
}
