//! Core of the window: pipeline, source, matching, views, messages and jobs, and the commands that change them. Features import the core,
//! and the core imports no feature. The window may close and reopen on another device after a loss; the core stays.

pub(crate) mod action;
mod awaited;
mod comparison;
pub(crate) mod command;
mod command_line;
mod device;
pub(crate) mod dialog;
mod execute;
pub(crate) mod feature;
mod guide;
mod history;
pub(crate) mod jobs;
mod keep;
mod marked;
mod matching;
pub(crate) mod notices;
pub(crate) mod options;
pub(crate) mod owner;
pub(crate) mod picture;
mod readings;
pub(crate) mod recording;
mod remote;
pub(crate) mod rig;
pub(crate) mod saved;
mod search;
mod settings_file;
mod setup;
mod source;
pub(crate) mod store;
mod view_settings;
pub(crate) mod waker;

pub(crate) use action::Action;
pub(crate) use command::{Command, CompareStep, Playback};
pub(crate) use comparison::CompareState;
pub(crate) use feature::{Feature, Step};
pub(crate) use guide::{GuideState, RunningCalibration};
pub(crate) use history::History;
pub(crate) use jobs::{Fault, Job};
pub(crate) use marked::Marked;
pub(crate) use matching::{Load, Matching, MeasuredRates, OwnPreset};
pub(crate) use notices::{Level, Remedy};
pub(crate) use options::WindowOptions;
pub(crate) use picture::{PictureChoices, PictureState};
pub(crate) use readings::{Pipeline, Pointer, PointsWish, Source};
pub(crate) use recording::state::{Obstacle, Phase, RecordingChoices, RecordingState};
pub(crate) use rig::state::RigState;
pub(crate) use search::{MAX_PAIRS, RATES_HZ, SEARCH_S, SearchState, SearchWishes, cannot_judge};
pub(crate) use settings_file::SettingsFile;
pub(crate) use setup::{Calibration, SettingChange, Setup, words_of};
pub(crate) use view_settings::{Arrangement, ERRORS_PX, NARROW_WIDTH, TEXT_ZOOM, Theme, ViewLayout, ViewSettings};
pub(crate) use waker::Waker;

use crate::space::Pose;
use crate::view::ViewKind;
use awaited::AwaitedWork;
use dialog::state::TypedPath;
use dialog::system::SOURCE_EXTENSIONS;
use jobs::Jobs;
use notices::Notices;
use owner::Owner;
use rig::estimate_pairs::EstimatePairs;
use saved::SavedState;
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;
use stereopsis_base::rate::Rate;
use stereopsis_engine::OpenOptions;
use stereopsis_frame::engine::Output;
use stereopsis_frame::{RawTap, SourceSpec};
use stereopsis_gpu::Gpu;
use stereopsis_images::CloudSize;
use stereopsis_live::{Live, LiveOptions};
use stereopsis_settings::settings;
use stereopsis_settings::settings::{Origin, Settings, SettingsError};
use stereopsis_stereo::{Preset, StereoParams};
use store::Store;

