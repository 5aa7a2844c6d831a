//! Frames and results to messages, messages to packets.
//!
//! So far raw pairs as decoded pictures, disparity, depth and all notes; not yet what cameras gave as it came, eyes, rectified
//! pairs, numbers of cameras and transforms.

use super::message::{Bytes, DisparityBody, Encoding, ImageBody};
use super::{
    About, Body, Channel, Counters, Event, Format, Message, Packet, PairNote, ResultNote, Stream, time, topic,
};
use crate::engine::Output;
use crate::frame::{Frame, Luma, Picture};
use crate::image::Image;
use crate::stereo::map::SUBPIXEL_STEPS;
use crate::stereo::{DisparityMap, INVALID, StereoParams, depth, reason};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::SystemTime;

/// Why something cannot be recorded as asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PackError {
    /// A result whose numbers have stayed on a device.
    #[error("the result of pair {0} has no numbers")]
    NoNumbers(u64),
    /// Depth was asked for.
    #[error("pair {0} has no calibration, and depth needs one")]
    NoGeometry(u64),
    /// A note is no JSON.
    #[error("{0}")]
    Note(String),
}

/// Makes packets of frames and results.
pub struct Packer {
    about: About,
    format: Format,
    channels: BTreeMap<&'static str, Arc<Channel>>,
    begun: bool,
}

impl Packer {
    /// Of a recording of this kind, in these words.
    pub fn new(about: About, format: Format, _compress_grey: bool) -> Self {
        Self { about, format, channels: BTreeMap::new(), begun: false }
    }

    /// Everything to be written for a frame: at first what the recording is of; then the pair's note and its pictures.
    ///
    /// # Errors
    /// It cannot be recorded as asked.
    pub fn frame(&mut self, frame: &Frame, now: SystemTime) -> Result<Vec<Packet>, PackError> {
        let mut packets = Vec::new();
        let raw = &frame.raw;
        if !self.begun {
            self.begun = true;
            let about = note(&self.about)?;
            packets.push(self.note(topic::ABOUT, about, raw.sequence, now));
        }
        let pair =
            PairNote { sequence: raw.sequence, skew_s: raw.skew_s, name: raw.name.clone(), bits: raw.left.luma.bits() };
        packets.push(self.note(topic::PAIRS, note(&pair)?, raw.sequence, now));
        if self.about.streams.has(Stream::Raw) {
            for (topic, picture) in [(topic::LEFT_RAW, &raw.left), (topic::RIGHT_RAW, &raw.right)] {
                packets.push(self.packet(topic, Body::Image(image_of(picture)), raw.sequence, raw.capture_time, now));
            }
        }
        Ok(packets)
    }

    /// Everything to be written for a result.
    ///
    /// # Errors
    /// It has no numbers, or depth is wanted and there is no calibration.
    pub fn result(&mut self, output: &Output, now: SystemTime) -> Result<Vec<Packet>, PackError> {
        let frame = &output.job.frame;
        let (sequence, stamp) = (frame.raw.sequence, frame.raw.capture_time);
        let map = output.map.as_deref().ok_or(PackError::NoNumbers(sequence))?;
        let measured: usize = map.reasons.pixels().iter().map(|&reasons| usize::from(reasons == 0)).sum();
        let result = ResultNote {
            sequence,
            engine: format!("{} {}", output.engine.kind, output.engine.adapter),
            compute_ms: output.compute_time.as_secs_f64() * 1e3,
            measured: measured as f64 / map.reasons.pixels().len().max(1) as f64,
        };
        let mut packets = vec![self.note(topic::RESULTS, note(&result)?, sequence, now)];
        let disparity_px = disparity_px(map, self.about.filled);
        if self.about.streams.has(Stream::Depth) {
            let geometry = frame.geometry.ok_or(PackError::NoGeometry(sequence))?;
            let depth_mm = |&d: &f32| geometry.depth_m(f64::from(d)).map_or(0, |m| depth::millimetres(m as f32));
            let data = disparity_px.pixels().iter().map(depth_mm).flat_map(u16::to_le_bytes).collect();
            let body = Body::Image(image(map.size(), Encoding::DepthMm, 2, data));
            packets.push(self.packet(topic::DEPTH, body, sequence, stamp, now));
        }
        if self.about.streams.has(Stream::Disparity) {
            let params = &output.job.params;
            let body = Body::Disparity(DisparityBody {
                disparity_px,
                focal_px: frame.geometry.map_or(0.0, |geometry| geometry.focal_px as f32),
                baseline_m: frame.geometry.map_or(0.0, |geometry| geometry.baseline_m as f32),
                min_disparity: params.min_disparity as f32,
                max_disparity: (params.min_disparity + params.num_disparities as i32 - 1) as f32,
                delta_d: 1.0 / SUBPIXEL_STEPS as f32,
            });
            packets.push(self.packet(topic::DISPARITY, body, sequence, stamp, now));
        }
        Ok(packets)
    }

