//! `stereopsis optimize`: writes a settings file with the best preset within a time limit, or with a better setting for the given pairs.

mod pairs;
mod report;

use super::error::refuse;
use super::input_args::{Input, InputArgs};
use super::settings_args::SettingsArgs;
use super::short_help::hidden_too;
use super::values::{OVERWRITE, choice, positive, print_json};
use pairs::Pairs;
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use stereopsis_base::files::{Outputs, plain};
use stereopsis_base::{console, files};
use stereopsis_figures::{check_figure_name, write_trade_off};
use stereopsis_frame::{SourceSpec, Speed};
use stereopsis_live::headless;
use stereopsis_search::{Budget, CHECKSUMS, Journal, Judge, Plan, Sample, Search, SearchLimits, SearchProgress};
use stereopsis_settings::settings::Settings;

/// Arguments of `optimize`.
#[derive(Debug, clap::Args)]
#[command(mut_args(hidden_too(&["source", "calibration"])))]
pub(super) struct OptimizeArgs {
    /// File of the setting that is found, for --settings
    ///
    /// FILE.search.jsonl beside it keeps all trials; the same command continues there.
    #[arg(short, long, value_name = "FILE.toml")]
    output: PathBuf,
    /// Judge of the settings [default: truth where every pair has it]
    #[arg(long, value_name = "WHAT", value_parser = choice(Judge::ALL, Judge::word, Judge::help))]
    judge: Option<Judge>,
    /// Pairs of each folder or recording, spread over it
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pairs: u16,
    /// Longest time of a pair
    #[arg(long, value_name = "MS", value_parser = positive)]
    max_ms: Option<f64>,
    /// End after so many seconds, earlier runs of the same command included
    #[arg(long, value_name = "S", default_value = "60", value_parser = positive, conflicts_with = "trials")]
    seconds: f64,
    /// End after so many settings instead
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    trials: Option<u32>,
    /// Draw loss over time of all settings: .svg or .png
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// Print all settings that were tried as JSON
    #[arg(long)]
    json: bool,
    #[arg(long, hide_short_help = true, help = OVERWRITE)]
    overwrite: bool,
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    settings: SettingsArgs,
}

/// Version of the journal: version 1 does not contain its images, and version 2 counts holes as wrong.
const JOURNAL: u32 = 3;

/// Runs `optimize`.
///
/// # Errors
/// A source or an engine cannot be opened, a pair lacks the required truth, or the journal of another search or a file is in the way.
pub(super) fn run(args: &OptimizeArgs) -> anyhow::Result<()> {
    if let Some(plot) = &args.plot {
        check_figure_name(plot)?;
    }
    let named = args.input.named_source()?;
    let mut words = args.settings.words()?;
    words.extend(args.input.recorded_words(named.as_ref())?);
    let mut settings = Settings::resolve(&words)?;
    let Input { source: in_rig, rig_file, mut options, calibration } = args.input.resolve()?;
    let spec = named.or(in_rig).unwrap_or(SourceSpec::Scene);
    if spec.is_live() {
        let text = format!(
            "{spec}: a search looks at the same pairs again and again; record some first, and name the recording"
        );
        return refuse(text);
    }
    (options.looped, options.watched, options.speed) = (false, false, Speed::Max);
    options.rate_hz = None;
    let interrupt = headless::interrupt()?;
    let found = Pairs::read(&spec, &options, &calibration, &mut settings, usize::from(args.pairs), interrupt)?;
    if !args.json {
        found.notes.iter().for_each(console::say);
    }
    let judge = judge(args.judge, &found.samples)?;
    let budget = match args.trials {
        Some(trials) => Budget::Trials(trials as usize),
        None => Budget::Time(Duration::from_secs_f64(args.seconds)),
    };
    let limits = SearchLimits { max_ms: args.max_ms, budget };
    let plan = Plan { judge, start: settings.params.clone(), limits };
    let journal_path = args.output.with_extension("search.jsonl");
    let inputs = found.inputs.iter().chain(&rig_file).chain(args.settings.file()).cloned();
    // beside the journal of this search all are its results
    let mut outputs = Outputs::new(inputs, args.overwrite || journal_path.exists());
    [&journal_path, &args.output].into_iter().chain(&args.plot).try_for_each(|path| outputs.add(path))?;
    let header = header(&spec.to_string(), &found, &settings, &plan)?;
    let (mut journal, known) = Journal::open(&journal_path, &header)?;
    let before = known.trials.len();
    if before > 0 && !args.json {
        let tried = console::counted(before as u64, "setting");
        console::say(format_args!("goes on after the {tried} in {}", console::path(&journal_path)));
    }
    let keep = Box::new(move |trial: &_, elapsed| journal.keep(trial, elapsed));
    let engine = settings.engine_options().into();
    let search = Search::resume(found.samples, plan, engine, known, keep, Arc::new(|| {}))?;
    let progress = watch(&search, interrupt, args.json);
    drop(search);
    finish(args, &settings, &progress, before)
}

