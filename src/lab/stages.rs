//! The stages one by one, in the shape of Banz, Blume & Pirsch 2011, Table 1: costs, paths one after another and together,
//! sums and winners.

use super::device::{Gauge, StageFigures, rates_text};
use super::rates::Rates;
use crate::bench::{Setup, Subject, not_measurable, one_by_one, pairs, warm_up};
use crate::engine::gpu::variant::{Variant, VariantOverrides};
use crate::engine::gpu::{Gpu, GpuOptions};
use crate::engine::{GpuEngine, Job};
use crate::stereo::StereoParams;
use std::io::Write;

/// A row of the paper's table: Tesla C2050, 1280x960 with 128 disparities.
#[derive(Clone, Copy, Debug, serde::Serialize)]
struct PaperRow {
    ms: f64,
    gb_per_s: f64,
    /// In the paper's letters: M is memory, C arithmetic, L latency.
    bound: char,
}

const COSTS: PaperRow = PaperRow { ms: 1.80, gb_per_s: 107.3, bound: 'L' };
const SEQUENTIAL: PaperRow = PaperRow { ms: 75.68, gb_per_s: 20.9, bound: 'L' };
const CONCURRENT: PaperRow = PaperRow { ms: 39.81, gb_per_s: 39.7, bound: 'L' };
const WINNER: PaperRow = PaperRow { ms: 15.09, gb_per_s: 117.4, bound: 'M' };

#[derive(serde::Serialize)]
struct Report {
    program: &'static str,
    /// Where `paper` comes from.
    paper: &'static str,
    results: Vec<Table>,
}

#[derive(serde::Serialize)]
struct Table {
    #[serde(flatten)]
    subject: Subject,
    variant: Variant,
    rates: Option<Rates>,
    rows: Vec<Row>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

#[derive(serde::Serialize)]
struct Row {
    what: &'static str,
    #[serde(flatten)]
    figures: StageFigures,
    paper: PaperRow,
}

const PAPER: &str = "Banz, Blume & Pirsch 2011, Table 1: Tesla C2050, 1280x960 with 128 disparities, rank 9x9; \
                     its paths make their costs anew";

/// Times the stages on every source.
pub(super) fn run(setup: &Setup, out: &mut dyn Write) -> anyhow::Result<()> {
    let mut gauge = Gauge::default();
    let gpu = Gpu::open(&setup.adapter)?;
    let mut report = Report { program: crate::bench::PROGRAM, paper: PAPER, results: Vec::new() };
    for (spec, source_options) in &setup.sources {
        let jobs = pairs::jobs(spec, source_options, &setup.params)?;
        let table = measure(&gpu, &mut gauge, &jobs, setup.frames)?;
        if !setup.json {
            table.print(out)?;
        }
        report.results.push(table);
    }
    if setup.json {
        writeln!(out, "{}", crate::console::json(&report)?)?;
    } else {
        writeln!(out, "paper: {PAPER}")?;
    }
    Ok(())
}

/// The variant that is known to be quickest, but with every direction in the stage of the paths; what the user forces stays.
fn variant(gpu: &Gpu, job: &Job) -> anyhow::Result<Variant> {
    let overrides = VariantOverrides::from_env()?;
    let mut engine =
        GpuEngine::with_options(gpu.clone(), GpuOptions { overrides: overrides.clone(), ..GpuOptions::default() })?;
    one_by_one::run_job(&mut engine, job.clone())?;
    let variant = engine.variant().ok_or_else(|| anyhow::anyhow!("the engine does not tell its variant"))?;
    Ok(overrides.apply(Variant { fused: false, ..variant }))
}

fn measure(gpu: &Gpu, gauge: &mut Gauge, jobs: &[Job], frames: usize) -> anyhow::Result<Table> {
    let Some(first) = jobs.first() else { anyhow::bail!("no pair to time") };
    let variant = variant(gpu, first)?;
    let rates = gauge.rates(gpu)?;
    let figures = |sequential| {
        let options = GpuOptions { overrides: VariantOverrides::all(variant), sequential, ..GpuOptions::default() };
        let mut engine = GpuEngine::with_options(gpu.clone(), options)?;
        warm_up(&mut engine, jobs)?;
        let times = one_by_one::measure(&mut engine, jobs, frames)?;
        let of = |name| {
            let work = engine.work().into_iter().find(|work| work.name == name)?;
            // software's times beside a GPU's would look like a comparison
            let ms = times.stage_ms(name).filter(|_| !gpu.info.software);
            Some(StageFigures::new(work, ms, rates.as_ref()))
        };
        Ok::<_, anyhow::Error>(["cost", "paths", "winner"].map(of))
    };
    let [cost, together, winner] = figures(false)?;
    let [_, one_by_one, _] = figures(true)?;
    let rows = [
        ("matching costs alone", cost, COSTS),
        ("paths, one after another", one_by_one, SEQUENTIAL),
        ("paths, together", together, CONCURRENT),
        ("sums and winners", winner, WINNER),
    ];
    Ok(Table {
        subject: Subject::of(&gpu.info, first),
        variant,
        rates,
        rows: rows
            .into_iter()
            .filter_map(|(what, figures, paper)| Some(Row { what, figures: figures?, paper }))
            .collect(),
        note: not_measurable(&gpu.info),
    })
}

impl Table {
    fn print(&self, out: &mut dyn Write) -> std::io::Result<()> {
        let Self { subject, variant, .. } = self;
        let (adapter, size) = (&subject.engine.adapter, subject.size_word());
        let StereoParams { num_disparities, cost, paths, .. } = &subject.parameters;
        writeln!(out, "{adapter}, {size} with {num_disparities} disparities, {cost}, {paths} paths")?;
        writeln!(out, "variant {variant}")?;
        if let Some(rates) = &self.rates {
            writeln!(out, "{}", rates_text(rates))?;
        }
        if let Some(note) = &self.note {
            writeln!(out, "{note}")?;
        }
        writeln!(out, "{:<26}{}  paper ms    GB/s  bound", "stage", StageFigures::HEAD)?;
        for Row { what, figures, paper: PaperRow { ms, gb_per_s, bound } } in &self.rows {
            writeln!(out, "{what:<26}{}  {ms:>8.2}  {gb_per_s:>6.1}  {bound}", figures.columns())?;
        }
        Ok(())
    }
}
