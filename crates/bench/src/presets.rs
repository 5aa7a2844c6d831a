//! Every preset on the same pairs: time of a pair, and share of pixels with a disparity.

use super::one_by_one::{self, FrameTime};
use super::setup::{Setup, not_measurable};
use super::subject::Subject;
use anyhow::Context as _;
use std::io::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};
use stereopsis_engine::open;
use stereopsis_frame::engine::{Engine, EngineError, Job};
use stereopsis_settings::settings::paper_in_short;
use stereopsis_stereo::{Preset, StereoParams};

/// Largest time of a preset, except that one pair is always completed.
const MAX_TIME: Duration = Duration::from_secs(2);

#[derive(serde::Serialize)]
struct Row {
    preset: Preset,
    /// Paper of the preset; `None` for this program's own.
    paper: Option<&'static str>,
    #[serde(flatten)]
    subject: Subject,
    /// Time from submission to result, ms; `None` for software adapters.
    frame_ms: Option<FrameTime>,
    computed_hz: Option<f64>,
    /// Share of pixels with a disparity, 0 to 1.
    valid_share: Option<f64>,
    /// Reason for a refusal by the engine.
    #[serde(skip_serializing_if = "Option::is_none")]
    refused: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

pub(super) fn run(setup: &Setup, out: &mut dyn Write) -> anyhow::Result<()> {
    let mut report = super::Report::default();
    for (spec, source_options) in &setup.sources {
        let jobs = setup.jobs(spec, source_options)?;
        let Some((width, _)) = jobs.first().map(|job| job.frame.size()) else { continue };
        setup.params.validate_range(width)?;
        for choice in setup.engines() {
            let mut engine = open(&setup.open_options(choice), None)?.engine;
            for &preset in Preset::ALL {
                let row = row(engine.as_mut(), preset, &jobs, &setup.params, setup.frames)
                    .with_context(|| format!("the preset {preset} on {choice}"))?;
                if !setup.json {
                    row.print(out, report.results.is_empty())?;
                }
                report.results.push(row);
            }
        }
    }
    if setup.json {
        writeln!(out, "{}", stereopsis_base::console::json(&report)?)?;
    } else if let Some(note) = report.results.iter().find_map(|row| row.note.as_ref()) {
        writeln!(out, "{note}")?;
    }
    Ok(())
}

/// Returns the row of one preset, even of a refused one.
fn row(
    engine: &mut dyn Engine,
    preset: Preset,
    jobs: &[Job],
    range: &StereoParams,
    frames: usize,
) -> anyhow::Result<Row> {
    let mut params = range.clone();
    preset.apply(&mut params);
    let params = Arc::new(params);
    let jobs: Vec<_> = jobs.iter().map(|job| Job { params: Arc::clone(&params), ..job.clone() }).collect();
    let info = engine.info();
    let Some(first) = jobs.first() else { anyhow::bail!("no pair to time") };
    let mut row = Row {
        preset,
        paper: preset.paper(),
        subject: Subject::of(&info, first),
        frame_ms: None,
        computed_hz: None,
        valid_share: None,
        refused: None,
        note: not_measurable(&info),
    };
    match measure(engine, &jobs, frames) {
        Ok((times, valid_share)) => {
            row.valid_share = Some(valid_share);
            row.frame_ms = Some(FrameTime::new(times)).filter(|_| !info.software);
            row.computed_hz = row.frame_ms.as_ref().map(|times| 1e3 / times.median);
        }
        Err(EngineError::Unsupported(why) | EngineError::TooLarge(why)) => row.refused = Some(why.to_string()),
        Err(err) => return Err(err.into()),
    }
    Ok(row)
}

fn measure(engine: &mut dyn Engine, jobs: &[Job], frames: usize) -> Result<(Vec<f64>, f64), EngineError> {
    let software = engine.info().software;
    // a software adapter only proves once that it works
    let frames = if software { 1 } else { frames.max(1) };
    let (mut times, mut densities) = (Vec::new(), Vec::new());
    if !software {
        super::warm_up(engine, jobs)?;
    }
    let begin = Instant::now();
    for job in jobs.iter().cycle().take(frames) {
        let output = one_by_one::run_job(engine, job.clone())?;
        times.push(output.compute_time.as_secs_f64() * 1e3);
        densities.extend(output.map.map(|map| map.valid_share()));
        if begin.elapsed() > MAX_TIME {
            break;
        }
    }
    let density = densities.iter().sum::<f64>() / densities.len().max(1) as f64;
    Ok((times, density))
}

impl Row {
    fn print(&self, out: &mut dyn Write, first: bool) -> std::io::Result<()> {
        if first {
            writeln!(out, "preset         engine  size        disparities  median ms  pairs/s  density %  paper")?;
        }
        let number = |value: Option<f64>, decimals| value.map_or("-".to_owned(), |value| format!("{value:.decimals$}"));
        let ms = number(self.frame_ms.as_ref().map(|times| times.median), 2);
        let (rate, density) = (number(self.computed_hz, 1), number(self.valid_share.map(|share| 100.0 * share), 1));
        let paper = paper_in_short(self.preset).unwrap_or_else(|| "-".to_owned());
        let Self { preset, subject, .. } = self;
        let (engine, size) = (subject.engine_word(), subject.size_word());
        let (adapter, num_disparities) = (&subject.engine.adapter, subject.parameters.num_disparities);
        writeln!(
            out,
            "{preset:<14} {engine:<7} {size:<11} {num_disparities:>11}  {ms:>9}  {rate:>7}  {density:>9}  {paper:<26}  [{adapter}]"
        )?;
        self.refused.as_ref().map_or(Ok(()), |why| writeln!(out, "  refused: {why}"))
    }
}
