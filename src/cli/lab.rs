//! `stereopsis lab`: measurements beside the figures of papers.

use super::pair_args::PairArgs;
use super::tune::StudyArgs;
use crate::console;
use crate::lab::{self, Experiment, variants};

/// Arguments of `lab`.
#[derive(Debug, clap::Args)]
pub(super) struct LabArgs {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Tell for each stage of the GPU engine its time, the bytes that it moves, the share of the device's rates, and what bounds it
    Device(PairArgs),
    /// Time the sizes and disparities of Banz, Blume & Pirsch 2011, Table 2, with their method and again with census 5x5
    Grid(PairArgs),
    /// Time the GPU engine's costs, its paths one after another and together, its sums with winners, beside Table 1 of Banz,
    /// Blume & Pirsch 2011 (add --preset banz2011 --num-disparities 128); the default size is 1280x960
    Stages(PairArgs),
    /// Time the GPU engine with one pair at a time and with several in flight, beside upload, computation and read-back
    Pipeline(PairArgs),
    /// Time constant windows, adaptive weights and crosses at several radii, and predict every other radius from this machine's
    /// bandwidth with the model of Fang et al. 2012
    Model(PairArgs),
    /// Time every variant of the GPU engine's kernels, in tables like Figs. 4 and 9 of Banz, Blume & Pirsch 2011
    Variants(StudyArgs),
}

/// Settings that may go with a grid.
const OF_GRID: [&str; 3] = ["engine", "threads", "adapter"];

/// Settings that the model chooses.
const OF_MODEL: [&str; 5] = ["aggregation", "window", "arms", "paths", "gating"];

/// Runs `lab`.
///
/// # Errors
/// Flags that do not go together; as [`lab::run`].
pub(super) fn run(args: &LabArgs) -> anyhow::Result<()> {
    let size = (640, 480);
    let (setup, experiment) = match &args.command {
        Command::Variants(args) => {
            let study = args.open()?;
            return variants::run(&study.gpu, &study.job, study.rounds, study.json, &mut console::Out);
        }
        Command::Device(pairs) => (pairs.gpu_setup(size)?, Experiment::Device),
        Command::Grid(pairs) => {
            pairs.allow_settings(
                |name| OF_GRID.contains(&name),
                "the grid has the method and disparities of its paper",
            )?;
            pairs.no_sources("the grid has the sizes of its paper")?;
            (pairs.setup(size)?, Experiment::Grid)
        }
        Command::Stages(pairs) => (pairs.gpu_setup((1280, 960))?, Experiment::Stages),
        Command::Pipeline(pairs) => (pairs.gpu_setup(size)?, Experiment::Pipeline),
        Command::Model(pairs) => {
            pairs.allow_settings(
                |name| !OF_MODEL.contains(&name),
                "the model chooses the aggregators and their radii",
            )?;
            (pairs.setup(size)?, Experiment::Model)
        }
    };
    lab::run(&setup, experiment, &mut console::Out)
}
