//! Conversion of the open recording in the background: recomputation or export. Playback continues.

use crate::action::Action;
use crate::jobs::Job;
use crate::notices::{Level, Remedy};
use crate::session::Session;
use crate::state::{Contents, Conversion, ConversionChoices, RunningConversion};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Instant, SystemTime};
use stereopsis_base::console;
use stereopsis_frame::engine::ModelDevice;
use stereopsis_live::recompute::{self, RecomputeOptions, Summary};
use stereopsis_recording::export::{ExportOptions, Exported, Selection, UNFINISHED};
use stereopsis_recording::write::{free_bytes, free_name};
use stereopsis_recording::{Counter, Progress};
use stereopsis_settings::rig::Calibrated;
use stereopsis_settings::settings::Settings;
use stereopsis_sources::open_as_recorded;

pub(crate) const CONVERT: Job = Job::stoppable("converting the recording");
const READ: Job = Job::new("reading the recording");

/// Reads the contents of the open recording once while the page is open.
pub(crate) fn update(session: &mut Session) {
    let state = &session.state;
    let Some(path) = state.open_recording().filter(|_| state.is_open(Action::Convert)).map(Path::to_owned) else {
        return;
    };
    let is_read = state.conversion.contents.as_ref().is_some_and(|contents| contents.path == path);
    if is_read || session.jobs.is_running(READ) {
        return;
    }
    let options = state.rig.options.clone();
    let read = move || {
        let recording = open_as_recorded(&path, &options).map_err(|err| err.to_string())?;
        let choices = ConversionChoices {
            recording: free_name(&named_beside(&path, "-again.mcap")).display().to_string(),
            folder: export_folder(&path).display().to_string(),
            left_out: Vec::new(),
            pairs: (0, recording.pairs().saturating_sub(1)),
        };
        let contents = Contents {
            bytes: path.metadata().map_or(0, |file| file.len()),
            parts: recording.parts(),
            free_bytes: path.parent().and_then(free_bytes),
            path,
        };
        Ok((contents, choices))
    };
    session.start_job(READ, read, |session, (contents, choices)| {
        session.state.conversion.contents = Some(contents);
        session.state.conversion.choices = choices;
    });
}

pub(crate) fn convert(session: &mut Session, kind: Conversion) {
    let Some(path) = session.state.open_recording().map(Path::to_owned) else {
        return session.state.notices.news(format!("{}: open a recording first", Action::Convert.label()));
    };
    if session.jobs.is_running(CONVERT) {
        return;
    }
    let choices = &session.state.conversion.choices;
    let named = match kind {
        Conversion::Recompute => choices.recording.trim(),
        Conversion::Export => choices.folder.trim(),
    };
    if named.is_empty() {
        return session.state.notices.news("name the file or folder to write first");
    }
    let output = crate::session::absolute(Path::new(named));
    let counter = Arc::<Counter>::default();
    let progress = Progress::watched(Arc::clone(&counter));
    let started = Instant::now();
    session.state.conversion.running = Some(RunningConversion { kind, output: output.clone(), counter, started });
    match kind {
        Conversion::Recompute => recompute(session, path, output, progress),
        Conversion::Export => export(session, path, output, progress),
    }
}