/// Pipeline, state and background jobs of the window.
pub struct Core {
    pub(crate) live: Live,
    pub(crate) pipeline: Pipeline,
    pub(crate) source: Source,
    pub(crate) matching: Matching,
    pub(crate) history: History,
    /// Settings file to apply and follow, which was opened as a file.
    pub(crate) settings_to_open: Option<(Option<Owner>, PathBuf)>,
    /// Whether colours were just fitted because of the step in force of the history.
    pub(crate) has_fitted_colours: bool,
    pub(crate) settings_file: Option<SettingsFile>,
    /// Two compared settings.
    pub(crate) comparison: Option<CompareState>,
    pub(crate) view: ViewSettings,
    pub(crate) pointer: Pointer,
    /// Camera of the 3-D view; `None` for the left camera's pose.
    pub(crate) pose: Option<Pose>,
    /// Numbers of points and triangles of the file whose menu is open.
    pub(crate) points_size: Option<(PointsWish, CloudSize)>,
    pub(crate) rig: RigState,
    pub(crate) picture: PictureState,
    pub(crate) recording: RecordingState,
    pub(crate) guide: GuideState,
    pub(crate) marked: Marked,
    pub(crate) search: SearchState,
    pub(crate) notices: Notices,
    /// Path in a text field where the system has no dialog.
    pub(crate) typed: Option<TypedPath>,
    /// Open page, identified by the action that opens and closes it.
    pub(crate) page: Option<Action>,
    pub(crate) is_finder_open: bool,
    /// Last found parameter, and the time since which its row is marked.
    pub(crate) revealed: Option<(&'static str, Instant)>,
    pub(crate) jobs: Jobs<Self>,
    pub(crate) waker: Waker,
    device: device::DeviceState,
    pub(crate) estimate: recording::commands::SizeEstimate,
    /// Change for which the recording may end.
    pub(crate) waiting_change: Option<recording::commands::PendingChange>,
    pub(crate) estimate_pairs: EstimatePairs,
    /// Receiver of the capture thread's pairs beside a recorder.
    pub(crate) raw_tap: Option<Arc<dyn RawTap>>,
    keeping: keep::StateWriter,
    /// Commands to execute after the update, with their owners.
    sent: Vec<(Option<Owner>, Command)>,
    pub(crate) options: WindowOptions,
    pub(crate) awaited: AwaitedWork,
    /// Continuation of the typed path, and the kind of command that requested it.
    pub(crate) typed_then: Option<(Option<Owner>, dialog::commands::AnswerHandler)>,
    /// Present errors of the pipeline, shown once when they began.
    errors_shown: Vec<String>,
    /// Message that the calibration of the source has failed.
    pub(crate) uncalibrated: Option<String>,
    shown: Rate,
    /// Time at which the present source was opened; earlier results belong to another one.
    pub(crate) source_since: Instant,
    /// Start of the window until its first result.
    pub(crate) started: Option<Instant>,
}

impl Core {
    /// Starts the pipeline and opens the source in the background.
    ///
    /// # Errors
    /// Flags or the settings file are wrong, or the system cannot start a thread.
    pub fn start(options: WindowOptions, gpu: Option<Gpu>) -> anyhow::Result<Self> {
        let mut options = options;
        let store = options.saved_state.as_deref().map(Store::open);
        let saved = last_state(&options);
        let fresh = source::Request {
            spec: options.source.clone().unwrap_or(SourceSpec::Scene),
            options: options.source_options.clone(),
            choice: options.calibration.clone(),
            file: None,
        };
        let has_saved_rig = !options.reset && rig::commands::use_saved_rig(&mut options, &saved);
        let mut settings = resolve(&options, &saved)?;
        let mut view = saved.view();
        settings.params.confidence |= view.shown().contains(&ViewKind::Confidence);
        let engine = OpenOptions { gpu, ..settings.engine_options().into() };
        let waker = Waker::default();
        let wake = waker.clone();
        let live_options = LiveOptions {
            wake: Arc::new(move || wake.wake()),
            remote: options.remote.clone(),
            ..LiveOptions::new(settings.params.clone(), engine.clone())
        };
        let live = Live::start(Box::new(source::NoSource), live_options)?;
        let source = first_source(&options, &saved);
        if saved.source() != Some(source.to_string().as_str()) {
            view.depth_range_m = None; // was fitted to another source
        }
        let remote = options.remote.clone();
        let pipeline = Pipeline {
            status: live.status(),
            output: None,
            explained: None,
            measured: None,
            shown_hz: 0.0,
            playback: None,
            remote,
        };
        let matching = Matching {
            params: settings.params.clone(),
            preset: settings.preset.unwrap_or(Preset::Balanced),
            own: None,
            own_presets: options.presets_folder.as_deref().map(settings::own_presets).unwrap_or_default(),
            engine,
            rates: MeasuredRates::default(),
            load: Load::default(),
        };
        let recording = RecordingState::new(saved.recording(), absolute(&options.folder));
        let fits_depth = view.depth_range_m.is_none();
        let mut core = Self {
            live,
            pipeline,
            source: Source::of(source.clone(), saved.recent()),
            matching,
            history: History::default(),
            settings_to_open: None,
            has_fitted_colours: false,
            settings_file: None,
            comparison: None,
            view,
            pointer: Pointer::default(),
            pose: None,
            points_size: None,
            rig: RigState::new(&options, &source),
            picture: PictureState::new(saved.pictures()),
            recording,
            guide: saved.board().map_or_else(GuideState::default, GuideState::with_board),
            marked: Marked::default(),
            search: SearchState::default(),
            notices: Notices::default(),
            typed: None,
            page: None,
            is_finder_open: false,
            revealed: None,
            jobs: Jobs::new(waker.clone()),
            waker,
            device: device::DeviceState::default(),
            estimate: recording::commands::SizeEstimate::default(),
            waiting_change: None,
            estimate_pairs: EstimatePairs::default(),
            raw_tap: None,
            keeping: keep::StateWriter::new(store, fresh),
            sent: Vec::new(),
            options,
            typed_then: None,
            awaited: AwaitedWork::new(settings, fits_depth),
            errors_shown: Vec::new(),
            uncalibrated: None,
            shown: Rate::default(),
            source_since: Instant::now(),
            started: Some(Instant::now()),
        };
        core.announce_saved(&saved, has_saved_rig);
        core.open_as(core.request(source));
        Ok(core)
    }

