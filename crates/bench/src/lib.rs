//! Speed of engines on this machine, on pairs of the built-in scene or on images: time of a warm pair by stage and in total, a steady
//! rate, and all presets side by side.

pub mod one_by_one;
pub mod pairs;
mod presets;
mod setup;
mod steady;
mod subject;
#[cfg(test)]
mod tests;

pub use setup::{OpenSource, Setup, not_measurable};
pub use subject::Subject;

use anyhow::Context;
use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use stereopsis_base::files::Outputs;
use stereopsis_engine::open;
use stereopsis_frame::engine::{Engine, EngineChoice, EngineError, EngineInfo, EngineKind, Job};
use stereopsis_gpu::tuning::{Clock, RESTED, burst, device_ms};
use stereopsis_stereo::StereoParams;

/// Kind of a measurement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Task {
    /// Pairs one after another.
    OneByOne,
    /// Pairs at a fixed rate, as from a camera.
    Steady {
        /// Rate of pairs, Hz.
        rate_hz: f64,
        /// Duration of the run, s.
        seconds: f64,
    },
    /// Pairs one after another for every preset, with the search range of the parameters.
    Presets,
}

/// Folder to which the timed pairs are written.
#[derive(Clone, Debug)]
pub struct PairFolder {
    /// Path of the folder, which is created.
    pub path: PathBuf,
    /// Whether existing images in it may be replaced.
    pub overwrite: bool,
}

/// Name and version of this program, for reports.
pub const PROGRAM: &str = concat!("stereopsis ", env!("CARGO_PKG_VERSION"));

/// JSON of a measurement with a row for each subject.
#[derive(serde::Serialize)]
pub struct Report<R> {
    program: &'static str,
    /// Rows in the order of measurement.
    pub results: Vec<R>,
}

impl<R> Default for Report<R> {
    fn default() -> Self {
        Self { program: PROGRAM, results: Vec::new() }
    }
}

#[derive(serde::Serialize)]
struct Measurement {
    #[serde(flatten)]
    subject: Subject,
    #[serde(flatten)]
    figures: Figures,
    /// Memory that the engine keeps from pair to pair, MB.
    engine_mb: Option<f64>,
    /// Peak memory of the whole process during the measurement, MB; `None` where the system does not report it.
    peak_mb: Option<u64>,
}

#[derive(serde::Serialize)]
#[serde(untagged)]
enum Figures {
    OneByOne(one_by_one::Times),
    Steady(steady::SteadyRun),
}

/// Number of pairs before times count.
const WARM_UP: usize = 3;
/// Number of successive pairs without a faster one before a GPU's times count.
const MIN_STEADY_PAIRS: usize = 10;
/// Largest time for untimed pairs.
const MAX_WARM_UP_TIME: Duration = Duration::from_secs(2);

/// Measures the engines and prints the results.
///
/// # Errors
/// Images cannot be read or written, a chosen engine cannot be opened or cannot match a pair, or `out` cannot be written.
pub fn run(setup: &Setup, task: Task, folder: Option<&PairFolder>, out: &mut dyn Write) -> anyhow::Result<()> {
    if task == Task::Presets {
        return presets::run(setup, out);
    }
    let mut report = Report::default();
    for (spec, source_options) in &setup.sources {
        let jobs = setup.jobs(spec, source_options)?;
        let Some((width, height)) = jobs.first().map(|job| job.frame.size()) else { continue };
        setup.params.validate_range(width)?;
        if let Some(folder) = folder {
            let inputs = (setup.open_source)(spec, source_options)?.files();
            pairs::write(&folder.path, &jobs, &mut Outputs::new(inputs, folder.overwrite))?;
        }
        for choice in setup.engines() {
            let measured =
                measure(setup, choice, task, &jobs).with_context(|| format!("{choice} at {width}x{height}"))?;
            if !setup.json {
                measured.print(out, report.results.is_empty())?;
            }
            report.results.push(measured);
        }
    }
    if setup.json {
        writeln!(out, "{}", stereopsis_base::console::json(&report)?)?;
    }
    Ok(())
}

fn measure(setup: &Setup, choice: EngineChoice, task: Task, jobs: &[Job]) -> anyhow::Result<Measurement> {
    let Some(first) = jobs.first() else { anyhow::bail!("no pair to time") };
    let mut engine = open(&setup.open_options(choice), None)?.engine;
    stereopsis_base::process::forget_peak();
    warm_up(engine.as_mut(), jobs)?;
    let (info, bytes) = (engine.info(), engine.memory_bytes());
    let figures = match task {
        Task::Steady { rate_hz, seconds } => Figures::Steady(steady::measure(engine, jobs, rate_hz, seconds)?),
        _ => Figures::OneByOne(one_by_one::measure(engine.as_mut(), jobs, setup.frames)?),
    };
    Ok(Measurement {
        subject: Subject::of(&info, first),
        figures,
        engine_mb: bytes.map(|bytes| bytes as f64 / f64::from(1 << 20)),
        peak_mb: stereopsis_base::process::peak_bytes().map(|bytes| bytes >> 20),
    })
}

/// Matches some pairs until buffers and pipelines exist and the clock of a hardware GPU is steady.
///
/// # Errors
/// The engine cannot match a pair.
pub fn warm_up(engine: &mut dyn Engine, jobs: &[Job]) -> Result<(), EngineError> {
    let begin = Instant::now();
    for job in jobs.iter().cycle().take(WARM_UP) {
        one_by_one::run_job(engine, job.clone())?;
        if begin.elapsed() > MAX_WARM_UP_TIME {
            return Ok(());
        }
    }
    let info = engine.info();
    let (mut clock, mut is_steady) = (Clock::start(RESTED), info.kind != EngineKind::Gpu || info.software);
    while !is_steady {
        for output in burst(engine, jobs, MIN_STEADY_PAIRS)? {
            is_steady |= clock.is_steady(device_ms(&output), MIN_STEADY_PAIRS);
        }
    }
    Ok(())
}

impl Measurement {
    fn print(&self, out: &mut dyn Write, first: bool) -> std::io::Result<()> {
        let (head, columns, rest) = match &self.figures {
            Figures::OneByOne(times) => (one_by_one::Times::HEAD, times.columns(), times.rest()),
            Figures::Steady(steady) => (steady::SteadyRun::HEAD, steady.columns(), String::new()),
        };
        if first {
            let stages = if rest.is_empty() { "" } else { "  stages, ms" };
            writeln!(out, "engine  size        disparities  paths  {head}  engine MB  peak MB{stages}")?;
        }
        let Subject { engine: EngineInfo { adapter, .. }, parameters, .. } = &self.subject;
        let StereoParams { num_disparities, paths, .. } = parameters;
        let (engine, size) = (self.subject.engine_word(), self.subject.size_word());
        let engine_mb = self.engine_mb.map_or_else(|| "-".to_owned(), |mb| format!("{mb:.1}"));
        let peak = self.peak_mb.map_or_else(|| "-".to_owned(), |mb| mb.to_string());
        let rest = if rest.is_empty() { rest } else { format!("  {rest}") };
        writeln!(
            out,
            "{engine:<7} {size:<11} {num_disparities:>11}  {paths:>5}  {columns}  {engine_mb:>9}  {peak:>7}{rest}  [{adapter}]"
        )
    }
}
