//! The cameras of raw pictures, in ROS's numbers.

use crate::calibration::{CameraInfo, LoadOptions, StereoRig, read};
use crate::recording::About;
use std::path::PathBuf;

/// Knows the cameras of raw pictures of any size.
pub(super) struct Cameras {
    /// By which pairs are rectified.
    rig: Option<StereoRig>,
    asked: Option<Asked>,
}

/// The size that was asked for last, with what is known of it.
struct Asked {
    size: (usize, usize),
    cameras: Option<[CameraInfo; 2]>,
}

impl Cameras {
    pub(super) fn of(about: &About) -> Self {
        let note = &about.calibration;
        let text = note.rig.as_ref().filter(|_| note.rectifies);
        let file = |text: &String| [(PathBuf::from("calibration.toml"), text.clone().into_bytes())];
        let rig = text.map(|text| read(&file(text), &LoadOptions::default())).transpose();
        let rig = rig.unwrap_or_else(|err| {
            log::warn!("the recording has no camera_info of its raw pictures: {err}");
            None
        });
        Self { rig, asked: None }
    }

    /// The left and the right camera of raw pictures of this size; `None` where nothing is known of them.
    pub(super) fn of_raw(&mut self, about: &About, size: (usize, usize)) -> Option<&[CameraInfo; 2]> {
        if self.asked.as_ref().is_none_or(|asked| asked.size != size) {
            self.asked = Some(Asked { size, cameras: self.find(about, size) });
        }
        self.asked.as_ref()?.cameras.as_ref()
    }

    fn find(&self, about: &About, size: (usize, usize)) -> Option<[CameraInfo; 2]> {
        let note = &about.calibration;
        if let Some(rig) = &self.rig {
            let cameras = CameraInfo::of_rig(rig, size, note.alpha);
            return cameras
                .inspect_err(|err| log::warn!("the recording has no camera_info of its raw pictures: {err}"))
                .ok();
        }
        let geometry = note.geometry.filter(|_| !note.rectifies && size == (about.width, about.height))?;
        Some(CameraInfo::of_rectified(&geometry, size))
    }
}