    pub(crate) fn show_in_folder(&mut self, file: PathBuf) {
        let folder = absolute(file.parent().unwrap_or(Path::new(".")));
        let shown = folder.clone();
        let show = move || open::that_detached(&shown);
        self.jobs.start(Job::new("showing the folder"), show, move |core: &mut Self, shown| {
            if let Err(why) = shown {
                core.notices.error(format!("{} cannot be shown: {why}", folder.display()));
            }
        });
    }

    /// Executes `change` for a kind of command, which owns messages of its failures and its jobs.
    pub(crate) fn owned(&mut self, owner: Option<Owner>, change: impl FnOnce(&mut Self)) {
        let before = (self.notices.owner, self.jobs.owner);
        (self.notices.owner, self.jobs.owner) = (owner, owner);
        change(self);
        (self.notices.owner, self.jobs.owner) = before;
    }

    pub(crate) fn finish_jobs(&mut self) {
        for (owner, change) in self.jobs.finished() {
            self.owned(owner, change);
        }
    }

    /// Sends a command that is executed after the update, for the command in execution.
    pub(crate) fn send(&mut self, command: impl Into<Command>) {
        self.sent.push((self.jobs.owner, command.into()));
    }

    pub(crate) fn take_sent(&mut self) -> Vec<(Option<Owner>, Command)> {
        std::mem::take(&mut self.sent)
    }

    /// Polls the pipeline and the remote clients without waiting; once per frame of the window.
    pub(crate) fn update(&mut self, now: Instant) {
        let before = std::mem::replace(&mut self.pipeline.status, self.live.status());
        rig::controls::restore_controls(self, &before.cameras);
        rig::sides::update(self);
        self.note_lost_cameras(now);
        recording::commands::update(self);
        self.search_device(now);
        self.matching.load.update(&self.pipeline.status, now);
        self.exchange_with_remote();
        self.update_errors();
        self.update_previews();
        self.notices.remove_expired(now);
        self.pipeline.playback = self.live.transport().map(|transport| transport.get());
        if let Some(output) = self.live.latest().filter(|_| self.unreadable().is_none()) {
            self.take_output(output, now);
        }
        self.pipeline.shown_hz = self.shown.per_second(now);
    }

    /// Adapts to the window's width and to the user's theme and text size; once per frame.
    pub(crate) fn fit_window(&mut self, ctx: &egui::Context) {
        let view = &mut self.view;
        view.is_narrow = ctx.content_rect().width() < NARROW_WIDTH;
        view.text_zoom = ctx.zoom_factor(); // egui's own keys change it
        let viewport = ctx.input(|i| i.viewport().clone());
        if let Some(inner) =
            viewport.inner_rect.filter(|_| viewport.fullscreen != Some(true) && viewport.maximized != Some(true))
        {
            view.window_size = [inner.width(), inner.height()];
        }
        ctx.set_theme(match view.theme {
            Theme::System => egui::ThemePreference::System,
            Theme::Dark => egui::ThemePreference::Dark,
            Theme::Light => egui::ThemePreference::Light,
        });
    }

