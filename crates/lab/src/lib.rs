//! Laboratory: measurements in the layout of papers' tables beside the papers' figures, and a model of aggregation.
//! Figures for users are in `bench` and `tune`.

mod aggregation_model;
mod device;
mod memory;
mod model;
pub mod optimize;
mod pipeline;
mod rates;
pub mod reproduce;
pub mod scores;
mod stages;
#[cfg(test)]
mod tests;
pub mod train;
pub mod variants;

use std::io::Write;
use stereopsis_bench::Setup;

/// Experiment to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Experiment {
    /// Memory traffic, operations and bound of each stage of the GPU engine.
    Device,
    /// Throughput of the GPU engine with one job at a time and with all slots full.
    Pipeline,
    /// Local aggregation at several radii, with the prediction of Fang et al. 2012.
    Model,
}

/// Runs an experiment and prints its results.
///
/// # Errors
/// Images cannot be read, an engine cannot be opened or fails, or `out` cannot be written.
pub fn run(setup: &Setup, experiment: Experiment, out: &mut dyn Write) -> anyhow::Result<()> {
    match experiment {
        Experiment::Device => device::run(setup, out),
        Experiment::Pipeline => pipeline::run(setup, out),
        Experiment::Model => model::run(setup, out),
    }
}