/// Recomputes with the parameters, the engine and the calibration of the window.
fn recompute(session: &mut Session, path: PathBuf, output: PathBuf, progress: Progress) {
    let (rig, matching) = (&session.state.rig, &session.state.matching);
    let calibrated =
        Calibrated { preparation: session.live.preparation(), note: None, assumed: None, rig: rig.rig.clone() };
    let (options, crop) = (rig.options.clone(), session.about(SystemTime::now()).calibration.crop);
    let engine = &matching.engine.settings;
    let settings = Settings {
        params: matching.params.clone(),
        engine: engine.choice,
        threads: engine.threads,
        model: engine.model.as_ref().map(|model| model.path.clone()),
        model_device: engine.model.as_ref().map_or(ModelDevice::BuiltIn, |model| model.device),
        ..Settings::default()
    };
    let what = RecomputeOptions {
        streams: None,
        format: None,
        compression: session.state.recording.choices.compression,
        filled: false,
    };
    let to = output.clone();
    let work = move || {
        let recording = open_as_recorded(&path, &options).map_err(|err| err.to_string())?;
        recompute::recompute(recording.with_calibration(calibrated, crop), &to, &settings, &what, &progress)
            .map_err(|err| err.to_string())
    };
    session.jobs.start(CONVERT, work, move |session: &mut Session, done| {
        let text = |summary: Summary| {
            let Summary { pairs, results, left_out, bytes, .. } = summary;
            let [pairs, results] = [(pairs, "pair"), (results, "result")].map(|(n, what)| console::counted(n, what));
            let lost = match left_out {
                0 => String::new(),
                lost => format!(", {} cannot be read", console::counted(lost, "pair")),
            };
            format!("{pairs}, {results}{lost} → {}, {}", output.display(), console::bytes(bytes))
        };
        let remedies = vec![Remedy::OpenFile(output.clone()), Remedy::ShowInFolder(output.clone())];
        converted(session, done.map(text), remedies);
    });
}

/// Exports the pairs as recorded.
fn export(session: &mut Session, path: PathBuf, folder: PathBuf, progress: Progress) {
    let ConversionChoices { left_out, pairs: (first, last), .. } = session.state.conversion.choices.clone();
    let parts = session.state.conversion.contents.iter().flat_map(|contents| &contents.parts);
    let parts = parts.filter(|(part, why_not)| why_not.is_none() && !left_out.contains(part));
    let options = session.state.rig.options.clone();
    let what = ExportOptions {
        parts: Some(parts.map(|(part, _)| *part).collect()),
        selection: Selection { from: first, count: Some(last.saturating_sub(first) + 1), ..Selection::default() },
        max_pixels: options.max_pixels,
    };
    let to = folder.clone();
    let work = move || {
        let mut recording = open_as_recorded(&path, &options).map_err(|err| err.to_string())?;
        recording.export(&to, &what, &progress).map_err(|err| format!("{err:#}"))
    };
    session.jobs.start(CONVERT, work, move |session: &mut Session, done| {
        let text = |exported: Exported| {
            let Exported { pairs, parts, damaged, warnings, missing } = exported;
            let words: Vec<_> = parts.iter().map(|part| part.word()).collect();
            let lost = damaged.len() as u64;
            let lost =
                if lost > 0 { vec![format!("{} cannot be read", console::counted(lost, "pair"))] } else { vec![] };
            let remarks: Vec<_> = lost.into_iter().chain(missing).chain(warnings.into_keys()).collect();
            let remarks = if remarks.is_empty() { String::new() } else { format!(" · {}", remarks.join(" · ")) };
            format!("{} → {}: {}{remarks}", console::counted(pairs, "pair"), folder.display(), words.join(", "))
        };
        converted(session, done.map(text), vec![Remedy::ShowInFolder(folder.join("recording.json"))]);
    });
}

/// Shows the outcome of a conversion, and proposes new names for the next one.
fn converted(session: &mut Session, done: Result<String, String>, remedies: Vec<Remedy>) {
    let ended = session.state.conversion.running.take();
    let is_stopped = ended.is_some_and(|running| running.counter.is_stopped());
    match done {
        Ok(text) => {
            session.state.notices.add(Level::Remark, text, remedies);
            session.state.conversion.contents = None;
        }
        Err(text) if is_stopped => session.state.notices.confirm(text),
        Err(why) => session.state.notices.error(why),
    }
}

/// Stops the conversion after the pairs in progress; complete output is kept.
pub(crate) fn stop(session: &Session) {
    if let Some(running) = &session.state.conversion.running {
        running.counter.stop();
    }
}

/// Returns `FOLDER/walk-again.mcap` for `FOLDER/walk.mcap` and the ending `-again.mcap`.
fn named_beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.file_stem().unwrap_or_default().to_owned();
    name.push(ending);
    path.with_file_name(name)
}

/// Returns a free folder, or that of a stopped export, which is resumed.
fn export_folder(path: &Path) -> PathBuf {
    let folder = named_beside(path, "-export");
    if folder.join(UNFINISHED).exists() { folder } else { free_name(&folder) }
}
