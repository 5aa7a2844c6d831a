//! Matches pair after pair and measures each.

use super::rows::{Measurement, Part, Row, Setting};
use super::span::Span;
use crate::cli::error::UsageError;
use anyhow::Context as _;
use crossbeam_channel::RecvTimeoutError;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use stereopsis_base::newest::Policy;
use stereopsis_calibration::{Drift, DriftGatherer};
use stereopsis_engine::OpenOptions;
use stereopsis_frame::engine::{Engine, EngineError, Job, Output};
use stereopsis_frame::{FramePreparation, PairSource, Skew, SourceState};
use stereopsis_live::capture::{Capture, CaptureOptions};
use stereopsis_live::{Health, PreviousPair, Subject, Warning, of_pair, warnings_of};
use stereopsis_metrics::Region;
use stereopsis_metrics::depth_quality::TemporalNoise;
use stereopsis_recording::pair_bar;
use stereopsis_settings::settings::Settings;

/// Regions to measure, and the number of pairs.
pub(super) struct Plan<'a> {
    pub(super) settings: &'a Settings,
    /// Region; `None` for the middle.
    pub(super) region: Option<Region>,
    pub(super) distance_m: Option<f64>,
    pub(super) points: Option<[(usize, usize); 2]>,
    pub(super) spans: Vec<Span>,
    /// Number of pairs; `None` for all.
    pub(super) frames: Option<u64>,
    /// Whether the source waits, so that no pair is dropped.
    pub(super) lossless: bool,
    pub(super) shows_progress: bool,
}

/// End of the source.
pub(super) struct Ended {
    pub(super) remarks: Vec<String>,
    /// Conditions that make depth worse, found in the first pair.
    pub(super) warnings: Vec<Warning>,
    /// Change of the rig since its calibration, by the first pairs.
    pub(super) drift: Option<Drift>,
    pub(super) skew: Option<Skew>,
    /// Reason for an early end.
    pub(super) error: Option<String>,
    /// Whether Ctrl-C ended it.
    pub(super) interrupted: bool,
}

/// Number of pairs up to which some judge the rig.
const JUDGED_PAIRS: u64 = 400;

/// Measures until the source ends, enough pairs are measured, or `interrupt` is set.
///
/// # Errors
/// An engine cannot be opened or cannot match, or a region or point lies outside the image.
pub(super) fn run(
    plan: &Plan<'_>,
    source: Box<dyn PairSource>,
    preparation: FramePreparation,
    interrupt: &AtomicBool,
) -> anyhow::Result<(Measurement, Ended)> {
    let info = source.info();
    let policy = if plan.lossless { Policy::Lossless } else { Policy::NewestWins };
    let max_pairs = plan.frames.filter(|_| plan.lossless);
    let mut capture = Capture::start(source, CaptureOptions { policy, max_pairs, ..CaptureOptions::from(preparation) });
    let total = plan.frames.into_iter().chain(info.num_pairs).min();
    let bar = pair_bar(total.filter(|&n| n > 1 && plan.shows_progress));
    let mut measuring = Measuring::new(plan, info.name);
    let mut engine: Option<Box<dyn Engine>> = None;
    let (mut warnings, mut drift) = (Vec::new(), None);
    let mut gatherer = DriftGatherer::default();
    while !interrupt.load(Ordering::Acquire) && plan.frames.is_none_or(|frames| measuring.found.pairs < frames) {
        let frame = match capture.frames.recv_timeout(Duration::from_millis(100)) {
            Ok(frame) => frame,
            Err(RecvTimeoutError::Timeout) => continue,
            Err(RecvTimeoutError::Disconnected) => break,
        };
        let params = Arc::new(plan.settings.params_for(frame.extent_px(), frame.geometry.as_ref())?);
        let job = Job { frame, params, read_back: true, wants_right: false };
        let engine = if let Some(engine) = &mut engine {
            engine
        } else {
            let settings = plan.settings.engine_options();
            let options = OpenOptions { source_engine: capture.engine(), ..settings.into() };
            engine.insert(stereopsis_engine::open(&options, Some(&job))?.engine)
        };
        let output = match stereopsis_frame::engine::run(engine.as_mut(), job) {
            Err(EngineError::LeftOut(_)) => continue,
            output => output?,
        };
        // the pairs come from one rig: the first one shows how it stands, and some more whether it has changed
        let pair = measuring.found.pairs;
        let is_first = pair == 0;
        let is_judged = pair < 12 || (pair < JUDGED_PAIRS && pair.is_multiple_of(10));
        if is_first || (output.job.frame.rectifier.is_some() && is_judged) {
            let health = Health::gathering(&output.job, &mut gatherer);
            if is_first {
                warnings = warnings_of(&output, &health);
            }
            drift = health.drift.or(drift);
        }
        measuring.add(&output)?;
        bar.inc(1);
    }
    bar.finish_and_clear();
    let SourceState { remarks, skew, unreadable, .. } = capture.state();
    let error = capture.stats().last_error.or(unreadable);
    capture.stop();
    Ok((
        measuring.found,
        Ended { remarks, warnings, drift, skew, error, interrupted: interrupt.load(Ordering::Acquire) },
    ))
}