    pub(crate) fn take_output(&mut self, output: Arc<Output>, now: Instant) {
        let shown = self.pipeline.output.replace(Arc::clone(&output));
        if let Some(started) = self.started.take_if(|_| self.source.opening.is_none()) {
            log::info!(
                "the first images and their depth are there {:.0} ms after the start",
                1e3 * started.elapsed().as_secs_f64()
            );
        }
        if !shown.is_some_and(|shown| Arc::ptr_eq(&shown, &output)) {
            self.shown.record(now);
            self.matching.rates.record(&output);
            self.count_outdated(&output);
        }
        let frame = &output.job.frame;
        if frame.arrived >= self.source_since {
            self.estimate_pairs.offer(&frame.raw);
        }
        self.take_awaited(&output);
    }

    /// Shows each error once when it begins; a dismissed one returns only if it ends and begins again.
    pub(crate) fn update_errors(&mut self) {
        let status = self.status();
        // missing memory has a message with remedies
        let too_large = status.engine.too_large.as_ref();
        let mut errors: Vec<_> = status.errors.iter().filter(|error| Some(*error) != too_large).cloned().collect();
        if matches!(self.source.spec, SourceSpec::Recording(_)) {
            errors.extend(status.cameras.remarks.iter().cloned()); // damage of the file
        }
        for ended in self.errors_shown.iter().filter(|error| !errors.contains(error)) {
            self.notices.retract(ended);
        }
        for begun in errors.iter().filter(|error| !self.errors_shown.contains(error)) {
            self.notices.error(begun.clone());
        }
        self.errors_shown = errors;
    }

    /// Starts a job whose failure is shown and whose result `finish` receives.
    pub(crate) fn start_job<T: Send + 'static, E: Display + Send + 'static>(
        &mut self,
        job: Job,
        work: impl FnOnce() -> Result<T, E> + Send + 'static,
        finish: impl FnOnce(&mut Self, T) + 'static,
    ) {
        self.jobs.start(job, work, |core: &mut Self, result| match result {
            Ok(result) => finish(core, result),
            Err(why) => core.notices.error(why.to_string()),
        });
    }

    pub(crate) fn choose_source_files(&mut self) {
        let title = "A recording, or a left and a right image";
        dialog::commands::ask_files(self, title, "Recordings and images", SOURCE_EXTENSIONS, Self::open_files);
    }

    #[cfg(test)]
    pub fn live(&self) -> &Live {
        &self.live
    }

    /// Applies changed parameters if they are valid, and otherwise shows the reason.
    pub(crate) fn set_params(&mut self, params: StereoParams) {
        match params.validate() {
            Ok(()) => {
                self.live.set_params(params.clone());
                self.matching.params = params;
                recording::commands::note_params(self);
            }
            Err(why) => self.notices.error(why.to_string()),
        }
    }
}

/// Returns the folder as an absolute path, because the next run may have another current folder.
pub(crate) fn absolute(folder: &Path) -> PathBuf {
    std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned())
}

/// Reads the saved state; one that cannot be read is empty, and the window names it once it has set the file aside.
fn last_state(options: &WindowOptions) -> SavedState {
    let Some(path) = options.saved_state.as_deref().filter(|_| !options.reset) else { return SavedState::default() };
    SavedState::read(path).unwrap_or_else(|why| {
        log::warn!("{}: the window starts with its defaults: {why}", path.display());
        SavedState::default()
    })
}

/// Returns the source of the command line, or else of the last run.
fn first_source(options: &WindowOptions, saved: &SavedState) -> SourceSpec {
    let parse = |words: &str| SourceSpec::parse(words).ok().filter(|source| *source != SourceSpec::Pipe);
    options.source.clone().or_else(|| saved.source().and_then(parse)).unwrap_or(SourceSpec::Scene)
}

/// Combines the saved settings with those of the command line; a settings file named there replaces the saved ones.
fn resolve(options: &WindowOptions, saved: &SavedState) -> Result<Settings, SettingsError> {
    let only_flags = options.words.iter().all(|word| word.origin == Origin::Flag);
    let Some(path) = options.saved_state.as_deref().filter(|_| only_flags) else {
        return Settings::resolve(&options.words);
    };
    let words: Vec<_> = saved.words(path).into_iter().chain(options.words.iter().cloned()).collect();
    // saved settings that contradict the flags are dropped
    Settings::resolve(&words).or_else(|_| Settings::resolve(&options.words))
}
