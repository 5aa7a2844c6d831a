//! Start of the core by the options, the saved state and the settings.

use super::awaited::AwaitedWork;
use super::jobs::Jobs;
use super::matching::DeviceState;
use super::notices::Notices;
use super::opening::NoSource;
use super::rig::estimate_pairs::EstimatePairs;
use super::saved::SavedState;
use super::source::Request;
use super::store::{StateWriter, Store};
use super::{
    Core, GuideState, Load, Marked, Matching, MeasuredRates, PictureState, Pipeline, Pointer, RecordingState, RigState,
    SearchState, Source, Waker, WindowOptions, absolute, rig,
};
use crate::view::ViewKind;
use std::sync::Arc;
use std::time::Instant;
use stereopsis_base::rate::Rate;
use stereopsis_engine::OpenOptions;
use stereopsis_frame::SourceSpec;
use stereopsis_gpu::Gpu;
use stereopsis_live::{Live, LiveOptions};
use stereopsis_settings::settings;
use stereopsis_settings::settings::{Origin, Settings, SettingsError};
use stereopsis_stereo::Preset;

impl Core {
    /// Starts the pipeline and opens the source in the background.
    ///
    /// # Errors
    /// Flags or the settings file are wrong, or the system cannot start a thread.
    pub fn start(options: WindowOptions, gpu: Option<Gpu>) -> anyhow::Result<Self> {
        let mut options = options;
        let store = options.saved_state.as_deref().map(Store::open);
        let saved = last_state(&options);
        let fresh = Request {
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
            remotes: std::mem::take(&mut options.remotes),
            ..LiveOptions::new(settings.params.clone(), engine.clone())
        };
        let live = Live::start(Box::new(NoSource), live_options)?;
        let source = first_source(&options, &saved);
        if saved.source() != Some(source.to_string().as_str()) {
            view.depth_range_m = None; // was fitted to another source
        }
        let pipeline = Pipeline {
            status: live.status(),
            output: None,
            explained: None,
            measured: None,
            shown_hz: 0.0,
            playback: None,
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
            device: DeviceState::default(),
            waiting_change: None,
            estimate_pairs: EstimatePairs::default(),
            raw_tap: None,
            keeping: StateWriter::new(store, fresh),
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