struct Measuring<'a> {
    plan: &'a Plan<'a>,
    found: Measurement,
    noise: Vec<Option<TemporalNoise>>,
    previous: Option<PreviousPair>,
}

impl<'a> Measuring<'a> {
    fn new(plan: &'a Plan<'a>, source: String) -> Self {
        let parts: Vec<_> = plan.spans.iter().map(|span| Part { span: span.clone(), rows: Vec::new() }).collect();
        let noise = parts.iter().map(|_| None).collect();
        Self { plan, found: Measurement { source, pairs: 0, setting: None, parts }, noise, previous: None }
    }

    fn add(&mut self, output: &Output) -> anyhow::Result<()> {
        let map = output.map.as_ref().context("the engine gave no numbers back")?;
        let frame = &output.job.frame;
        let setting = match &self.found.setting {
            Some(setting) if setting.size == frame.size() => setting.clone(),
            _ => self.found.setting.insert(setting(self.plan, output)?).clone(),
        };
        let pair = self.found.pairs;
        self.found.pairs += 1;
        let of_pair = of_pair(frame, map, &output.job.params, self.previous.as_ref());
        for (part, noise) in self.found.parts.iter_mut().zip(&mut self.noise) {
            if part.span.has(pair) {
                let noise = noise.get_or_insert_with(|| TemporalNoise::new(setting.subject.region));
                noise.add(map, frame.geometry.as_ref());
                let mut quantities = setting.subject.quantities(map, frame.geometry.as_ref(), &setting.params, noise);
                quantities.extend(of_pair.iter().cloned());
                part.rows.push(Row { pair, name: frame.raw.name.clone(), quantities });
            }
        }
        self.previous = Some((Arc::clone(frame), Arc::clone(map)));
        Ok(())
    }
}

/// Returns the setting for all pairs of this one's size.
fn setting(plan: &Plan<'_>, output: &Output) -> anyhow::Result<Setting> {
    let size = output.job.frame.size();
    let region = plan.region.unwrap_or_else(|| Subject::middle(size));
    let refused =
        |why: &dyn std::fmt::Display| UsageError(format!("{why}; its size is the working size, after --scale"));
    region.check_inside(size).map_err(|err| refused(&err))?;
    if let Some((x, y)) = plan.points.into_iter().flatten().find(|&(x, y)| x >= size.0 || y >= size.1) {
        let (width, height) = size;
        return Err(refused(&format!("--points: pixel {x},{y} lies outside the image of {width}x{height} px")).into());
    }
    Ok(Setting {
        engine: Arc::clone(&output.engine),
        params: Arc::clone(&output.job.params),
        geometry: output.job.frame.geometry,
        size,
        subject: Subject { region, true_distance_m: plan.distance_m, points: plan.points },
    })
}
