//! The sizes and disparities for which a paper tells its times, with these beside.

use crate::bench::one_by_one::{self, FrameTime};
use crate::bench::{Setup, Subject, WARM_UP, not_measurable, pairs};
use crate::capture::{SourceOptions, SourceSpec};
use crate::engine::gpu::variant::Variant;
use crate::engine::{Engine, EngineChoice, GpuEngine, Job, open};
use crate::stereo::{CostKind, Preset, StereoParams};
use anyhow::Context as _;
use std::io::Write;

/// What is timed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Grid {
    /// Sizes of each eye.
    pub(super) sizes: Vec<(usize, usize)>,
    /// Numbers of disparities.
    pub(super) disparities: Vec<u32>,
}

impl Grid {
    /// That of Banz, Blume & Pirsch 2011, Table 2.
    pub(super) fn banz() -> Self {
        Self { sizes: BANZ_MS.iter().map(|(size, _)| *size).collect(), disparities: BANZ_DISPARITIES.to_vec() }
    }
}

const BANZ_DISPARITIES: [u32; 3] = [64, 128, 256];

/// A pair on a Tesla C2050, ms: rank transform 9x9, 8 paths, median 3x3; no left-right check, no transfers.
const BANZ_MS: [((usize, usize), [f64; 3]); 3] =
    [((640, 480), [9.7, 16.0, 29.0]), ((1024, 768), [21.5, 35.9, 67.1]), ((1280, 960), [32.9, 56.2, 105.7])];

/// What the paper tells of this size, if anything.
fn banz_ms(size: (usize, usize), disparities: u32) -> Option<f64> {
    let (_, row) = BANZ_MS.iter().find(|(of, _)| *of == size)?;
    Some(row[BANZ_DISPARITIES.iter().position(|&of| of == disparities)?])
}

#[derive(serde::Serialize)]
struct Report {
    program: &'static str,
    /// Where `paper_ms` comes from.
    paper: &'static str,
    results: Vec<Cell>,
}

