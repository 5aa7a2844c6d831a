//! Choosing and opening sources. Opening happens on a thread of its own; until it is done nothing is read.

use super::Session;
use crate::capture::webcam;
use crate::capture::{CaptureError, Next, PairSource, SourceInfo, SourceSpec};
use crate::sources::{self, CalibratedSource};
use crate::ui::dialogs::SETUP_EXTENSIONS;
use crate::ui::jobs::Job;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The source before the first one is open: never has a pair.
pub(super) struct Nothing;

impl PairSource for Nothing {
    fn info(&self) -> SourceInfo {
        SourceInfo {
            name: "no source".into(),
            width: 0,
            height: 0,
            rate_hz: None,
            is_camera: false,
            num_pairs: None,
            is_rectified: true,
            geometry: None,
        }
    }

    fn next(&mut self, patience: Duration) -> Result<Next, CaptureError> {
        std::thread::sleep(patience);
        Ok(Next::Waiting)
    }
}

/// Opens a source with its calibration.
pub(super) const OPEN: Job = Job::stoppable("opening the source");

impl Session {
    /// Opens a source in the background; it replaces the present one when it is there.
    pub(crate) fn open(&mut self, spec: SourceSpec) {
        self.end_recording(Some("the source was changed"));
        if spec.is_camera() {
            self.free_previews();
        }
        if spec.is_camera() && self.running.take_if(|running| running.is_camera()).is_some() {
            // a camera can be open once only
            self.live.close_source();
        }
        self.turn_to(&spec);
        let (options, choice) = (self.rig.options.clone(), self.rig.choice.clone());
        let asked = spec.clone();
        let open = move || sources::open_calibrated(&spec, &options, &choice).map_err(|err| err.to_string());
        drop(self.jobs.stop(OPEN)); // of another source
        self.jobs.start(OPEN, open, move |session: &mut Self, opened| session.opened(&asked, opened));
    }

    /// Opens what was chosen or dropped; nothing chosen changes nothing.
    pub(crate) fn open_paths(&mut self, paths: &[PathBuf]) {
        if paths.is_empty() {
            return;
        }
        let mut paths = paths.to_vec();
        paths.sort(); // left before right, im0 before im1
        if paths.iter().all(|path| is_setup(path)) {
            self.use_setup_files(paths);
            return;
        }
        match SourceSpec::from_paths(&paths) {
            Ok(spec) => self.open(spec),
            Err(why) => self.notices.error(why.to_string()),
        }
    }

    /// Reads the source that was opened, or says why it cannot and stays with the one before, or goes to the scene.
    pub(super) fn opened(&mut self, spec: &SourceSpec, opened: Result<CalibratedSource, String>) {
        match opened {
            Ok(CalibratedSource { source, calibrated, .. }) => {
                self.running = Some(spec.clone());
                let scale = calibrated.recipe.scale.factor();
                let geometry = calibrated.recipe.geometry(&source.info()).map(|g| g.scaled(scale));
                let new_rig = self.output.as_ref().is_some_and(|output| output.job.frame.geometry != geometry);
                self.live.set_source(source, calibrated.recipe.clone().into());
                self.live.resume();
                self.pinned = None;
                self.fit_wanted |= new_rig;
                self.take_calibrated(&calibrated);
                self.read_controls();
            }
            Err(why) => match self.running.clone().filter(|running| running != spec) {
                Some(running) => {
                    self.notices.error(why);
                    self.turn_to(&running);
                }
                None if *spec != SourceSpec::Scene => {
                    self.notices.error(format!("{why} · showing the scene instead"));
                    self.open(SourceSpec::Scene);
                }
                None => self.notices.error(why),
            },
        }
    }

    /// Lists the cameras in the background.
    pub(crate) fn find_cameras(&mut self) {
        let find = || webcam::cameras().map_err(|err| err.to_string());
        self.jobs.start(Job::stoppable("looking for cameras"), find, |session: &mut Self, found| {
            let cameras = found.unwrap_or_else(|why| {
                session.notices.error(why);
                Vec::new() // no search again by itself
            });
            session.cameras = Some(cameras);
        });
    }
}

/// Whether a file is a calibration or a rig, by its name.
fn is_setup(path: &Path) -> bool {
    let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
    ending.is_some_and(|ending| SETUP_EXTENSIONS.contains(&ending.as_str()))
}
