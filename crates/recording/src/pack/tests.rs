//! Tests of packing: images and results round trip, and each stream has its topics.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

use super::*;
use crate::message::{Body, DisparityBody};
use crate::unpack::{UnpackedResult, Unpacker};
use crate::{ResultNote, Streams, format};
use fastrand::Rng;
use stereopsis_base::image::{Image, Luma};
use stereopsis_calibration::CalibrationNote;
use stereopsis_frame::decode_camera::{Layout, PixelFormat};
use stereopsis_frame::{EncodedImage, MaxPixels, Orientation, Original, Pixels, RawPair, SourceInfo};
use stereopsis_stereo::{DisparityMap, INVALID, reason};

const SIZE: (usize, usize) = (22, 16);
const GEOMETRY: Geometry = Geometry::new(20.0, 0.2, 3.3, [10.5, 7.25]);

fn about(streams: &str) -> About {
    let info = SourceInfo {
        name: "test".into(),
        width: SIZE.0,
        height: SIZE.1,
        rate_hz: Some(30.0),
        is_camera: true,
        is_rectified: true,
        ..SourceInfo::default()
    };
    let calibration = CalibrationNote { geometry: Some(GEOMETRY), ..CalibrationNote::default() };
    let streams = streams.parse::<Streams>().unwrap();
    About { streams, calibration, ..About::of_source("test", &info, SystemTime::UNIX_EPOCH) }
}

fn noise(rng: &mut Rng, bytes: usize) -> Vec<u8> {
    std::iter::repeat_with(|| rng.u8(..)).take(bytes).collect()
}

fn shot(rng: &mut Rng, format: PixelFormat, (width, height): (usize, usize)) -> EncodedImage {
    let tight = Layout::tight(format, (width, height));
    let bytes = match format {
        PixelFormat::Mjpeg => {
            let picture = image::RgbImage::from_raw(width as u32, height as u32, noise(rng, 3 * width * height));
            let mut bytes = std::io::Cursor::new(Vec::new());
            picture.unwrap().write_to(&mut bytes, image::ImageFormat::Jpeg).unwrap();
            bytes.into_inner()
        }
        PixelFormat::Y16 => {
            (0..width * height).flat_map(|_| rng.u16(..1024).to_le_bytes()).collect() // 10 of 16 bits
        }
        PixelFormat::Yuyv => {
            // rows with a gap behind all but the last one
            let layout = tight.with_stride(tight.stride + 6);
            let bytes = noise(rng, layout.stride * height - 6);
            return EncodedImage { layout, bytes: bytes.into() };
        }
        PixelFormat::Nv12 => noise(rng, tight.stride * height / 2 * 3),
        PixelFormat::Grey => noise(rng, tight.stride * height),
    };
    EncodedImage { layout: tight, bytes: bytes.into() }
}

fn pair(left: Picture, right: Picture, original: Option<Original>) -> Arc<RawPair> {
    let capture_time = time::from_ns(1_700_000_000_123_456_789);
    let (sequence, name) = (u64::from(u32::MAX) + 7, "camera-000007");
    Arc::new(RawPair { skew_s: -0.0035, original, ..RawPair::new(name, sequence, capture_time, left, right) })
}

fn frame_of(raw: &Arc<RawPair>) -> Frame {
    Frame { geometry: Some(GEOMETRY), ..Frame::of_raw(Arc::clone(raw)) }
}

/// Unpacks these packets: the note and both images, or the combined one.
fn played(packets: &[Packet], topics: &[&str]) -> RawPair {
    let json = |packet: &Packet| match format::decode(&packet.channel, &packet.data).unwrap().body {
        Body::Json(value) => value,
        other => panic!("{other:?}"),
    };
    let about = packets.iter().find(|packet| packet.channel.topic == topic::ABOUT).map(json).unwrap();
    let about: About = serde_json::from_value(about).unwrap();
    let base = |packet: &Packet| packet.channel.topic.trim_end_matches(topic::COMPRESSED).to_owned();
    let wanted: Vec<_> = [&[topic::PAIRS], topics]
        .concat()
        .into_iter()
        .flat_map(|topic| packets.iter().filter(move |packet| base(packet) == topic).cloned())
        .collect();
    Unpacker::of(Some(&about), Pixels::Color, MaxPixels::default()).pair(&wanted).unwrap()
}

