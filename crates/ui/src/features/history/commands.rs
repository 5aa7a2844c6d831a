//! Restoration of older settings, and following of a settings file.

use super::HistoryStep;
use super::steps::History;
use crate::core::error::FileError;
use crate::core::{Action, Command, Core, Feature, Job, Level, Remedy, SettingsFile, dialog};
use egui::{Context, Ui};
use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};
use stereopsis_base::files;
use stereopsis_base::files::plain;
use stereopsis_recording::time;
use stereopsis_settings::settings;
use stereopsis_settings::settings::{Settings, SettingsError};
use stereopsis_stereo::{Preset, StereoParams};

/// Interval of reading the settings file.
const FOLLOW_INTERVAL: Duration = Duration::from_millis(500);
/// Job that reads the settings file, hidden from the status line.
pub(crate) const FOLLOW: Job = Job::hidden("reading the settings file");
const SAVE: Job = Job::new("writing the settings");

struct FileContent {
    text: String,
    settings: Result<Settings, SettingsError>,
}

/// History of the settings, and the settings file that is followed.
#[derive(Default)]
pub(crate) struct SettingsHistory {
    pub(super) steps: History,
    /// Time at which the settings file was last read.
    file_read: Option<Instant>,
}

impl SettingsHistory {
    fn go_to(&mut self, core: &mut Core, position: usize) {
        if let Some(setup) = self.steps.go(position) {
            core.take_setup(setup);
        }
    }

    /// Undoes the last step (-1) or redoes the next one (+1).
    fn go_by(&mut self, core: &mut Core, by: isize) {
        match self.steps.position().checked_add_signed(by) {
            Some(position) if position <= self.steps.steps().len() => self.go_to(core, position),
            _ => core.notices.news(if by < 0 { "there is no older change" } else { "there is no newer change" }),
        }
    }
}

impl Feature for SettingsHistory {
    fn pages(&self) -> &'static [Action] {
        &[Action::History]
    }

    fn page(&mut self, _page: Action, ui: &mut Ui, core: &Core, commands: &mut Vec<Command>) {
        super::panel::show(ui, &self.steps, core, commands);
    }

    fn execute(&mut self, core: &mut Core, command: Command, _ctx: &Context) -> Result<(), Command> {
        match command.step() {
            Ok(HistoryStep::Go(position)) => self.go_to(core, position),
            Ok(HistoryStep::ChooseFile) => choose_settings_file(core),
            Ok(HistoryStep::ChooseNewFile) => choose_new_settings_file(core),
            Ok(HistoryStep::Save) => save_settings_file(core),
            Ok(HistoryStep::Forget) => core.settings_file = None,
            Err(Command::Action(Action::Undo)) => self.go_by(core, -1),
            Err(Command::Action(Action::Redo)) => self.go_by(core, 1),
            Err(command) => return Err(command),
        }
        Ok(())
    }

    /// Reads the settings file when due, and one that was opened.
    fn update(&mut self, core: &mut Core, now: Instant) {
        if let Some((owner, path)) = core.settings_to_open.take() {
            core.owned(owner, |core| open_settings_file(core, path));
        }
        let Some(file) = &core.settings_file else { return };
        let is_due = self.file_read.is_none_or(|read| now.saturating_duration_since(read) >= FOLLOW_INTERVAL);
        if !is_due || core.jobs.is_running(FOLLOW) {
            return;
        }
        self.file_read = Some(now);
        let (path, known) = (file.path.clone(), file.text.clone());
        let look = move || {
            let read = match read(&path) {
                Ok(read) => (read.text != known).then_some(read),
                // an editor may be replacing the file: the error stays only as long as it is missing
                Err(why) => Some(FileContent { text: String::new(), settings: Err(why) }),
            };
            Ok::<_, Infallible>((path, read))
        };
        core.start_job(FOLLOW, look, |core, (path, read): (PathBuf, Option<FileContent>)| {
            let is_followed = core.settings_file.as_ref().is_some_and(|file| file.path == path);
            if let Some(read) = read.filter(|_| is_followed) {
                take_read(core, read);
            }
        });
    }

    /// Records the settings after all commands of the frame.
    fn end_frame(&mut self, core: &mut Core, ctx: &Context) {
        if std::mem::take(&mut core.has_fitted_colours) {
            self.steps.note_colours(core.view.depth_range_m);
        }
        if core.started.is_some() || core.source.opening.is_some() {
            return; // not all settings are there
        }
        let press = ctx.input(|i| i.pointer.press_start_time()).map(f64::to_bits);
        self.steps.note(core.setup(), Instant::now(), press);
    }
}

