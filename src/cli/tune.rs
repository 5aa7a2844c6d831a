//! `stereopsis tune`: times every variant of the GPU engine's kernels on one pair, and keeps the quickest one.

use super::error::refuse;
use super::pair_args;
use super::settings_args::SettingsArgs;
use super::short_help::{hidden, shown};
use indicatif::{ProgressBar, ProgressStyle};
use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;
use stereopsis_base::console;
use stereopsis_bench::{PROGRAM, pairs};
use stereopsis_frame::engine::cached::Measurements;
use stereopsis_frame::engine::{AdapterChoice, EngineChoice, Job};
use stereopsis_frame::source::parse_size;
use stereopsis_gpu::layout::Structure;
use stereopsis_gpu::tuning::{Record, Trial};
use stereopsis_gpu::variant::VariantOverrides;
use stereopsis_gpu::{Gpu, GpuEngine, GpuOptions, tuning, variant};

/// Arguments of `tune`.
#[derive(Debug, clap::Args)]
#[command(mut_arg("engine", hidden), mut_arg("adapter", shown))]
pub struct StudyArgs {
    /// The pair to tune on: a left and a right image, or a folder of rectified pairs [default: the built-in scene]
    #[arg(num_args = 0.., value_name = "PATH", conflicts_with = "size")]
    pictures: Vec<PathBuf>,
    /// Size of each image of the scene: that of the images to come [default: 640x480; on software 64x48]
    #[arg(long, value_name = "WxH", value_parser = parse_size)]
    size: Option<(usize, usize)>,
    /// Times a pair is matched with each variant, after a first time; the best one counts [default: 5; on software 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    rounds: Option<u32>,
    /// Print JSON instead of text
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    settings: SettingsArgs,
}

/// GPU, and the pair on which its variants are timed.
pub struct Study {
    /// GPU whose variants are timed.
    pub gpu: Gpu,
    /// Pair on which they are timed.
    pub job: Job,
    /// Number of times that each variant matches it.
    pub rounds: usize,
    /// Whether JSON is printed instead of text.
    pub json: bool,
}

impl StudyArgs {
    /// Opens the GPU and reads the pair.
    ///
    /// # Errors
    /// Parts of the variant are forced, another engine is chosen, or there is no GPU or no pair.
    pub fn open(&self) -> anyhow::Result<Study> {
        if !VariantOverrides::from_env()?.is_empty() {
            return refuse(format!("{0} forces a variant, and here all are timed: leave {0} unset", variant::VARIABLE));
        }
        let settings = self.settings.resolve()?;
        if settings.near_m.is_some() {
            return refuse("--near-m needs a rig; tune has none: give --num-disparities");
        }
        if settings.engine == EngineChoice::Cpu {
            return refuse("the CPU engine has nothing to tune: leave out --engine, or use --engine gpu");
        }
        let gpu = Gpu::open(&settings.adapter.as_deref().map_or(AdapterChoice::Best, AdapterChoice::from_word))?;
        let (size, rounds) = if gpu.info.software { ((64, 48), 1) } else { ((640, 480), 5) };
        let sizes: Vec<_> = self.size.into_iter().collect();
        let (spec, source) = pair_args::sources(&self.pictures, &sizes, size)?.swap_remove(0);
        let job = pairs::jobs(stereopsis_sources::open, &spec, &source, &settings.params)?.swap_remove(0);
        settings.params.validate_range(job.frame.size().0)?;
        Ok(Study { gpu, job, rounds: self.rounds.map_or(rounds, |rounds| rounds as usize), json: self.json })
    }
}

/// Runs `tune`.
///
/// # Errors
/// Errors of [`StudyArgs::open`]; the GPU cannot match the pair; standard output is closed, after the best variant was kept.
pub(super) fn run(args: &StudyArgs) -> anyhow::Result<()> {
    tune(&args.open()?, &tuning::records(), &mut console::Out)
}

