//! How good and how fast a result is: error against truth, rates, latencies. Pure: time comes in as arguments.

mod rate;
mod truth_error;

pub use rate::{Latency, Rate};
pub use truth_error::{RegionError, TruthError, truth_error};
