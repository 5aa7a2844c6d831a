//! What a recording knows of its cameras: ours says it of itself, in those of others it is in the messages beside the pictures.

use super::{Eyes, Recording};
use crate::calibration::{CalibrationError, CameraInfo};
use crate::recording::format::{self, Kind};
use crate::recording::{Body, CalibrationNote, Channel, topic};

impl Recording {
    /// How pairs become rectified and metric, as far as the file says it: in a recording of others by the first message that
    /// describes a camera beside each eye's pictures (`/left/camera_info` beside `/left/image_raw`). Pictures of a topic with
    /// `rect` in its last name are rectified already.
    ///
    /// # Errors
    /// These messages are damaged, or are no stereo rig.
    pub fn calibration(&mut self) -> Result<Option<CalibrationNote>, CalibrationError> {
        if self.is_ours {
            return Ok(self.about.as_ref().map(|about| about.calibration.clone()));
        }
        let Some(Eyes::Two { left, right }) = self.eyes.clone() else { return Ok(None) };
        let [Some(of_left), Some(of_right)] = [self.camera_beside(&left)?, self.camera_beside(&right)?] else {
            return Ok(None);
        };
        let cameras = [&of_left, &of_right];
        if cameras.iter().any(|camera| !camera.is_calibrated()) {
            return Ok(None);
        }
        if is_rectified(&left.topic) {
            return Ok(CameraInfo::rectified_geometry(cameras).map(CalibrationNote::of_rectified));
        }
        CameraInfo::rig(cameras).map(|rig| Some(CalibrationNote::of_rig(&rig, 0.0)))
    }

    fn camera_beside(&mut self, pictures: &Channel) -> Result<Option<CameraInfo>, CalibrationError> {
        let place = namespace(&pictures.topic);
        let beside = self.channels().iter().find(|channel| {
            format::kind(channel) == Some(Kind::Camera)
                && namespace(&channel.topic) == place
                && !self.contents.of(&channel.topic).is_empty()
        });
        let Some(name) = beside.map(|channel| channel.topic.clone()) else { return Ok(None) };
        let packet = self.packet(&name, 0).map_err(|err| CalibrationError(err.to_string()))?;
        let message = format::decode(&packet.channel, &packet.data);
        match message.map_err(|err| CalibrationError(err.to_string()))?.body {
            Body::Camera(camera) => Ok(Some(*camera)),
            _ => Ok(None),
        }
    }
}

/// The last name of a topic, without what says that its pictures are compressed, and what is before it.
fn parts(name: &str) -> (&str, &str) {
    let name = topic::plain(name);
    name.rsplit_once('/').unwrap_or(("", name))
}

fn namespace(name: &str) -> &str {
    parts(name).0
}

fn is_rectified(name: &str) -> bool {
    parts(name).1.contains("rect")
}
