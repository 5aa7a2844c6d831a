//! Calibration in a recording: from the description of a recording of this program, else from camera messages beside the images. Cameras
//! may change on the way: zoom, another mode, a new calibration. A message holds from its image on. A baseline that they lack, as those
//! of librealsense 2.59, is that of the frames of reference.

use super::frames::{FrameTree, Pose};
use super::index::Position;
use super::pair_index::TimedImage;
use super::{Recording, StereoTopics};
use crate::error::{ReadError, RecordedCameraError};
use crate::format::{self, Kind};
use crate::unpack::picture;
use crate::{Body, Channel, topic};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};
use stereopsis_calibration::{CalibrationNote, CameraInfo, SensorPart};

/// Cameras of a recording that hold from a pair on.
#[derive(Debug)]
pub(super) struct CamerasFrom {
    /// Number of the pair.
    pub(super) pair: u64,
    pub(super) note: Arc<CalibrationNote>,
}

/// Largest number of changes of the cameras that are told one by one.
const MAX_TOLD: usize = 4;

/// Largest number of messages of a topic in which the transforms between cameras are searched: a static one is sent at the start, or again
/// for each sensor.
const MAX_TRANSFORM_MESSAGES: u64 = 1_000;

/// Camera message that differs from the one before it, with its stamp and log time, ns.
struct CameraMessage {
    stamp: SystemTime,
    log_time_ns: u64,
    camera: CameraInfo,
}

impl Recording {
    /// Reads the calibration, see [`Recording::calibration`], and the later ones. Fails where camera messages are damaged, or describe
    /// no stereo rig. `images` are those of both sides.
    pub(super) fn read_calibration(
        &mut self,
        images: &[Vec<TimedImage>; 2],
    ) -> Result<Option<CalibrationNote>, RecordedCameraError> {
        if self.is_ours {
            return Ok(self.about.as_ref().map(|about| about.calibration.clone()));
        }
        let Some(StereoTopics::Separate { left, right }) = self.stereo_topics.clone() else { return Ok(None) };
        let topics = [left.topic.as_str(), right.topic.as_str()];
        let [Some(of_left), Some(of_right)] = topics.map(|pictures| self.topic_of_camera(pictures)) else {
            let one = topics.into_iter().any(|pictures| self.topic_of_camera(pictures).is_some());
            return if one { Err(RecordedCameraError::One) } else { Ok(None) };
        };
        let (cameras, mut fault) = self.camera_messages([&of_left, &of_right], topics);
        if cameras.iter().any(Vec::is_empty) {
            return fault.map_or(Ok(None), Err);
        }
        let [of_left, of_right] = cameras;
        let from = [self.with_pairs(0, of_left, &images[0]), self.with_pairs(1, of_right, &images[1])];
        let mut begins: Vec<u64> = from.iter().flatten().map(|(pair, _)| *pair).collect();
        begins.sort_unstable();
        begins.dedup();
        let lacks_baseline =
            from.iter().all(|from| !from.is_empty()) && CameraInfo::lack_baseline([&from[0][0].1, &from[1][0].1]);
        let pose = if lacks_baseline { self.pose(topics) } else { None };
        let mut first = None;
        for pair in begins {
            let at = |side: usize| &from[side][from[side].partition_point(|(from, _)| *from <= pair) - 1].1;
            let size = if [at(0), at(1)].iter().all(|camera| camera.part == SensorPart::default()) {
                None
            } else {
                self.image_size(pair)
            };
            match (calibration_of_cameras([at(0), at(1)], topics, size, pose), &first) {
                (Ok(None), _) => {}
                (Ok(Some(note)), None) => first = Some(note),
                (Ok(Some(note)), Some(_)) => self.later_cameras.push(CamerasFrom { pair, note: Arc::new(note) }),
                (Err(why), _) => fault = Some(fault.unwrap_or(why)),
            }
        }
        match (first, fault) {
            (None, Some(why)) => Err(why),
            (first, why) => {
                self.unused_cameras = why;
                Ok(first)
            }
        }
    }

    /// Returns the size of the left image of a pair, by its header; `None` of a damaged one.
    fn image_size(&mut self, pair: u64) -> Option<(usize, usize)> {
        let position = *self.pairs.get(usize::try_from(pair).ok()?)?.positions.first()?;
        let packet = self.read(position).ok()?;
        picture::size(&format::decode(&packet.channel, &packet.data).ok()?.body)
    }

