//! Results of a search: as text, as JSON, as a settings file and as the data of a figure.

use indicatif::ProgressBar;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::sync::Arc;
use stereopsis_base::console;
use stereopsis_figures::{Place, TradeOff};
use stereopsis_frame::engine::EngineChoice;
use stereopsis_search::{RejectionReason, SearchProgress, Trial};
use stereopsis_settings::settings::{Settings, differences, text_of, words_to};
use stereopsis_stereo::Preset;

pub(super) fn bar(is_quiet: bool) -> ProgressBar {
    if is_quiet { ProgressBar::hidden() } else { ProgressBar::new_spinner() }
}

pub(super) fn line(progress: &SearchProgress) -> String {
    let tried = console::counted(progress.trials.len() as u64, "setting");
    let left = progress.left.map_or_else(String::new, |left| format!(", {} s left", left.as_secs()));
    let best = progress.best.as_ref().and_then(|best| best.loss);
    let best = best.map_or_else(String::new, |loss| format!(", best {loss:.2}"));
    format!("{tried}{best}{left}")
}

pub(super) fn nothing_fits(progress: &SearchProgress) -> String {
    let quickest = progress.front.first();
    match (progress.limits.max_ms, quickest) {
        (Some(max_ms), Some(quickest)) => format!(
            "no setting takes at most {max_ms} ms: the quickest of {} takes {:.1} ms; raise --max-ms, search fewer disparities, or lower --scale",
            progress.trials.len(),
            quickest.time_ms
        ),
        _ => "no map can be judged: is the search range right, and is --left-right on?".to_owned(),
    }
}

/// Formats the settings found, the presets from the slowest on and the present setting, then the changes and the reason for the end.
pub(super) fn table(progress: &SearchProgress) -> String {
    let mut text = format!("{}\n{:<16} {:>9} {:>9} {:>10}\n", heading(progress), "", "loss", "ms", "measured %");
    for (name, trial) in named(progress) {
        let Trial { time_ms, measured_percent, samples, .. } = &*trial;
        let loss = trial.loss.map_or_else(|| "-".to_owned(), |loss| format!("{loss:.3}"));
        let few = RejectionReason::NotOnAllPairs { tried: *samples, pairs: progress.samples };
        let why = progress.why_not(&trial).filter(|why| *why != few);
        let notes = [why, (*samples < progress.samples).then_some(few)];
        let notes = notes.into_iter().flatten().map(|why| why.to_string()).collect::<Vec<_>>().join("; ");
        let line = format!("{name:<16} {loss:>9} {time_ms:>9.1} {measured_percent:>10.1}  {notes}");
        let _ = writeln!(text, "{}", line.trim_end());
    }
    let changed = changed(progress);
    let changed = if changed.is_empty() { "nothing".to_owned() } else { changed.join(", ") };
    let _ = writeln!(text, "changed: {changed}");
    for (trial, why) in progress.passed_over() {
        let changes = changes(progress, &trial).join(", ");
        let _ = writeln!(text, "not proposed: {changes}, loss {:.3}: {why}", trial.loss.unwrap_or(f64::NAN));
    }
    if let Some(why) = progress.keeps_to_presets() {
        let _ = writeln!(text, "{why}");
    }
    if let Some(untried) = progress.untried() {
        let _ = writeln!(text, "{untried}");
    }
    text
}

fn heading(progress: &SearchProgress) -> String {
    let limit = progress.limits.max_ms.map_or_else(String::new, |max_ms| format!(", at most {max_ms} ms"));
    let engine = progress.engine.as_ref();
    let engine = engine.map_or_else(String::new, |engine| format!(", on {} ({})", engine.kind, engine.adapter));
    let pairs = console::counted(progress.samples as u64, "pair");
    format!("loss: {}, mean of {pairs}{limit}{engine}", progress.judge.title())
}

