//! Local aggregation rates predicted by the model of Fang et al. 2012 and measured, with some radii for calibration and others for tests.

use super::aggregation_model::{Kernel, Usage, Workload};
use super::device::RatesCache;
use super::memory;
use anyhow::Context as _;
use std::io::Write;
use std::sync::Arc;
use stereopsis_bench::{Setup, Subject, not_measurable, one_by_one};
use stereopsis_engine::open;
use stereopsis_frame::engine::{Engine, EngineChoice, Job};
use stereopsis_gpu::Gpu;
use stereopsis_stereo::local::arms;
use stereopsis_stereo::{Aggregation, StereoParams};

/// Timed aggregators with radii or arm lengths for calibration and for prediction.
const SERIES: [(Aggregation, &[u32], &[u32]); 3] = [
    (Aggregation::Window, &[1, 4, 12], &[2, 3, 6, 8]),
    (Aggregation::AdaptiveWeight, &[1, 4, 12], &[2, 3, 6, 8]),
    (Aggregation::Cross, &[2, 6, 17], &[3, 4, 9, 12]),
];

/// Time spent on each row after the first pair, ms.
const TIMING_MS: f64 = 1000.0;

const PAPER: &str = "Fang et al. 2012, section IV: costs of 4 bytes, work groups of 16x16, windows and weights with local \
                     memory; usage above 100 % is that of kernels that ask for less than the paper's";

#[derive(serde::Serialize)]
struct Report {
    program: &'static str,
    /// Assumptions of the ideal rates.
    paper: &'static str,
    results: Vec<Table>,
}

