//! Opening sources and finding cameras. A source is opened by a job; the one before is read until then.

use super::Session;
use crate::capture::webcam::{self, Preview};
use crate::capture::{CaptureError, Next, PairSource, SourceInfo, SourceSpec};
use crate::rig::Named;
use crate::sources::{self, CalibratedSource};
use crate::ui::action::Action;
use crate::ui::jobs::Job;
use std::path::PathBuf;
use std::time::Duration;

/// The source before the first one is open: never has a pair.
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

impl Session {
    /// Opens a source in the background; it replaces the present one when it is there.
    pub(super) fn open(&mut self, spec: SourceSpec) {
        self.end_recording(Some("the source was changed"));
        if spec.is_camera() {
            self.close_previews();
            // a camera can be open only once
            if self.state.source.running.take_if(|running| running.is_camera()).is_some() {
                self.live.close_source();
            }
        }
        self.set_source(&spec);
        let (options, choice) = (self.state.rig.options.clone(), self.state.rig.choice.clone());
        let asked = spec.clone();
        let open = move || sources::open_calibrated(&spec, &options, &choice).map_err(|err| err.to_string());
        drop(self.jobs.stop(OPEN)); // of another source
        self.jobs.start(OPEN, open, move |session: &mut Self, opened| match opened {
            Ok(opened) => session.use_opened(asked, opened),
            Err(why) => session.not_opened(&asked, &why),
        });
    }

    /// Opens the source with its changed options.
    pub(super) fn open_again(&mut self) {
        self.open(self.state.source.spec.clone());
    }

    /// Opens sources, rigs or calibrations that were chosen or dropped; no files change nothing.
    pub(super) fn open_files(&mut self, mut paths: Vec<PathBuf>) {
        if paths.is_empty() {
            return;
        }
        paths.sort(); // left before right, im0 before im1
        match Named::of(&paths) {
            Ok(Named::Setup(files)) => self.use_setup_files(files),
            Ok(Named::Source(spec)) => self.open(spec),
            Err(why) => self.state.notices.error(why.to_string()),
        }
    }

    fn use_opened(&mut self, spec: SourceSpec, opened: CalibratedSource) {
        let CalibratedSource { source, calibrated, .. } = opened;
        self.state.source.running = Some(spec);
        let scale = calibrated.preparation.scale.factor();
        let geometry = calibrated.preparation.geometry(&source.info()).map(|geometry| geometry.scaled(scale));
        let other_rig = self.state.output().is_some_and(|output| output.job.frame.geometry != geometry);
        self.live.set_source(source, calibrated.preparation.clone().into());
        self.live.resume();
        self.state.pointer.pinned = None;
        self.fits_depth |= other_rig;
        self.take_calibrated(&calibrated);
        self.read_controls();
    }

    /// Stays with the source before, or goes to the scene.
    fn not_opened(&mut self, spec: &SourceSpec, why: &str) {
        match self.state.source.running.clone().filter(|running| running != spec) {
            Some(running) => {
                self.state.notices.error(why);
                self.set_source(&running);
            }
            None if *spec != SourceSpec::Scene => {
                self.state.notices.error(format!("{why} · showing the scene instead"));
                self.open(SourceSpec::Scene);
            }
            None => self.state.notices.error(why),
        }
    }

    /// Notes the source to read. Cameras and other sources have calibrations of their own.
    pub(super) fn set_source(&mut self, spec: &SourceSpec) {
        let rig = &mut self.state.rig;
        if spec.is_camera() != self.state.source.spec.is_camera() {
            let scale = rig.choice.scale;
            std::mem::swap(&mut rig.choice, &mut rig.other_choice);
            rig.choice.scale = scale;
        }
        self.state.source.spec = spec.clone();
    }

    /// Exchanges left and right.
    pub(super) fn swap_views(&mut self) {
        let cameras = &mut self.state.rig.options.cameras;
        let swapped = match self.state.source.spec.clone() {
            SourceSpec::WebcamPair(left, right) => SourceSpec::WebcamPair(right, left),
            SourceSpec::Files { left, right } => SourceSpec::Files { left: right, right: left },
            source @ SourceSpec::WebcamSideBySide(_) => {
                cameras.swapped_halves ^= true;
                self.open(source);
                return;
            }
            _ => return,
        };
        cameras.views.swap(0, 1);
        self.open(swapped);
    }

    /// Lists the cameras in the background.
    pub(super) fn find_cameras(&mut self) {
        let find = || webcam::cameras().map_err(|err| err.to_string());
        self.jobs.start(Job::stoppable("looking for cameras"), find, |session: &mut Self, found| {
            let cameras = found.unwrap_or_else(|why| {
                session.state.notices.error(why);
                Vec::new() // no search again by itself
            });
            session.state.source.cameras = Some(cameras);
        });
    }

    /// Opens previews of the cameras that are not in use while their window is open, and closes the others. The strip beside
    /// the scene shows how many cameras there are.
    pub(super) fn update_previews(&mut self) {
        let is_open = self.state.is_open(Action::Cameras);
        let source = &mut self.state.source;
        if source.spec == SourceSpec::Scene && source.cameras.is_none() {
            self.find_cameras();
            return;
        }
        if !is_open {
            self.close_previews();
            return;
        }
        let opening = source.spec.is_camera() && self.jobs.is_running(OPEN);
        let used = &self.state.pipeline.status.cameras.cameras;
        for camera in source.cameras.iter().flatten().filter(|camera| camera.problem.is_none()) {
            if used.iter().any(|used| used.index == camera.index) {
                source.previews.remove(&camera.index);
            } else if !opening {
                source.previews.entry(camera.index).or_insert_with(|| Preview::open(camera.index));
            }
        }
    }

    /// Closes the previews, so that a source can have their cameras. Drivers may block: not on the window's thread.
    fn close_previews(&mut self) {
        let previews = std::mem::take(&mut self.state.source.previews);
        if !previews.is_empty() {
            let _ = std::thread::Builder::new().name("old previews".into()).spawn(move || drop(previews));
        }
    }
}
