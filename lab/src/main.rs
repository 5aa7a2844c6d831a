//! The laboratory, `stereopsis-lab`: measurements in the layout of papers' tables beside the papers' figures, and models of the engines'
//! speed. The program does without it; its own figures for users are those of `bench` and `tune`.

mod aggregation_model;
mod curves;
mod device;
mod memory;
mod model;
mod operations;
mod optimize;
mod pipeline;
mod rates;
mod reproduce;
mod scores;
mod stages;
#[cfg(test)]
mod tests;
mod train;
mod variants;

use clap::builder::PossibleValuesParser;
use reproduce::Paper;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use stereopsis::command_line::{
    EXIT_CODE, OVERWRITE, PairArgs, StudyArgs, UsageError, check_variables, parse, run_program,
};
use stereopsis_base::files::{Outputs, WriteError};
use stereopsis_base::{console, files};
use stereopsis_bench::Setup;
use stereopsis_engine::OpenOptions;
use stereopsis_frame::engine::{EngineChoice, EngineSettings};
use stereopsis_frame::{MaxPixels, RawPair};
use stereopsis_images::picture_files::truth::find_truth_pairs;
use stereopsis_search::Judge;
use stereopsis_stereo::StereoParams;

/// Laboratory of Stereopsis: repeats measurements of papers, with their figures beside
#[derive(Debug, clap::Parser)]
#[command(version, after_long_help = EXIT_CODE, max_term_width = 120)]
struct Lab {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Tell for each stage of the GPU engine its time, the bytes that it moves, the share of the device's rates, and what bounds it
    Device(PairArgs),
    /// Make the tables and figures of the five papers again, each row beside the paper's own numbers, as a page of Markdown
    Reproduce(ReproduceArgs),
    /// Time the GPU engine with one pair at a time and with several in flight, beside upload, computation and read-back
    Pipeline(PairArgs),
    /// Time constant windows, adaptive weights and crosses at several radii, and predict every other radius from this machine's
    /// bandwidth with the model of Fang et al. 2012
    Model(PairArgs),
    /// Leave out each scene once, search on the others as `optimize` does, and judge on it what was found
    Optimize(OptimizeArgs),
    /// Measure how far the scores of `measure` agree with truth: rank correlations over settings drawn by a seed, for every scene
    Scores(ScoresArgs),
    /// Train the network of the learned choice on random worlds, and write it: the same seed gives the same file
    Train(TrainArgs),
    /// Time every variant of the GPU engine's kernels, in tables like Figs. 4 and 9 of Banz, Blume & Pirsch 2011
    Variants(StudyArgs),
}

/// Arguments of `reproduce`.
#[derive(Debug, clap::Args)]
struct ReproduceArgs {
    /// Papers: banz, ernst, frommholz, fang, leu, or all of them
    #[arg(required = true, value_name = "PAPER", value_parser = PossibleValuesParser::new(PAPERS))]
    papers: Vec<String>,
    /// Take smaller images and fewer of them: under two minutes instead of twenty
    #[arg(long)]
    quick: bool,
    /// Folder of pairs with truth, as for `eval` [default: the folder that STEREOPSIS_DATA names; without one, the built-in scene]
    #[arg(long, value_name = "FOLDER")]
    data: Option<PathBuf>,
    /// Print JSON instead of a page
    #[arg(long)]
    json: bool,
    /// Write the figures into this folder, as SVG
    #[arg(long, value_name = "FOLDER")]
    svg: Option<PathBuf>,
    /// Write the page into this file, with links to the figures, instead of printing it
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[arg(long, help = OVERWRITE)]
    overwrite: bool,
}

const PAPERS: [&str; 6] = ["banz", "ernst", "frommholz", "fang", "leu", "all"];

impl ReproduceArgs {
    fn run(&self) -> anyhow::Result<()> {
        let is_asked = |paper: &&Paper| self.papers.iter().any(|word| word == "all" || word == paper.word());
        let options = reproduce::Options {
            papers: Paper::ALL.iter().filter(is_asked).copied().collect(),
            quick: self.quick,
            data: self.data.clone().or_else(|| std::env::var_os("STEREOPSIS_DATA").map(PathBuf::from)),
            json: self.json,
            svg: self.svg.clone(),
            output: self.output.clone(),
            overwrite: self.overwrite,
        };
        reproduce::run(&options, &mut console::Out)
    }
}

/// Arguments of `scores`.
#[derive(Debug, clap::Args)]
struct ScoresArgs {
    /// Folder of pairs with truth, as for `eval` [default: the folder that STEREOPSIS_DATA names]
    folder: Option<PathBuf>,
    /// Settings for each scene
    #[arg(long, value_name = "N", default_value_t = 60, value_parser = clap::value_parser!(u16).range(3..=300))]
    settings: u16,
    /// Seed of the settings
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Print JSON instead of tables
    #[arg(long)]
    json: bool,
}

impl ScoresArgs {
    fn run(&self) -> anyhow::Result<()> {
        let options = scores::Options { seed: self.seed, settings: usize::from(self.settings), json: self.json };
        scores::run(&data(self.folder.as_ref())?, options, &mut console::Out)
    }
}