fn topics(packets: &[Packet]) -> Vec<&str> {
    packets.iter().map(|packet| packet.channel.topic.as_str()).collect()
}

#[test]
fn encoded_images_round_trip() {
    let mut rng = Rng::with_seed(7);
    let orientations = [Orientation::Upright, Orientation::HalfTurn, Orientation::FlipX, Orientation::FlipY];
    for round in 0..200 {
        let format = rng.choice(PixelFormat::ALL.iter().copied()).unwrap();
        let words = *rng.choice([&Format::Ros2, &Format::Foxglove]).unwrap();
        let mut orientation = [0, 1].map(|_| rng.choice(orientations).unwrap());
        let side_by_side = rng.bool();
        let images = if side_by_side {
            orientation[1] = orientation[0];
            vec![shot(&mut rng, format, (2 * SIZE.0, SIZE.1))]
        } else {
            vec![shot(&mut rng, format, SIZE), shot(&mut rng, format, SIZE)]
        };
        let layout = StereoLayout { side_by_side, swapped: side_by_side && rng.bool(), orientation };
        let original = Original { images, layout };
        let (left, right) = original.pictures(Pixels::Color).unwrap();
        let raw = pair(left, right, Some(original.clone()));
        let packets = Packer::new(about("raw"), words).frame(&frame_of(&raw), time::from_ns(5)).unwrap();
        let topics: &[&str] = if side_by_side {
            &[topic::BOTH_UNSPLIT]
        } else {
            &[
                [topic::LEFT_RAW, topic::LEFT_UNTURNED][usize::from(!original.layout.is_upright(0))],
                [topic::RIGHT_RAW, topic::RIGHT_UNTURNED][usize::from(!original.layout.is_upright(1))],
            ]
        };
        let back = played(&packets, topics);
        let what = format!("{round}: {format:?} {words:?} {:?}", original.layout);
        assert_eq!((&back.left, &back.right), (&raw.left, &raw.right), "{what}");
        assert_eq!((back.sequence, back.skew_s, &back.name), (raw.sequence, raw.skew_s, &raw.name), "{what}");
        assert_eq!(back.capture_time, raw.capture_time, "{what}");
        // a camera's JPEG stays its own file, and colours that the camera packs stay packed
        if matches!(format, PixelFormat::Mjpeg | PixelFormat::Nv12) {
            assert_eq!(back.original, Some(original), "{what}");
        }
        let right_raw = packets.iter().find(|packet| packet.channel.topic == topic::RIGHT_CAMERA).unwrap();
        assert_eq!(right_raw.publish_time_ns, 1_700_000_000_119_956_789, "the right image's own time");
    }
}

/// Returns images of files and cameras: luma alone, deep, and with colours from which luma can be computed, or cannot.
fn pictures(rng: &mut Rng) -> Vec<Picture> {
    let (width, height) = (SIZE.0 + 1, SIZE.1 - 1);
    let grey = Image::from_fn(width, height, |_, _| rng.u8(..));
    let deep = Image::from_fn(width, height, |_, _| rng.u16(..4096));
    let colors = Image::from_fn(width, height, |_, _| [rng.u8(..), rng.u8(..), rng.u8(..)]);
    let of_colors = colors.map(|&rgb| stereopsis_base::image::luma_of(rgb));
    let picture = |luma, rgb: Option<&Image<[u8; 3]>>| Picture { luma, rgb: rgb.cloned() };
    vec![
        picture(Luma::U8(grey.clone()), None),
        picture(Luma::U16 { image: deep.clone(), bits: 12 }, None),
        picture(Luma::U8(of_colors), Some(&colors)),
        picture(Luma::U8(grey), Some(&colors)),
        picture(Luma::U16 { image: deep, bits: 12 }, Some(&colors)),
    ]
}

