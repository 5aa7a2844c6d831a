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

#![cfg_attr(
    not(feature = "window"),
    allow(dead_code, unused_imports, reason = "the program uses more of each room than the library gives others")
)]

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
#[cfg(feature = "recording")]
mod recording;
#[cfg(feature = "zenoh")]
mod network;
#[cfg(feature = "window")]
mod sources;
#[cfg(feature = "window")]
mod calibrate;
#[cfg(feature = "window")]
mod live;
#[cfg(feature = "publish")]
mod publish;
#[cfg(feature = "zenoh")]
mod serve;
#[cfg(feature = "window")]
mod search;
#[cfg(feature = "window")]
mod doctor;
#[cfg(feature = "window")]
mod ui;
#[cfg(feature = "window")]
mod bench;
#[cfg(feature = "window")]
mod lab;
#[cfg(feature = "window")]
mod cli;
mod library;

#[cfg(feature = "recording")]
pub use library::recordings;
pub use library::{depth, filters, matching, parameters, rectification};

/// The program.
#[cfg(feature = "window")]
#[doc(hidden)]
pub use cli::main;

#[cfg(all(any(test, fuzzing), feature = "window"))]
#[doc(hidden)]
pub mod attack;

#[cfg(all(test, feature = "window"))]
#[path = "../tests/internal/mod.rs"]
mod internal_tests;
