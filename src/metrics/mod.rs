//! How good and how fast a result is: error against truth, rates, latencies. Pure: time comes in as arguments.

mod exposure;
mod motion;
mod rate;
mod truth_error;

pub use exposure::{LumaDifference, luma_difference};
pub use motion::motion;
pub use rate::{Latency, Rate, RunLatency};
pub use truth_error::{RegionError, TruthError, truth_error};
