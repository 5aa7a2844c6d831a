//! Reference implementation in plain loops: a rectified pair and parameters in, disparity maps out.
//!
//! Semi-global matching after Hirschmüller (2008), and local methods that leave out the paths, in integers; only depth in metres is a
//! float. It defines each stage to the bit: the CPU and GPU engines must equal [`match_next`] for every option. Threads, GPUs and windows
//! have no place here.

pub mod aggregate;
pub mod cost;
pub mod depth;
pub mod disparity;
pub mod explain;
pub mod filter;
pub mod gating;
pub mod local;
pub mod map;
pub mod params;
pub mod past;
pub mod preset;
pub mod prior;
pub mod pyramid;
pub mod volume;

pub use aggregate::AdaptiveP2;
pub use cost::CostKind;
pub use disparity::{RightMatching, Subpixel, swapped_map};
pub use explain::{Explainer, Explanation};
pub use filter::{Fill, Median, Temporal, filter_maps};
pub use gating::GateBounds;
pub use local::Aggregation;
pub use map::{DisparityMap, INVALID, Maps, Shares, reason};
pub use params::{ParamsError, StereoParams};
pub use past::Past;
pub use preset::Preset;
pub use prior::Prior;
pub use volume::Volume;

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
    let left_map = disparity::winner_takes_all(&sums, params);
    let needs_right = wants_right || params.left_right.is_some();
    let right_map = needs_right.then(|| match params.right_matching {
        RightMatching::Diagonal => disparity::right_map(&sums, params.min_disparity),
        RightMatching::Swapped => swapped_map(left, right, params, &prior),
    });
    filter_maps(Maps { left: left_map, right: right_map }, pair, params, past, wants_right)
}

/// Computes the sums that winners are taken from: matching costs, with local aggregation and paths as the parameters require.
pub fn sum_volume(left: &Luma, right: &Luma, params: &StereoParams, prior: &Prior) -> Volume<u32> {
    let (left8, right8) = (left.to_u8(), right.to_u8());
    let gates = prior.gates.clone();
    if params.is_block_matching() {
        return Volume { gates, ..cost::sad::sum_volume(&left8, &right8, params) };
    }
    let costs = cost::volume(left, right, params, prior.information.as_ref());
    if params.aggregation == Aggregation::None && params.paths == 0 {
        return Volume { gates, ..costs.map(|&cost| u32::from(cost)) };
    }
    let costs = if params.aggregation == Aggregation::None {
        costs
    } else {
        let aggregated = local::aggregate(&costs, &left8, &right8, params);
        if params.paths == 0 {
            return Volume { gates, ..aggregated };
        }
        aggregated.map(|&cost| params.unit().mean(cost))
    };
    let directions = aggregate::directions(params.paths, params.start_angle_deg);
    let p2_of_step = aggregate::penalty_table(params);
    aggregate::sum_paths(&Volume { gates, ..costs }, &left8, &directions, params.p1, &p2_of_step)
}

#[cfg(test)]
mod tests;
