//! Camera messages of raw images, from the calibration of the recording.

use crate::About;
use stereopsis_calibration::{CalibrationError, CalibrationNote, CameraInfo};

/// Image size, px, and other cameras of a pair than those of the recording.
type Key = ((usize, usize), Option<CalibrationNote>);

/// Maker of the camera messages, with a cache for the last pair.
#[derive(Default)]
pub(super) struct Cameras {
    cached: Option<(Key, Option<[CameraInfo; 2]>)>,
}

impl Cameras {
    /// Returns the left and the right camera of a raw pair of this size; `None` if they are unknown.
    pub(super) fn of_raw(
        &mut self,
        about: &About,
        size: (usize, usize),
        others: Option<&CalibrationNote>,
    ) -> Option<&[CameraInfo; 2]> {
        if self.cached.as_ref().is_none_or(|((cached, of), _)| *cached != size || of.as_ref() != others) {
            self.cached = Some(((size, others.cloned()), find(about, size, others)));
        }
        self.cached.as_ref()?.1.as_ref()
    }
}

fn find(about: &About, size: (usize, usize), others: Option<&CalibrationNote>) -> Option<[CameraInfo; 2]> {
    let note = others.unwrap_or(&about.calibration);
    if note.rectifies {
        let cameras = note
            .parsed_rig()
            .and_then(|rig| rig.map(|rig| CameraInfo::of_rig(&rig, size, about.calibration.crop)).transpose());
        return cameras.unwrap_or_else(|err| no_cameras(&err));
    }
    let geometry = note.geometry.filter(|_| others.is_some() || size == (about.width, about.height))?;
    Some(CameraInfo::of_rectified(&geometry, size))
}

fn no_cameras<T>(err: &CalibrationError) -> Option<T> {
    log::warn!("the recording has no camera_info of its raw images: {err}");
    None
}
