//! All that must outlive a window: the pipeline, what is asked of it, what is shown of it, what went wrong.
//!
//! The window may close and open again, on another device after one was lost; this stays.

mod cameras;
mod device;
mod presets;
mod record;
mod remote;
mod rig;
mod slow;
mod source;
mod words;

pub(crate) use cameras::{Chooser, name_of as camera_name};
pub(crate) use presets::PresetRates;
pub(crate) use record::{FORECAST, RecordChoices, RecordState};
pub(crate) use rig::RigState;
pub(crate) use slow::Slowness;

use super::command::Command;
use super::dialogs::{self, SOURCE_EXTENSIONS};
use super::jobs::{Job, Jobs};
use super::keep::Kept;
use super::look::Look;
use super::notices::Notices;
use super::options::WindowOptions;
use super::render::FloatMap;
use super::view::{ViewKind, Zoom};
use super::waker::Waker;
use crate::capture::webcam::CameraInfo;
use crate::capture::{Frame, Recorded, SourceSpec};
use crate::colormap::DisplayRange;
use crate::engine::gpu::Gpu;
use crate::engine::{OpenOptions, Output};
use crate::export;
use crate::live::{Live, LiveOptions, Status};
use crate::rate::Rate;
use crate::settings::{Settings, SettingsError, Word};
use crate::stereo::{Preset, StereoParams};
use egui::Context;
use std::sync::Arc;
use std::time::Instant;

/// The state of the window's program.
pub struct Session {
    pub(crate) live: Live,
    /// How it stands; read once per frame.
    pub(crate) status: Status,
    /// What is shown: the newest result.
    pub(crate) output: Option<Arc<Output>>,
    /// What was recorded of a pair's result, as it is drawn.
    recorded: Option<(Arc<Recorded>, Arc<FloatMap>)>,
    /// The source that runs, also while another one is being opened.
    running: Option<SourceSpec>,
    /// What is asked for, valid.
    pub(crate) params: StereoParams,
    pub(crate) preset: Preset,
    /// How fast presets were in this run.
    pub(crate) preset_rates: PresetRates,
    /// What computes, and the device of window and engine.
    pub(crate) engine: OpenOptions,
    pub(crate) look: Look,
    pub(crate) zoom: Zoom,
    pub(crate) notices: Notices,
    pub(crate) jobs: Jobs<Self>,
    pub(crate) waker: Waker,
    /// The pixel under the pointer, and the one that a click has pinned.
    pub(crate) hovered: Option<(usize, usize)>,
    pub(crate) pinned: Option<(usize, usize)>,
    pub(crate) help: bool,
    /// The source that is read or being opened.
    pub(crate) source: SourceSpec,
    /// Cameras found; `None` until somebody looked.
    pub(crate) cameras: Option<Vec<CameraInfo>>,
    /// The window that shows what each camera sees, while it is open.
    pub(crate) chooser: Option<Chooser>,
    /// How the source is opened, and how its pairs become metric.
    pub(crate) rig: RigState,
    /// The recording, running or to come.
    pub(crate) record: RecordState,
    /// Whether the matcher cannot keep up.
    pub(crate) slowness: Slowness,
    device: device::DeviceState,
    options: WindowOptions,
    fit_wanted: bool,
    snapshot_wanted: bool,
    errors_seen: Vec<String>,
    shown: Rate,
    /// Settings that have not met a picture yet: its width and rig say whether the range fits, and what `near-m` is in px.
    unchecked: Option<Settings>,
}

