//! From frames and results to messages to packets. Decides which messages belong to a pair and to a result.

mod cameras;
mod numbers;
mod parts;
mod picture;
#[cfg(test)]
mod tests;

pub use super::error::PackError;
use super::topic::{self, frame};
use super::{About, Body, Channel, Counters, DepthFormat, Event, Format, Message, Packet, Stream, time};
pub use parts::PairParts;
use stereopsis_base::geometry::{Axis, Geometry};
use stereopsis_base::image::Picture;
use stereopsis_base::remedy::Remedy;
use stereopsis_calibration::CameraInfo;
use stereopsis_frame::engine::Output;
use stereopsis_frame::{Frame, StereoLayout};
use stereopsis_settings::settings::parameter_words;
use stereopsis_stereo::StereoParams;

use cameras::Cameras;
use numbers::DepthRange;
use picture::GreyFormat;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// Packer of frames and results, for one recording or stream.
pub struct Packer {
    about: About,
    format: Format,
    grey: GreyFormat,
    /// Prefix of the names of frames of reference in place of `stereo`.
    frames_of: Option<String>,
    cameras: Cameras,
    channels: BTreeMap<String, Arc<Channel>>,
    /// Whether the first pair, and the description before it, was packed.
    begun: bool,
    /// Position of the right camera in the last transform, m.
    right_m: Option<[f64; 3]>,
    /// Depth so far.
    depth: DepthRange,
    /// Whether compressed depth is packed apart, by [`Packer::compressed_depth`].
    depth_apart: bool,
}

/// Packets of one pair, while they are made.
struct Packets<'a> {
    packer: &'a mut Packer,
    sequence: u64,
    now: SystemTime,
    made: Vec<Packet>,
}

impl Packer {
    /// Creates a packer for a recording with this description and format.
    pub fn new(mut about: About, format: Format) -> Self {
        if format == Format::Foxglove && about.depth_format.is_compressed() {
            about.depth_format = DepthFormat::Mm; // others know compressed depth from ROS alone
        }
        about.units.insert("depth".to_owned(), about.depth_format.unit().to_owned());
        let (cameras, depth) = (Cameras::default(), DepthRange::default());
        // rerun takes uncompressed images of one channel in ROS 2's format for depth
        let grey = if format == Format::Ros2 { GreyFormat::Png } else { GreyFormat::Plain };
        let channels = BTreeMap::new();
        let (frames_of, right_m) = (None, None);
        Self { about, format, grey, frames_of, cameras, channels, begun: false, right_m, depth, depth_apart: false }
    }

    /// Packs images without colours and depth as plain pixels in every format, for receivers that show `image_raw` without its transports;
    /// compressed depth comes from [`Packer::compressed_depth`] alone.
    #[must_use]
    pub fn with_plain_pictures(self) -> Self {
        Self { grey: GreyFormat::Plain, depth_apart: true, ..self }
    }

    /// Sets a prefix for the names of frames of reference, for one rig of several.
    #[must_use]
    pub fn with_frames_of(self, name: &str) -> Self {
        Self { frames_of: Some(name.to_owned()), ..self }
    }

    /// Packs a frame: the description of the recording before the first one; then the pair's note and its images.
    ///
    /// # Errors
    /// An image cannot be encoded, or raw images have another layout than before.
    pub fn frame(&mut self, frame: &Frame, now: SystemTime) -> Result<Vec<Packet>, PackError> {
        self.pair(&PairParts::of_frame(frame, self.about.streams), now)
    }

    /// Packs the parts of a pair, like [`Packer::frame`].
    ///
    /// # Errors
    /// Errors of [`Packer::frame`].
    pub fn pair(&mut self, pair: &PairParts, now: SystemTime) -> Result<Vec<Packet>, PackError> {
        let has_raw = self.about.streams.has(Stream::Raw);
        // the layout is that of the images in the file
        let layout = if has_raw { StereoLayout::of(pair.original.as_ref()) } else { StereoLayout::default() };
        let begins = !std::mem::replace(&mut self.begun, true);
        if begins {
            self.about.raw = layout;
        } else if self.about.raw != layout {
            return Err(PackError::Layout(pair.note.sequence));
        }
        let streams = self.about.streams;
        let mut packets = self.packets(pair.note.sequence, now);
        if begins {
            let about = json!(packets.packer.about);
            packets.note(topic::ABOUT, about);
        }
        packets.transform(pair.geometry.as_ref());
        packets.note(topic::PAIRS, json!(pair.note));
        if has_raw {
            packets.raw(pair)?;
        }
        if streams.has(Stream::Eyes) {
            packets.sides(pair)?;
        }
        if has_raw || streams.has(Stream::Eyes) {
            packets.raw_cameras(pair);
        }
        if let Some(pictures) = &pair.rectified {
            packets.rectified(pictures, pair)?;
        }
        Ok(packets.made)
    }

