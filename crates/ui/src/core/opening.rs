//! Opening of sources and search for cameras; a job opens a source while the previous one is read.

use super::dialog::system::SOURCE_EXTENSIONS;
use super::source::Request;
use super::{Action, Core, Job, Level, Obstacle, Remedy, Setup, dialog, recording, rig};
use crate::view::Zoom;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use stereopsis_base::remedy::option;
use stereopsis_base::threads::drop_elsewhere;
use stereopsis_capture::webcam;
use stereopsis_capture::webcam::Preview;
use stereopsis_frame::{CaptureError, FramePreparation, Next, PairSource, SourceInfo, SourceOptions, SourceSpec};
use stereopsis_settings::rig::{CalibrationChoice, PathKind, RectifyChoice};
use stereopsis_settings::settings;
use stereopsis_sources::{CalibratedSource, OpenError};
use stereopsis_stereo::StereoParams;

/// Source without pairs, in use before the first one is open.
pub(super) struct NoSource;

impl PairSource for NoSource {
    fn info(&self) -> SourceInfo {
        SourceInfo { name: "no source".into(), width: 0, height: 0, is_rectified: true, ..SourceInfo::default() }
    }

    fn next(&mut self, timeout: Duration) -> Result<Next, CaptureError> {
        std::thread::sleep(timeout);
        Ok(Next::Waiting)
    }
}

const OPEN: Job = Job::stoppable("opening the source");

impl Core {
    /// Restores settings.
    pub(crate) fn take_setup(&mut self, setup: Setup) {
        let Setup { params, preset, own, engine, source, calibration, depth_range_m } = setup;
        let matching = &mut self.matching;
        (matching.preset, matching.own) = (preset, own);
        let confidence = matching.params.confidence;
        let has_other_engine = matching.engine.settings.choice != engine;
        self.set_params(StereoParams { confidence, ..params });
        if has_other_engine {
            self.set_engine(engine);
        }
        if self.source.spec != source && source != SourceSpec::Pipe {
            let wanted = Request { choice: calibration.choice, ..self.request(source) };
            return self.open_as(wanted); // the colours are fitted to it
        }
        self.awaited.range = false;
        rig::commands::take_back(self, calibration);
        self.view.depth_range_m = depth_range_m;
        self.awaited.fits_depth(depth_range_m.is_none());
    }

    /// Returns a request for `spec` with the present options; cameras and other sources have separate calibrations.
    pub(crate) fn request(&self, spec: SourceSpec) -> Request {
        let rig = &self.rig;
        let is_same_kind = spec.is_camera() == self.source.spec.is_camera();
        let choice = if is_same_kind { &rig.choice } else { &rig.other_choice };
        // exchanged sides concern only the present source
        let swap_pictures = choice.swap_pictures && spec == self.source.spec;
        let choice = CalibrationChoice { scale: rig.choice.scale, swap_pictures, ..choice.clone() };
        // an image with both views and two videos begun apart concern only the present source
        let is_same = spec == self.source.spec;
        let both_views = rig.options.both_views.filter(|_| is_same);
        let right_shift_s = if is_same { rig.options.right_shift_s } else { 0.0 };
        let options = SourceOptions { both_views, right_shift_s, ..rig.options.clone() };
        Request { spec, options, choice, file: None }
    }

    /// Opens a source that the user has chosen; asks for an address that was kept without its secrets.
    pub(crate) fn open(&mut self, spec: SourceSpec) {
        match spec.check_addresses_whole() {
            Ok(()) => self.open_as(self.request(spec)),
            Err(why) => dialog::commands::ask_address(self, &spec, &why),
        }
    }

    pub(crate) fn open_again(&mut self) {
        self.open(self.source.spec.clone());
    }

    /// Opens a source in the background, which replaces the present one once it is open; a failure changes nothing.
    /// Only a camera that both need is closed before. A source whose calibration fails is shown uncalibrated if no rectified one is lost.
    pub(crate) fn open_as(&mut self, wanted: Request) {
        self.rig.sides_checked = false;
        let closes = wanted.spec.is_camera() && self.source.running.as_ref().is_some_and(SourceSpec::is_camera);
        if closes {
            recording::commands::unless_recording(self, Obstacle::Source(wanted.spec.to_string()), move |core| {
                core.open_now(wanted);
            });
        } else {
            self.open_now(wanted);
        }
    }

