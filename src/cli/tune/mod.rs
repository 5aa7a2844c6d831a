//! `stereopsis tune`: every variant of the GPU engine's kernels timed on one pair, and the quickest one kept.

mod tables;
#[cfg(test)]
mod tests;

use super::UsageError;
use super::bench::pairs;
use super::settings_args::SettingsArgs;
use crate::capture::source::parse_size;
use crate::capture::{SourceOptions, SourceSpec};
use crate::console;
use crate::engine::gpu::layout::Structure;
use crate::engine::gpu::limits::Limits;
use crate::engine::gpu::tuning::{self, Record, Records, Study, Trial, study};
use crate::engine::gpu::variant::{self, Requirements, VariantOverrides};
use crate::engine::gpu::{AdapterChoice, Gpu, GpuOptions};
use crate::engine::{EngineChoice, EngineInfo, GpuEngine, Job};
use indicatif::{ProgressBar, ProgressStyle};
use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;
use tables::Tables;

/// Arguments of `tune`.
#[derive(Debug, clap::Args)]
pub(super) struct TuneArgs {
    /// The pair to tune on: a left and a right picture, or a folder of rectified pairs [default: the built-in scene]
    #[arg(num_args = 0..=2, value_name = "PATH", conflicts_with = "size")]
    pictures: Vec<PathBuf>,
    /// Size of each eye of the scene: that of the pictures to come [default: 640x480; on software 64x48]
    #[arg(long, value_name = "WxH", value_parser = parse_size)]
    size: Option<(usize, usize)>,
    /// Times a pair is matched with each variant, after a first time; the best one counts [default: 5; on software 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    rounds: Option<u32>,
    /// Print JSON instead of tables
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    settings: SettingsArgs,
}

/// Runs `tune`.
///
/// # Errors
/// Parts of the variant are forced; another engine is asked for; there is no GPU, or it cannot do the pair; nobody takes what is
/// printed, which does not hinder the best so far from being kept.
pub(super) fn run(args: &TuneArgs) -> anyhow::Result<()> {
    if !VariantOverrides::from_env()?.is_empty() {
        let text = format!("{0} forces a variant, and tune is to find one: leave {0} unset", variant::VARIABLE);
        return Err(UsageError(text).into());
    }
    let settings = args.settings.resolve()?;
    if settings.near_m.is_some() {
        return Err(UsageError("--near-m needs a rig; tune has none: give --num-disparities".to_owned()).into());
    }
    if settings.engine == EngineChoice::Cpu {
        let text = "the CPU engine has nothing to tune: leave out --engine, or use --engine gpu";
        return Err(UsageError(text.to_owned()).into());
    }
    let gpu = Gpu::open(&settings.adapter.as_deref().map_or(AdapterChoice::Best, AdapterChoice::from_word))?;
    let software = gpu.info.software;
    let (spec, source) = if args.pictures.is_empty() {
        let size = args.size.unwrap_or(if software { (64, 48) } else { (640, 480) });
        (SourceSpec::Scene, SourceOptions { size: Some(size), ..SourceOptions::default() })
    } else {
        (SourceSpec::from_paths(&args.pictures)?, SourceOptions::default())
    };
    let jobs = pairs::jobs(&spec, &source, &settings.params)?;
    let Some(job) = jobs.first() else { anyhow::bail!("{spec} has no pair") };
    settings.params.validate_range(job.frame.size().0)?;
    let rounds = args.rounds.map_or(if software { 1 } else { 5 }, |rounds| rounds as usize);
    tune(&gpu, job, rounds, args.json, &Records::of_user(), &mut console::Out)
}

/// The subject of a study.
struct About {
    info: EngineInfo,
    limits: Limits,
    requirements: Requirements,
    size: (usize, usize),
}

/// Studies, prints, and keeps the best in `records`: also where nobody takes what is printed.
fn tune(gpu: &Gpu, job: &Job, rounds: usize, json: bool, records: &Records, out: &mut dyn Write) -> anyhow::Result<()> {
    let structure = Structure::levels(job.frame.size(), &job.params).swap_remove(0).0;
    let key = tuning::record_key(gpu, &structure);
    let mut engine = GpuEngine::with_options(gpu.clone(), GpuOptions { forgets: true, ..GpuOptions::default() })?;
    let about = About {
        info: EngineInfo::clone(&gpu.info),
        limits: *engine.limits(),
        requirements: structure.requirements(),
        size: job.frame.size(),
    };
    let bar = progress_bar();
    let mut tables = Tables::new(&about);
    let mut printed = if json { Ok(()) } else { tables.print_head(out) };
    let outcome = study(&mut engine, job, rounds, &mut |trial, done, total| {
        bar.set_length(total as u64);
        bar.set_position(done as u64);
        bar.set_message(format!("{:.3} ms  {}", trial.pair_ms, trial.variant));
        if !json && printed.is_ok() {
            printed = bar.suspend(|| tables.add(trial, out));
        }
        printed.is_ok()
    });
    bar.finish_and_clear();
    let study = outcome?;
    let best = study.best().copied();
    if let Some(Trial { variant, pair_ms, .. }) = best {
        records.put(&key, Record { variant, ms: pair_ms });
    }
    printed?;
    if json {
        let report = report(&about, &study, records);
        writeln!(out, "{}", console::json(&report)?)?;
    } else {
        tables.print_rest(&study, out)?;
        writeln!(out, "{}", ending(best.as_ref(), records))?;
    }
    Ok(())
}

fn ending(best: Option<&Trial>, records: &Records) -> String {
    let Some(best) = best else { return "no variant could be run".to_owned() };
    let kept = records.file().map_or_else(
        || "not kept: this system has no cache folder".to_owned(),
        |file| format!("kept in {}: live, compute and bench use it for pairs of this size and range", file.display()),
    );
    format!("quickest: {} with {:.3} ms a pair; {kept}", best.variant, best.pair_ms)
}

/// What is said where the GPU is software.
fn note(info: &EngineInfo) -> Option<String> {
    let adapter = &info.adapter;
    info.software.then(|| format!("this GPU is software ({adapter}): these times say nothing about real GPUs"))
}

fn report(about: &About, study: &Study, records: &Records) -> serde_json::Value {
    let not_run: Vec<_> = tables::not_run(about, study)
        .into_iter()
        .map(|(what, why)| serde_json::json!({ "what": what, "why": why }))
        .collect();
    serde_json::json!({
        "program": concat!("stereopsis ", env!("CARGO_PKG_VERSION")),
        "adapter": about.info.adapter,
        "software": about.info.software,
        "size": format!("{}x{}", about.size.0, about.size.1),
        "num_disparities": about.requirements.candidates,
        "trials": study.trials,
        "best": study.best(),
        "not_run": not_run,
        "kept_in": records.file(),
        "note": note(&about.info),
    })
}

/// A line on the terminal; nothing where there is none.
fn progress_bar() -> ProgressBar {
    let bar = ProgressBar::new(0);
    bar.enable_steady_tick(Duration::from_millis(500));
    let style = ProgressStyle::with_template("{pos}/{len} variants, {eta} left: {wide_msg}");
    style.map_or(bar.clone(), |style| bar.with_style(style))
}
