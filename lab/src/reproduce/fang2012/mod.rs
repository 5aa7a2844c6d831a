//! Fang et al. 2012: local aggregation on a GPU, and a model of its speed.
//! Results that depend on the paper's OpenCL kernels cannot be measured; computed, counted and matched ones are repeated.

mod kernels;
mod prediction;
mod results;
mod setup;
pub mod tables;

use super::resources::Plan;
use kernels::{
    caching, local_memory, mappings, mappings_of_kernels, prefix_sums, shared_data, shares_of_engine,
    shares_of_plain_loops, unrolling,
};
use prediction::{ideal_rates, mean_heights, measured_rates, predictions};
use results::{errors, small_card, throughput, times_over_radii};

pub(super) const TITLE: &str = "Fang, Varbanescu, Shen, Sips, Saygili, van der Maaten 2012: Accelerating cost aggregation for real-time \
                                stereo matching";

pub(super) const PLANS: &[Plan] = &[
    ("Fig. 1", shares_of_plain_loops),
    ("Table I", mappings),
    ("Fig. 7", mappings_of_kernels),
    ("Fig. 8", shared_data),
    ("Figs. 9 and 10", local_memory),
    ("Fig. 11", caching),
    ("Fig. 13", unrolling),
    ("Table II", prefix_sums),
    ("Fig. 15", errors),
    ("Fig. 16", times_over_radii),
    ("Eq. 6", throughput),
    ("Fig. 17", small_card),
    ("Fig. 18", shares_of_engine),
    ("Section IV", mean_heights),
    ("Table III", ideal_rates),
    ("Tables IV and V", measured_rates),
    ("Figs. 19 and 20", predictions),
];

#[cfg(test)]
mod tests;
