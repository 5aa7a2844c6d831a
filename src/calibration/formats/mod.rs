//! Calibration files, one module for each family.

mod names;
pub mod opencv;
mod yaml;
