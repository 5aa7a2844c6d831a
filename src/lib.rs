//! Turns two ordinary cameras into a live depth camera, on any GPU and without one.
//!
//! As a library: [`rectification`] reads calibration files and rectifies pairs, [`matching`] has the algorithm as plain loops and the
//! engines that run it, [`filters`] and [`depth`] follow, [`mod@parameters`] reads settings, [`recordings`] reads and writes MCAP files.
//! Everything else is the program's own.
//!
//! The algorithm on a pair that is rectified:
//!
//! ```
//! use stereopsis::matching::{Image, Luma, StereoParams, match_pair};
//!
//! // a texture that the right camera sees 3 px further left
//! let texture = |x: usize, y: usize| ((x * 73) ^ (y * 151) ^ (x * y * 7)) as u8;
//! let left = Luma::U8(Image::from_fn(40, 20, texture));
//! let right = Luma::U8(Image::from_fn(40, 20, |x, y| texture(x + 3, y)));
//! let params = StereoParams { num_disparities: 8, ..StereoParams::default() };
//! let map = match_pair(&left, &right, &params);
//! assert_eq!(map.disparity_px(20, 10), Some(3.0));
//! ```

#[cfg(test)]
extern crate self as stereopsis;

mod console;
mod process;
mod files;
mod image;
mod parameter;
mod rate;
mod newest;
mod geometry;
mod stereo;
mod calibration;
mod metrics;
mod capture;
mod engine;
mod colormap;
mod reach;
mod export;
mod rig;
mod settings;
mod recording;
#[cfg(feature = "zenoh")]
mod network;
mod sources;
mod calibrate;
mod live;
#[cfg(feature = "publish")]
mod publish;
#[cfg(feature = "zenoh")]
mod serve;
mod search;
mod doctor;
mod ui;
mod bench;
mod lab;
mod cli;
mod library;

pub use library::{depth, filters, matching, parameters, recordings, rectification};

/// The program.
#[doc(hidden)]
pub use cli::main;

#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub mod attack;

#[cfg(test)]
#[path = "../tests/internal/mod.rs"]
mod internal_tests;
