//! Turns two ordinary cameras into a live depth camera, on any GPU and without one.
//!
//! As a library: [`rectification`] reads calibration files and rectifies pairs, [`matching`] has the matcher and its parameters,
//! [`filters`] and [`depth`] follow, [`mod@parameters`] reads settings that the window has saved. `recordings` (with the feature
//! `recording`) iterates over MCAP files, `cameras` (with `cameras`) over pairs of cameras. Everything else is the program's own.
//!
//! The way of a pair through the program, with the crates that do it:
//!
//! ```text
//!  camera threads       capture thread                  engine thread                    window, or status line
//!  stereopsis-capture   stereopsis-live                 stereopsis-cpu, -gpu             stereopsis-ui, or src/cli
//!  (or -recording,      rectify with -calibration,      to the bits of -stereo;          views, numbers, files by
//!   -network) ─▶ pair ─▶ scale ─▶ frame ══ newest ══▶    match, filter ══ newest ══▶      -images, -recording, -publish
//! ```
//!
//! `stereopsis-live` joins the two threads by `stereopsis-engine`, whose double arrows are channels of one value: the newest wins.
//! ARCHITECTURE.md has the other crates.
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

#[cfg(feature = "window")]
mod cli;
mod library;

#[cfg(feature = "cameras")]
pub use library::cameras;
pub use library::{depth, filters, matching, parameters, rectification};
#[cfg(feature = "recording")]
pub use library::{inside, recordings};

/// Runs the program; parts of its command line for the laboratory.
#[cfg(feature = "window")]
#[doc(hidden)]
pub use cli::{command_line, main};
