//! Tests of both formats: round trips, damaged messages, and the byte layouts that ROS, PCL and RViz expect.

use super::super::message::{Bytes, CameraBody, DisparityBody, Encoding, ImageBody, Mosaic, Point};
use super::super::{Schema, topic};
use super::*;
use serde_json::json;
use std::time::{Duration, UNIX_EPOCH};
use stereopsis_base::image::Image;

const STAMP_NS: u64 = 1_700_000_000_123_456_789;

const ENCODINGS: [Encoding; 13] = [
    Encoding::Mono8,
    Encoding::Mono16,
    Encoding::Rgb8,
    Encoding::Bgr8,
    Encoding::Rgba8,
    Encoding::Bgra8,
    Encoding::Bayer8(Mosaic::Gbrg),
    Encoding::Bayer16(Mosaic::Rggb),
    Encoding::Yuyv,
    Encoding::Uyvy,
    Encoding::Nv12,
    Encoding::DepthMm,
    Encoding::Float32,
];

fn message(body: Body) -> Message {
    Message {
        stamp: UNIX_EPOCH + Duration::from_nanos(STAMP_NS),
        frame_id: "stereo_left_optical_frame".to_owned(),
        body,
    }
}

fn random_bytes(count: usize, random: &mut fastrand::Rng) -> Bytes {
    (0..count).map(|_| random.u8(..)).collect()
}

fn picture(encoding: Encoding, random: &mut fastrand::Rng) -> Message {
    let (width, height) = (random.u32(1..40), random.u32(1..20));
    let step = 4 * width + random.u32(0..5);
    let planes = (step * height) as usize;
    let count = if encoding == Encoding::Nv12 { planes + planes / 2 } else { planes };
    message(Body::Image(ImageBody { width, height, encoding, step, data: random_bytes(count, random) }))
}

fn disparity(random: &mut fastrand::Rng) -> DisparityBody {
    let (width, height) = (random.usize(1..30), random.usize(1..20));
    let disparity_px =
        Image::from_fn(width, height, |_, _| if random.bool() { f32::NAN } else { 3.0 + 60.0 * random.f32() });
    DisparityBody {
        disparity_px,
        focal_px: 701.5,
        baseline_m: 0.12,
        min_disparity: 3.0,
        max_disparity: 66.0,
        delta_d: 0.0625,
    }
}

fn camera() -> CameraBody {
    let numbers = |count: usize| (0..count).map(move |k| 1.0 / (k as f64 + 3.0)).collect::<Vec<_>>();
    CameraBody {
        width: 641,
        height: 479,
        distortion_model: "equidistant".to_owned(),
        d: numbers(4),
        k: numbers(9).try_into().unwrap(),
        r: numbers(9).try_into().unwrap(),
        p: numbers(12).try_into().unwrap(),
        ..CameraBody::default()
    }
}

fn transform() -> Body {
    Body::Transform {
        child_frame_id: "stereo_right_optical_frame".to_owned(),
        translation_m: [0.1, -1e-17, f64::MIN_POSITIVE],
        rotation: [0.1, 0.2, 0.3, 0.9],
    }
}

/// Returns one message of each kind, and an image of each encoding.
fn all(random: &mut fastrand::Rng) -> Vec<Message> {
    let mut all: Vec<_> = ENCODINGS.into_iter().map(|encoding| picture(encoding, random)).collect();
    let compressed = |format: &str, data| Body::Compressed { format: format.to_owned(), data };
    let begun = |start: &[u8], random: &mut fastrand::Rng| [start, &random_bytes(1_001, random)].concat().into();
    all.push(message(compressed("jpeg", begun(&[0xFF, 0xD8, 0xFF], random))));
    all.push(message(compressed("png", begun(b"\x89PNG", random))));
    all.push(message(Body::Camera(Box::new(camera()))));
    all.push(message(Body::Disparity(disparity(random))));
    all.push(message(transform()));
    let point =
        |random: &mut fastrand::Rng| Point { xyz_m: [random.f32(), -random.f32(), 9.5], rgb: [random.u8(..), 0, 255] };
    all.push(message(Body::Points((0..9).map(|_| point(random)).collect())));
    let words = json!({"focal_px": 701.123_456_789_012_3, "skew_s": 1.000_000_000_000_000_2e-3, "name": "ü \"x\"\n", "sequence": u64::MAX});
    all.push(message(Body::Json(words)));
    all
}