    pub(crate) fn open_now(&mut self, wanted: Request) {
        if wanted.spec.is_camera() {
            self.close_previews();
            if self.source.running.take_if(|running| running.is_camera()).is_some() {
                recording::commands::end_recording(self, Some("the source was changed"));
                self.live.close_source();
            }
        }
        self.source.opening = Some(wanted.spec.clone());
        let Request { spec, options, choice, .. } = wanted.clone();
        let in_any_case = self.has_nothing_before(&wanted) || self.uncalibrated.is_some();
        let open = move || {
            if in_any_case {
                stereopsis_sources::open_in_any_case(&spec, &options, &choice).map_err(OpenError::from)
            } else {
                stereopsis_sources::open_calibrated(&spec, &options, &choice).map(|opened| (opened, None))
            }
        };
        drop(self.jobs.stop(OPEN)); // request for another source
        self.jobs.start(OPEN, open, move |core: &mut Self, opened| {
            core.source.opening = None;
            match opened {
                Ok((opened, failed)) => {
                    recording::commands::unless_recording(
                        core,
                        Obstacle::Source(wanted.spec.to_string()),
                        move |core| {
                            core.use_opened(wanted, opened);
                            if let Some(why) = failed {
                                core.note_uncalibrated(&why);
                            }
                        },
                    );
                }
                Err(why) => core.not_opened(&wanted, &why.to_string()),
            }
        });
    }

    /// Returns whether this is the user's source and is not read, because it is the first one or the scene replaces it.
    pub(crate) fn has_nothing_before(&self, wanted: &Request) -> bool {
        let source = &self.source;
        source.running.as_ref() != Some(&source.spec) && self.request(source.spec.clone()) == *wanted
    }

    /// Shows that the calibration of the source has failed, until the source is calibrated.
    pub(crate) fn note_uncalibrated(&mut self, why: &OpenError) {
        let choice = &self.rig.choice;
        let remedies = match choice.rectify() {
            _ if why.remedies().contains(&option("swap-pictures")) => {
                vec![Remedy::Action(Action::SwapPictures), self.another_source()]
            }
            RectifyChoice::Auto => vec![Remedy::Estimate(Box::new(choice.clone())), self.another_source()],
            RectifyChoice::Calibration | RectifyChoice::Off => vec![Remedy::OpenAgain, Remedy::Action(Action::Rig)],
        };
        let text = format!("{why} · the images are shown as they come, not rectified");
        self.notices.add(Level::Error, text.clone(), remedies);
        self.uncalibrated = Some(text);
    }

    /// Returns a remedy that lets the user choose another source of this kind.
    fn another_source(&self) -> Remedy {
        Remedy::Action(if self.source.spec.is_camera() { Action::Cameras } else { Action::Open })
    }

    pub(crate) fn choose_source_files(&mut self) {
        let title = "A recording, or a left and a right image";
        dialog::commands::ask_files(self, title, "Recordings and images", SOURCE_EXTENSIONS, Self::open_files);
    }