/// Times all variants, keeps the best in `records`, and prints it.
fn tune(study: &Study, records: &Measurements, out: &mut dyn Write) -> anyhow::Result<()> {
    let Study { gpu, job, rounds, json } = study;
    let structure = Structure::levels(job.frame.size(), &job.params).swap_remove(0).0;
    let mut engine = GpuEngine::with_options(gpu.clone(), GpuOptions { forgets: true, ..GpuOptions::default() })?;
    let bar = progress_bar();
    let outcome = tuning::study(&mut engine, job, *rounds, &mut |trial, done, total| {
        bar.set_length(total as u64);
        bar.set_position(done as u64);
        bar.set_message(format!("{:.3} ms  {}", trial.pair_ms, trial.variant));
        true
    });
    bar.finish_and_clear();
    let outcome = outcome?;
    let best = outcome.best();
    if let Some(&Trial { variant, pair_ms, .. }) = best {
        records.put(&tuning::record_key(gpu, &structure), &Record { variant, ms: pair_ms });
    }
    let adapter = &gpu.info.adapter;
    let software = format!("this GPU is software ({adapter}): these times say nothing about real GPUs");
    let note = gpu.info.software.then_some(software);
    if *json {
        let report = serde_json::json!({
            "program": PROGRAM,
            "engine": *gpu.info,
            "size": job.frame.size(),
            "parameters": *job.params,
            "trials": outcome.trials,
            "best": best,
            "kept_in": records.file(),
            "note": note,
        });
        writeln!(out, "{}", console::json(&report)?)?;
    } else {
        note.map_or(Ok(()), |note| writeln!(out, "{note}"))?;
        writeln!(out, "{}", ending(best, records))?;
    }
    Ok(())
}

fn ending(best: Option<&Trial>, records: &Measurements) -> String {
    let Some(best) = best else { return "no variant could be run".to_owned() };
    let kept = records.file().map_or_else(
        || "not kept: this system has no cache folder".to_owned(),
        |file| format!("kept in {}: live, compute and bench use it for pairs of this size and range", file.display()),
    );
    format!("quickest: {} with {:.3} ms a pair; {kept}", best.variant, best.pair_ms)
}

/// Creates a progress line on the terminal; hidden without a terminal.
fn progress_bar() -> ProgressBar {
    let bar = ProgressBar::new(0);
    bar.enable_steady_tick(Duration::from_millis(500));
    let style = ProgressStyle::with_template("{pos}/{len} variants, {eta} left: {wide_msg}");
    style.map_or(bar.clone(), |style| bar.with_style(style))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io;
    use stereopsis_frame::SourceOptions;
    use stereopsis_frame::SourceSpec;
    use stereopsis_stereo::StereoParams;

    struct Closed;

    impl Write for Closed {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn best_variant_is_kept_after_a_closed_output() {
        assert_eq!(ending(None, &Measurements::default()), "no variant could be run");
        let Ok(gpu) = Gpu::open(&AdapterChoice::Best) else {
            assert!(std::env::var_os("REQUIRE_GPU").is_none(), "REQUIRE_GPU is set, and there is no GPU");
            return;
        };
        let params = StereoParams { num_disparities: 8, ..StereoParams::default() };
        let source = SourceOptions { size: Some((24, 16)), ..SourceOptions::default() };
        let job = pairs::jobs(stereopsis_sources::open, &SourceSpec::Scene, &source, &params).unwrap().swap_remove(0);
        let folder = tempfile::tempdir().unwrap();
        let records = Measurements::in_file(folder.path().join("variants.json"));
        let structure = Structure::levels(job.frame.size(), &job.params).swap_remove(0).0;
        let key = tuning::record_key(&gpu, &structure);
        assert_eq!(records.get::<Record>(&key), None);
        let study = Study { gpu: gpu.clone(), job, rounds: 1, json: false };
        let err = tune(&study, &records, &mut Closed).unwrap_err();
        assert!(super::super::is_closed_pipe(&err), "{err}");
        let record: Record = records.get(&key).unwrap();
        let limits = *GpuEngine::new(gpu).unwrap().limits();
        assert_eq!(record.variant.unsupported_reason(&limits, &structure.requirements()), None);
    }
}