fn in_all_formats(random: &mut fastrand::Rng) -> impl Iterator<Item = (Format, Message)> {
    all(random).into_iter().flat_map(|message| Format::ALL.iter().map(move |format| (*format, message.clone())))
}

fn round_trip(format: Format, message: &Message) -> Message {
    let channel = format.channel("/some/topic", &message.body);
    assert_eq!(kind(&channel), Some(message.body.kind()), "{format:?}");
    decode(&channel, &format.encode(message))
        .unwrap_or_else(|error| panic!("{format:?} {:?}: {error}", message.body.kind()))
}

fn bits(image: &Image<f32>) -> Image<u32> {
    image.map(|d| d.to_bits())
}

#[test]
fn every_message_round_trips_in_every_format() {
    let mut random = fastrand::Rng::with_seed(7);
    for (format, message) in (0..8).flat_map(|_| in_all_formats(&mut random).collect::<Vec<_>>()) {
        let back = round_trip(format, &message);
        match (&message.body, &back.body) {
            (Body::Json(_), _) => {
                assert_eq!((&back.body, back.stamp), (&message.body, UNIX_EPOCH), "JSON has no stamp");
            }
            (Body::Disparity(was), Body::Disparity(is)) => {
                assert_eq!(bits(&is.disparity_px), bits(&was.disparity_px));
                assert_eq!((back.stamp, &back.frame_id), (message.stamp, &message.frame_id));
                let numbers = |d: &DisparityBody| {
                    [d.focal_px, d.baseline_m, d.min_disparity, d.max_disparity, d.delta_d].map(f32::to_bits)
                };
                let wanted = if format == Format::Ros2 { numbers(was) } else { [0; 5] };
                assert_eq!(numbers(is), wanted, "Foxglove has no place for them");
            }
            _ => assert_eq!(back, message),
        }
    }
}

#[test]
fn damaged_messages_never_panic() {
    let mut random = fastrand::Rng::with_seed(11);
    let mut errors = 0;
    for (format, message) in in_all_formats(&mut random).collect::<Vec<_>>() {
        let channel = format.channel("/some/topic", &message.body);
        let bytes = format.encode(&message);
        for _ in 0..400 {
            let mut bytes = bytes.clone();
            match random.u8(0..3) {
                0 => bytes.truncate(random.usize(..=bytes.len())),
                1 => (0..random.usize(1..9)).for_each(|_| {
                    // lengths lie at the start, where most of the damage goes
                    let end = if random.bool() { bytes.len() } else { bytes.len().min(96) };
                    bytes[random.usize(..end)] = *random.choice(&[0, 1, 0x7F, 0x80, 0xFF]).unwrap();
                }),
                _ => bytes = random_bytes(random.usize(..200), &mut random).to_vec(),
            }
            errors += usize::from(decode(&channel, &bytes).is_err());
        }
    }
    assert!(errors > 5_000, "only {errors} were noticed");
}

