//! Conversion of the open recording in the background: recomputation or export. Playback continues.

use super::state::{Contents, Conversion, ConversionChoices, ConversionState, ConversionStep, RunningConversion};
use crate::core::{Action, Command, Core, Feature, Job, Level, Remedy};
use egui::{Context, Ui};
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Instant, SystemTime};
use stereopsis_base::console;
use stereopsis_frame::engine::ModelDevice;
use stereopsis_images::Axes;
use stereopsis_live::recompute::{self, RecomputeOptions, Summary};
use stereopsis_recording::export::{ExportOptions, Exported, Part, Selection, UNFINISHED};
use stereopsis_recording::write::{free_bytes, free_name};
use stereopsis_recording::{Counter, Progress};
use stereopsis_settings::rig::Calibrated;
use stereopsis_settings::settings::Settings;
use stereopsis_sources::open_as_recorded;

const CONVERT: Job = Job::stoppable("converting the recording");
const READ: Job = Job::new("reading the recording");

impl Feature for ConversionState {
    fn pages(&self) -> &'static [Action] {
        &[Action::Convert]
    }

    fn page(&mut self, _page: Action, ui: &mut Ui, core: &Core, commands: &mut Vec<Command>) {
        super::panel::show(ui, self, core, commands);
    }

    /// Reads the contents of the open recording once while the page is open.
    fn update(&mut self, core: &mut Core, _now: Instant) {
        let Some(path) = core.open_recording().filter(|_| core.is_open(Action::Convert)).map(Path::to_owned) else {
            return;
        };
        let is_read = self.contents.as_ref().is_some_and(|contents| contents.path == path);
        if is_read || core.jobs.is_running(READ) {
            return;
        }
        let options = core.rig.options.clone();
        let read = move || {
            let recording = open_as_recorded(&path, &options)?;
            let choices = ConversionChoices {
                recording: free_name(&named_beside(&path, "-again.mcap")).display().to_string(),
                folder: export_folder(&path).display().to_string(),
                left_out: Part::ALL.iter().copied().filter(|part| part.is_on_request()).collect(),
                axes: Axes::default(),
                pairs: (0, recording.pairs().saturating_sub(1)),
            };
            let contents = Contents {
                bytes: path.metadata().map_or(0, |file| file.len()),
                parts: recording
                    .parts()
                    .into_iter()
                    .map(|(part, why)| (part, why.map(|why| why.to_string())))
                    .collect(),
                free_bytes: path.parent().and_then(free_bytes),
                path,
            };
            Ok::<_, anyhow::Error>((contents, choices))
        };
        core.start_job(READ, read, |core, (contents, choices)| core.send(ConversionStep::Take(contents, choices)));
    }

    fn execute(&mut self, core: &mut Core, command: Command, _ctx: &Context) -> Result<(), Command> {
        match command.step() {
            Ok(ConversionStep::SetChoices(choices)) => self.choices = choices,
            Ok(ConversionStep::Convert(kind)) => convert(self, core, kind),
            // complete output is kept
            Ok(ConversionStep::Stop) | Err(Command::StopJob(CONVERT)) => {
                if let Some(running) = &self.running {
                    running.counter.stop();
                }
            }
            Ok(ConversionStep::Take(contents, choices)) => {
                (self.contents, self.choices) = (Some(contents), choices);
            }
            Ok(ConversionStep::Succeed(text, remedies)) => {
                (self.running, self.contents) = (None, None); // other names are proposed for the next one
                core.notices.add(Level::Remark, text, remedies);
            }
            Ok(ConversionStep::Fail(why)) => {
                if self.running.take().is_some_and(|running| running.counter.is_stopped()) {
                    core.notices.confirm(why);
                } else {
                    core.notices.error(why);
                }
            }
            Err(command) => return Err(command),
        }
        Ok(())
    }
}