    /// Returns the pose of the left camera in the right one's axes, by the transforms between the frames of their images.
    fn pose(&mut self, topics: [&str; 2]) -> Option<Pose> {
        let [left, right] = topics.map(|topic| {
            let packet = self.packet(topic, 0).ok()?;
            Some(format::decode(&packet.channel, &packet.data).ok()?.frame_id)
        });
        let mut frames = FrameTree::default();
        let is_transform = |channel: &&Arc<Channel>| format::kind(channel) == Some(Kind::Transform);
        let channels: Vec<String> =
            self.channels().iter().filter(is_transform).map(|channel| channel.topic.clone()).collect();
        for topic in channels {
            for k in 0..self.len(&topic).min(MAX_TRANSFORM_MESSAGES) {
                let Ok(packet) = self.packet(&topic, k) else { continue };
                frames.add(format::transforms(&packet.channel, &packet.data).unwrap_or_default());
            }
        }
        frames.between(&left?, &right?)
    }

    fn topic_of_camera(&self, pictures: &str) -> Option<String> {
        let place = namespace(pictures);
        let beside = self.channels().iter().find(|channel| {
            format::kind(channel) == Some(Kind::Camera)
                && namespace(&channel.topic) == place
                && !self.index.positions(&channel.topic).is_empty()
        });
        beside.map(|channel| channel.topic.clone())
    }

    /// Reads the camera messages of both sides that differ from those before them, and returns the first fault of the others. Messages of
    /// uncalibrated cameras are left out, unless all are.
    fn camera_messages(
        &mut self,
        topics: [&str; 2],
        pictures: [&str; 2],
    ) -> ([Vec<CameraMessage>; 2], Option<RecordedCameraError>) {
        let mut positions: Vec<_> =
            (0..2).flat_map(|side| self.index.positions(topics[side]).iter().map(move |&at| (at, side))).collect();
        // in the order of the file, so that each chunk is unpacked once
        positions.sort_unstable();
        let (mut found, mut fault) = ([Vec::<CameraMessage>::new(), Vec::new()], None);
        for (position, side) in positions {
            let message = match self.camera_message(position, topics[side], pictures[side]) {
                Ok(message) => message,
                Err(why) => {
                    fault.get_or_insert(why);
                    continue;
                }
            };
            let of_side = &mut found[side];
            let is_same = |last: &CameraMessage| last.camera == message.camera || message.camera.is_uncalibrated();
            if !of_side.last().is_some_and(is_same) {
                of_side.retain(|before| !before.camera.is_uncalibrated());
                of_side.push(message);
            }
        }
        (found, fault)
    }

    fn camera_message(
        &mut self,
        position: Position,
        topic: &str,
        pictures: &str,
    ) -> Result<CameraMessage, RecordedCameraError> {
        let packet = self.read(position)?;
        let message = format::decode(&packet.channel, &packet.data).map_err(ReadError::from)?;
        let Body::Camera(camera) = message.body else {
            return Err(RecordedCameraError::NoCamera(topic.to_owned()));
        };
        check(&camera, pictures)?;
        Ok(CameraMessage { stamp: message.stamp, log_time_ns: position.log_time_ns, camera: *camera })
    }

    /// Returns the number of the first pair of each message, from 0: with the image of the same stamp, else with the next image that was
    /// recorded. Of several messages the last one holds.
    fn with_pairs(&self, side: usize, messages: Vec<CameraMessage>, images: &[TimedImage]) -> Vec<(u64, CameraInfo)> {
        let pairs: BTreeMap<_, u64> = (0..).zip(&self.pairs).map(|(k, pair)| (pair.positions[side], k)).collect();
        let mut from: Vec<(u64, CameraInfo)> = Vec::new();
        for CameraMessage { stamp, log_time_ns, camera } in messages {
            let stamped = images.iter().position(|(_, times)| stamp > UNIX_EPOCH && times[0] == stamp);
            let logged = || images.partition_point(|(position, _)| position.log_time_ns < log_time_ns);
            let image = stamped.unwrap_or_else(logged);
            // the image may be alone
            let pair = images[image..].iter().find_map(|(position, _)| pairs.get(position).copied());
            match (pair, from.last_mut()) {
                (_, None) => from.push((0, camera)),
                (Some(pair), Some(last)) if last.0 < pair => from.push((pair, camera)),
                (Some(_), Some(last)) => last.1 = camera,
                (None, Some(_)) => {}
            }
        }
        from
    }