impl Session {
    /// Starts the pipeline and opens the source in the background.
    ///
    /// # Errors
    /// Flags or the settings file are wrong, or the system gives no thread.
    pub fn start(options: WindowOptions, gpu: Option<Gpu>) -> anyhow::Result<Self> {
        let mut options = options;
        let kept = options.kept.as_deref().filter(|_| !options.reset).map(Kept::read).unwrap_or_default();
        if !options.reset {
            rig::take_kept(&mut options);
        }
        let mut settings = resolve(&options, &kept)?;
        settings.params.confidence |= kept.look().views.contains(&ViewKind::Confidence);
        let engine = OpenOptions { gpu, ..settings.engine_options() };
        let waker = Waker::default();
        let wake = waker.clone();
        let live_options = LiveOptions {
            wake: Arc::new(move || wake.wake()),
            remote: options.remote.clone(),
            ..LiveOptions::new(settings.params.clone(), engine.clone())
        };
        let live = Live::start(Box::new(source::Nothing), live_options)?;
        let kept_source = || kept.source.as_deref().and_then(|words| SourceSpec::parse(words).ok());
        // a pipe of another time is gone
        let kept_source = || kept_source().filter(|source| *source != SourceSpec::Pipe);
        let source = options.source.clone().or_else(kept_source).unwrap_or(SourceSpec::Scene);
        let mut look = kept.look();
        if kept.source.as_deref() != Some(&source.to_string()) {
            look.depth_range_m = None; // fitted to another source
        }
        let mut session = Self {
            status: live.status(),
            live,
            output: None,
            recorded: None,
            params: settings.params.clone(),
            preset: settings.preset.unwrap_or(Preset::Balanced),
            preset_rates: PresetRates::default(),
            engine,
            fit_wanted: look.depth_range_m.is_none(),
            look,
            zoom: Zoom::default(),
            notices: Notices::default(),
            jobs: Jobs::new(waker.clone()),
            waker,
            hovered: None,
            pinned: None,
            running: None,
            help: false,
            source: source.clone(),
            cameras: None,
            chooser: None,
            rig: RigState::new(&options, &source),
            record: RecordState::new(kept.recording()),
            slowness: Slowness::default(),
            device: device::DeviceState::default(),
            options,
            snapshot_wanted: false,
            errors_seen: Vec::new(),
            shown: Rate::default(),
            unchecked: Some(settings),
        };
        session.open(source);
        Ok(session)
    }

    /// Polls the pipeline, the finished jobs and the remote clients. Called once per frame of the window; never waits.
    pub(crate) fn update(&mut self) {
        for change in self.jobs.finished() {
            change(self);
        }
        let before = std::mem::replace(&mut self.status, self.live.status());
        self.set_up_returned(&before.cameras);
        self.look_at_recording();
        self.look_for_device(Instant::now());
        self.slowness.see(slow::is_behind(&self.status), Instant::now());
        self.ask_remote();
        self.show_errors();
        let Some(output) = self.live.latest() else { return };
        if !self.output.replace(Arc::clone(&output)).is_some_and(|shown| Arc::ptr_eq(&shown, &output)) {
            self.shown.record(Instant::now());
            self.preset_rates.see(&output);
        }
        if let Some(settings) = self.unchecked.take() {
            let frame = &output.job.frame;
            match settings.params_for(frame.size().0, frame.geometry.as_ref()) {
                Ok(params) if params != self.params => self.set_params(params),
                Ok(_) => {}
                Err(why) => self.notices.error(why.to_string()),
            }
        }
        if self.fit_wanted
            && let (Some(map), Some(geometry)) = (&output.map, &output.job.frame.geometry)
            && let Some(range) = DisplayRange::fit(map, Some(geometry))
        {
            self.look.fit(range, geometry);
            self.fit_wanted = false;
        }
        if self.snapshot_wanted && output.map.is_some() {
            self.snapshot_wanted = false;
            self.write_snapshot(output);
        }
        self.live.set_read_back(self.fit_wanted || self.snapshot_wanted || self.pixel().is_some());
    }