#[test]
fn decoded_and_rectified_images_round_trip_with_colours() {
    let mut rng = Rng::with_seed(3);
    for words in [Format::Ros2, Format::Foxglove] {
        let of_eyes = pictures(&mut rng).into_iter().zip(pictures(&mut rng));
        for (kind, (left, right)) in of_eyes.enumerate() {
            let raw = pair(left, right, None);
            for (streams, eyes) in [
                ("raw", [topic::LEFT_RAW, topic::RIGHT_RAW]),
                ("eyes", [topic::LEFT_RAW, topic::RIGHT_RAW]),
                ("rectified", [topic::LEFT_RECTIFIED, topic::RIGHT_RECTIFIED]),
            ] {
                let packets = Packer::new(about(streams), words).frame(&frame_of(&raw), time::from_ns(5)).unwrap();
                let back = played(&packets, &eyes);
                assert_eq!((&back.left.luma, &back.right.luma), (&raw.left.luma, &raw.right.luma), "{streams} {kind}");
                assert_eq!(back.left.rgb.is_some(), kind == 2);
                let color = packets.iter().find(|packet| packet.channel.topic.ends_with("/left/image_color"));
                assert_eq!(color.is_some(), kind > 2, "{streams} {kind}");
                if let Some(color) = color {
                    let Body::Image(image) = format::decode(&color.channel, &color.data).unwrap().body else {
                        panic!()
                    };
                    assert_eq!(*image.data, *raw.left.rgb.as_ref().unwrap().pixels().as_flattened());
                }
            }
        }
    }
}

#[test]
fn writes_both_sides_where_raw_images_differ() {
    let mut rng = Rng::with_seed(1);
    let original = |rng: &mut Rng, orientation, shots: &[(usize, usize)]| Original {
        images: shots.iter().map(|&size| shot(rng, PixelFormat::Yuyv, size)).collect(),
        layout: StereoLayout { side_by_side: shots.len() == 1, swapped: false, orientation },
    };
    let upright = [Orientation::Upright; 2];
    let plain = original(&mut rng, upright, &[SIZE; 2]);
    let turned = original(&mut rng, [Orientation::HalfTurn, Orientation::Upright], &[SIZE; 2]);
    let both = original(&mut rng, upright, &[(2 * SIZE.0, SIZE.1)]);
    let left = format!("{}/compressed", topic::LEFT_RAW);
    let right = format!("{}/compressed", topic::RIGHT_RAW);
    let (left, right) = (left.as_str(), right.as_str());
    for (original, streams, pictures) in [
        (&plain, "raw,eyes", vec![topic::LEFT_RAW, topic::RIGHT_RAW]),
        (&plain, "eyes", vec![topic::LEFT_RAW, topic::RIGHT_RAW]),
        (&turned, "raw,eyes", vec![topic::LEFT_UNTURNED, topic::RIGHT_RAW, left]),
        (&turned, "eyes", vec![left, right]),
        (&both, "raw,eyes", vec![topic::BOTH_UNSPLIT, left, right]),
    ] {
        let (left, right) = original.pictures(Pixels::Luma).unwrap();
        let raw = pair(left, right, Some(original.clone()));
        let packets = Packer::new(about(streams), Format::Ros2).frame(&frame_of(&raw), time::from_ns(5)).unwrap();
        let mut expected = vec![topic::ABOUT, topic::TRANSFORMS, topic::PAIRS];
        expected.extend(pictures);
        expected.extend([topic::LEFT_CAMERA, topic::RIGHT_CAMERA]);
        assert_eq!(topics(&packets), expected, "{streams} {:?}", original.layout);
        let eyes = played(&packets, &[topic::LEFT_RAW, topic::RIGHT_RAW]);
        assert_eq!((eyes.left.luma, eyes.right.luma), (raw.left.luma.clone(), raw.right.luma.clone()));
    }
}