    /// Opens chosen or dropped sources, rigs or calibrations; an empty list changes nothing.
    pub(crate) fn open_files(&mut self, mut paths: Vec<PathBuf>) {
        if paths.is_empty() {
            return;
        }
        if let [path] = &paths[..]
            && path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("onnx"))
        {
            return self.set_model(path);
        }
        paths.sort(); // left before right, im0 before im1
        match PathKind::of(&paths) {
            Ok(PathKind::Setup(files)) => match &files[..] {
                [path] if settings::is_settings_file(path) => {
                    self.settings_to_open = Some((self.jobs.owner, path.clone()));
                }
                _ => rig::commands::use_setup_files(self, files),
            },
            Ok(PathKind::Source(spec)) => self.open(spec),
            Err(why) => self.notices.error(why),
        }
    }

    pub(crate) fn use_opened(&mut self, wanted: Request, opened: CalibratedSource) {
        let Request { spec, options, mut choice, file } = wanted;
        if opened.calibrated.fitted.is_some() {
            (choice.depth_fit, choice.known) = (opened.calibrated.fitted, Vec::new());
        }
        let is_other = self.source.running.is_none() || self.source.spec != spec;
        if spec.is_camera() != self.source.spec.is_camera() {
            self.rig.other_choice = std::mem::take(&mut self.rig.choice);
        }
        (self.rig.options, self.rig.choice) = (options, choice);
        if let Some((path, rig)) = file {
            self.rig.save_as = path.display().to_string();
            self.rig.file = Some((path, rig));
        }
        // a range of the last run belongs to its source
        if self.source.spec != spec {
            self.awaited.fit_depth();
        }
        self.source.spec = spec;
        if is_other {
            self.pointer.zoom = Zoom::default();
            self.pose = None;
        }
        self.notices.remedied(&Remedy::OpenAgain);
        self.notices.remedied(&Remedy::Action(Action::SwapPictures));
        let spec = self.source.spec.clone();
        self.source.note_opened(&spec);
        self.read(spec, opened);
    }

    /// Starts to read an open source.
    pub(crate) fn read(&mut self, running: SourceSpec, opened: CalibratedSource) {
        recording::commands::end_recording(self, Some("the source was changed"));
        if self.raw_tap.take().is_some() {
            recording::commands::connect_taps(self);
        }
        let CalibratedSource { source, calibrated, .. } = opened;
        self.source.running = Some(running);
        self.source_since = Instant::now();
        self.estimate_pairs.source_changed();
        let scale = calibrated.preparation.scale.factor();
        let geometry = calibrated.preparation.geometry(&source.info()).map(|geometry| geometry.scaled(scale));
        if self.output().is_some_and(|output| output.job.frame.geometry != geometry) {
            self.awaited.fit_depth();
        }
        self.awaited.range = rig::commands::needs_range(&calibrated.preparation, &source.info());
        self.rig.preparation = calibrated.preparation.clone();
        self.rig.sides_watch = None;
        self.live.set_source(source, calibrated.preparation.clone().into());
        self.notices.source_changed();
        self.pointer.pinned = None;
        rig::commands::take_calibrated(self, &calibrated);
        rig::controls::read_controls(self);
    }

    /// Handles a failed opening: reopens a camera closed for it, or shows the scene and keeps the user's source in the saved self.
    pub(crate) fn not_opened(&mut self, wanted: &Request, why: &str) {
        let before = self.request(self.source.spec.clone());
        if self.source.running.is_some() {
            self.notices.error(why);
        } else if before != *wanted && before.spec.is_camera() {
            self.notices.error(why);
            self.open_as(before);
        } else {
            let remedies = vec![Remedy::OpenAgain, self.another_source()];
            self.notices.add(Level::Error, format!("{why} · the built-in scene is shown instead"), remedies);
            let options = SourceOptions { right_shift_s: 0.0, ..self.rig.options.clone() };
            let opened =
                stereopsis_sources::open_calibrated(&SourceSpec::Scene, &options, &CalibrationChoice::default());
            match opened {
                Ok(scene) => self.read(SourceSpec::Scene, scene),
                Err(why) => self.notices.error(why),
            }
        }
    }

    /// Exchanges left and right: names of cameras and files, halves of one camera, or images of any other source.
    pub(crate) fn swap_pictures(&mut self) {
        let mut wanted = self.request(self.source.spec.clone());
        match &mut wanted.spec {
            SourceSpec::WebcamPair(left, right) => {
                std::mem::swap(left, right);
                wanted.options.cameras.views.swap(0, 1);
            }
            SourceSpec::Files { left, right, .. } => std::mem::swap(left, right),
            SourceSpec::Ros2 { left, right } | SourceSpec::RigPair { left, right, .. } => std::mem::swap(left, right),
            SourceSpec::Video(inputs) if inputs.len() == 2 => {
                inputs.swap(0, 1);
                wanted.options.right_shift_s *= -1.0;
            }
            SourceSpec::WebcamSideBySide(_) | SourceSpec::Video(_) => wanted.options.cameras.swapped_halves ^= true,
            SourceSpec::Scene
            | SourceSpec::Folder(_)
            | SourceSpec::Recording(_)
            | SourceSpec::Pipe
            | SourceSpec::Rig { .. } => {
                return self.swap_prepared();
            }
        }
        self.open_as(wanted);
    }

    pub(crate) fn swap_prepared(&mut self) {
        recording::commands::unless_recording(self, Obstacle::Swap, Self::swap_prepared_now);
    }

    pub(crate) fn swap_prepared_now(&mut self) {
        self.rig.sides_checked = false;
        let preparation = self.live.preparation();
        let swapped = !preparation.swapped;
        let geometry = preparation.geometry.map(|geometry| geometry.swapped());
        let choice = &self.rig.choice;
        let choice = CalibrationChoice { swap_pictures: !choice.swap_pictures, ..choice.clone() };
        if self.uncalibrated.is_some() {
            return rig::commands::calibrate(self, choice, rig::commands::Initiator::User); // failed for unexchanged images
        }
        if rig::commands::use_recipe(self, FramePreparation { geometry, swapped, ..preparation }, choice) {
            self.describe_source();
            self.awaited.fit_depth();
            self.notices.remedied(&Remedy::Action(Action::SwapPictures));
            self.notices.news(format!("left and right are {}", if swapped { "exchanged" } else { "as they come" }));
        }
    }

    pub(crate) fn find_cameras(&mut self) {
        self.jobs.start(Job::stoppable("looking for cameras"), webcam::cameras, |core: &mut Self, found| {
            let cameras = found.unwrap_or_else(|why| {
                core.notices.error(why);
                Vec::new() // a failed search is not repeated automatically
            });
            core.source.cameras = Some(cameras);
        });
    }

    #[cfg(feature = "zenoh")]
    pub(crate) fn watch_rigs(&mut self, router: &str) {
        let (config, waker) = (self.rig.options.zenoh_config.clone(), self.waker.clone());
        self.source.rigs = Some(stereopsis_network::census::CensusWatch::start(router, config, move || waker.wake()));
    }

    /// Opens previews of unused cameras while their page or the scene's strip with their number is open, and closes the others.
    pub(crate) fn update_previews(&mut self) {
        #[cfg(feature = "zenoh")]
        if !self.is_open(crate::core::action::Action::Cameras) {
            drop(self.source.rigs.take());
        }
        let is_open = self.chooses_cameras();
        let source = &mut self.source;
        if source.running == Some(SourceSpec::Scene) && source.cameras.is_none() {
            self.find_cameras();
            return;
        }
        if !is_open {
            self.close_previews();
            return;
        }
        let opening = source.opening.as_ref().is_some_and(SourceSpec::is_camera);
        let used = &self.pipeline.status.cameras.cameras;
        for camera in source.cameras.iter().flatten().filter(|camera| camera.problem.is_none()) {
            if used.iter().any(|used| used.index == camera.index) {
                source.previews.remove(&camera.index);
            } else if !opening {
                source.previews.entry(camera.index).or_insert_with(|| Preview::open(camera.index));
            }
        }
    }

    /// Records the time since which cameras are lost.
    pub(crate) fn note_lost_cameras(&mut self, now: Instant) {
        let cameras = &self.pipeline.status.cameras.cameras;
        let lost: Vec<_> = cameras.iter().filter(|camera| camera.lost.is_some()).map(|camera| camera.index).collect();
        let since = &mut self.source.lost_since;
        since.retain(|camera, _| lost.contains(camera));
        for camera in lost {
            since.entry(camera).or_insert(now);
        }
    }

    /// Closes the previews on another thread, because drivers may block, so that a source can open their cameras.
    pub(crate) fn close_previews(&mut self) {
        let previews = std::mem::take(&mut self.source.previews);
        if !previews.is_empty() {
            drop_elsewhere("old previews", previews);
        }
    }
}