    /// Each thing that is wrong is shown from when it begins to when it is over; dismissed, it comes back only after it was
    /// right once.
    fn show_errors(&mut self) {
        let mut errors = self.status.errors.clone();
        if matches!(self.source, SourceSpec::Recording(_)) {
            errors.extend(self.status.cameras.remarks.iter().cloned()); // a file's damage
        }
        for over in self.errors_seen.iter().filter(|error| !errors.contains(error)) {
            self.notices.retract(over);
        }
        for error in errors.iter().filter(|error| !self.errors_seen.contains(error)) {
            self.notices.error(error.clone());
        }
        self.errors_seen = errors;
    }

    /// Starts a job. Its failure is shown; otherwise `finish` gets its result.
    fn start_job<T: Send + 'static>(
        &mut self,
        job: Job,
        work: impl FnOnce() -> Result<T, String> + Send + 'static,
        finish: impl FnOnce(&mut Self, T) + 'static,
    ) {
        self.jobs.start(job, work, |session: &mut Self, result| match result {
            Ok(result) => finish(session, result),
            Err(why) => session.notices.error(why),
        });
    }

    /// Abandons a job.
    pub(crate) fn stop_job(&mut self, job: Job) {
        if let Some(change) = self.jobs.stop(job) {
            change(self);
        }
    }

    /// Lets the user choose a recording or pictures.
    fn choose_source_files(&mut self) {
        const CHOOSE: Job = Job::stoppable("choosing files");
        if !self.jobs.is_running(CHOOSE) {
            let title = "A recording, or a left and a right picture";
            let chosen = dialogs::choose_files(title, "Recordings and pictures", SOURCE_EXTENSIONS);
            self.start_job(CHOOSE, chosen, |session, files| session.open_paths(&files));
        }
    }

    /// Writes a result, which has its map on the host, into files.
    fn write_snapshot(&mut self, output: Arc<Output>) {
        let folder = self.options.folder.clone();
        let write = move || {
            let map = output.map.as_ref().ok_or("the result has no numbers on the host")?;
            let described = export::describe(&output);
            export::snapshot(&folder, &output.job.frame, map, &described).map_err(|err| err.to_string())
        };
        self.start_job(Job::new("writing snapshot"), write, |session, snapshot| {
            let last = snapshot.paths.last().map_or(String::new(), |path| path.display().to_string());
            session.notices.news(format!("snapshot: {} files beside {last}", snapshot.paths.len()));
            for warning in snapshot.warnings {
                session.notices.confirm(warning);
            }
        });
    }

    /// The pipeline.
    pub fn live(&self) -> &Live {
        &self.live
    }

    /// What was recorded of this pair's result, where that is looked at.
    pub(crate) fn recorded_map(&mut self, frame: &Frame) -> Option<Arc<FloatMap>> {
        let recorded = frame.raw.recorded.as_ref().filter(|_| self.look.views.contains(&ViewKind::Recorded))?;
        if !self.recorded.as_ref().is_some_and(|(known, _)| Arc::ptr_eq(known, recorded)) {
            self.recorded = Some((Arc::clone(recorded), Arc::new(FloatMap::of_recorded(recorded)?)));
        }
        self.recorded.as_ref().map(|(_, map)| Arc::clone(map))
    }

    /// Results drawn per second.
    pub(crate) fn shown_hz(&mut self) -> f64 {
        self.shown.per_second(Instant::now())
    }

    /// The pixel that is read out.
    pub(crate) fn pixel(&self) -> Option<(usize, usize)> {
        self.hovered.or(self.pinned)
    }

    /// What the window says before the first result.
    pub(crate) fn waiting_for(&self) -> String {
        if self.status.captured == 0 { format!("opening {} …", self.source) } else { "the engine starts …".into() }
    }

    /// Takes changed parameters if they are valid; otherwise says why not and keeps the old ones.
    pub fn set_params(&mut self, params: StereoParams) {
        match params.validate() {
            Ok(()) => {
                self.live.set_params(params.clone());
                self.params = params;
                self.tell_recorder();
            }
            Err(why) => self.notices.error(why.to_string()),
        }
    }

    /// Does what a button or key asks for.
    pub fn run(&mut self, command: Command, ctx: &Context) {
        match command {
            Command::Pause if self.live.is_paused() => self.live.resume(),
            Command::Pause => self.live.pause(),
            Command::Step => self.live.step(1),
            Command::StepBack | Command::SecondBack | Command::SecondOn | Command::ToStart | Command::ToEnd => {
                self.go(command);
            }
            Command::Snapshot => self.snapshot_wanted = true,
            Command::Record => self.toggle_recording(),
            Command::Open => self.choose_source_files(),
            Command::FitDepth => self.fit_wanted = true,
            Command::WholePicture => self.zoom = Zoom::default(),
            Command::ColourReasons => self.look.colour_reasons = !self.look.colour_reasons,
            Command::ResetParameters => self.set_preset(self.preset),
            Command::CopyCommand => {
                let line = self.command_line();
                ctx.copy_text(line.clone());
                self.notices.news(format!("on the clipboard: {line}"));
            }
            Command::View(view) => self.toggle_view(view),
            Command::Controls => self.look.controls = !self.look.controls,
            Command::FullScreen => {
                let full = ctx.input(|i| i.viewport().fullscreen.unwrap_or(false));
                ctx.send_viewport_cmd(egui::ViewportCommand::Fullscreen(!full));
            }
            Command::Cameras => self.toggle_chooser(),
            Command::Rig => self.rig.open = !self.rig.open,
            Command::Reach => self.look.reach.open = !self.look.reach.open,
            Command::Help => self.help = !self.help,
            Command::Quit => ctx.send_viewport_cmd(egui::ViewportCommand::Close),
        }
    }

    /// Goes to another place of a recording.
    fn go(&mut self, command: Command) {
        let Some(transport) = self.live.transport() else {
            self.notices.news(format!("{}: only in a recording, and {} is none", command.label(), self.source));
            return;
        };
        match command {
            Command::StepBack => transport.step(-1),
            Command::SecondBack => transport.skip(-1.0),
            Command::SecondOn => transport.skip(1.0),
            Command::ToStart => transport.seek(0),
            Command::ToEnd => transport.seek(u64::MAX),
            _ => {}
        }
    }

    /// Opens or closes a view. Confidence is computed while it is seen.
    fn toggle_view(&mut self, view: ViewKind) {
        self.look.toggle(view);
        if view == ViewKind::Confidence {
            let confidence = self.look.views.contains(&view);
            self.set_params(StereoParams { confidence, ..self.params.clone() });
        }
    }

    /// Writes down what the next start begins with.
    pub fn keep(&self) {
        let Some(path) = &self.options.kept else { return };
        if let Err(err) =
            Kept::of(&self.source.to_string(), &self.look, &self.record.choices, self.chosen()).write(path)
        {
            log::warn!("{}: what the window shall remember cannot be written: {err}", path.display());
        }
        self.keep_rig(path);
    }
}

/// What was kept, then what was said; a settings file that was named replaces what was kept.
fn resolve(options: &WindowOptions, kept: &Kept) -> Result<Settings, SettingsError> {
    let only_flags = options.words.iter().all(|word| word.origin == crate::settings::Origin::Flag);
    let Some(path) = options.kept.as_deref().filter(|_| only_flags) else { return Settings::resolve(&options.words) };
    // one by one only by their form: P1 may need the P2 that comes later
    let known = |word: &Word| match StereoParams::parameter(&word.name) {
        Some(parameter) => parameter.parse(&word.text).is_ok(),
        None => Settings::resolve(std::slice::from_ref(word)).is_ok(),
    };
    let words: Vec<_> = kept.words(path, known).into_iter().chain(options.words.iter().cloned()).collect();
    // kept values that do not go with today's flags give way
    Settings::resolve(&words).or_else(|_| Settings::resolve(&options.words))
}