#[test]
fn writes_description_once_and_rejects_another_layout() {
    let mut rng = Rng::with_seed(2);
    let original = |rng: &mut Rng, orientation| {
        let layout = StereoLayout { orientation: [orientation; 2], ..StereoLayout::default() };
        let images = vec![shot(rng, PixelFormat::Yuyv, SIZE), shot(rng, PixelFormat::Yuyv, SIZE)];
        let original = Original { images, layout };
        let (left, right) = original.pictures(Pixels::Luma).unwrap();
        frame_of(&pair(left, right, Some(original)))
    };
    let mut packer = Packer::new(about("raw"), Format::Ros2);
    let first = original(&mut rng, Orientation::FlipX);
    let once = [topic::ABOUT, topic::TRANSFORMS];
    assert_eq!(topics(&packer.frame(&first, time::from_ns(5)).unwrap())[..2], once);
    let second = packer.frame(&first, time::from_ns(6)).unwrap();
    assert!(topics(&second).iter().all(|topic| !once.contains(topic)));
    let other = original(&mut rng, Orientation::FlipY);
    let refused = packer.frame(&other, time::from_ns(7)).unwrap_err().to_string();
    assert!(refused.contains("raw images are split or turned in another way"), "{refused}");
}

#[test]
fn results_round_trip_with_the_depth_that_others_compute() {
    let mut rng = Rng::with_seed(5);
    let (width, height) = SIZE;
    let (values, reasons) = (Image::filled(width, height, INVALID), Image::filled(width, height, 0));
    let mut map = DisparityMap { values, reasons, confidence: None };
    for (value, reasons) in map.values.pixels_mut().iter_mut().zip(map.reasons.pixels_mut()) {
        (*value, *reasons) = match rng.u8(..4) {
            0 => (INVALID, reason::LEFT_RIGHT),
            1 => (rng.i16(0..1024), reason::FILLED | reason::LEFT_RIGHT),
            _ => (rng.i16(0..1024), 0),
        };
    }
    let params = StereoParams::default();
    for (filled, words) in [(false, Format::Ros2), (true, Format::Ros2), (false, Format::Foxglove)] {
        let note = ResultNote {
            sequence: 1,
            engine: "cpu".into(),
            compute_ms: 2.5,
            measured: 0.5,
            doffs_px: GEOMETRY.doffs_px,
            beyond: 0.0,
        };
        let bodies = [
            (topic::RESULTS, Body::Json(serde_json::to_value(&note).unwrap())),
            (topic::DEPTH, numbers::depth(&map, filled, &GEOMETRY, DepthFormat::Mm).unwrap().0),
            (topic::DISPARITY, numbers::disparity(&map, filled, Some(&GEOMETRY), &params)),
        ];
        let mut packer = Packer::new(about("depth,disparity"), words);
        let mut packets = packer.packets(1, time::from_ns(9));
        for (topic, body) in bodies {
            packets.push(topic, frame::LEFT, time::from_ns(8), body);
        }
        let packets = packets.made;
        let back = UnpackedResult::of(&packets).unwrap();
        let is_there = |x, y| {
            let reasons = map.reasons.at(x, y);
            map.values.at(x, y) != INVALID && (filled || reasons & reason::FILLED == 0)
        };
        let (mm, px) = (back.depth_mm().unwrap(), back.disparity_px.unwrap());
        let other = format::decode(&packets[2].channel, &packets[2].data).unwrap();
        let Body::Disparity(DisparityBody { disparity_px: others, focal_px, baseline_m, .. }) = other.body else {
            panic!()
        };
        for (x, y) in (0..height).flat_map(|y| (0..width).map(move |x| (x, y))) {
            let value = map.values.at(x, y);
            if !is_there(x, y) {
                assert!(mm.at(x, y) == 0 && px.at(x, y).is_nan() && others.at(x, y).is_nan());
                continue;
            }
            let z = GEOMETRY.depth_m(f64::from(value) / 16.0).unwrap();
            assert_eq!((mm.at(x, y), px.at(x, y)), ((z * 1000.0).round() as u16, f32::from(value) / 16.0));
            if words == Format::Ros2 {
                let of_others = f64::from(focal_px * baseline_m / others.at(x, y));
                assert!((of_others - z).abs() < 1e-4 * z, "z = f T / d, as ROS has it");
            }
        }
        assert_eq!(back.note, Some(note));
    }
}