    /// All parameters.
    pub fn parameters(&mut self, params: &StereoParams, now: SystemTime) -> Packet {
        self.note(topic::PARAMETERS, serde_json::json!(super::parameter_words(params)), 0, now)
    }

    /// Pairs and results so far.
    pub fn counters(&mut self, counters: &Counters, now: SystemTime) -> Packet {
        self.note(topic::COUNTERS, serde_json::json!(counters), 0, now)
    }

    /// What went wrong.
    pub fn event(&mut self, event: &Event, now: SystemTime) -> Packet {
        self.note(topic::EVENTS, serde_json::json!(event), event.sequence.unwrap_or(0), now)
    }

    fn note(&mut self, topic: &'static str, note: serde_json::Value, sequence: u64, now: SystemTime) -> Packet {
        self.packet(topic, Body::Json(note), sequence, now, now)
    }

    fn packet(&mut self, topic: &'static str, body: Body, sequence: u64, stamp: SystemTime, now: SystemTime) -> Packet {
        let format = self.format;
        let channel = self.channels.entry(topic).or_insert_with(|| Arc::new(format.channel(topic, &body)));
        Packet {
            channel: Arc::clone(channel),
            sequence: sequence as u32,
            log_time_ns: time::to_ns(now),
            publish_time_ns: time::to_ns(stamp),
            data: format.encode(&Message { stamp, frame_id: topic::frame::LEFT.to_owned(), body }),
        }
    }
}

fn note(note: &impl serde::Serialize) -> Result<serde_json::Value, PackError> {
    serde_json::to_value(note).map_err(|err| PackError::Note(err.to_string()))
}

/// Disparity of each pixel, px; NaN where there is none. What was filled in is only there where somebody asked for it.
fn disparity_px(map: &DisparityMap, filled: bool) -> Image<f32> {
    let (width, height) = map.size();
    Image::from_fn(width, height, |x, y| {
        let value = map.values.at(x, y);
        let is_hole = value == INVALID || (!filled && map.reasons.at(x, y) & reason::FILLED != 0);
        if is_hole { f32::NAN } else { f32::from(value) / SUBPIXEL_STEPS as f32 }
    })
}

fn image_of(picture: &Picture) -> ImageBody {
    match (&picture.rgb, &picture.luma) {
        (Some(rgb), _) => image(rgb.size(), Encoding::Rgb8, 3, rgb.pixels().as_flattened().into()),
        (None, Luma::U8(grey)) => image(grey.size(), Encoding::Mono8, 1, grey.pixels().into()),
        (None, Luma::U16 { image: grey, .. }) => {
            let data = grey.pixels().iter().flat_map(|value| value.to_le_bytes()).collect();
            image(grey.size(), Encoding::Mono16, 2, data)
        }
    }
}

fn image((width, height): (usize, usize), encoding: Encoding, bytes_of_pixel: usize, data: Bytes) -> ImageBody {
    ImageBody { width: width as u32, height: height as u32, encoding, step: (bytes_of_pixel * width) as u32, data }
}
