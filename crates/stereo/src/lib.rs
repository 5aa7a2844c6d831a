//! Reference implementation in plain loops: a rectified pair and parameters in, disparity maps out.
//!
//! Semi-global matching after Hirschmüller (2008), and local methods that leave out the paths, in integers; only depth in metres is a
//! float. It defines each stage to the bit: the CPU and GPU engines must equal [`match_next`] for every option. Threads, GPUs and windows
//! have no place here.
//!
//! ```
//! use stereopsis_base::image::{Image, Luma};
//! use stereopsis_stereo::{StereoParams, match_pair};
//!
//! // in the right image everything lies 5 px further left
//! let view = |shift| Luma::U8(Image::from_fn(64, 48, |x, y| ((x + shift) * 7919 + y * 104_729) as u8));
//! let (left, right) = (view(0), view(5));
//! let params = StereoParams { num_disparities: 16, ..StereoParams::default() };
//! let map = match_pair(&left, &right, &params);
//! assert_eq!(map.disparity_px(32, 24).map(f32::round), Some(5.0));
//! ```

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
mod pipeline;
pub mod preset;
pub mod prior;
pub mod pyramid;
mod stages;
pub mod volume;

pub use explain::{Explainer, Explanation};
pub use filter::filter_maps;
pub use map::{DisparityMap, INVALID, Maps, Shares, reason};
pub use params::words::{
    AdaptiveP2, Aggregation, CostKind, Fill, GateBounds, Median, MiStart, Persistence, RightMatching, Subpixel,
    Temporal,
};
pub use params::{ParamsError, StereoParams};
pub use past::Past;
pub use pipeline::{match_next, match_pair, sum_volume, swapped_map};
pub use preset::Preset;
pub use prior::Prior;
pub use volume::Volume;

#[cfg(test)]
mod tests;
