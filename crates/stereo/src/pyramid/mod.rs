//! Smaller images of the same pair: gates and mutual information come from a match at half the size.
//!
//! A level is matched like the pair itself, with parameters derived from those of the finer level ([`coarser()`]). Its map
//! bounds the search of the finer level (`stereo::gating`), or is the start for learning mutual information
//! (`stereo::cost::mutual_information`), or both.

mod coarser;
mod halve;

pub use coarser::{coarse_range, coarser, has_coarse_information, is_gated};
pub use halve::halve;

/// Directions from which coarser levels sum their paths, where the pair itself has any. The first one points at 0 degrees.
pub const COARSE_PATHS: u32 = 8;
