//! Tests of the program as a process: its command line, its output and its files.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod calibrate;
mod calibration;
#[cfg(target_os = "linux")]
mod cameras;
mod cli;
mod command_line;
mod docs;
#[cfg(target_os = "linux")]
mod doctor;
mod earlier_versions;
mod eval;
#[cfg(unix)]
mod hostile;
mod integrate;
mod masks;
mod lenses;
mod measure;
#[cfg(feature = "model")]
mod model;
#[cfg(all(target_os = "linux", feature = "zenoh"))]
mod network;
mod optimize;
mod outputs;
#[cfg(target_os = "linux")]
#[cfg(feature = "publish")]
mod publish;
mod recording;
#[cfg(unix)]
mod secrets;
mod start;
mod verged;
mod vertical;
#[cfg(target_os = "linux")]
mod window;
