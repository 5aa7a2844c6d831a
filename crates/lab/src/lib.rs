//! The laboratory: measurements in the shape of papers' tables, with the papers' figures beside, and a model of aggregation. What a
//! user needs to know of a machine is in `bench` and `tune`.

use stereopsis_base::parameter::choices;
use stereopsis_base::{console, files, geometry, image};
use stereopsis_bench as bench;
use stereopsis_capture as capture;
use stereopsis_engine as engine;
use stereopsis_export::reach;
use stereopsis_metrics as metrics;
use stereopsis_search as search;
use stereopsis_settings::settings;
use stereopsis_stereo as stereo;

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

use crate::bench::Setup;
use std::io::Write;

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Experiment {
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
pub fn run(setup: &Setup, experiment: Experiment, out: &mut dyn Write) -> anyhow::Result<()> {
    match experiment {
        Experiment::Device => device::run(setup, out),
        Experiment::Pipeline => pipeline::run(setup, out),
        Experiment::Model => model::run(setup, out),
    }
}
