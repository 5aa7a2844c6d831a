//! Camera controls: read, set, and restored when a lost camera returns.

use crate::jobs::Job;
use crate::session::Session;
use stereopsis_capture::webcam::controls;
use stereopsis_capture::webcam::controls::ControlKind;
use stereopsis_frame::{CameraState, ControlSettings, Setting, SourceState};
use stereopsis_settings::rig::RectifyChoice;

const SET: Job = Job::new("setting controls");

/// Reads the controls of the cameras in use in the background.
pub(crate) fn read_controls(session: &mut Session) {
    let cameras: Vec<u32> = session.live.status().cameras.cameras.iter().map(|camera| camera.index).collect();
    // earlier values stay until then, so that nothing moves
    session.state.rig.controls.retain(|(camera, _)| cameras.contains(camera));
    if !cameras.is_empty() {
        let read = |number: u32| (number, controls::offered(number).map_err(|err| err.to_string()));
        let read_all = move || Ok(cameras.into_iter().map(read).collect());
        session.start_job(Job::stoppable("reading controls"), read_all, |session, controls| {
            session.state.rig.controls = controls;
        });
    }
}

/// Sets controls of one view's camera now and at each later opening.
pub(crate) fn set_controls(session: &mut Session, view: usize, settings: ControlSettings) {
    let cameras = &mut session.state.rig.options.cameras;
    cameras.views[view].controls = settings.or(&cameras.views[view].controls);
    let ControlSettings { exposure_ms, gain, white_balance_k, .. } = settings;
    cameras.equal_exposure &= exposure_ms.is_none() && gain.is_none() && white_balance_k.is_none();
    if let Some(camera) = session.state.status().cameras.cameras.get(view) {
        apply_controls(session, camera.index, settings);
    }
}

/// Restores the controls of a camera that has returned, since the source keeps only the controls of its first opening.
pub(crate) fn restore_controls(session: &mut Session, before: &SourceState) {
    let cameras = before.cameras.iter().zip(&session.state.status().cameras.cameras).enumerate();
    let is_back = |(_, (old, new)): &(usize, (&CameraState, &CameraState))| old.lost.is_some() && new.lost.is_none();
    let back: Vec<_> = cameras.filter(is_back).map(|(view, (_, camera))| (view, camera.index)).collect();
    for (view, camera) in back {
        let settings = session.state.rig.options.cameras.views[view].controls;
        if settings != ControlSettings::default() {
            apply_controls(session, camera, settings);
        }
    }
}

/// Locks both cameras to the values that the left one's automatic controls have reached.
pub(crate) fn equal_exposure(session: &mut Session) {
    if let [left, right] = &session.state.status().cameras.cameras[..] {
        let (left, right) = (left.index, right.index);
        session.state.rig.options.cameras.equal_exposure = true;
        let equalise = move || Ok(vec![controls::equalise(left, right).map_err(|err| err.to_string())?]);
        change_controls(session, Job::new("equalising exposure"), equalise);
    }
}

/// Switches off the autofocus, which would invalidate a calibration made since the cameras were opened.
pub(crate) fn protect_calibration(session: &mut Session) {
    if session.state.rig.choice.rectify() != RectifyChoice::Off {
        protect_cameras(session);
    }
}

/// Switches off the autofocus unless the user has chosen it.
pub(crate) fn protect_cameras(session: &mut Session) {
    let cameras = cameras_with_settings(session);
    if !cameras.is_empty() {
        change_controls(session, SET, move || Ok(protect_all(&cameras)));
    }
}

/// Switches off autofocus and automatic exposure, and gives both cameras common values.
pub(crate) fn lock_cameras(session: &mut Session) {
    let cameras = cameras_with_settings(session);
    if cameras.len() == 2 {
        equal_exposure(session);
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
    change_controls(session, Job::new("locking the cameras"), lock);
}

/// Returns the cameras in use by number with their requested controls.
fn cameras_with_settings(session: &Session) -> Vec<(u32, ControlSettings)> {
    let views = &session.state.rig.options.cameras.views;
    let cameras = session.state.status().cameras.cameras.iter().zip(views);
    cameras.map(|(camera, view)| (camera.index, view.controls)).collect()
}

fn apply_controls(session: &mut Session, camera: u32, settings: ControlSettings) {
    change_controls(session, SET, move || Ok(controls::apply(camera, &settings)));
}

/// Changes controls in the background, shows the remarks, and reads the controls again.
fn change_controls(
    session: &mut Session,
    job: Job,
    change: impl FnOnce() -> Result<Vec<String>, String> + Send + 'static,
) {
    session.jobs.start(job, change, |session: &mut Session, changed| {
        match changed {
            Ok(remarks) => remarks.into_iter().for_each(|remark| session.state.notices.news(remark)),
            Err(why) => session.state.notices.error(why),
        }
        read_controls(session);
    });
}

/// Switches off the autofocus of cameras and returns remarks.
fn protect_all(cameras: &[(u32, ControlSettings)]) -> Vec<String> {
    cameras.iter().flat_map(|(number, wished)| controls::protect_calibration(*number, wished)).collect()
}