    /// Returns the cameras of a pair of another program's recording, where they are others than those of the first one.
    pub(crate) fn cameras_of_pair(&self, k: u64) -> Option<Arc<CalibrationNote>> {
        let later = self.later_cameras.partition_point(|cameras| cameras.pair <= k);
        Some(Arc::clone(&self.later_cameras.get(later.checked_sub(1)?)?.note))
    }

    /// Returns sentences on the changes of the cameras.
    pub(super) fn camera_changes(&self) -> Vec<String> {
        let Some(mut before) = self.calibration() else { return Vec::new() };
        let mut told = Vec::new();
        for CamerasFrom { pair, note } in self.later_cameras.iter().take(MAX_TOLD) {
            let change = change(before, note);
            told.push(format!("from pair {pair} on the cameras are others, by their camera_info: {change}"));
            before = note;
        }
        let more = self.later_cameras.len().saturating_sub(MAX_TOLD);
        let unused = self.unused_cameras.as_ref();
        told.extend(unused.map(|why| format!("some of what the recording says of its cameras is not used: {why}")));
        told.extend((more > 0).then(|| format!("the cameras change {more} more times")));
        told
    }
}

/// Returns what differs between two calibrations, in words.
fn change(before: &CalibrationNote, after: &CalibrationNote) -> String {
    let [before, after] = [before, after].map(|note| {
        let rig = note.parsed_rig().ok().flatten();
        let size = rig.as_ref().and_then(|rig| rig.size);
        let lengths = note.geometry.map(|geometry| (geometry.focal_px, geometry.baseline_m));
        let (focal_px, baseline_m) =
            lengths.or_else(|| rig.map(|rig| (rig.focal_px(), rig.baseline_m()))).unwrap_or_default();
        let size = size.map_or_else(String::new, |(width, height)| format!("{width}x{height} px"));
        [size, format!("{focal_px:.1} px"), format!("{baseline_m:.4} m")]
    });
    let named = ["image size", "focal length", "baseline"].into_iter().zip(before.into_iter().zip(after));
    let differing = named.filter(|(_, (before, after))| before != after);
    let words: Vec<_> = differing.map(|(name, (before, after))| format!("{name} {after}, before {before}")).collect();
    if words.is_empty() { "another calibration of the same focal length".to_owned() } else { words.join("; ") }
}

/// Returns the calibration of another program's images on these topics, left first, by their cameras; `None` for cameras marked as
/// uncalibrated. `image_size` is that of the images, where it is known: cameras may describe a larger sensor. `pose` is that of the left
/// camera in the right one's axes, for cameras that do not tell it.
///
/// # Errors
/// The cameras have impossible numbers, or are no stereo rig.
pub fn calibration_of_cameras(
    cameras: [&CameraInfo; 2],
    pictures: [&str; 2],
    image_size: Option<(usize, usize)>,
    pose: Option<Pose>,
) -> Result<Option<CalibrationNote>, RecordedCameraError> {
    for (camera, pictures) in cameras.into_iter().zip(pictures) {
        check(camera, pictures)?;
    }
    if cameras.iter().any(|camera| camera.is_uncalibrated()) {
        return Ok(None);
    }
    if topic::plain(pictures[0]).rsplit('/').next().is_some_and(|name| name.contains("rect")) {
        let mut right = cameras[1].clone();
        if let Some((_, left_m)) = pose.filter(|_| CameraInfo::lack_baseline(cameras)) {
            [right.p[3], right.p[7]] = [right.p[0] * left_m.x, right.p[5] * left_m.y];
        }
        let geometry = CameraInfo::rectified_geometry([cameras[0], &right], image_size);
        let geometry = geometry.ok_or(RecordedCameraError::NotRectified)?;
        return Ok(Some(CalibrationNote::of_rectified(geometry)));
    }
    Ok(Some(CalibrationNote::of_rig(&CameraInfo::rig(cameras, image_size, pose)?, 0.0)))
}

fn check(camera: &CameraInfo, pictures: &str) -> Result<(), RecordedCameraError> {
    camera.check_numbers().map_err(|cause| RecordedCameraError::Numbers { topic: pictures.to_owned(), cause })
}

/// Returns the topic on which drivers publish the camera of these images.
pub fn camera_topic(pictures: &str) -> String {
    format!("{}/camera_info", namespace(pictures))
}

fn namespace(name: &str) -> &str {
    topic::plain(name).rsplit_once('/').map_or("", |(namespace, _)| namespace)
}