    /// Packs a result.
    ///
    /// # Errors
    /// The result has no map, or no calibration for depth.
    pub fn result(&mut self, output: &Output, now: SystemTime) -> Result<Vec<Packet>, PackError> {
        let frame = &output.job.frame;
        let (sequence, stamp) = (frame.raw.sequence, frame.raw.capture_time);
        let map = output.map.as_deref().ok_or(PackError::NoNumbers(sequence))?;
        let About { streams, filled, depth_format, .. } = self.about;
        let depth_format =
            if self.depth_apart && depth_format.is_compressed() { DepthFormat::Mm } else { depth_format };
        let depth = if streams.has(Stream::Depth) {
            let geometry = frame.geometry.ok_or(PackError::NoCalibration(sequence))?;
            let (body, range) = numbers::depth(map, filled, &geometry, depth_format)?;
            self.depth.pixels += range.pixels;
            self.depth.beyond += range.beyond;
            Some((body, range, geometry))
        } else {
            None
        };
        let range = depth.as_ref().map_or_else(DepthRange::default, |(_, range, _)| *range);
        let mut packets = self.packets(sequence, now);
        packets.note(topic::RESULTS, json!(numbers::note(output, map, range)));
        if let Some((body, _, geometry)) = depth {
            packets.push(topic::DEPTH, frame::LEFT, stamp, body);
            let [left, _] = CameraInfo::of_rectified(&geometry, map.size());
            packets.camera(topic::DEPTH_CAMERA, frame::LEFT, stamp, left);
        }
        if streams.has(Stream::Disparity) {
            let body = numbers::disparity(map, filled, frame.geometry.as_ref(), &output.job.params);
            packets.push(topic::DISPARITY, frame::LEFT, stamp, body);
        }
        Ok(packets.made)
    }

    /// Packs the depth of a result, compressed for a link: as RVL where the description says so, else as PNG. `None` without a map or a
    /// calibration.
    pub fn compressed_depth(&mut self, output: &Output, now: SystemTime) -> Option<Packet> {
        let frame = &output.job.frame;
        let format = if self.about.depth_format == DepthFormat::Rvl { DepthFormat::Rvl } else { DepthFormat::Png };
        let (map, geometry) = (output.map.as_deref()?, frame.geometry?);
        let (body, _) = numbers::depth(map, self.about.filled, &geometry, format).ok()?;
        let message = Message { stamp: frame.raw.capture_time, frame_id: frame::LEFT.to_owned(), body };
        Some(self.packet(topic::COMPRESSED_DEPTH, message, frame.raw.sequence, now))
    }

    /// Returns a sentence on depth that the format of its images does not hold.
    pub fn depth_loss(&self) -> Option<String> {
        beyond_range(self.depth.beyond as f64 / self.depth.pixels.max(1) as f64, false)
    }

    /// Packs what a further file of the recording begins with: the description, with the newest parameters, and the pose of the right camera.
    pub(crate) fn head(&mut self, now: SystemTime) -> Vec<Packet> {
        let about = json!(self.about);
        let right_m = self.right_m;
        let mut packets = self.packets(0, now);
        packets.note(topic::ABOUT, about);
        if let Some(right_m) = right_m {
            packets.pose(right_m);
        }
        packets.made
    }

    /// Packs both images of a frame as decoded pixels, for any encoding of its source.
    ///
    /// # Errors
    /// An image cannot be encoded.
    pub fn decoded(&mut self, frame: &Frame, now: SystemTime) -> Result<Vec<Packet>, PackError> {
        let pair = PairParts::of_decoded(&frame.raw);
        let mut packets = self.packets(pair.note.sequence, now);
        packets.decoded(&pair, [true, true])?;
        Ok(packets.made)
    }

    /// Packs all measured points of a result, with the colours of the left image; `None` without a map or without a calibration.
    pub fn points(&mut self, output: &Output, now: SystemTime) -> Option<Packet> {
        let frame = &output.job.frame;
        let points = numbers::points(output.map.as_deref()?, &frame.left, &frame.geometry?);
        let (stamp, frame_id) = (frame.raw.capture_time, frame::LEFT.to_owned());
        let message = Message { stamp, frame_id, body: Body::Points(points) };
        Some(self.packet(topic::POINTS, message, frame.raw.sequence, now))
    }