/// Returns the judge: the wanted one, or truth where all pairs have it.
fn judge(wanted: Option<Judge>, samples: &[Sample]) -> anyhow::Result<Judge> {
    let without = samples.iter().find(|sample| sample.frame.truth.is_none());
    match (wanted, without) {
        (Some(Judge::Truth), Some(sample)) => refuse(format!(
            "--judge truth: {} has no truth; leave it out, or use --judge {}",
            console::foreign(&sample.frame.raw.name),
            Judge::WithoutTruth
        )),
        (wanted, _) => Ok(wanted.unwrap_or_else(|| Judge::of(samples))),
    }
}

/// Returns the values in which two runs of the same search agree: all but its time limit.
fn header(source: &str, pairs: &Pairs, settings: &Settings, plan: &Plan) -> anyhow::Result<Map<String, Value>> {
    let names: Vec<_> = pairs.samples.iter().map(|sample| &sample.frame.raw.name).collect();
    let sizes: Vec<_> = pairs.samples.iter().map(|sample| sample.frame.size()).collect();
    let checksums: Vec<_> = pairs.samples.iter().map(Sample::checksum).collect();
    let value = json!({
        "stereopsis-search": JOURNAL,
        "version": env!("CARGO_PKG_VERSION"),
        "source": source,
        "pairs": names,
        "sizes": sizes,
        CHECKSUMS: checksums,
        "judge": plan.judge,
        "start": serde_json::to_value(&plan.start)?,
        "near-m": settings.near_m,
        "max-ms": plan.limits.max_ms,
        "engine": settings.engine.to_string(),
        "threads": settings.threads,
        "adapter": settings.adapter,
    });
    Ok(value.as_object().cloned().unwrap_or_default())
}

/// Interval at which the bar is updated.
const WATCH_INTERVAL: Duration = Duration::from_millis(50);

/// Shows the progress of the search until its end or Ctrl-C.
fn watch(search: &Search, interrupt: &AtomicBool, is_quiet: bool) -> Arc<SearchProgress> {
    let bar = report::bar(is_quiet);
    loop {
        let progress = search.progress();
        if progress.ended || interrupt.load(Ordering::Acquire) {
            bar.finish_and_clear();
            return progress;
        }
        bar.set_message(report::line(&progress));
        bar.tick();
        std::thread::sleep(WATCH_INTERVAL);
    }
}

fn finish(args: &OptimizeArgs, settings: &Settings, progress: &SearchProgress, before: usize) -> anyhow::Result<()> {
    let tried = console::counted(progress.trials.len() as u64, "setting");
    if let Some(error) = &progress.error {
        anyhow::bail!("{error}; the same command goes on after the {tried} that were tried");
    }
    if !progress.ended {
        anyhow::bail!("interrupted after {tried}: the same command goes on there");
    }
    let best = progress.best.as_ref().ok_or_else(|| anyhow::anyhow!("{}", report::nothing_fits(progress)))?;
    let text = report::settings_file(settings, best)?;
    write_if_new(&args.output, &text)?;
    if let Some(plot) = &args.plot {
        write_trade_off(plot, &report::trade_off(progress))?;
    }
    if args.json {
        let mut about = report::json(progress);
        about["output"] = json!(args.output);
        return print_json(&about);
    }
    console::print(&report::table(progress))?;
    let by_earlier = if before >= progress.trials.len() { ", all of them by an earlier run" } else { "" };
    console::say(format_args!("tried {tried}{by_earlier}; wrote {}", console::path(&args.output)));
    Ok(())
}

/// Writes a file unless it has this text already.
fn write_if_new(path: &Path, text: &str) -> anyhow::Result<()> {
    if plain::read_text(path).is_ok_and(|there| there == text) {
        return Ok(());
    }
    Ok(files::write(path, text.as_bytes())?)
}