fn choose_settings_file(core: &mut Core) {
    dialog::commands::ask_files(core, "A settings file", "Settings", &["toml"], |core, paths| {
        if let Some(path) = paths.into_iter().next() {
            open_settings_file(core, path);
        }
    });
}

fn open_settings_file(core: &mut Core, path: PathBuf) {
    let path = crate::core::absolute(&path);
    let read = move || Ok::<_, SettingsError>((read(&path)?, path));
    core.start_job(Job::stoppable("opening the settings"), read, |core, (read, path): (FileContent, PathBuf)| {
        let file = SettingsFile { path, text: String::new(), wrong: None };
        core.settings_file = Some(file);
        take_read(core, read);
    });
}

fn choose_new_settings_file(core: &mut Core) {
    let name = format!("settings_{}.toml", time::for_file_name(SystemTime::now()));
    let kind: (_, &[_]) = ("Settings", &["toml"]);
    dialog::commands::ask_new_file(core, "A file for the settings", name, kind, write_settings_file);
}

/// Writes the followed file unless an editor has changed it meanwhile.
fn save_settings_file(core: &mut Core) {
    let Some(file) = &core.settings_file else { return };
    let path = file.path.clone();
    write_settings_file(core, path, true);
}

fn write_settings_file(core: &mut Core, path: PathBuf, replaces: bool) {
    let known = core.settings_file.as_ref().filter(|file| file.path == path).map(|file| file.text.clone());
    let settings = core.settings_flags();
    let write = move || {
        if let (Some(known), Ok(there)) = (known, plain::read_text(&path))
            && known != there
        {
            return Err(FileError::Changed(path));
        }
        let text = settings::text_of("Settings of stereopsis: --settings with this file.", &settings)?;
        files::write_or_keep(&path, text.as_bytes(), replaces)?;
        Ok((path, text))
    };
    core.start_job(SAVE, write, |core, (path, text): (PathBuf, String)| {
        let said = format!("settings written: --settings {}", path.display());
        core.notices.add(Level::News, said, vec![Remedy::ShowInFolder(path.clone())]);
        core.settings_file = Some(SettingsFile { path, text, wrong: None });
    });
}

/// Applies the settings of the file, unless it has an error.
fn take_read(core: &mut Core, FileContent { text, settings }: FileContent) {
    let frame = core.output().map(|output| (output.job.frame.extent_px(), output.job.frame.geometry));
    let settings = settings.and_then(|settings| {
        let params = match frame {
            Some((extent_px, geometry)) => settings.params_for(extent_px, geometry.as_ref())?,
            None => settings.params.clone(),
        };
        Ok((settings, params))
    });
    let Some(file) = &mut core.settings_file else { return };
    file.text = text;
    match settings {
        Err(why) => file.wrong = Some(why.to_string()),
        Ok((settings, params)) => {
            file.wrong = None;
            let matching = &mut core.matching;
            (matching.preset, matching.own) = (settings.preset.unwrap_or(Preset::Balanced), None);
            let confidence = params.confidence || matching.params.confidence;
            core.set_params(StereoParams { confidence, ..params });
            core.take_engine(&settings);
        }
    }
}

/// Reads a settings file.
///
/// # Errors
/// The file cannot be read.
fn read(path: &Path) -> Result<FileContent, SettingsError> {
    let text = settings::read_text(path)?;
    let settings = settings::words_of(path, &text).and_then(|words| Settings::resolve(&words));
    Ok(FileContent { text, settings })
}