    /// Packs all parameters.
    pub fn parameters(&mut self, params: &StereoParams, now: SystemTime) -> Packet {
        self.about.parameters = parameter_words(params);
        self.json(topic::PARAMETERS, json!(self.about.parameters), 0, now)
    }

    /// Packs counters.
    pub fn counters(&mut self, counters: &Counters, now: SystemTime) -> Packet {
        self.json(topic::COUNTERS, json!(counters), 0, now)
    }

    /// Packs an event.
    pub fn event(&mut self, event: &Event, now: SystemTime) -> Packet {
        self.json(topic::EVENTS, json!(event), event.sequence.unwrap_or(0), now)
    }

    fn packets(&mut self, sequence: u64, now: SystemTime) -> Packets<'_> {
        Packets { packer: self, sequence, now, made: Vec::new() }
    }

    fn json(&mut self, topic: &str, note: Value, sequence: u64, now: SystemTime) -> Packet {
        let message = Message { stamp: now, frame_id: String::new(), body: Body::Json(note) };
        self.packet(topic, message, sequence, now)
    }

    fn packet(&mut self, topic: &str, mut message: Message, sequence: u64, now: SystemTime) -> Packet {
        if let Some(name) = &self.frames_of {
            frame::rename(&mut message.frame_id, name);
            if let Body::Transform { child_frame_id, .. } = &mut message.body {
                frame::rename(child_frame_id, name);
            }
        }
        let channel = if let Some(channel) = self.channels.get(topic) {
            Arc::clone(channel)
        } else {
            let channel = Arc::new(self.format.channel(topic, &message.body));
            self.channels.insert(topic.to_owned(), Arc::clone(&channel));
            channel
        };
        Packet {
            channel,
            sequence: sequence as u32,
            log_time_ns: time::to_ns(now),
            publish_time_ns: time::to_ns(message.stamp),
            data: self.format.encode(&message),
        }
    }
}

