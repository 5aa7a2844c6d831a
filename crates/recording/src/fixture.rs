//! Small recordings for tests, of this and of other programs. Each image contains its number.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

use crate::message::{Body, Encoding, ImageBody, Message};
use crate::part::PartNote;
use crate::{About, Format, PairNote, Stream, Streams, time, topic};
use mcap::records::MessageHeader;
use mcap::{WriteOptions, Writer};
use std::collections::BTreeMap;
use std::io::Cursor;
use std::time::{Duration, SystemTime};
use stereopsis_base::image::{Image, Luma};
use stereopsis_frame::SourceInfo;

/// Size of each image, px.
pub const SIZE: (usize, usize) = (40, 30);
/// Interval of pairs.
pub const INTERVAL: Duration = Duration::from_millis(50);
/// Sequence number of the first pair at its source.
pub const FIRST: u64 = 41;

/// Returns the capture time of a pair.
pub fn taken(k: u64) -> SystemTime {
    time::from_ns(1_700_000_000_000_000_000) + INTERVAL * k as u32
}

/// Returns the image of one side: a texture, and the pair's number in the first pixel.
pub fn picture(k: u64, side: usize) -> Image<u8> {
    Image::from_fn(SIZE.0, SIZE.1, |x, y| match (x, y) {
        (0, 0) => k as u8,
        _ => ((x + side) * 37 + y * 101 + (x + side) * y * 7) as u8,
    })
}

/// Returns the image of one side as luma.
pub fn luma(k: u64, side: usize) -> Luma {
    Luma::U8(picture(k, side))
}

/// Returns a grey image as the body of a message.
pub fn image(width: usize, height: usize, pixels: &[u8]) -> Body {
    Body::Image(ImageBody {
        width: width as u32,
        height: height as u32,
        encoding: Encoding::Mono8,
        step: width as u32,
        data: pixels.into(),
    })
}

/// Writer of an MCAP file in memory, for messages of any topic.
pub struct Recorder {
    writer: Writer<Cursor<Vec<u8>>>,
    channels: BTreeMap<String, u16>,
    format: Format,
}

impl Recorder {
    /// Starts a file in memory.
    pub fn new(format: Format, options: WriteOptions) -> Self {
        let options = options.profile(format.profile());
        let writer = Writer::with_options(Cursor::new(Vec::new()), options).unwrap();
        Self { writer, channels: BTreeMap::new(), format }
    }

    /// Writes one message of the frame `camera` with its sequence number and log time.
    pub fn write(&mut self, topic: &str, at: (u32, SystemTime), stamp: SystemTime, body: Body) {
        self.write_in("camera", topic, at, stamp, body);
    }

    /// Writes one message of a frame of reference.
    pub fn write_in(
        &mut self,
        frame_id: &str,
        topic: &str,
        (sequence, log_time): (u32, SystemTime),
        stamp: SystemTime,
        body: Body,
    ) {
        let channel_id = self.channels.get(topic).copied().unwrap_or_else(|| {
            let channel = self.format.channel(topic, &body);
            let schema = channel
                .schema
                .map_or(0, |schema| self.writer.add_schema(&schema.name, &schema.encoding, &schema.data).unwrap());
            let id = self.writer.add_channel(schema, topic, &channel.message_encoding, &channel.metadata).unwrap();
            self.channels.insert(topic.to_owned(), id);
            id
        });
        let header =
            MessageHeader { channel_id, sequence, log_time: time::to_ns(log_time), publish_time: time::to_ns(stamp) };
        let message = Message { stamp, frame_id: frame_id.into(), body };
        self.writer.write_to_known_channel(&header, &self.format.encode(&message)).unwrap();
    }

    /// Writes the place of the file in a recording of several files.
    pub fn part(&mut self, number: u32, goes_on: bool) {
        let note = PartNote { recording: "fixture".to_owned(), number, goes_on };
        self.writer.write_metadata(&note.to_metadata()).unwrap();
    }

    /// Ends the chunk.
    pub fn flush(&mut self) {
        self.writer.flush().unwrap();
    }

    /// Finishes the file and returns its bytes.
    pub fn finish(mut self) -> Vec<u8> {
        self.writer.finish().unwrap();
        self.writer.into_inner().into_inner()
    }
}

/// Returns the description of a recording of raw pairs.
pub fn about() -> About {
    let info = SourceInfo {
        name: "fixture".into(),
        width: SIZE.0,
        height: SIZE.1,
        rate_hz: Some(1.0 / INTERVAL.as_secs_f64()),
        is_camera: true,
        ..SourceInfo::default()
    };
    let streams = Streams::default().with(Stream::Depth, false);
    About { streams, ..About::of_source("webcam:0,1", &info, taken(0)) }
}

/// Returns a recording of this program with four pairs in a chunk.
pub fn ours(format: Format, pairs: u64) -> Vec<u8> {
    ours_with_depth(format, pairs, |_| false)
}

/// Returns such a recording with a depth of 1.5 m for some pairs, written three pairs later.
pub fn ours_with_depth(format: Format, pairs: u64, has_depth: impl Fn(u64) -> bool) -> Vec<u8> {
    const LATER: u64 = 3;
    let mut recorder = Recorder::new(format, WriteOptions::new());
    let json = |value: serde_json::Value| Body::Json(value);
    recorder.write(topic::ABOUT, (0, taken(0)), taken(0), json(serde_json::to_value(about()).unwrap()));
    for k in 0..pairs {
        let number = FIRST + k;
        let at = (number as u32, taken(k) + Duration::from_millis(7));
        let note =
            PairNote { sequence: number, skew_s: 0.001, name: format!("camera-{number:06}"), bits: 8, cameras: None };
        recorder.write(topic::PAIRS, at, taken(k), json(serde_json::to_value(note).unwrap()));
        for (side, topic) in [topic::LEFT_RAW, topic::RIGHT_RAW].into_iter().enumerate() {
            let body = image(SIZE.0, SIZE.1, picture(k, side).pixels());
            recorder.write(topic, at, taken(k) + Duration::from_millis(side as u64), body);
        }
        if let Some(done) = k.checked_sub(LATER).filter(|&done| has_depth(done)) {
            depth(&mut recorder, done, at.1);
        }
        if k % 4 == 3 {
            recorder.flush();
        }
    }
    for done in (pairs.saturating_sub(LATER)..pairs).filter(|&done| has_depth(done)) {
        depth(&mut recorder, done, taken(pairs) + Duration::from_millis(7));
    }
    recorder.finish()
}

fn depth(recorder: &mut Recorder, k: u64, now: SystemTime) {
    let data: Vec<u8> = std::iter::repeat_n(1500_u16.to_le_bytes(), SIZE.0 * SIZE.1).flatten().collect();
    let (width, height, step) = (SIZE.0 as u32, SIZE.1 as u32, 2 * SIZE.0 as u32);
    let body = Body::Image(ImageBody { width, height, encoding: Encoding::DepthMm, step, data: data.into() });
    recorder.write(topic::DEPTH, ((FIRST + k) as u32, now), taken(k), body);
}

/// Writes the bytes to a temporary file.
pub fn file(bytes: &[u8]) -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::with_suffix(".mcap").unwrap();
    std::fs::write(file.path(), bytes).unwrap();
    file
}
