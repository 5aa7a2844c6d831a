//! Encodes and decodes results for the network: the exact disparity map, the engine and the parameters. A receiver must compute from
//! them the same depth, points and recordings, bit for bit.

use super::error::NetworkError;
use super::head::params_of;
use super::key::RigTopic;
use super::outlet::{Outlet, Parcel, Stream};
use super::session::Network;
use super::wire::{self, Content, Packets, Refusal};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime, TryFromFloatSecsError};
use stereopsis_base::image::Image;
use stereopsis_frame::engine::Output;
use stereopsis_frame::{Cause, ResultTap};
use stereopsis_recording::message::{Bytes, Encoding, ImageBody};
use stereopsis_recording::{Body, Format, Message, Packet, format, time};
use stereopsis_settings::settings::parameter_words;
use stereopsis_stereo::{DisparityMap, StereoParams};

const NOTE: &str = "/stereopsis/result";
/// Topic of the disparity map: 16 bits in 1/16 px, -32768 for none.
const DISPARITY: &str = "/stereopsis/result/disparity";
const REASONS: &str = "/stereopsis/result/reasons";
const CONFIDENCE: &str = "/stereopsis/result/confidence";
/// Maximum size of everything except pixels, bytes.
const MAX_NOTE_BYTES: usize = 1 << 16;

