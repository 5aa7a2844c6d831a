//! Camera messages of raw images.

use crate::About;
use crate::calibration::{CalibrationError, CameraInfo, StereoRig};

/// Makes the cameras of raw images, and caches those of the last size.
pub(super) struct Cameras {
    /// The rig that rectifies pairs.
    rig: Option<StereoRig>,
    cached: Option<Cached>,
}

struct Cached {
    size: (usize, usize),
    cameras: Option<[CameraInfo; 2]>,
}

impl Cameras {
    pub(super) fn of(about: &About) -> Self {
        let note = &about.calibration;
        let rig = if note.rectifies { note.parsed_rig() } else { Ok(None) };
        Self { rig: rig.unwrap_or_else(|err| no_cameras(&err)), cached: None }
    }

    /// The left and the right camera of raw images of this size; `None` if they are unknown.
    pub(super) fn of_raw(&mut self, about: &About, size: (usize, usize)) -> Option<&[CameraInfo; 2]> {
        if self.cached.as_ref().is_none_or(|cached| cached.size != size) {
            self.cached = Some(Cached { size, cameras: self.find(about, size) });
        }
        self.cached.as_ref()?.cameras.as_ref()
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
