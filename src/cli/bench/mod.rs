//! `stereopsis bench`: how long a pair takes, warm, per stage and as a whole; or how an engine keeps up with pairs that come at a
//! steady rate; or the tables of a paper. On pairs of the built-in scene, or on pictures.

mod args;
mod device;
mod grid;
mod memory;
mod model;
mod one_by_one;
pub(in crate::cli) mod pairs;
mod pipeline;
mod presets;
mod stages;
mod steady;
#[cfg(test)]
mod tests;

pub(super) use args::{BenchArgs, run_args};
pub use grid::Grid;

use crate::capture::{SourceOptions, SourceSpec};
use crate::engine::gpu::{AdapterChoice, Gpu};
use crate::engine::{Engine, EngineChoice, Job, OpenOptions, open};
use crate::files::Outputs;
use crate::process;
use crate::sources::open as open_source;
use crate::stereo::StereoParams;
use anyhow::Context;
use device::{DeviceFigures, Gauge};
use std::io::Write;
use std::path::PathBuf;

/// What is timed.
#[derive(Clone, Debug)]
pub struct BenchOptions {
    /// Engines; `auto` stands for all there are.
    pub engines: Vec<EngineChoice>,
    /// Where pairs come from: the scene at each size, or pictures.
    pub sources: Vec<(SourceSpec, SourceOptions)>,
    /// Valid parameters.
    pub params: StereoParams,
    /// How pairs come.
    pub task: Task,
    /// Folder into which the pairs are written.
    pub write_pairs: Option<PathBuf>,
    /// Pictures that are in that folder may be replaced.
    pub overwrite: bool,
    /// Print JSON instead of a table.
    pub json: bool,
    /// Threads of the CPU engine; one for each core by default.
    pub threads: Option<usize>,
    /// Which GPU.
    pub adapter: AdapterChoice,
}

/// How pairs come.
#[derive(Clone, Debug, PartialEq)]
pub enum Task {
    /// The next one after the last result.
    OneByOne {
        /// Pairs that are timed, after some that are not.
        frames: usize,
    },
    /// As from a camera.
    Steady {
        /// Pairs a second.
        rate_hz: f64,
        /// How long.
        seconds: f64,
    },
    /// One by one, on the sizes of a paper instead of the sources, with its method.
    Grid {
        /// What is timed.
        grid: Grid,
        /// Pairs of each.
        frames: usize,
    },
    /// The stages of the GPU engine, directions one after another and together.
    Stages {
        /// Pairs of each.
        frames: usize,
    },
    /// Every preset on the same pairs, with its own method and the range of the parameters.
    Presets {
        /// Pairs of each, at most.
        frames: usize,
    },
    /// The local aggregators at several radii, beside what the model of their paper predicts.
    Model {
        /// Pairs of each, at most.
        frames: usize,
    },
    /// The GPU engine with one job at a time and with as many as it takes.
    Pipeline {
        /// Pairs of each.
        frames: usize,
    },
}

/// How pairs come where the rows are one for each engine and source.
enum Pace {
    OneByOne(usize),
    Steady { rate_hz: f64, seconds: f64 },
}

impl Default for BenchOptions {
    /// All engines, the scene at its own size, default parameters, 30 pairs one by one.
    fn default() -> Self {
        Self {
            engines: vec![EngineChoice::Auto],
            sources: vec![(SourceSpec::Scene, SourceOptions::default())],
            params: StereoParams::default(),
            task: Task::OneByOne { frames: 30 },
            write_pairs: None,
            overwrite: false,
            json: false,
            threads: None,
            adapter: AdapterChoice::Best,
        }
    }
}

/// What reports are by.
const PROGRAM: &str = concat!("stereopsis ", env!("CARGO_PKG_VERSION"));

#[derive(serde::Serialize)]
struct Report {
    program: &'static str,
    results: Vec<Measured>,
}

#[derive(serde::Serialize)]
struct Measured {
    engine: String,
    adapter: String,
    parameters: StereoParams,
    size: String,
    num_disparities: u32,
    paths: u32,
    #[serde(flatten)]
    figures: Figures,
    /// What the GPU engine tells beside; not at a steady rate.
    #[serde(flatten)]
    device: Option<DeviceFigures>,
    /// Memory that the engine keeps from pair to pair; `None` where it does not know.
    engine_mb: Option<f64>,
    /// Largest memory of the whole process while this was measured; `None` where the system does not tell.
    peak_mb: Option<u64>,
}

#[derive(serde::Serialize)]
#[serde(untagged)]
enum Figures {
    OneByOne(one_by_one::Times),
    Steady(steady::Steady),
}

/// Pairs before the clock counts.
const WARM_UP: usize = 3;

