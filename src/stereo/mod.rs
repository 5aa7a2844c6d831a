//! The algorithm, in the order it runs, in plain loops: what each stage means, to the bit.
//!
//! Semi-global matching after Hirschmüller (2008), in integers throughout; only depth in metres is a float. The CPU and
//! GPU engines must equal [`match_pair`] for every option. Nothing here knows of threads, GPUs or windows.

pub mod aggregate;
pub mod cost;
pub mod depth;
pub mod disparity;
pub mod filter;
pub mod gating;
pub mod map;
pub mod params;
pub mod preset;
pub mod volume;

pub use cost::CostKind;
pub use gating::{Gate, Gates};
pub use map::{DisparityMap, INVALID, reason};
pub use params::{AdaptiveP2, Fill, Median, ParamsError, StereoParams};
pub use preset::Preset;
pub use volume::Volume;

use crate::frame::Luma;

/// The whole algorithm: a rectified pair in, the left picture's disparity out.
///
/// `left` and `right` have the same size, from 1x1; `params` are valid.
pub fn match_pair(left: &Luma, right: &Luma, params: &StereoParams) -> DisparityMap {
    let sums = sum_volume(left, right, params);
    let left_map = disparity::winner_takes_all(&sums, params);
    let right_map = disparity::right_map(&sums, params);
    drop(sums);
    filter_maps(&left_map, &right_map, params)
}

/// Matching cost, summed over paths or, with `paths` 0, over the window alone; with the gates of coarser levels.
pub fn sum_volume(left: &Luma, right: &Luma, params: &StereoParams) -> Volume<u32> {
    let gates = gating::gates(left, right, params);
    if params.paths == 0 {
        return Volume { gates, ..cost::window_sums(left, right, params) };
    }
    let costs = Volume { gates, ..cost::volume(left, right, params) };
    aggregate::sum_paths(&costs, &left.to_u8(), params)
}

/// Everything after the winner, in the one order in which it has a meaning.
pub fn filter_maps(left: &DisparityMap, right: &DisparityMap, params: &StereoParams) -> DisparityMap {
    let mut map = filter::median(left, params.median);
    if let Some(tolerance_px) = params.left_right {
        let right = filter::median(right, params.median);
        filter::check_left_right(&mut map, &right, tolerance_px);
    }
    filter::remove_speckle(&mut map, params.speckle_size, params.speckle_range);
    if params.fill == Fill::Background {
        filter::fill_background(&mut map);
        map = filter::median(&map, params.median);
    }
    map
}
