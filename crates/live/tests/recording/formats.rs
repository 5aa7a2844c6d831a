//! Files of both formats, written with the MCAP library alone, and read back. With `STEREOPSIS_FIXTURES` they stay in that folder with
//! `expected.json`, for `tools/readers`, which opens them with programs of others.

use image::ImageEncoder as _;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use stereopsis_base::image::Image;
use stereopsis_recording::format::ros2::bag::{METADATA_NAME, bag_metadata};
use stereopsis_recording::format::{Kind, decode, kind};
use stereopsis_recording::message::{Bytes, CameraBody, DisparityBody, Encoding, ImageBody};
use stereopsis_recording::{Body, Channel, Format, Message, Schema, time, topic};

const SIZE: (usize, usize) = (98, 51);
const BOTH_COMPRESSED: &str = "/stereo/both/image_unsplit/compressed";
const FRAMES: usize = 5;
const START_NS: u64 = 1_763_700_000_000_000_000;

fn bytes_of(pixel_bytes: usize, pixel: impl Fn(usize, usize) -> u64) -> Bytes {
    let (width, height) = SIZE;
    let pixels = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
    pixels.flat_map(|(x, y)| pixel(x, y).to_le_bytes()[..pixel_bytes].to_vec()).collect()
}

fn picture(encoding: Encoding, pixel_bytes: usize, data: Bytes) -> Body {
    let (width, height) = (SIZE.0 as u32, SIZE.1 as u32);
    Body::Image(ImageBody { width, height, encoding, step: width * pixel_bytes as u32, data })
}

fn camera(shift: f64) -> Body {
    let (f, cx, cy) = (70.5, 48.25, 25.125);
    Body::Camera(Box::new(CameraBody {
        width: SIZE.0 as u32,
        height: SIZE.1 as u32,
        distortion_model: "plumb_bob".to_owned(),
        d: vec![0.0; 5],
        k: [f, 0.0, cx, 0.0, f, cy, 0.0, 0.0, 1.0],
        r: [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0],
        p: [f, 0.0, cx, shift, 0.0, f, cy, 0.0, 0.0, 0.0, 1.0, 0.0],
        ..CameraBody::default()
    }))
}

/// Returns a JPEG file in the form of cameras.
fn jpeg(k: usize) -> Bytes {
    let grey = bytes_of(1, |x, y| ((3 * x + 2 * y + 9 * k) % 256) as u64);
    let mut file = Vec::new();
    let encoder = image::codecs::jpeg::JpegEncoder::new(&mut file);
    encoder.write_image(&grey, SIZE.0 as u32, SIZE.1 as u32, image::ExtendedColorType::L8).unwrap();
    file.into()
}

fn frame(k: usize) -> Vec<(&'static str, &'static str, Body)> {
    use topic::frame::{LEFT, RIGHT};
    let hole = |x: usize, y: usize| (x + 2 * y + k).is_multiple_of(7);
    let disparity =
        |x: usize, y: usize| if hole(x, y) { f32::NAN } else { 1.0 + ((3 * x + y + k) % 800) as f32 / 16.0 };
    let depth =
        |x: usize, y: usize| if hole(x, y) { 0 } else { (70.5 * 0.12 * 1000.0 / disparity(x, y)).round() as u64 };
    let mut all = Vec::new();
    if k == 0 {
        let [x, y, z, w] = [0.0, 0.0, 0.0, 1.0];
        let transform = Body::Transform {
            child_frame_id: RIGHT.to_owned(),
            translation_m: [0.12, 0.0, 0.0],
            rotation: [x, y, z, w],
        };
        all.push((
            topic::ABOUT,
            "",
            Body::Json(json!({"stereopsis": "0.0.0", "units": {"depth": "mm"}, "tenth": 0.1})),
        ));
        all.push((topic::TRANSFORMS, LEFT, transform));
    }
    all.push((topic::PAIRS, "", Body::Json(json!({"sequence": k, "skew_s": 1e-3 / 3.0}))));
    let grey = |a, b, c| picture(Encoding::Mono8, 1, bytes_of(1, |x, y| ((a * x + b * y + c * k) % 251) as u64));
    all.push((topic::LEFT_RECTIFIED, LEFT, grey(7, 13, 29)));
    all.push((topic::RIGHT_RECTIFIED, RIGHT, grey(5, 3, 17)));
    all.push((topic::LEFT_RECTIFIED_CAMERA, LEFT, camera(0.0)));
    all.push((topic::RIGHT_RECTIFIED_CAMERA, RIGHT, camera(-70.5 * 0.12)));
    let colours = |x: usize, y: usize| (((x + k) % 256) + 256 * (y % 256) + 65_536 * (x * y % 256)) as u64;
    all.push((topic::LEFT_RAW, LEFT, picture(Encoding::Rgb8, 3, bytes_of(3, colours))));
    all.push((topic::RIGHT_RAW, RIGHT, picture(Encoding::Yuyv, 2, bytes_of(2, |x, y| (x * 7 + 256 * (y + k)) as u64))));
    all.push((
        topic::LEFT_UNTURNED,
        LEFT,
        picture(Encoding::Mono16, 2, bytes_of(2, |x, y| (x * 641 + y * 7 + k) as u64 % 4_096)),
    ));
    all.push((BOTH_COMPRESSED, LEFT, Body::Compressed { format: "jpeg".to_owned(), data: jpeg(k) }));
    all.push((topic::DEPTH, LEFT, picture(Encoding::DepthMm, 2, bytes_of(2, depth))));
    all.push((topic::DEPTH_CAMERA, LEFT, camera(0.0)));
    let numbers = DisparityBody {
        disparity_px: Image::from_fn(SIZE.0, SIZE.1, disparity),
        focal_px: 70.5,
        baseline_m: 0.12,
        min_disparity: 0.0,
        max_disparity: 64.0,
        delta_d: 0.0625,
    };
    all.push((topic::DISPARITY, LEFT, Body::Disparity(numbers)));
    all
}

