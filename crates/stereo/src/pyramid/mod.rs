//! Smaller images of the same pair: gates and mutual information come from a match at half the size.
//!
//! A level is matched like the pair itself, with parameters derived from those of the finer level ([`coarser()`]). Its map bounds the
//! search of the finer level (`stereo::gating`), or starts the learning of mutual information (`stereo::cost::mutual_information`).

mod coarser;
mod halve;

pub use coarser::{coarse_range, coarser, has_coarse_information, is_gated};
pub use halve::halve;

/// Number of path directions of coarser levels, if the pair has any. The first one points at 0 degrees.
pub const COARSE_PATHS: u32 = 8;