/// Times everything and prints it.
///
/// # Errors
/// Pictures that cannot be read or written; an engine that was asked for by name cannot be opened or cannot do a pair; nobody takes
/// what is printed.
pub fn run(options: &BenchOptions, out: &mut dyn Write) -> anyhow::Result<()> {
    let pace = match &options.task {
        Task::Grid { grid, frames } => return grid::run(options, grid, *frames, out),
        Task::Stages { frames } => return stages::run(options, *frames, out),
        Task::Presets { frames } => return presets::run(options, *frames, out),
        Task::Model { frames } => return model::run(options, *frames, out),
        Task::Pipeline { frames } => return pipeline::run(options, *frames, out),
        &Task::OneByOne { frames } => Pace::OneByOne(frames),
        &Task::Steady { rate_hz, seconds } => Pace::Steady { rate_hz, seconds },
    };
    let mut report = Report { program: PROGRAM, results: Vec::new() };
    let mut gauge = Gauge::default();
    for (spec, source_options) in &options.sources {
        let jobs = pairs::jobs(spec, source_options, &options.params)?;
        let Some((width, height)) = jobs.first().map(|job| job.frame.size()) else { continue };
        options.params.validate_range(width)?;
        if let Some(folder) = &options.write_pairs {
            let inputs = open_source(spec, source_options)?.files();
            pairs::write(folder, &jobs, &mut Outputs::new(inputs, options.overwrite))?;
        }
        for choice in choices(options) {
            let measured = measure(options, choice, &pace, &jobs, &mut gauge)
                .with_context(|| format!("{choice} at {width}x{height}"))?;
            if !options.json {
                measured.print(out, report.results.is_empty())?;
            }
            report.results.push(measured);
        }
    }
    if options.json {
        writeln!(out, "{}", crate::console::json(&report)?)?;
    }
    Ok(())
}

/// Opens an engine, warms it up and times it.
fn measure(
    options: &BenchOptions,
    choice: EngineChoice,
    pace: &Pace,
    jobs: &[Job],
    gauge: &mut Gauge,
) -> anyhow::Result<Measured> {
    let params = &options.params;
    let open_options = options.open_options(choice);
    let warm = |engine: &mut dyn Engine| {
        process::forget_peak();
        let mut jobs = jobs.iter().cycle().take(WARM_UP);
        jobs.try_for_each(|job| one_by_one::run_job(engine, job.clone()).map(drop))
    };
    let (info, engine_bytes, figures, device) = match *pace {
        Pace::OneByOne(frames) if choice == EngineChoice::Gpu => {
            let mut engine = open_options.gpu_engine()?;
            warm(&mut engine)?;
            let times = one_by_one::measure(&mut engine, jobs, frames)?;
            let device = DeviceFigures::new(&engine, gauge, &times)?;
            (engine.info(), engine.memory_bytes(), Figures::OneByOne(times), Some(device))
        }
        Pace::Steady { rate_hz, seconds } => {
            let mut engine = open(&open_options, None)?.engine;
            warm(engine.as_mut())?;
            let (info, bytes) = (engine.info(), engine.memory_bytes());
            (info, bytes, Figures::Steady(steady::measure(engine, jobs, rate_hz, seconds)?), None)
        }
        Pace::OneByOne(frames) => {
            let mut engine = open(&open_options, None)?.engine;
            warm(engine.as_mut())?;
            let bytes = engine.memory_bytes();
            let times = one_by_one::measure(engine.as_mut(), jobs, frames)?;
            (engine.info(), bytes, Figures::OneByOne(times), None)
        }
    };
    let (width, height) = jobs.first().map_or((0, 0), |job| job.frame.size());
    Ok(Measured {
        engine: info.kind.to_string(),
        adapter: info.adapter.clone(),
        parameters: params.clone(),
        size: format!("{width}x{height}"),
        num_disparities: params.num_disparities,
        paths: params.paths,
        figures,
        device,
        engine_mb: engine_bytes.map(|bytes| bytes as f64 / f64::from(1 << 20)),
        peak_mb: process::peak_bytes().map(|bytes| bytes >> 20),
    })
}

impl BenchOptions {
    fn open_options(&self, choice: EngineChoice) -> OpenOptions {
        let (threads, adapter) = (self.threads, self.adapter.clone());
        OpenOptions { choice, threads, adapter, ..OpenOptions::default() }
    }
}

/// `auto` is every engine that this machine has and that can do it.
fn choices(options: &BenchOptions) -> Vec<EngineChoice> {
    let all = || {
        let has_gpu = !Gpu::list().is_empty();
        [Some(EngineChoice::Cpu), has_gpu.then_some(EngineChoice::Gpu)].into_iter().flatten().collect()
    };
    let expand = |&choice: &EngineChoice| if choice == EngineChoice::Auto { all() } else { vec![choice] };
    let mut choices: Vec<_> = options.engines.iter().flat_map(expand).collect();
    let mut seen = Vec::new();
    choices.retain(|choice| {
        !seen.contains(choice) && {
            seen.push(*choice);
            true
        }
    });
    choices
}

impl Measured {
    fn print(&self, out: &mut dyn Write, first: bool) -> std::io::Result<()> {
        let (head, columns, rest) = match &self.figures {
            Figures::OneByOne(times) => (one_by_one::Times::HEAD, times.columns(), times.rest()),
            Figures::Steady(steady) => (steady::Steady::HEAD, steady.columns(), String::new()),
        };
        if first {
            let stages = if rest.is_empty() { "" } else { "  stages, ms" };
            writeln!(out, "engine  size        disparities  paths  {head}  engine MB  peak MB{stages}")?;
        }
        let Self { engine, adapter, size, num_disparities, paths, .. } = self;
        let engine_mb = self.engine_mb.map_or_else(|| "-".to_owned(), |mb| format!("{mb:.1}"));
        let peak = self.peak_mb.map_or_else(|| "-".to_owned(), |mb| mb.to_string());
        let rest = if rest.is_empty() { rest } else { format!("  {rest}") };
        writeln!(
            out,
            "{engine:<7} {size:<11} {num_disparities:>11}  {paths:>5}  {columns}  {engine_mb:>9}  {peak:>7}{rest}  [{adapter}]"
        )?;
        self.device.as_ref().map_or(Ok(()), |device| device.print(out))
    }
}
