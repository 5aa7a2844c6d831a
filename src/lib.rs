//! Turns two ordinary cameras into a live depth camera, on any GPU and without one.
//!
//! Pixels go one way: a source gives raw pairs ([`capture`]), the capture thread rectifies them ([`calibration`]),
//! a channel that keeps only the newest hands them to an engine ([`engine`], which runs the algorithm of [`stereo`]), and
//! the window or the status line shows the newest result.
//!
//! The algorithm alone, on a pair that is rectified already:
//!
//! ```
//! use stereopsis::image::{Image, Luma};
//! use stereopsis::stereo::{StereoParams, match_pair};
//!
//! // a texture, seen 3 px further left by the right eye
//! let texture = |x: usize, y: usize| ((x * 73) ^ (y * 151) ^ (x * y * 7)) as u8;
//! let left = Luma::U8(Image::from_fn(40, 20, texture));
//! let right = Luma::U8(Image::from_fn(40, 20, |x, y| texture(x + 3, y)));
//! let params = StereoParams { num_disparities: 8, ..StereoParams::default() };
//! let map = match_pair(&left, &right, &params);
//! assert_eq!(map.disparity_px(20, 10), Some(3.0));
//! ```

#[cfg(test)]
extern crate self as stereopsis;

pub mod console;
pub mod process;
pub mod files;
pub mod image;
pub mod parameter;
pub mod rate;
pub mod newest;
pub mod geometry;
pub mod stereo;
pub mod calibration;
pub mod metrics;
pub mod capture;
pub mod engine;
pub mod colormap;
pub mod reach;
pub mod export;
pub mod rig;
pub mod settings;
pub mod recording;
pub mod sources;
pub mod live;
#[cfg(feature = "publish")]
pub mod publish;
pub mod ui;
mod bench;
mod lab;
pub mod cli;
#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub mod attack;

#[cfg(test)]
#[path = "../tests/internal/mod.rs"]
mod internal_tests;