/// Reason why a result is not sent, or not used.
#[derive(Debug, thiserror::Error)]
pub enum ResultError {
    /// The result is on the device alone.
    #[error("the result has no numbers")]
    NoNumbers,
    /// The message is damaged.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// A packet is damaged.
    #[error("{0}")]
    Packet(Cause),
    /// The note is not as it must be.
    #[error("its note makes no sense: {0}")]
    Note(#[from] serde_json::Error),
    /// The confidence is damaged.
    #[error("its confidence is damaged")]
    Confidence,
    /// There is no note, disparity or reason.
    #[error("a part of the result is missing or damaged")]
    Missing,
    /// The parts do not belong together.
    #[error("parts of the result have different sizes")]
    Sizes,
    /// The result is larger than its pair.
    #[error("the result has {0}x{1} pixels, more than its pair")]
    TooLarge(usize, usize),
    /// The parameters are invalid.
    #[error(transparent)]
    Parameters(#[from] NetworkError),
    /// The time is none.
    #[error(transparent)]
    Time(#[from] TryFromFloatSecsError),
}

/// Result that another machine has computed.
#[derive(Clone, Debug)]
pub struct Matched {
    /// Disparity map.
    pub map: Arc<DisparityMap>,
    /// Parameters of the result.
    pub params: Arc<StereoParams>,
    /// Engine with its device.
    pub engine: String,
    /// Whether the device is a software adapter.
    pub software: bool,
    /// Time from submission to the finished result, on that machine.
    pub compute_time: Duration,
}

/// Data of a result other than maps.
#[derive(Debug, Serialize, Deserialize)]
struct Note {
    engine: String,
    software: bool,
    compute_ms: f64,
    parameters: BTreeMap<String, String>,
}

/// Encodes a result as packets.
///
/// # Errors
/// The note cannot be encoded.
fn pack(output: &Output) -> Result<Vec<Packet>, ResultError> {
    let map = output.map.as_deref().ok_or(ResultError::NoNumbers)?;
    let raw = &output.job.frame.raw;
    let note = Note {
        engine: format!("{} {}", output.engine.kind, output.engine.adapter),
        software: output.engine.software,
        compute_ms: output.compute_time.as_secs_f64() * 1e3,
        parameters: parameter_words(&output.job.params),
    };
    let note = serde_json::to_value(note)?;
    let values: Vec<i16> = map.values.pixels().iter().map(|value| value.to_le()).collect();
    let values = bytemuck::cast_slice(&values).into();
    let mut bodies = vec![
        (NOTE, Body::Json(note)),
        (DISPARITY, pixels(map.size(), Encoding::Mono16, values)),
        (REASONS, pixels(map.size(), Encoding::Mono8, map.reasons.pixels().into())),
    ];
    if let Some(confidence) = &map.confidence {
        bodies.push((CONFIDENCE, pixels(map.size(), Encoding::Mono8, confidence.pixels().into())));
    }
    let packet = |(topic, body): (&str, Body)| {
        let message = Message { stamp: raw.capture_time, frame_id: String::new(), body };
        Packet {
            channel: Arc::new(Format::Ros2.channel(topic, &message.body)),
            sequence: raw.sequence as u32,
            log_time_ns: time::to_ns(SystemTime::now()),
            publish_time_ns: time::to_ns(raw.capture_time),
            data: Format::Ros2.encode(&message),
        }
    };
    Ok(bodies.into_iter().map(packet).collect())
}

fn pixels((width, height): (usize, usize), encoding: Encoding, data: Bytes) -> Body {
    let step = width as u32 * if encoding == Encoding::Mono16 { 2 } else { 1 };
    Body::Image(ImageBody { width: width as u32, height: height as u32, encoding, step, data })
}

impl ResultTap for Outlet<Arc<Output>> {
    fn result(&self, output: &Arc<Output>) {
        self.offer(Arc::clone(output));
    }

    fn wants_results(&self) -> bool {
        self.is_received()
    }
}

/// Starts to publish the results of a rig by the engine of this run.
///
/// # Errors
/// The session has ended, or the system provides no thread.
pub fn outlet(network: &Network, rig: &str, boot: u64) -> Result<Outlet<Arc<Output>>, NetworkError> {
    let stream = Stream { key: RigTopic::Result.rig(rig), content: Content::Result, boot };
    Outlet::start(network, stream, |output: Arc<Output>| {
        let taken_ns = time::to_ns(output.job.frame.raw.capture_time);
        Ok(Parcel { about: 0, taken_ns, packets: pack(&output)? })
    })
}

/// Decodes a result message for images of at most this number of pixels.
///
/// # Errors
/// The message is damaged, inconsistent, or larger than the pair.
pub fn unpack(payload: &[u8], max_pixels: usize) -> Result<Matched, ResultError> {
    // disparity, reasons and confidence: four bytes per pixel
    let limit = max_pixels.saturating_mul(4).saturating_add(MAX_NOTE_BYTES);
    of_bytes(&wire::unpacked(payload, limit)?, max_pixels)
}

/// Decodes a result from decompressed bytes.
///
/// # Errors
/// See [`unpack`].
pub fn of_bytes(bytes: &[u8], max_pixels: usize) -> Result<Matched, ResultError> {
    let packets = Packets::default().of(bytes)?;
    let (mut note, mut values, mut reasons, mut confidence) = (None, None, None, None);
    for packet in packets {
        let message = format::decode(&packet.channel, &packet.data).map_err(|err| ResultError::Packet(err.into()))?;
        match (packet.channel.topic.as_str(), message.body) {
            (NOTE, Body::Json(value)) => note = Some(serde_json::from_value::<Note>(value)?),
            (DISPARITY, Body::Image(body)) if body.encoding == Encoding::Mono16 => {
                values = body.pixels().map(|pixels| pixels.map(|&bytes| i16::from_le_bytes(bytes)));
            }
            (REASONS, Body::Image(body)) if body.encoding == Encoding::Mono8 => reasons = bytes_of(&body),
            (CONFIDENCE, Body::Image(body)) if body.encoding == Encoding::Mono8 => {
                confidence = Some(bytes_of(&body).ok_or(ResultError::Confidence)?);
            }
            _ => {}
        }
    }
    let (Some(note), Some(values), Some(reasons)) = (note, values, reasons) else {
        return Err(ResultError::Missing);
    };
    let size = values.size();
    if reasons.size() != size || confidence.as_ref().is_some_and(|image: &Image<u8>| image.size() != size) {
        return Err(ResultError::Sizes);
    }
    if size.0.saturating_mul(size.1) > max_pixels {
        return Err(ResultError::TooLarge(size.0, size.1));
    }
    let params = params_of(&note.parameters)?;
    let compute_time = Duration::try_from_secs_f64(note.compute_ms / 1e3)?;
    Ok(Matched {
        map: Arc::new(DisparityMap { values, reasons, confidence }),
        params: Arc::new(params),
        engine: stereopsis_base::console::foreign(&note.engine),
        software: note.software,
        compute_time,
    })
}

fn bytes_of(body: &ImageBody) -> Option<Image<u8>> {
    Some(body.pixels::<1>()?.map(|&[byte]| byte))
}

#[cfg(test)]
mod tests {
    use super::*;
    use stereopsis_cpu::CpuEngine;
    use stereopsis_frame::Frame;
    use stereopsis_frame::engine::{Job, run};

    fn output(confidence: bool) -> Output {
        let options =
            stereopsis_frame::SceneOptions { width: 67, height: 45, ..stereopsis_frame::SceneOptions::default() };
        let frame = Frame::of_raw(Arc::new(stereopsis_scene::render(&options, 0, false)));
        let params = StereoParams { num_disparities: 32, p1: 9, confidence, ..StereoParams::default() };
        let job = Job { frame: Arc::new(frame), params: Arc::new(params), read_back: true, wants_right: false };
        run(&mut CpuEngine::new(Some(1)), job).unwrap()
    }

    fn sent(output: &Output) -> Vec<u8> {
        wire::payload(pack(output).unwrap(), Content::Result).unwrap().to_bytes().into_owned()
    }

    #[test]
    fn results_round_trip_bit_for_bit() {
        for confidence in [false, true] {
            let output = output(confidence);
            let back = unpack(&sent(&output), 67 * 45).unwrap();
            assert_eq!((&back.map, &back.params), (output.map.as_ref().unwrap(), &output.job.params));
            assert!(back.engine.starts_with("cpu ") && back.map.confidence.is_some() == confidence);
        }
    }

    #[test]
    fn refuses_large_and_damaged_results() {
        let sent = sent(&output(true));
        assert!(unpack(&sent, 10).is_err(), "larger than its pair");
        let bytes = wire::unpacked(&sent, 1 << 20).unwrap();
        let mut random = fastrand::Rng::with_seed(2);
        for _ in 0..2_000 {
            let mut damaged = bytes.clone();
            for _ in 0..random.usize(1..6) {
                let at =
                    if random.bool() { random.usize(..damaged.len().min(400)) } else { random.usize(..damaged.len()) };
                damaged[at] = random.u8(..);
            }
            damaged.truncate(if random.bool() { damaged.len() } else { random.usize(..damaged.len()) });
            let packed = zstd::bulk::compress(&damaged, 1).unwrap();
            if let Ok(matched) = unpack(&packed, 67 * 45) {
                assert_eq!(matched.map.values.size(), matched.map.reasons.size());
            }
        }
    }
}