#[test]
fn errors_name_unsupported_content() {
    let mut random = fastrand::Rng::with_seed(3);
    let Body::Image(image) = picture(Encoding::Mono8, &mut random).body else { unreachable!() };
    let channel = Format::Foxglove.channel("/camera", &Body::Image(image.clone()));
    let mut raw = ::foxglove::messages::RawImage {
        width: image.width,
        height: image.height,
        step: image.step,
        encoding: "bayer_rgbw8".to_owned(),
        data: image.data.to_vec().into(),
        ..Default::default()
    };
    let bytes = |raw: &::foxglove::messages::RawImage| {
        let mut bytes = Vec::new();
        ::foxglove::Encode::encode(raw, &mut bytes).unwrap();
        bytes
    };
    let error = decode(&channel, &bytes(&raw)).unwrap_err().to_string();
    assert!(
        error.starts_with("/camera: its pixels are packed as 'bayer_rgbw8'") && error.contains("mono8, "),
        "{error}"
    );
    for (word, encoding) in [("8UC1", Encoding::Mono8), ("mono8", Encoding::Mono8)] {
        word.clone_into(&mut raw.encoding);
        let Body::Image(back) = decode(&channel, &bytes(&raw)).unwrap().body else { unreachable!() };
        assert_eq!((back.encoding, &back.data), (encoding, &image.data));
    }
    raw.height = u32::MAX;
    let error = decode(&channel, &bytes(&raw)).unwrap_err().to_string();
    assert!(error.contains("takes") && error.contains(&format!("it has {}", image.data.len())), "{error}");
    raw.height = 1;
    raw.step = raw.width - 1;
    assert!(decode(&channel, &bytes(&raw)).unwrap_err().to_string().contains("its step says"));

    let odometry = Channel {
        topic: "/odometry".to_owned(),
        message_encoding: "cdr".to_owned(),
        schema: Some(
            Schema { name: "nav_msgs/msg/Odometry".to_owned(), encoding: "ros2msg".to_owned(), data: Vec::new() }
                .into(),
        ),
        metadata: [].into(),
    };
    assert_eq!(kind(&odometry), None);
    assert!(
        decode(&odometry, &[])
            .unwrap_err()
            .to_string()
            .starts_with("/odometry: messages of type 'nav_msgs/msg/Odometry'")
    );
}

#[test]
fn file_format_follows_bytes_not_the_format_field() {
    let (jpeg, png) = (&[0xFF, 0xD8, 0xFF, 0xE0, 0][..], &b"\x89PNG\r\n"[..]);
    for words in ["bgr8; jpeg compressed bgr8", "image/jpeg", "JPG", "mono8; jpeg compressed ", "", "h264"] {
        assert_eq!([jpeg, png].map(|bytes| pixels::compressed(words, bytes).unwrap()), ["jpeg", "png"]);
    }
    let refused = |words, bytes: &[u8]| pixels::compressed(words, bytes).unwrap_err().to_string();
    assert_eq!(pixels::compressed("jpeg", b"RIFF\x24\0\0\0WEBPVP8 ").unwrap(), "webp");
    let avif = refused("image/avif", b"\0\0\0\x1cftypavif");
    assert!(avif.contains("'image/avif'") && avif.contains("none of these"), "{avif}");
    let depth = "16UC1; compressedDepth png";
    assert_eq!(pixels::compressed(depth, &[&[0; 12], png].concat()).unwrap(), depth, "it has a header of its own");
    assert!(refused("jpeg", b"").contains("no bytes"));
}

/// A message of another program, field by field: a big-endian image of 16 bits.
#[test]
fn big_endian_messages_and_big_endian_pixels_are_read() {
    for (head, pixels_are_big) in [([0, 0, 0, 0], 1), ([0, 0, 0, 0], 0)] {
        let mut bytes: Vec<u8> = head.to_vec();
        bytes.extend(7_i32.to_be_bytes());
        bytes.extend(5_u32.to_be_bytes());
        bytes.extend(2_u32.to_be_bytes());
        bytes.extend(b"a\0\0\0"); // a string of one letter, its end, and padding
        bytes.extend(1_u32.to_be_bytes()); // rows
        bytes.extend(2_u32.to_be_bytes()); // columns
        bytes.extend(6_u32.to_be_bytes());
        bytes.extend(b"16UC1\0");
        bytes.extend([pixels_are_big, 0]);
        bytes.extend(5_u32.to_be_bytes());
        bytes.extend(5_u32.to_be_bytes());
        bytes.extend([1, 2, 3, 4, 9]);
        let body =
            Body::Image(ImageBody { width: 1, height: 1, encoding: Encoding::Mono8, step: 1, data: Bytes::from([0]) });
        let back = decode(&Format::Ros2.channel("/d", &body), &bytes).unwrap();
        assert_eq!((back.stamp, back.frame_id.as_str()), (UNIX_EPOCH + Duration::new(7, 5), "a"));
        let Body::Image(back) = back.body else { unreachable!() };
        let wanted = if pixels_are_big == 1 { [2, 1, 4, 3, 9] } else { [1, 2, 3, 4, 9] };
        assert_eq!((back.encoding, back.width, back.height, &back.data[..]), (Encoding::DepthMm, 2, 1, &wanted[..]));
    }
}

