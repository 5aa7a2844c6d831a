//! Turns two ordinary cameras into a live depth camera, on any GPU and without one.
//!
//! Pixels go one way: a source gives raw pairs ([`capture`]), the capture thread rectifies them ([`calibration`]),
//! a channel that keeps only the newest hands them to an engine ([`engine`], which runs the algorithm of [`stereo`]), and
//! the window or the status line shows the newest result.

pub mod image;
pub mod frame;
pub mod parameter;
pub mod capture;
pub mod calibration;
pub mod stereo;
pub mod engine;
pub mod live;
pub mod metrics;
pub mod colormap;
pub mod export;
pub mod settings;
pub mod ui;
pub mod cli;