/// Lists the differences between the best setting and the present one.
fn changed(progress: &SearchProgress) -> Vec<String> {
    progress.best.as_ref().map_or_else(Vec::new, |best| changes(progress, best))
}

/// Describes the changes of a setting against the current one.
fn changes(progress: &SearchProgress, trial: &Trial) -> Vec<String> {
    progress.start.as_ref().map_or_else(Vec::new, |start| differences(&trial.params, &start.params))
}

/// Returns the trials with a name: the best one, presets from the dearest on, the current setting.
fn named(progress: &SearchProgress) -> Vec<(String, Arc<Trial>)> {
    let presets = progress.presets.iter().rev().map(|(preset, trial)| (preset.to_string(), Arc::clone(trial)));
    let of = |name: &str, trial: &Option<Arc<Trial>>| trial.clone().map(|trial| (name.to_owned(), trial));
    of("found", &progress.best).into_iter().chain(presets).chain(of("present setting", &progress.start)).collect()
}

pub(super) fn json(progress: &SearchProgress) -> Value {
    let of = |trial: &Trial| {
        json!({
            "loss": trial.loss,
            "time_ms": trial.time_ms,
            "measured_percent": trial.measured_percent,
            "pairs": trial.samples,
            "parameters": *trial.params,
            "why_not": progress.why_not(trial).map(|why| {
                let mut about = json!(why);
                about["text"] = why.to_string().into();
                about
            }),
        })
    };
    let presets: serde_json::Map<_, _> =
        progress.presets.iter().map(|(preset, trial)| (preset.to_string(), of(trial))).collect();
    let optional = |trial: &Option<Arc<Trial>>| trial.as_deref().map(of);
    json!({
        "judge": progress.judge,
        "loss": progress.judge.title(),
        "pairs": progress.samples,
        "engine": progress.engine.as_deref(),
        "max_ms": progress.limits.max_ms,
        "keeps_to_presets": progress.keeps_to_presets(),
        "seconds": progress.elapsed.as_secs_f64(),
        "found": optional(&progress.best),
        "start": optional(&progress.start),
        "changed": changed(progress),
        "presets": presets,
        "front": progress.front.iter().map(|trial| of(trial)).collect::<Vec<_>>(),
        "trials": progress.trials.iter().map(|trial| of(trial)).collect::<Vec<_>>(),
    })
}

/// Returns the text of the settings file of a setting: the nearest preset and the differences from it.
///
/// # Errors
/// TOML cannot represent the values.
pub(super) fn settings_file(settings: &Settings, best: &Trial) -> anyhow::Result<String> {
    let words = |preset: &Preset| words_to(&best.params, *preset);
    let nearest = Preset::ALL.iter().map(words).min_by_key(Vec::len).unwrap_or_default();
    let mut words: Vec<_> =
        nearest.into_iter().filter(|(name, _)| settings.near_m.is_none() || *name != "num-disparities").collect();
    words.extend(settings.near_m.map(|near_m| ("near-m", near_m.to_string())));
    if settings.engine != EngineChoice::Auto {
        words.push(("engine", settings.engine.to_string()));
    }
    text_of("Found by stereopsis optimize: --settings with this file.", &words).map_err(anyhow::Error::msg)
}

pub(super) fn trade_off(progress: &SearchProgress) -> TradeOff {
    let place = |trial: &Arc<Trial>| -> Option<Place> { Some((trial.time_ms, trial.loss?)) };
    let is_whole = |trial: &&Arc<Trial>| trial.samples == progress.samples;
    let named = named(progress).into_iter().filter(|(_, trial)| is_whole(&trial));
    TradeOff {
        loss: progress.judge.title().to_owned(),
        tried: progress.trials.iter().filter(is_whole).filter_map(place).collect(),
        front: progress.front.iter().filter_map(place).collect(),
        named: named.filter_map(|(name, trial)| Some((name, place(&trial)?))).collect(),
        limit_ms: progress.limits.max_ms,
    }
}