/// Layout of PCL and RViz: floats of 4 bytes, and colours packed into the bits of a float.
#[test]
fn points_are_where_pcl_expects_them() {
    let points = vec![Point { xyz_m: [1.0, -2.0, 3.5], rgb: [1, 2, 3] }, Point { xyz_m: [0.0; 3], rgb: [255, 0, 9] }];
    let bytes = Format::Ros2.encode(&message(Body::Points(points)));
    let first = [1.0_f32.to_le_bytes(), (-2.0_f32).to_le_bytes(), 3.5_f32.to_le_bytes(), 0x0001_0203_u32.to_le_bytes()];
    let at = bytes.windows(16).position(|four| four == first.concat()).unwrap();
    assert_eq!(bytes.len(), at + 32 + 1, "two points, and that none of them is missing");
    assert_eq!(bytes[at - 4..at], 32_u32.to_le_bytes(), "their bytes");
    assert_eq!(bytes[at - 12..at - 4], [16_u32.to_le_bytes(), 32_u32.to_le_bytes()].concat(), "of one, and of a row");
}

/// Layout of the first bytes as ROS 2's own serializer writes them, and the mark of holes in a disparity map.
#[test]
fn ros_bytes_are_where_ros_expects_them() {
    let disparity_px = Image::new(2, 1, vec![f32::NAN, 7.5]);
    let body = DisparityBody {
        disparity_px,
        focal_px: 2.0,
        baseline_m: 0.5,
        min_disparity: 4.0,
        max_disparity: 8.0,
        delta_d: 1.0,
    };
    let bytes =
        Format::Ros2.encode(&Message { stamp: UNIX_EPOCH, frame_id: "ab".to_owned(), body: Body::Disparity(body) });
    assert_eq!(bytes[..4], [0, 1, 0, 0], "CDR, little-endian");
    assert_eq!(bytes[4..20], [0, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, b'a', b'b', 0, 0], "stamp, length, name, padding");
    let at = bytes.windows(8).position(|pair| pair == [3.0_f32.to_le_bytes(), 7.5_f32.to_le_bytes()].concat()).unwrap();
    assert_eq!(at % 4, 0, "the hole is one below the smallest disparity");
    assert_eq!(bytes[at + 8..at + 16], [2.0_f32.to_le_bytes(), 0.5_f32.to_le_bytes()].concat(), "f, T");
    assert_eq!(bytes.len(), at + 8 + 8 + 17 + 3 + 12, "a window of four numbers and a flag, padding, three floats");
}

#[test]
fn schemas_contain_their_nested_definitions() {
    let channel = Format::Ros2.channel(topic::DISPARITY, &Body::Disparity(disparity(&mut fastrand::Rng::with_seed(1))));
    let schema = channel.schema.unwrap();
    let text = String::from_utf8(schema.data.clone()).unwrap();
    let parts: Vec<_> = text.lines().filter_map(|line| line.strip_prefix("MSG: ")).collect();
    let wanted = ["std_msgs/Header", "sensor_msgs/Image", "sensor_msgs/RegionOfInterest", "builtin_interfaces/Time"];
    assert_eq!((schema.name.as_str(), parts), ("stereo_msgs/msg/DisparityImage", wanted.to_vec()));
    assert!(
        text.starts_with("std_msgs/Header header\nsensor_msgs/Image image\n")
            && text.contains(&format!("\n{}\n", "=".repeat(80)))
    );
    let about = Format::Foxglove.channel(topic::ABOUT, &Body::Json(json!({})));
    assert_eq!(
        about.schema.map(|s| (s.name.clone(), s.encoding.clone())),
        Some(("stereopsis.about".to_owned(), "jsonschema".to_owned()))
    );
}