/// Arguments of `train`.
#[derive(Debug, clap::Args)]
struct TrainArgs {
    /// File to write
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    #[arg(long, help = OVERWRITE)]
    overwrite: bool,
    /// Worlds to learn from, drawn by the seed
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=99_999))]
    worlds: u32,
    /// Seed of the worlds, the first weights and the order of the examples
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u32).range(..=9999))]
    seed: u32,
    /// Folder of further pairs with truth to learn from, as for `eval`; nothing that the network is judged by
    #[arg(long, value_name = "FOLDER")]
    pairs: Option<PathBuf>,
    /// Number of passes over the examples
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..))]
    epochs: u16,
}

/// Arguments of `optimize`.
#[derive(Debug, clap::Args)]
struct OptimizeArgs {
    /// Folder of pairs with truth, as for `eval` [default: the folder that STEREOPSIS_DATA names]
    folder: Option<PathBuf>,
    /// Settings that each search tries
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u16).range(1..))]
    trials: u16,
    /// Search each scene itself without its truth instead, and judge by it
    #[arg(long)]
    without_truth: bool,
    /// Leave out scenes with more pixels
    #[arg(long, value_name = "N", default_value_t = 600_000)]
    max_scene_pixels: usize,
    /// Threads of the CPU engine [default: all cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// Print JSON instead of tables
    #[arg(long)]
    json: bool,
}

impl TrainArgs {
    fn run(&self) -> anyhow::Result<()> {
        Outputs::new::<&Path>([], self.overwrite).add(&self.output)?;
        // before minutes of training, not after them
        fs::metadata(files::folder_of(&self.output)).map_err(|err| WriteError::new(&self.output, err))?;
        let options = train::Options { worlds: self.worlds, seed: self.seed, epochs: self.epochs.into() };
        let mut others = Vec::new();
        for found in self.pairs.iter().map(|folder| find_truth_pairs(folder)).collect::<Result<Vec<_>, _>>()?.concat() {
            let pair = found.read(MaxPixels::default())?;
            let raw = Arc::unwrap_or_clone(pair.raw);
            others.push(RawPair { truth: Some(pair.truth), ..raw });
        }
        let count = console::counted(others.len() as u64, "pair");
        let net = train::train(&options, others, &mut console::Out)?;
        let (worlds, seed, epochs) = (self.worlds, self.seed, self.epochs);
        let head = format!(
            "# Network of the learned choice, from {worlds} worlds and {count} with truth:\n\
             # stereopsis-lab train --worlds {worlds} --seed {seed} --epochs {epochs}\n\
             # Of each layer: inputs, outputs and shift; biases; the weights of each input.\n"
        );
        Ok(files::write_or_keep(&self.output, (head + &net.text()).as_bytes(), self.overwrite)?)
    }
}

impl OptimizeArgs {
    fn run(&self) -> anyhow::Result<()> {
        let threads = self.threads.map(usize::from);
        let options = optimize::Options {
            trials: usize::from(self.trials),
            max_pixels: self.max_scene_pixels,
            start: StereoParams::default(),
            judge: if self.without_truth { Judge::WithoutTruth } else { Judge::Truth },
            engine: OpenOptions::from(EngineSettings {
                choice: EngineChoice::Cpu,
                threads,
                ..EngineSettings::default()
            }),
            json: self.json,
        };
        optimize::run(&data(self.folder.as_ref())?, &options, &mut console::Out)
    }
}

/// Returns the named folder with scenes, or that of the environment.
fn data(named: Option<&PathBuf>) -> Result<PathBuf, UsageError> {
    let of_environment = || std::env::var_os("STEREOPSIS_DATA").map(PathBuf::from);
    let text = "which scenes? Name a folder of pairs with truth, as for `eval`, or set STEREOPSIS_DATA";
    named.cloned().or_else(of_environment).ok_or_else(|| UsageError(text.to_owned()))
}

/// Parameters that `model` sets itself; their flags are refused.
const SET_BY_MODEL: [&str; 5] = ["aggregation", "window", "arms", "paths", "gating"];

/// Resolves pairs for commands that only time the GPU engine.
///
/// # Errors
/// Errors of [`PairArgs::setup`]; another engine is chosen.
fn gpu_setup(pairs: &PairArgs, default_size: (usize, usize)) -> anyhow::Result<Setup> {
    let setup = pairs.setup(default_size)?;
    if setup.engine == EngineChoice::Cpu {
        let text = "this measures the stages of the GPU engine: leave out --engine, or use --engine gpu";
        return Err(UsageError(text.to_owned()).into());
    }
    Ok(setup)
}

fn main() -> ExitCode {
    run_program(|| {
        let lab = parse::<Lab>();
        check_variables()?;
        run(&lab.command)
    })
}

/// Runs a command.
///
/// # Errors
/// Flags that cannot be combined; images cannot be read, an engine cannot be opened or fails, a file or the standard output cannot be
/// written.
fn run(command: &Command) -> anyhow::Result<()> {
    let (size, out) = ((640, 480), &mut console::Out);
    match command {
        Command::Variants(args) => {
            let study = args.open()?;
            variants::run(&study.gpu, &study.job, study.rounds, study.json, out)
        }
        Command::Reproduce(args) => args.run(),
        Command::Scores(args) => args.run(),
        Command::Optimize(args) => args.run(),
        Command::Train(args) => args.run(),
        Command::Device(pairs) => device::run(&gpu_setup(pairs, size)?, out),
        Command::Pipeline(pairs) => pipeline::run(&gpu_setup(pairs, size)?, out),
        Command::Model(pairs) => {
            pairs.allow_settings(
                |name| !SET_BY_MODEL.contains(&name),
                "the model chooses the aggregators and their radii",
            )?;
            model::run(&pairs.setup(size)?, out)
        }
    }
}
