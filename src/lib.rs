//! Turns two ordinary cameras into a live depth camera, on any GPU and without one.
//!
//! As a library: [`rectification`] reads calibration files and rectifies pairs, [`matching`] has the matcher and its parameters,
//! [`filters`] and [`depth`] follow, [`mod@parameters`] reads settings that the window has saved. `recordings` (with the feature
//! `recording`) iterates over MCAP files, `cameras` (with `cameras`) over pairs of cameras. Everything else is the program's own.
//!
//! ```
//! use stereopsis::matching::{Image, Luma, Matcher, StereoParams};
//!
//! // a texture that the right camera sees 3 px further left
//! let texture = |x: usize, y: usize| ((x * 73) ^ (y * 151) ^ (x * y * 7)) as u8;
//! let left = Luma::U8(Image::from_fn(40, 20, texture));
//! let right = Luma::U8(Image::from_fn(40, 20, |x, y| texture(x + 3, y)));
//! let mut matcher = Matcher::new(StereoParams { num_disparities: 8, ..StereoParams::default() });
//! let map = matcher.match_pair(left, right)?.map;
//! assert_eq!(map.disparity_px(20, 10), Some(3.0));
//! # Ok::<(), stereopsis::matching::EngineError>(())
//! ```

#![cfg_attr(
    not(feature = "zenoh"), // which needs all others
    allow(dead_code, unused_imports, reason = "the whole program uses more of each room than a part of it")
)]

#[cfg(test)]
extern crate self as stereopsis;

use stereopsis_base::{console, files, geometry, image, newest, parameter, process, rate};
#[cfg(feature = "window")]
use stereopsis_calibrate as calibrate;
use stereopsis_calibration as calibration;
use stereopsis_capture as capture;
#[cfg(feature = "window")]
use stereopsis_doctor as doctor;
use stereopsis_engine as engine;
use stereopsis_export::{self as export, colormap, reach};
#[cfg(feature = "window")]
use stereopsis_live as live;
use stereopsis_metrics as metrics;
#[cfg(feature = "zenoh")]
use stereopsis_network as network;
#[cfg(feature = "publish")]
use stereopsis_publish as publish;
#[cfg(feature = "zenoh")]
use stereopsis_publish::serve;
#[cfg(feature = "recording")]
use stereopsis_recording as recording;
#[cfg(feature = "window")]
use stereopsis_search as search;
use stereopsis_settings::{rig, settings};
#[cfg(feature = "window")]
use stereopsis_sources as sources;
use stereopsis_stereo as stereo;

#[cfg(feature = "window")]
mod ui;
#[cfg(feature = "window")]
mod bench;
#[cfg(feature = "window")]
mod lab;
#[cfg(feature = "window")]
mod cli;
mod library;

#[cfg(feature = "cameras")]
pub use library::cameras;
pub use library::{depth, filters, matching, parameters, rectification};
#[cfg(feature = "recording")]
pub use library::{inside, recordings};
use parameter::choices;

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
