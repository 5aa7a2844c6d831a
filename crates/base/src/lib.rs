//! Ground of the stereo crates: images, geometry, parameters with their words and ranges, files that are whole or not there, the
//! terminal, and channels in which the newest value wins.

pub mod console;
pub mod process;
pub mod files;
pub mod image;
pub mod parameter;
pub mod rate;
pub mod newest;
pub mod geometry;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
