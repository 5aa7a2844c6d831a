//! Camera controls: read, set, and set again when a lost camera is back.

use super::Session;
use crate::capture::webcam::controls::{self, ControlKind};
use crate::capture::{CameraState, ControlSettings, Setting, SourceState};
use crate::jobs::Job;
use crate::rig::RectifyChoice;

const SET: Job = Job::new("setting controls");

impl Session {
    /// Reads the controls of the cameras in use, in the background.
    pub(super) fn read_controls(&mut self) {
        let cameras: Vec<u32> = self.live.status().cameras.cameras.iter().map(|camera| camera.index).collect();
        // the values read before stay until then: nothing jumps
        self.state.rig.controls.retain(|(camera, _)| cameras.contains(camera));
        if !cameras.is_empty() {
            let read = |number: u32| (number, controls::offered(number).map_err(|err| err.to_string()));
            let read_all = move || Ok(cameras.into_iter().map(read).collect());
            self.start_job(Job::stoppable("reading controls"), read_all, |session, controls| {
                session.state.rig.controls = controls;
            });
        }
    }

    /// Sets controls of one view's camera, now and whenever it is opened.
    pub(super) fn set_controls(&mut self, view: usize, settings: ControlSettings) {
        let cameras = &mut self.state.rig.options.cameras;
        cameras.views[view].controls = settings.or(&cameras.views[view].controls);
        let ControlSettings { exposure_ms, gain, white_balance_k, .. } = settings;
        cameras.equal_exposure &= exposure_ms.is_none() && gain.is_none() && white_balance_k.is_none();
        if let Some(camera) = self.state.status().cameras.cameras.get(view) {
            self.apply_controls(camera.index, settings);
        }
    }

    /// Sets the controls again of a camera that is back: the source knows only those of its first opening.
    pub(super) fn restore_controls(&mut self, before: &SourceState) {
        let cameras = before.cameras.iter().zip(&self.state.status().cameras.cameras).enumerate();
        let is_back =
            |(_, (old, new)): &(usize, (&CameraState, &CameraState))| old.lost.is_some() && new.lost.is_none();
        let back: Vec<_> = cameras.filter(is_back).map(|(view, (_, camera))| (view, camera.index)).collect();
        for (view, camera) in back {
            let settings = self.state.rig.options.cameras.views[view].controls;
            if settings != ControlSettings::default() {
                self.apply_controls(camera, settings);
            }
        }
    }

    /// Locks both cameras to the values that the left one's automatic has settled at.
    pub(super) fn equal_exposure(&mut self) {
        if let [left, right] = &self.state.status().cameras.cameras[..] {
            let (left, right) = (left.index, right.index);
            self.state.rig.options.cameras.equal_exposure = true;
            let equalise = move || Ok(vec![controls::equalise(left, right).map_err(|err| err.to_string())?]);
            self.change_controls(Job::new("equalising exposure"), equalise);
        }
    }

    /// Switches off the autofocus, which would void a calibration that has come since the cameras were opened.
    pub(super) fn protect_calibration(&mut self) {
        if self.state.rig.choice.rectify() != RectifyChoice::Off {
            self.protect_cameras();
        }
    }

    /// Switches off the autofocus, unless the user wants it.
    pub(super) fn protect_cameras(&mut self) {
        let cameras = self.cameras_with_settings();
        if !cameras.is_empty() {
            self.change_controls(SET, move || Ok(protect_all(&cameras)));
        }
    }

    /// Switches off what the cameras change by themselves: focus and exposure, which two cameras have in common afterwards.
    pub(super) fn lock_cameras(&mut self) {
        let cameras = self.cameras_with_settings();
        if cameras.len() == 2 {
            self.equal_exposure();
        }
        let lock = move || {
            let mut remarks = protect_all(&cameras);
            if let [(alone, _)] = cameras[..] {
                let offered = controls::offered(alone).map_err(|err| err.to_string())?;
                let exposure = offered.iter().find(|control| control.kind == ControlKind::Exposure);
                let exposure_ms = exposure.map(|exposure| Setting::Fixed(exposure.value));
                remarks.extend(controls::apply(alone, &ControlSettings { exposure_ms, ..ControlSettings::default() }));
            }
            Ok(remarks)
        };
        self.change_controls(Job::new("locking the cameras"), lock);
    }

    /// The cameras in use by number, with the wished controls.
    fn cameras_with_settings(&self) -> Vec<(u32, ControlSettings)> {
        let views = &self.state.rig.options.cameras.views;
        let cameras = self.state.status().cameras.cameras.iter().zip(views);
        cameras.map(|(camera, view)| (camera.index, view.controls)).collect()
    }

    fn apply_controls(&mut self, camera: u32, settings: ControlSettings) {
        self.change_controls(SET, move || Ok(controls::apply(camera, &settings)));
    }

    /// Changes controls in the background, shows the remarks, and reads the controls again.
    fn change_controls(&mut self, job: Job, change: impl FnOnce() -> Result<Vec<String>, String> + Send + 'static) {
        self.jobs.start(job, change, |session: &mut Self, changed| {
            match changed {
                Ok(remarks) => remarks.into_iter().for_each(|remark| session.state.notices.news(remark)),
                Err(why) => session.state.notices.error(why),
            }
            session.read_controls();
        });
    }
}

/// Switches off the autofocus of cameras; gives remarks.
fn protect_all(cameras: &[(u32, ControlSettings)]) -> Vec<String> {
    cameras.iter().flat_map(|(number, wished)| controls::protect_calibration(*number, wished)).collect()
}