#[derive(serde::Serialize)]
struct Cell {
    #[serde(flatten)]
    subject: Subject,
    /// With transfers; not of GPUs that are software, whose times beside the paper's would look like a comparison.
    frame_ms: Option<FrameTime>,
    /// Without; of GPUs with timestamps.
    device_ms: Option<FrameTime>,
    computed_hz: Option<f64>,
    paper_ms: Option<f64>,
    variant: Option<Variant>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

const PAPER: &str = "Banz, Blume & Pirsch 2011, Table 2: Tesla C2050, rank 9x9, without transfers";

/// Times every engine, cost and size.
pub(super) fn run(setup: &Setup, grid: &Grid, out: &mut dyn Write) -> anyhow::Result<()> {
    let mut report = Report { program: crate::bench::PROGRAM, paper: PAPER, results: Vec::new() };
    for cost in [CostKind::Rank, CostKind::Census5x5] {
        for &size in &grid.sizes {
            for &disparities in &grid.disparities {
                let params = params(cost, disparities);
                let source = SourceOptions { size: Some(size), ..SourceOptions::default() };
                let jobs = pairs::jobs(&SourceSpec::Scene, &source, &params)?;
                for choice in setup.engines() {
                    let cell = measure(setup, choice, &jobs)
                        .with_context(|| format!("{choice} at {}x{} with {disparities} disparities", size.0, size.1))?;
                    if !setup.json {
                        cell.print(out, report.results.is_empty())?;
                    }
                    report.results.push(cell);
                }
            }
        }
    }
    if setup.json {
        writeln!(out, "{}", crate::console::json(&report)?)?;
    } else {
        writeln!(out, "paper: {PAPER}")?;
        if let Some(note) = report.results.iter().find_map(|cell| cell.note.as_ref()) {
            writeln!(out, "{note}")?;
        }
    }
    Ok(())
}

/// The paper's method, and the same with another cost and the penalties that suit it.
fn params(cost: CostKind, disparities: u32) -> StereoParams {
    let mut params = StereoParams { num_disparities: disparities, ..StereoParams::default() };
    Preset::Banz2011.apply(&mut params);
    if cost == CostKind::Rank {
        return params;
    }
    let StereoParams { p1, p2, p2_min, p2_alpha, .. } = StereoParams::for_cost(cost);
    StereoParams { cost, p1, p2, p2_min, p2_alpha, ..params }
}

fn measure(setup: &Setup, choice: EngineChoice, jobs: &[Job]) -> anyhow::Result<Cell> {
    let Some(first) = jobs.first() else { anyhow::bail!("no pair to time") };
    let open_options = setup.open_options(choice);
    let (mut gpu, mut other): (Option<GpuEngine>, Option<Box<dyn Engine>>) = (None, None);
    let engine: &mut dyn Engine = if choice == EngineChoice::Gpu {
        gpu.insert(open_options.gpu_engine()?)
    } else {
        other.insert(open(&open_options, None)?.engine).as_mut()
    };
    let info = engine.info();
    // software shows that it can, once
    let (warm_up, frames) = if info.software { (0, 1) } else { (WARM_UP, setup.frames) };
    for job in jobs.iter().cycle().take(warm_up) {
        one_by_one::run_job(engine, job.clone())?;
    }
    let times = one_by_one::measure(engine, jobs, frames)?;
    let frame_ms = Some(times.frame_ms).filter(|_| !info.software);
    Ok(Cell {
        subject: Subject::of(&info, first),
        computed_hz: frame_ms.as_ref().map(|times| 1e3 / times.median),
        frame_ms,
        device_ms: times.device_ms.filter(|_| gpu.is_some() && !info.software),
        paper_ms: banz_ms(first.frame.size(), first.params.num_disparities),
        variant: gpu.as_ref().and_then(GpuEngine::variant),
        note: not_measurable(&info),
    })
}

impl Cell {
    fn print(&self, out: &mut dyn Write, first: bool) -> std::io::Result<()> {
        if first {
            writeln!(out, "engine  cost        size       disparities  device ms  pair ms  pairs/s  paper ms")?;
        }
        let number = |value: Option<f64>, decimals| value.map_or("-".to_owned(), |value| format!("{value:.decimals$}"));
        let median = |times: &Option<FrameTime>| number(times.as_ref().map(|times| times.median), 2);
        let (device_ms, pair_ms) = (median(&self.device_ms), median(&self.frame_ms));
        let (pairs_per_s, paper_ms) = (number(self.computed_hz, 1), number(self.paper_ms, 1));
        let Self { subject, .. } = self;
        let (engine, size) = (subject.engine_word(), subject.size_word());
        let (adapter, StereoParams { num_disparities, cost, .. }) = (&subject.engine.adapter, &subject.parameters);
        let cost = cost.word();
        writeln!(
            out,
            "{engine:<7} {cost:<11} {size:<10} {num_disparities:>11}  {device_ms:>9}  {pair_ms:>7}  {pairs_per_s:>7}  {paper_ms:>8}  [{adapter}]"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stereo::Median;

    #[test]
    fn the_grid_and_its_method_are_those_of_the_paper() {
        let Grid { sizes, disparities } = Grid::banz();
        assert_eq!((sizes.len(), disparities), (3, vec![64, 128, 256]));
        assert_eq!(banz_ms((1280, 960), 128), Some(56.2));
        assert_eq!((banz_ms((1280, 960), 100), banz_ms((64, 48), 64)), (None, None));
        for cost in [CostKind::Rank, CostKind::Census5x5] {
            let params = params(cost, 128);
            params.validate().unwrap();
            assert_eq!((params.cost, params.paths, params.median), (cost, 8, Median::Three));
            assert_eq!((params.left_right, params.num_disparities, params.subpixel), (None, 128, false));
        }
        assert_eq!(params(CostKind::Rank, 64).rank_window, 9);
    }
}