/// Computes a sum in which every byte counts by its position, so that other programs can report what they read.
fn checksum(bytes: impl IntoIterator<Item = u8>) -> u64 {
    let weighed = bytes.into_iter().enumerate().map(|(k, byte)| u64::from(byte) * (k as u64 % 65_521 + 1));
    weighed.fold(0, u64::wrapping_add)
}

/// Returns the values that a reader must report for this body.
fn expected(body: &Body) -> Value {
    match body {
        Body::Image(image) => {
            json!({"size": [image.width, image.height], "checksum": checksum(image.data.iter().copied())})
        }
        Body::Compressed { data, .. } => json!({"checksum": checksum(data.iter().copied())}),
        Body::Camera(camera) => {
            json!({"size": [camera.width, camera.height], "k": camera.k, "r": camera.r, "p": camera.p, "d": camera.d})
        }
        Body::Disparity(disparity) => {
            let (width, height) = disparity.disparity_px.size();
            let measured = disparity.disparity_px.pixels().iter().map(|d| if d.is_nan() { -1.0 } else { *d });
            json!({"size": [width, height], "checksum": checksum(measured.flat_map(f32::to_le_bytes))})
        }
        Body::Points(points) => json!({"points": points.len()}),
        Body::Transform { child_frame_id, translation_m, rotation } => {
            json!({"child": child_frame_id, "translation_m": translation_m, "rotation": rotation})
        }
        Body::Json(value) => json!({"json": value}),
    }
}

fn write(path: &Path, format: Format) -> Vec<Value> {
    let options = mcap::WriteOptions::new().profile(format.profile()).compression(Some(mcap::Compression::Lz4));
    let mut writer = options.create(std::io::BufWriter::new(fs::File::create(path).unwrap())).unwrap();
    let mut ids = BTreeMap::new();
    let mut counts: Vec<(Arc<Channel>, u64)> = Vec::new();
    let mut seen = Vec::new();
    for k in 0..FRAMES {
        let stamp_ns = START_NS + k as u64 * 33_333_333;
        for (topic, frame_id, body) in frame(k) {
            let channel = Arc::new(format.channel(topic, &body));
            let id = *ids.entry(topic).or_insert_with(|| {
                let schema = channel.schema.as_ref().unwrap();
                let schema = writer.add_schema(&schema.name, &schema.encoding, &schema.data).unwrap();
                writer.add_channel(schema, topic, &channel.message_encoding, &channel.metadata).unwrap()
            });
            match counts.iter_mut().find(|(known, _)| known.topic == topic) {
                Some((_, count)) => *count += 1,
                None => counts.push((channel, 1)),
            }
            let log_time = stamp_ns + 2_000_000;
            let expected = expected(&body);
            let message = Message { stamp: time::from_ns(stamp_ns), frame_id: frame_id.to_owned(), body };
            let header =
                mcap::records::MessageHeader { channel_id: id, sequence: k as u32, log_time, publish_time: stamp_ns };
            writer.write_to_known_channel(&header, &format.encode(&message)).unwrap();
            seen.push(json!({
                "topic": topic, "frame_id": frame_id, "sequence": k, "log_time_ns": log_time, "publish_time_ns": stamp_ns,
                "holds": format!("{:?}", message.body.kind()).to_lowercase(), "expected": expected,
            }));
        }
    }
    if format == Format::Ros2 {
        let file_name = path.file_name().unwrap().to_str().unwrap();
        let end_ns = START_NS + Duration::from_secs(1).as_nanos() as u64;
        let metadata = bag_metadata(file_name, &counts, (START_NS, end_ns));
        writer.write_metadata(&mcap::records::Metadata { name: METADATA_NAME.to_owned(), metadata }).unwrap();
    }
    writer.finish().unwrap();
    seen
}

#[test]
fn files_of_both_formats_are_read_back_by_schema_alone() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = std::env::var_os("STEREOPSIS_FIXTURES").map_or_else(|| temporary.path().to_owned(), Into::into);
    let mut all = BTreeMap::new();
    for format in Format::ALL {
        let name = format!("{}.mcap", format.word());
        let written = write(&folder.join(&name), *format);
        let file = fs::read(folder.join(&name)).unwrap();
        let mut read = 0;
        for (message, written) in mcap::MessageStream::new(&file).unwrap().map(Result::unwrap).zip(&written) {
            let schema = message.channel.schema.as_ref().unwrap();
            let channel = Channel {
                topic: message.channel.topic.clone(),
                message_encoding: message.channel.message_encoding.clone(),
                schema: Some(
                    Schema { name: schema.name.clone(), encoding: schema.encoding.clone(), data: schema.data.to_vec() }
                        .into(),
                ),
                metadata: message.channel.metadata.clone(),
            };
            let back = decode(&channel, &message.data).unwrap();
            assert_eq!(Some(back.body.kind()), kind(&channel));
            assert_eq!(expected(&back.body), written["expected"], "{name}: {} {}", channel.topic, message.sequence);
            assert_eq!(
                (written["topic"].as_str(), written["frame_id"].as_str()),
                (Some(&*channel.topic), Some(&*back.frame_id))
            );
            if back.body.kind() != Kind::Json {
                assert_eq!(time::to_ns(back.stamp), message.publish_time);
            }
            read += 1;
        }
        assert_eq!(read, written.len(), "{name}");
        all.insert(name, written);
    }
    fs::write(folder.join("expected.json"), serde_json::to_vec_pretty(&all).unwrap()).unwrap();
}