fn convert(conversion: &mut ConversionState, core: &mut Core, kind: Conversion) {
    let Some(path) = core.open_recording().map(Path::to_owned) else {
        return core.notices.news(format!("{}: open a recording first", Action::Convert.label()));
    };
    if core.jobs.is_running(CONVERT) {
        return;
    }
    let choices = &conversion.choices;
    let named = match kind {
        Conversion::Recompute => choices.recording.trim(),
        Conversion::Export => choices.folder.trim(),
    };
    if named.is_empty() {
        return core.notices.news("name the file or folder to write first");
    }
    let output = crate::core::absolute(Path::new(named));
    let counter = Arc::<Counter>::default();
    let progress = Progress::watched(Arc::clone(&counter));
    let started = Instant::now();
    conversion.running = Some(RunningConversion { kind, output: output.clone(), counter, started });
    match kind {
        Conversion::Recompute => recompute(core, path, output, progress),
        Conversion::Export => export(conversion, core, path, output, progress),
    }
}

/// Recomputes with the parameters, the engine and the calibration of the window.
fn recompute(core: &mut Core, path: PathBuf, output: PathBuf, progress: Progress) {
    let (rig, matching) = (&core.rig, &core.matching);
    let preparation = core.live.preparation();
    let calibrated = Calibrated { preparation, rig: rig.rig.clone(), ..Calibrated::default() };
    let (options, crop) = (rig.options.clone(), core.about(SystemTime::now()).calibration.crop);
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
        compression: core.recording.choices.compression,
        filled: false,
        depth_format: None,
    };
    let to = output.clone();
    let work = move || {
        let recording = open_as_recorded(&path, &options)?.with_calibration(calibrated, crop);
        Ok::<_, anyhow::Error>(recompute::recompute(recording, &to, &settings, &what, &progress)?)
    };
    core.jobs.start(CONVERT, work, move |core: &mut Core, done| {
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
        core.send(step_of(done.map(text), remedies));
    });
}

/// Exports the pairs as recorded.
fn export(conversion: &ConversionState, core: &mut Core, path: PathBuf, folder: PathBuf, progress: Progress) {
    let ConversionChoices { left_out, axes, pairs: (first, last), .. } = conversion.choices.clone();
    let parts = conversion.contents.iter().flat_map(|contents| &contents.parts);
    let parts = parts.filter(|(part, why_not)| why_not.is_none() && !left_out.contains(part));
    let options = core.rig.options.clone();
    let what = ExportOptions {
        parts: Some(parts.map(|(part, _)| *part).collect()),
        selection: Selection { from: first, count: Some(last.saturating_sub(first) + 1), ..Selection::default() },
        axes,
        screen_px: None,
        max_pixels: options.max_pixels,
    };
    let to = folder.clone();
    let work = move || {
        let exported = open_as_recorded(&path, &options)?.export(&to, &what, &progress);
        exported.map_err(|err| anyhow::anyhow!("{err:#}"))
    };
    core.jobs.start(CONVERT, work, move |core: &mut Core, done| {
        let text = |exported: Exported| {
            let Exported { pairs, parts, damaged, warnings, missing, screen_px } = exported;
            let words: Vec<_> = parts.iter().map(|part| part.word()).collect();
            let lost = damaged.len() as u64;
            let lost =
                if lost > 0 { vec![format!("{} cannot be read", console::counted(lost, "pair"))] } else { vec![] };
            let screen =
                screen_px.map(|screen_px| format!("the plane of the screen is at a disparity of {screen_px} px"));
            let missing = missing.iter().map(ToString::to_string);
            let remarks: Vec<_> = lost.into_iter().chain(screen).chain(missing).chain(warnings.into_keys()).collect();
            let remarks = if remarks.is_empty() { String::new() } else { format!(" · {}", remarks.join(" · ")) };
            format!("{} → {}: {}{remarks}", console::counted(pairs, "pair"), folder.display(), words.join(", "))
        };
        core.send(step_of(done.map(text), vec![Remedy::ShowInFolder(folder.join("recording.json"))]));
    });
}

/// Returns the step that ends a conversion.
fn step_of(done: Result<String, impl Display>, remedies: Vec<Remedy>) -> ConversionStep {
    match done {
        Ok(text) => ConversionStep::Succeed(text, remedies),
        Err(why) => ConversionStep::Fail(why.to_string()),
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
