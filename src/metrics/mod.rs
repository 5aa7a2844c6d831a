//! How good and how fast a result is: error against truth, motion, exposure. Pure: time comes in as arguments.

mod exposure;
mod motion;
mod truth_error;

pub use exposure::{LumaDifference, luma_difference};
pub use motion::motion;
pub use truth_error::{TruthError, truth_error};