#[derive(serde::Serialize)]
struct Table {
    #[serde(flatten)]
    subject: Subject,
    /// Copy bandwidth of a large array, bytes/s; `None` for software GPUs.
    bytes_per_s: Option<f64>,
    rows: Vec<PredictionRow>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

#[derive(serde::Serialize)]
struct PredictionRow {
    aggregation: Aggregation,
    /// Window radius or arm length, px.
    radius: u32,
    /// Ideal rate by memory bandwidth alone, pairs/s.
    ideal_hz: f64,
    /// Measured rate of the aggregation, on the CPU including the winner selection, pairs/s.
    measured_hz: f64,
    usage: f64,
    /// Rate predicted from the calibration radii, pairs/s; `None` at these.
    predicted_hz: Option<f64>,
    error_percent: Option<f64>,
}

pub(super) fn run(setup: &Setup, out: &mut dyn Write) -> anyhow::Result<()> {
    let mut report = Report { program: stereopsis_bench::PROGRAM, paper: PAPER, results: Vec::new() };
    let mut gauge = RatesCache::default();
    for (spec, source_options) in &setup.sources {
        let jobs = setup.jobs(spec, source_options)?;
        for choice in setup.engines() {
            let mut engine = open(&setup.open_options(choice), None)?.engine;
            let bytes_per_s = if choice == EngineChoice::Gpu {
                gauge.rates(&Gpu::open(&setup.adapter)?)?.map(|rates| rates.bytes_per_s)
            } else {
                Some(memory::bytes_per_s(setup.threads)?)
            };
            let table = table(engine.as_mut(), bytes_per_s, &jobs, setup.frames)
                .with_context(|| format!("the model of aggregation on {choice}"))?;
            if !setup.json {
                table.print(out)?;
            }
            report.results.push(table);
        }
    }
    if setup.json {
        writeln!(out, "{}", stereopsis_base::console::json(&report)?)?;
    } else {
        writeln!(out, "ideal: {PAPER}")?;
    }
    Ok(())
}

fn table(engine: &mut dyn Engine, bytes_per_s: Option<f64>, jobs: &[Job], frames: usize) -> anyhow::Result<Table> {
    let Some(first) = jobs.first() else { anyhow::bail!("no pair to time") };
    let (info, (width, height)) = (engine.info(), first.frame.size());
    let mut table =
        Table { subject: Subject::of(&info, first), bytes_per_s, rows: Vec::new(), note: not_measurable(&info) };
    let Some(bytes_per_s) = bytes_per_s.filter(|_| table.note.is_none()) else { return Ok(table) };
    let workload = Workload::of_paper(width, height, first.params.num_disparities as usize);
    for (aggregation, calibrating, predicted) in SERIES {
        let mut usage = Usage::default();
        let first_row = table.rows.len();
        for (radius, calibrates) in calibrating.iter().map(|&r| (r, true)).chain(predicted.iter().map(|&r| (r, false)))
        {
            let params = of_radius(&first.params, aggregation, radius);
            let (kernel, side_px) = kernel(first, &params, radius);
            let Some(measured_hz) = measure(engine, jobs, &params, frames)? else {
                table.note = Some("not measurable here: this device has no timestamps".to_owned());
                return Ok(table);
            };
            let [without, with] = workload.ideal_rates_hz(kernel, bytes_per_s);
            let ideal_hz = if aggregation == Aggregation::Cross { without } else { with };
            if calibrates {
                usage.calibrate(side_px, measured_hz, ideal_hz);
            }
            let predicted_hz = usage.at(side_px).filter(|_| !calibrates).map(|usage| usage * ideal_hz);
            table.rows.push(PredictionRow {
                aggregation,
                radius,
                ideal_hz,
                measured_hz,
                usage: measured_hz / ideal_hz,
                predicted_hz,
                error_percent: predicted_hz.map(|predicted| 100.0 * (predicted / measured_hz - 1.0)),
            });
        }
        table.rows[first_row..].sort_by_key(|row| row.radius);
    }
    Ok(table)
}

/// Returns parameters with this aggregator, winner-take-all and no filters.
pub(super) fn of_radius(params: &StereoParams, aggregation: Aggregation, radius: u32) -> StereoParams {
    let params = StereoParams { aggregation, paths: 0, gating: None, left_right: None, ..params.clone() };
    if aggregation.has_arms() {
        StereoParams { arms: radius, ..params }
    } else {
        StereoParams { window: 2 * radius + 1, ..params }
    }
}

/// Returns the model's kernel and its window side, px; for a cross the mean region height in the left image.
pub(super) fn kernel(job: &Job, params: &StereoParams, radius: u32) -> (Kernel, f64) {
    let side_px = f64::from(2 * radius + 1);
    match params.aggregation {
        Aggregation::AdaptiveWeight => (Kernel::AdaptiveWeight { radius }, side_px),
        Aggregation::Cross | Aggregation::WeightedCross => {
            let arms = arms(&job.frame.left.luma.to_u8(), params.tau, params.arms);
            let heights: f64 = arms.pixels().iter().map(|arms| f64::from(arms.up) + f64::from(arms.down) + 1.0).sum();
            let mean_height_px = heights / arms.pixels().len() as f64;
            (Kernel::Cross { mean_height_px }, mean_height_px)
        }
        Aggregation::Window | Aggregation::None => (Kernel::Window { radius }, side_px),
    }
}

/// Measures aggregations/s, if the engine reports stage times.
pub(super) fn measure(
    engine: &mut dyn Engine,
    jobs: &[Job],
    params: &StereoParams,
    frames: usize,
) -> anyhow::Result<Option<f64>> {
    let params = Arc::new(params.clone());
    let jobs: Vec<_> = jobs.iter().map(|job| Job { params: Arc::clone(&params), ..job.clone() }).collect();
    let first = one_by_one::measure(engine, &jobs, 1)?; // warms up
    let frames = ((TIMING_MS / first.frame_ms.best) as usize).clamp(1, frames);
    let times = one_by_one::measure(engine, &jobs, frames)?;
    // the CPU engine selects winners during aggregation
    let stage_ms = ["aggregation", "aggregation + winner"].iter().find_map(|name| times.stage_ms(name));
    Ok(stage_ms.map(|ms| 1e3 / ms))
}

impl Table {
    fn print(&self, out: &mut dyn Write) -> std::io::Result<()> {
        let Self { subject, bytes_per_s, rows, note } = self;
        let (engine, size) = (subject.engine_word(), subject.size_word());
        let (adapter, StereoParams { num_disparities, cost, .. }) = (&subject.engine.adapter, &subject.parameters);
        writeln!(out, "{engine}, {adapter}: {size} with {num_disparities} disparities, {cost}")?;
        if let Some(bytes_per_s) = bytes_per_s {
            writeln!(out, "copies {:.1} GB/s (read and written)", bytes_per_s * 1e-9)?;
        }
        if let Some(note) = note {
            writeln!(out, "{note}")?;
        }
        if rows.is_empty() {
            return Ok(());
        }
        writeln!(out, "{:<16} radius    ideal/s  measured/s    usage  predicted/s    error", "aggregation")?;
        for PredictionRow { aggregation, radius, ideal_hz, measured_hz, usage, predicted_hz, error_percent } in rows {
            let predicted = predicted_hz.map_or("calibrates".to_owned(), |rate| format!("{rate:.2}"));
            let error = error_percent.map_or(String::new(), |error| format!("{error:+.1} %"));
            let line = format!(
                "{:<16} {radius:>6} {ideal_hz:>10.2}  {measured_hz:>10.2} {:>6.2} %  {predicted:>11}  {error:>7}",
                aggregation.word(),
                100.0 * usage
            );
            writeln!(out, "{}", line.trim_end())?;
        }
        for (aggregation, ..) in SERIES {
            let errors: Vec<_> =
                rows.iter().filter(|row| row.aggregation == aggregation).filter_map(|row| row.error_percent).collect();
            let mean = errors.iter().map(|error| error.abs()).sum::<f64>() / errors.len().max(1) as f64;
            writeln!(out, "{aggregation}: off by {mean:.1} % on average")?;
        }
        Ok(())
    }
}