impl Packets<'_> {
    fn push(&mut self, topic: &str, frame_id: &str, stamp: SystemTime, body: Body) {
        let compressed = match &body {
            Body::Compressed { .. } if topic == topic::DEPTH => Some(topic::COMPRESSED_DEPTH.to_owned()),
            Body::Compressed { .. } => Some(format!("{topic}{}", topic::COMPRESSED)),
            _ => None,
        };
        let message = Message { stamp, frame_id: frame_id.to_owned(), body };
        let topic = compressed.as_deref().unwrap_or(topic);
        self.made.push(self.packer.packet(topic, message, self.sequence, self.now));
    }

    fn note(&mut self, topic: &str, note: Value) {
        self.made.push(self.packer.json(topic, note, self.sequence, self.now));
    }

    fn camera(&mut self, topic: &str, frame_id: &str, stamp: SystemTime, camera: CameraInfo) {
        self.push(topic, frame_id, stamp, Body::Camera(Box::new(camera)));
    }

    /// Adds the pose of the right camera, at first and at every change.
    fn transform(&mut self, geometry: Option<&Geometry>) {
        let Some(&Geometry { baseline_m, axis, .. }) = geometry else { return };
        let right_m = match axis {
            Axis::Horizontal => [baseline_m, 0.0, 0.0],
            Axis::Vertical => [0.0, baseline_m, 0.0],
        };
        if self.packer.right_m.replace(right_m) != Some(right_m) {
            self.pose(right_m);
        }
    }

    /// Adds the pose of the right camera at this position.
    fn pose(&mut self, right_m: [f64; 3]) {
        let (child_frame_id, rotation) = (frame::RIGHT.to_owned(), [0.0, 0.0, 0.0, 1.0]);
        let body = Body::Transform { child_frame_id, translation_m: right_m, rotation };
        self.push(topic::TRANSFORMS, frame::LEFT, self.now, body);
    }

    /// Adds the images as the cameras encoded them, or decoded ones for other sources.
    fn raw(&mut self, pair: &PairParts) -> Result<(), PackError> {
        let grey = self.packer.grey;
        let Some(original) = &pair.original else { return self.decoded(pair, [true, true]) };
        match &original.images[..] {
            [both] => {
                self.push(topic::BOTH_UNSPLIT, frame::LEFT, pair.capture_time, picture::of_encoded(grey, both)?);
            }
            shots => {
                let topics = [[topic::LEFT_RAW, topic::LEFT_UNTURNED], [topic::RIGHT_RAW, topic::RIGHT_UNTURNED]];
                for (side, (shot, [upright, unturned])) in shots.iter().zip(topics).enumerate() {
                    let topic = if original.layout.is_upright(side) { upright } else { unturned };
                    self.push(
                        topic,
                        [frame::LEFT, frame::RIGHT][side],
                        taken(pair)[side],
                        picture::of_encoded(grey, shot)?,
                    );
                }
            }
        }
        Ok(())
    }

    /// Adds the images of both sides, if raw images differ from them or are not recorded.
    fn sides(&mut self, pair: &PairParts) -> Result<(), PackError> {
        let has_raw = self.packer.about.streams.has(Stream::Raw);
        let Some(original) = &pair.original else { return self.decoded(pair, [!has_raw; 2]) };
        let layout = &original.layout;
        match has_raw {
            false if layout.is_plain() => self.raw(pair),
            false => self.decoded(pair, [true, true]),
            true => self.decoded(pair, [0, 1].map(|side| layout.side_by_side || !layout.is_upright(side))),
        }
    }

    /// Adds the decoded images of the chosen sides.
    fn decoded(&mut self, pair: &PairParts, sides: [bool; 2]) -> Result<(), PackError> {
        let topics = [[topic::LEFT_RAW, topic::LEFT_COLOR], [topic::RIGHT_RAW, topic::RIGHT_COLOR]];
        let Some(raw) = &pair.decoded else { return Ok(()) };
        for (side, picture) in [&raw.left, &raw.right].into_iter().enumerate().filter(|(side, _)| sides[*side]) {
            self.picture(topics[side], [frame::LEFT, frame::RIGHT][side], taken(pair)[side], picture)?;
        }
        Ok(())
    }

    fn raw_cameras(&mut self, pair: &PairParts) {
        let Packer { cameras, about, .. } = &mut *self.packer;
        let Some([left, right]) = cameras.of_raw(about, pair.size, pair.note.cameras.as_deref()).cloned() else {
            return;
        };
        let [left_taken, right_taken] = taken(pair);
        self.camera(topic::LEFT_CAMERA, frame::LEFT, left_taken, left);
        self.camera(topic::RIGHT_CAMERA, frame::RIGHT, right_taken, right);
    }

    /// Adds the rectified images, which have one capture time for any skew of the raw ones.
    fn rectified(&mut self, [left, right]: &[Arc<Picture>; 2], pair: &PairParts) -> Result<(), PackError> {
        let stamp = pair.capture_time;
        self.picture([topic::LEFT_RECTIFIED, topic::LEFT_RECTIFIED_COLOR], frame::LEFT, stamp, left)?;
        self.picture([topic::RIGHT_RECTIFIED, topic::RIGHT_RECTIFIED_COLOR], frame::RIGHT, stamp, right)?;
        if let Some(geometry) = &pair.geometry {
            let [left, right] = CameraInfo::of_rectified(geometry, left.size());
            self.camera(topic::LEFT_RECTIFIED_CAMERA, frame::LEFT, stamp, left);
            self.camera(topic::RIGHT_RECTIFIED_CAMERA, frame::RIGHT, stamp, right);
        }
        Ok(())
    }

    fn picture(
        &mut self,
        [topic, color_topic]: [&str; 2],
        frame_id: &str,
        stamp: SystemTime,
        picture: &Picture,
    ) -> Result<(), PackError> {
        let (body, colors) = picture::of_picture(self.packer.grey, picture)?;
        self.push(topic, frame_id, stamp, body);
        if let Some(colors) = colors {
            self.push(color_topic, frame_id, stamp, colors);
        }
        Ok(())
    }
}

/// Returns a sentence on a share of the pixels with depth that are missing in depth images of 16 bits; `None` for none. With `has_metres`
/// they are in further images.
pub(crate) fn beyond_range(share: f64, has_metres: bool) -> Option<String> {
    let percent = match 100.0 * share {
        0.0 => return None,
        percent if percent < 1.0 => "less than 1".to_owned(),
        percent => format!("{percent:.0}"),
    };
    let remedy = if has_metres {
        "those of 32 bits have them".to_owned()
    } else {
        format!("a recording with {} keeps them", Remedy::set("depth-format", DepthFormat::Metres.word()))
    };
    Some(format!(
        "{percent} % of the pixels with depth lie beyond 65.535 m and are 0 in depth images of 16 bits; {remedy}"
    ))
}

/// Returns the capture times of the left and the right image.
fn taken(pair: &PairParts) -> [SystemTime; 2] {
    let (time, skew_s) = (pair.capture_time, pair.note.skew_s);
    let skew = Duration::try_from_secs_f64(skew_s.abs()).unwrap_or_default();
    let moved = if skew_s < 0.0 { time.checked_sub(skew) } else { time.checked_add(skew) };
    [time, moved.unwrap_or(time)]
}
