//! Camera controls: read, set, and restored when a lost camera returns.

use crate::core::{Core, Job};
use std::convert::Infallible;
use stereopsis_capture::webcam::controls;
use stereopsis_capture::webcam::controls::ControlKind;
use stereopsis_frame::{CameraState, CaptureError, ControlSettings, Setting, SourceState};
use stereopsis_settings::rig::RectifyChoice;

const SET: Job = Job::new("setting controls");

/// Reads the controls of the cameras in use in the background.
pub(crate) fn read_controls(core: &mut Core) {
    let cameras: Vec<u32> = core.live.status().cameras.cameras.iter().map(|camera| camera.index).collect();
    // earlier values stay until then, so that nothing moves
    core.rig.controls.retain(|(camera, _)| cameras.contains(camera));
    if !cameras.is_empty() {
        let read = |number: u32| (number, controls::offered(number));
        let read_all = move || Ok::<_, Infallible>(cameras.into_iter().map(read).collect());
        core.start_job(Job::stoppable("reading controls"), read_all, |core, controls| {
            core.rig.controls = controls;
        });
    }
}

/// Sets controls of one view's camera now and at each later opening.
pub(crate) fn set_controls(core: &mut Core, view: usize, settings: ControlSettings) {
    let cameras = &mut core.rig.options.cameras;
    cameras.views[view].controls = settings.or(&cameras.views[view].controls);
    let ControlSettings { exposure_ms, gain, white_balance_k, .. } = settings;
    cameras.equal_exposure &= exposure_ms.is_none() && gain.is_none() && white_balance_k.is_none();
    if let Some(camera) = core.status().cameras.cameras.get(view) {
        apply_controls(core, camera.index, settings);
    }
}

/// Restores the controls of a camera that has returned, since the source keeps only the controls of its first opening.
pub(crate) fn restore_controls(core: &mut Core, before: &SourceState) {
    let cameras = before.cameras.iter().zip(&core.status().cameras.cameras).enumerate();
    let is_back = |(_, (old, new)): &(usize, (&CameraState, &CameraState))| old.lost.is_some() && new.lost.is_none();
    let back: Vec<_> = cameras.filter(is_back).map(|(view, (_, camera))| (view, camera.index)).collect();
    for (view, camera) in back {
        let settings = core.rig.options.cameras.views[view].controls;
        if settings != ControlSettings::default() {
            apply_controls(core, camera, settings);
        }
    }
}

/// Locks both cameras to the values that the left one's automatic controls have reached.
pub(crate) fn equal_exposure(core: &mut Core) {
    if let [left, right] = &core.status().cameras.cameras[..] {
        let (left, right) = (left.index, right.index);
        core.rig.options.cameras.equal_exposure = true;
        let equalise = move || Ok(vec![controls::equalise(left, right)?]);
        change_controls(core, Job::new("equalising exposure"), equalise);
    }
}

/// Switches off the autofocus, which would invalidate a calibration made since the cameras were opened.
pub(crate) fn protect_calibration(core: &mut Core) {
    if core.rig.choice.rectify() != RectifyChoice::Off {
        protect_cameras(core);
    }
}

/// Switches off the autofocus unless the user has chosen it.
pub(crate) fn protect_cameras(core: &mut Core) {
    let cameras = cameras_with_settings(core);
    if !cameras.is_empty() {
        change_controls(core, SET, move || Ok(protect_all(&cameras)));
    }
}

/// Switches off autofocus and automatic exposure, and gives both cameras common values.
pub(crate) fn lock_cameras(core: &mut Core) {
    let cameras = cameras_with_settings(core);
    if cameras.len() == 2 {
        equal_exposure(core);
    }
    let lock = move || {
        let mut remarks = protect_all(&cameras);
        if let [(alone, _)] = cameras[..] {
            let offered = controls::offered(alone)?;
            let exposure = offered.iter().find(|control| control.kind == ControlKind::Exposure);
            let exposure_ms = exposure.map(|exposure| Setting::Fixed(exposure.value));
            remarks.extend(controls::apply(alone, &ControlSettings { exposure_ms, ..ControlSettings::default() }));
        }
        Ok(remarks)
    };
    change_controls(core, Job::new("locking the cameras"), lock);
}

/// Returns the cameras in use by number with their requested controls.
fn cameras_with_settings(core: &Core) -> Vec<(u32, ControlSettings)> {
    let views = &core.rig.options.cameras.views;
    let cameras = core.status().cameras.cameras.iter().zip(views);
    cameras.map(|(camera, view)| (camera.index, view.controls)).collect()
}

fn apply_controls(core: &mut Core, camera: u32, settings: ControlSettings) {
    change_controls(core, SET, move || Ok(controls::apply(camera, &settings)));
}

/// Changes controls in the background, shows the remarks, and reads the controls again.
fn change_controls(
    core: &mut Core,
    job: Job,
    change: impl FnOnce() -> Result<Vec<String>, CaptureError> + Send + 'static,
) {
    core.jobs.start(job, change, |core: &mut Core, changed| {
        match changed {
            Ok(remarks) => remarks.into_iter().for_each(|remark| core.notices.news(remark)),
            Err(why) => core.notices.error(why),
        }
        read_controls(core);
    });
}

/// Switches off the autofocus of cameras and returns remarks.
fn protect_all(cameras: &[(u32, ControlSettings)]) -> Vec<String> {
    cameras.iter().flat_map(|(number, wished)| controls::protect_calibration(*number, wished)).collect()
}
