//! The laboratory: measurements in the shape of papers' tables, with the papers' figures beside, and a model of aggregation. What a
//! user needs to know of a machine is in `bench` and `tune`.

mod aggregation_model;
mod device;
mod memory;
mod model;
pub(crate) mod optimize;
mod pipeline;
mod rates;
pub(crate) mod reproduce;
pub(crate) mod scores;
mod stages;
#[cfg(test)]
mod tests;
pub(crate) mod train;
pub(crate) mod variants;

use crate::bench::Setup;
use std::io::Write;

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Experiment {
    /// What the GPU engine moves and computes in each stage, and what bounds it.
    Device,
    /// The GPU engine with one job at a time and with as many as it takes.
    Pipeline,
    /// Local aggregation at several radii, beside what the model of Fang et al. 2012 predicts.
    Model,
}

/// Measures and prints.
///
/// # Errors
/// Images that cannot be read, an engine that cannot be opened or cannot match a pair, `out` cannot be written.
pub(crate) fn run(setup: &Setup, experiment: Experiment, out: &mut dyn Write) -> anyhow::Result<()> {
    match experiment {
        Experiment::Device => device::run(setup, out),
        Experiment::Pipeline => pipeline::run(setup, out),
        Experiment::Model => model::run(setup, out),
    }
}
