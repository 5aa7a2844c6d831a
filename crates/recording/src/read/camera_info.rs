//! Calibration in a recording: from the description of a recording of this program, else from camera messages beside the images.

use super::{Recording, StereoTopics};
use crate::error::{ReadError, RecordedCameraError};
use crate::format::{self, Kind};
use crate::{Body, Channel, topic};
use stereopsis_calibration::{CalibrationNote, CameraInfo};

impl Recording {
    /// Reads the calibration, see [`Recording::calibration`]. Fails where camera messages are damaged, or describe no stereo rig.
    pub(super) fn read_calibration(&mut self) -> Result<Option<CalibrationNote>, RecordedCameraError> {
        if self.is_ours {
            return Ok(self.about.as_ref().map(|about| about.calibration.clone()));
        }
        let Some(StereoTopics::Separate { left, right }) = self.stereo_topics.clone() else { return Ok(None) };
        let (of_left, of_right) = match [self.camera_beside(&left)?, self.camera_beside(&right)?] {
            [Some(of_left), Some(of_right)] => (of_left, of_right),
            [None, None] => return Ok(None),
            _ => return Err(RecordedCameraError::One),
        };
        calibration_of_cameras([&of_left, &of_right], [&left.topic, &right.topic])
    }

    fn camera_beside(&mut self, pictures: &Channel) -> Result<Option<CameraInfo>, RecordedCameraError> {
        let place = namespace(&pictures.topic);
        let beside = self.channels().iter().find(|channel| {
            format::kind(channel) == Some(Kind::Camera)
                && namespace(&channel.topic) == place
                && !self.index.positions(&channel.topic).is_empty()
        });
        let Some(name) = beside.map(|channel| channel.topic.clone()) else { return Ok(None) };
        let packet = self.packet(&name, 0)?;
        match format::decode(&packet.channel, &packet.data).map_err(ReadError::from)?.body {
            Body::Camera(camera) => Ok(Some(*camera)),
            _ => Err(RecordedCameraError::NoCamera(name)),
        }
    }
}

/// Returns the calibration of another program's images on these topics, left first, by their cameras; `None` for cameras marked as
/// uncalibrated.
///
/// # Errors
/// The cameras have impossible numbers, or are no stereo rig.
pub fn calibration_of_cameras(
    cameras: [&CameraInfo; 2],
    pictures: [&str; 2],
) -> Result<Option<CalibrationNote>, RecordedCameraError> {
    for (camera, pictures) in cameras.into_iter().zip(pictures) {
        let wrong = |cause| RecordedCameraError::Numbers { topic: pictures.to_owned(), cause };
        camera.check_numbers().map_err(wrong)?;
    }
    if cameras.iter().any(|camera| camera.is_uncalibrated()) {
        return Ok(None);
    }
    if topic::plain(pictures[0]).rsplit('/').next().is_some_and(|name| name.contains("rect")) {
        let geometry = CameraInfo::rectified_geometry(cameras).ok_or(RecordedCameraError::NotRectified)?;
        return Ok(Some(CalibrationNote::of_rectified(geometry)));
    }
    Ok(Some(CalibrationNote::of_rig(&CameraInfo::rig(cameras)?, 0.0)))
}

/// Returns the topic on which drivers publish the camera of these images.
pub fn camera_topic(pictures: &str) -> String {
    format!("{}/camera_info", namespace(pictures))
}

fn namespace(name: &str) -> &str {
    topic::plain(name).rsplit_once('/').map_or("", |(namespace, _)| namespace)
}