#[test]
fn rectified_cameras_and_the_depth_camera_are_of_working_size() {
    let raw = pair(pictures(&mut Rng::with_seed(0)).remove(0), pictures(&mut Rng::with_seed(1)).remove(0), None);
    let packets = Packer::new(about("rectified"), Format::Ros2).frame(&frame_of(&raw), time::from_ns(5)).unwrap();
    let camera = |topic| {
        let packet = packets.iter().find(|packet| packet.channel.topic == topic).unwrap();
        let message = format::decode(&packet.channel, &packet.data).unwrap();
        let Body::Camera(camera) = message.body else { panic!() };
        (camera, message.frame_id)
    };
    let (left, left_frame) = camera(topic::LEFT_RECTIFIED_CAMERA);
    let (right, right_frame) = camera(topic::RIGHT_RECTIFIED_CAMERA);
    assert_eq!((left.width, left.height), (23, 15));
    assert_eq!((left.k[0], left.k[2], right.k[2], right.p[3]), (20.0, 10.5, 13.8, -4.0));
    assert_eq!((left_frame.as_str(), right_frame.as_str()), (frame::LEFT, frame::RIGHT));
    let transform = packets.iter().find(|packet| packet.channel.topic == topic::TRANSFORMS).unwrap();
    let message = format::decode(&transform.channel, &transform.data).unwrap();
    assert_eq!(message.frame_id, frame::LEFT);
    assert!(matches!(message.body, Body::Transform { translation_m: [0.2, 0.0, 0.0], .. }));
}

#[test]
fn depth_of_every_format_comes_back_and_what_is_lost_is_counted() {
    // 20 px and 0.4 m: 8 m at 1 px, 128 m at a sixteenth
    let geometry = Geometry::new(20.0, 0.2, 0.0, [10.5, 7.25]);
    let far = Geometry { baseline_m: 0.4, ..geometry };
    let values = Image::new(4, 1, vec![16, 1, INVALID, 32]);
    let map = DisparityMap { reasons: Image::filled(4, 1, 0), values, confidence: None };
    for &format in DepthFormat::ALL {
        let mut packer = Packer::new(About { depth_format: format, ..about("depth") }, Format::Ros2);
        assert_eq!(packer.about.units["depth"], format.unit());
        let (body, range) = numbers::depth(&map, false, &far, format).unwrap();
        let lost = u64::from(format != DepthFormat::Metres);
        assert_eq!(range, DepthRange { pixels: 3, beyond: lost }, "128 m");
        let mut packets = packer.packets(1, time::from_ns(9));
        packets.push(topic::DEPTH, frame::LEFT, time::from_ns(8), body);
        let packet = packets.made.remove(0);
        let is_compressed = packet.channel.topic == topic::COMPRESSED_DEPTH;
        assert!(is_compressed == format.is_compressed() && packet.channel.topic.starts_with(topic::DEPTH));
        let back = UnpackedResult::of(&[packet]).unwrap();
        assert_eq!(back.depth_mm().unwrap().pixels(), [8000, 0, 0, 4000], "{format}");
        let z = back.depth_m().unwrap();
        let is_kept = (z.at(1, 0) - 128.0).abs() < 1e-4;
        assert!(z.at(2, 0).is_nan() && (z.at(0, 0) - 8.0).abs() < 1e-6 && is_kept == (lost == 0), "{format}: {z:?}");
    }
    assert_eq!(numbers::depth(&map, false, &geometry, DepthFormat::Mm).unwrap().1.beyond, 0, "64 m fit");
    let text = beyond_range(0.92, false).unwrap();
    assert!(
        text.starts_with("92 % of the pixels with depth lie beyond 65.535 m") && text.contains("depth-format 32FC1")
    );
    assert!(beyond_range(0.0, false).is_none() && beyond_range(0.001, true).unwrap().starts_with("less than 1 %"));
    let packer = Packer::new(About { depth_format: DepthFormat::Rvl, ..about("depth") }, Format::Foxglove);
    assert_eq!(packer.about.depth_format, DepthFormat::Mm, "Foxglove's messages have no compressed depth");
}
