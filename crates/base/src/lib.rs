//! Base of all crates: images, geometry, parameters with their words and ranges, files that are written completely or not at all, the
//! terminal, channels that keep the newest value, and work on threads.

pub mod console;
pub mod process;
pub mod files;
pub mod image;
pub mod parameter;
pub mod quantile;
pub mod remedy;
pub mod secrets;
pub mod rate;
pub mod threads;
pub mod newest;
pub mod geometry;
pub mod testing;
