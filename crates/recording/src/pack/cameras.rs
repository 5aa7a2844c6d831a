//! Camera messages of raw images, from the calibration of the recording.

use crate::About;
use stereopsis_calibration::{CalibrationError, CameraInfo, StereoRig};

/// Image size, px, and the cameras for it.
type SizedCameras = ((usize, usize), Option<[CameraInfo; 2]>);

/// Maker of the camera messages, with a cache for the last image size.
pub(super) struct Cameras {
    /// Rig that rectifies pairs.
    rig: Option<StereoRig>,
    /// Cameras of the last image size.
    cached: Option<SizedCameras>,
}

impl Cameras {
    pub(super) fn of(about: &About) -> Self {
        let note = &about.calibration;
        let rig = if note.rectifies { note.parsed_rig() } else { Ok(None) };
        Self { rig: rig.unwrap_or_else(|err| no_cameras(&err)), cached: None }
    }

    /// Returns the left and the right camera of raw images of this size; `None` if they are unknown.
    pub(super) fn of_raw(&mut self, about: &About, size: (usize, usize)) -> Option<&[CameraInfo; 2]> {
        if self.cached.as_ref().is_none_or(|(cached, _)| *cached != size) {
            self.cached = Some((size, self.find(about, size)));
        }
        self.cached.as_ref()?.1.as_ref()
    }

    fn find(&self, about: &About, size: (usize, usize)) -> Option<[CameraInfo; 2]> {
        let note = &about.calibration;
        if let Some(rig) = &self.rig {
            return CameraInfo::of_rig(rig, size, note.crop).map_or_else(|err| no_cameras(&err), Some);
        }
        let geometry = note.geometry.filter(|_| !note.rectifies && size == (about.width, about.height))?;
        Some(CameraInfo::of_rectified(&geometry, size))
    }
}

fn no_cameras<T>(err: &CalibrationError) -> Option<T> {
    log::warn!("the recording has no camera_info of its raw images: {err}");
    None
}
