//! Tests of unpacking: notes, stereo layouts, encodings, and images that are rejected.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

use super::*;
use crate::message::{Encoding, ImageBody, Mosaic};
use crate::{Channel, Format, time};
use std::sync::Arc;
use stereopsis_base::image::{Image, Luma};
use stereopsis_frame::Orientation;

fn packet(name: &str, body: Body) -> Packet {
    let channel: Arc<Channel> = Arc::new(Format::Ros2.channel(name, &body));
    let stamp = time::from_ns(1_000_000_000);
    let data = Format::Ros2.encode(&Message { stamp, frame_id: String::new(), body });
    Packet { channel, sequence: 5, log_time_ns: 7, publish_time_ns: 9, data }
}

fn grey(width: usize, pixels: &[u8]) -> Body {
    let height = (pixels.len() / width) as u32;
    let width = width as u32;
    Body::Image(ImageBody { width, height, encoding: Encoding::Mono8, step: width, data: pixels.into() })
}

fn deep(pixels: &[u16]) -> Body {
    let data = pixels.iter().flat_map(|v| v.to_le_bytes()).collect();
    let width = pixels.len() as u32;
    Body::Image(ImageBody { width, height: 1, encoding: Encoding::Mono16, step: 2 * width, data })
}

fn note(name: &str, bits: u8) -> Packet {
    let note = PairNote { sequence: 4_294_967_301, skew_s: -0.002, name: name.into(), bits, cameras: None };
    packet(topic::PAIRS, Body::Json(serde_json::to_value(note).unwrap()))
}

fn pixels(luma: &Luma) -> Vec<u16> {
    luma.to_u16().into_pixels()
}

#[test]
fn pair_takes_its_note_and_a_valid_file_name() {
    let sides = [packet(topic::LEFT_RAW, grey(2, &[1, 2])), packet(topic::RIGHT_RAW, grey(2, &[3, 4]))];
    let packets = [note("../../etc/left 0", 8), sides[0].clone(), sides[1].clone()];
    let pair = Unpacker::of(None, Pixels::Luma, MaxPixels::default()).pair(&packets).unwrap();
    assert_eq!((pixels(&pair.left.luma), pixels(&pair.right.luma)), (vec![1, 2], vec![3, 4]));
    assert_eq!((pair.sequence, pair.skew_s), (4_294_967_301, -0.002));
    assert_eq!((pair.name.as_str(), pair.capture_time), ("_.._etc_left_0", time::from_ns(1_000_000_000)));
    let alone = Unpacker::of(None, Pixels::Luma, MaxPixels::default()).pair(&sides).unwrap();
    assert_eq!((alone.sequence, alone.skew_s, alone.name.as_str()), (5, 0.0, "000005"));
}

#[test]
fn applies_the_stereo_layout_to_raw_images() {
    let mut unpacker = Unpacker::of(None, Pixels::Luma, MaxPixels::default());
    unpacker.layout = StereoLayout { side_by_side: true, swapped: true, orientation: [Orientation::FlipX; 2] };
    let both = [packet(topic::BOTH_UNSPLIT, grey(4, &[1, 2, 3, 4]))];
    let pair = unpacker.pair(&both).unwrap();
    assert_eq!(pair.original.as_ref().unwrap().layout, unpacker.layout);
    assert_eq!((pixels(&pair.left.luma), pixels(&pair.right.luma)), (vec![2, 1], vec![4, 3]));
    unpacker.layout =
        StereoLayout { orientation: [Orientation::FlipX, Orientation::Upright], ..StereoLayout::default() };
    let sides = [packet(topic::LEFT_UNTURNED, grey(2, &[1, 2])), packet(topic::RIGHT_RAW, grey(2, &[3, 4]))];
    let pair = unpacker.pair(&sides).unwrap();
    assert_eq!((pixels(&pair.left.luma), pixels(&pair.right.luma)), (vec![2, 1], vec![3, 4]));
    let odd = [packet("/both", grey(3, &[1, 2, 3]))];
    assert!(unpacker.pair(&odd).unwrap_err().to_string().contains("halved"));
}

#[test]
fn splits_top_bottom_images() {
    let unpacker = Unpacker::of(None, Pixels::Luma, MaxPixels::default()).with_arrangement(Arrangement::TopBottom);
    let pair = unpacker.pair(&[packet("/both", grey(3, &[1, 2, 3, 4, 5, 6]))]).unwrap();
    assert_eq!((pixels(&pair.left.luma), pixels(&pair.right.luma)), (vec![1, 2, 3], vec![4, 5, 6]));
    assert_eq!(pair.original, None, "it is recorded as two views");
    let odd = [packet("/both", grey(2, &[1, 2, 3, 4, 5, 6]))];
    assert!(unpacker.pair(&odd).unwrap_err().to_string().contains("halved"));
}

#[test]
fn deep_images_have_the_bits_of_their_note_if_they_fit() {
    for (brightest, bits) in [(1023, 10), (1024, 12)] {
        let sides = [topic::LEFT_RAW, topic::RIGHT_RAW].map(|name| packet(name, deep(&[7, brightest])));
        let packets = [note("a", 10), sides[0].clone(), sides[1].clone()];
        let pair = Unpacker::of(None, Pixels::Luma, MaxPixels::default()).pair(&packets).unwrap();
        assert_eq!((pair.left.luma.bits(), pixels(&pair.left.luma)), (bits, vec![7, brightest]));
    }
}

#[test]
fn drops_alpha_and_keeps_size_and_colours_of_mosaics() {
    let pair = |encoding, width: u32, step: u32, data: &[u8]| {
        let height = data.len() as u32 / step;
        let body = Body::Image(ImageBody { width, height, encoding, step, data: data.into() });
        let sides = ["/left", "/right"].map(|name| packet(name, body.clone()));
        Unpacker::of(None, Pixels::Color, MaxPixels::default()).pair(&sides)
    };
    // two pixels and a gap behind the row
    let four = [10, 20, 30, 0, 40, 50, 60, 255, 9];
    for (encoding, rgb) in
        [(Encoding::Rgba8, [[10, 20, 30], [40, 50, 60]]), (Encoding::Bgra8, [[30, 20, 10], [60, 50, 40]])]
    {
        let pair = pair(encoding, 2, 9, &four).unwrap();
        assert_eq!(pair.right.rgb, Some(Image::new(2, 1, rgb.to_vec())));
        assert_eq!(pair.left.luma, Luma::U8(Image::new(2, 1, rgb.map(stereopsis_base::image::luma_of).to_vec())));
    }
    let color = [44, 120, 80];
    for order in Mosaic::ALL {
        let value = |at: usize| color[order.color(at % 7, at / 7)];
        let bytes: Vec<u8> = (0..35).map(value).collect();
        let shallow = pair(Encoding::Bayer8(order), 7, 7, &bytes).unwrap();
        assert_eq!(shallow.left.luma, Luma::U8(Image::filled(7, 5, 91)));
        assert_eq!(shallow.left.rgb, Some(Image::filled(7, 5, [44, 120, 80])));
        let words: Vec<u8> = (0..35).flat_map(|at| (u16::from(value(at)) << 8).to_le_bytes()).collect();
        let deep = pair(Encoding::Bayer16(order), 7, 14, &words).unwrap();
        assert_eq!((deep.left.luma.to_u16().at(6, 4), deep.left.rgb), (91 << 8, shallow.left.rgb));
    }
    let why = pair(Encoding::Bayer8(Mosaic::Rggb), 3, 3, &[1, 2, 3]).unwrap_err().to_string();
    assert!(why.contains("3x1 pixels lacks a colour"), "{why}");
}

#[test]
fn decodes_image_files_and_keeps_the_cameras_jpeg() {
    let grey: image::DynamicImage = image::GrayImage::from_pixel(16, 8, image::Luma([90])).into();
    let rgb: image::DynamicImage = image::RgbImage::from_pixel(16, 8, image::Rgb([90; 3])).into();
    for (format, kind, picture) in [
        ("jpeg", image::ImageFormat::Jpeg, &grey),
        ("png", image::ImageFormat::Png, &grey),
        ("bmp", image::ImageFormat::Bmp, &grey),
        ("webp", image::ImageFormat::WebP, &rgb),
    ] {
        let mut bytes = std::io::Cursor::new(Vec::new());
        picture.write_to(&mut bytes, kind).unwrap();
        let body = Body::Compressed { format: format.into(), data: bytes.into_inner().into() };
        let sides = ["/left/compressed", "/right/compressed"].map(|name| packet(name, body.clone()));
        let pair = Unpacker::of(None, Pixels::Luma, MaxPixels::default()).pair(&sides).unwrap();
        assert_eq!(pair.left.luma, Luma::U8(Image::filled(16, 8, 90)), "{format}");
        assert_eq!(pair.original.is_some(), format == "jpeg");
        if let Some(original) = &pair.original {
            assert_eq!(original.pictures(Pixels::Luma).unwrap(), (pair.left, pair.right));
        }
    }
}

#[test]
fn rejects_images_that_do_not_fit() {
    let refusal = |bodies: &[Body]| {
        let packets: Vec<_> = bodies.iter().map(|body| packet("/a", body.clone())).collect();
        Unpacker::of(None, Pixels::Color, MaxPixels::default()).pair(&packets).unwrap_err().to_string()
    };
    assert!(refusal(&[grey(2, &[1, 2]), grey(1, &[1])]).contains("2x1"));
    assert!(refusal(&[grey(2, &[1, 2]), deep(&[1, 2])]).contains("16 bits"));
    assert!(refusal(&[]).contains("0 images"));
    let damaged = Body::Compressed { format: "jpeg".into(), data: [1_u8, 2, 3].as_slice().into() };
    assert!(refusal(&[damaged.clone(), damaged]).contains("/a"));
}

#[test]
fn rejects_wrong_sizes_by_the_header_alone() {
    let refusal = |sizes: Sizes, bodies: &[Body]| {
        let packets: Vec<_> = bodies.iter().map(|body| packet("/a", body.clone())).collect();
        let unpacker = Unpacker::of(None, Pixels::Color, MaxPixels::default()).with_sizes(sizes);
        unpacker.pair(&packets).map(|pair| pair.left.size()).map_err(|err| err.to_string())
    };
    let encoded = |kind: image::ImageFormat| {
        let mut bytes = std::io::Cursor::new(Vec::new());
        image::GrayImage::new(48, 32).write_to(&mut bytes, kind).unwrap();
        bytes.into_inner()
    };
    let compressed = |format: &str, bytes: &[u8]| Body::Compressed { format: format.into(), data: bytes.into() };
    let grey = ImageBody { width: 48, height: 32, encoding: Encoding::Mono8, step: 48, data: [7; 48 * 32].into() };
    let png = encoded(image::ImageFormat::Png);
    let jpeg = encoded(image::ImageFormat::Jpeg);
    let scan = jpeg.windows(2).position(|two| two == [0xff, 0xda]).unwrap() + 16;
    // no compressed image has its pixels: decoding one would fail with another error
    let bodies = [
        compressed("png", &png[..45]),
        compressed("jpeg", &jpeg[..scan]),
        compressed("png", &jpeg[..scan]),
        compressed("png", b"P5 48 32 255\n7"),
        Body::Image(grey),
    ];
    for body in bodies {
        let pair = [body.clone(), body.clone()];
        for (sizes, why) in [
            (Sizes::Only((24, 16)), "48x32 px, and the images of this rig have 24x16"),
            (Sizes::Only((48, 33)), "48x32 px, and the images of this rig have 48x33"),
            (Sizes::Within((48, 31)), "48x32 px, and by its camera_info the camera has 48x31"),
        ] {
            let refused = refusal(sizes, &pair).unwrap_err();
            assert!(refused.contains(why), "{body:?}: {refused}");
        }
        let beside = refusal(Sizes::Only((48, 32)), std::slice::from_ref(&body)).unwrap_err();
        assert!(beside.contains("48x32 px, and the images of this rig have 96x32"), "{body:?}: {beside}");
        for sizes in [Sizes::Only((48, 32)), Sizes::Within((48, 32)), Sizes::Within((96, 64)), Sizes::Unknown] {
            match refusal(sizes, &pair) {
                Ok(size) => assert_eq!(size, (48, 32)),
                Err(why) => assert!(!why.contains("px, and"), "its size is right: {why}"),
            }
        }
    }
    let whole = compressed("png", &png);
    assert_eq!(refusal(Sizes::Only((48, 32)), &[whole.clone(), whole.clone()]), Ok((48, 32)));
    assert_eq!(refusal(Sizes::Only((24, 32)), &[whole]), Ok((24, 32)), "both views side by side");
    let huge = compressed("png", b"P5 8193 8192 255\n7");
    let refused = refusal(Sizes::Unknown, &[huge.clone(), huge]).unwrap_err();
    assert!(refused.contains("8193x8192 px are more than 67108864 px"), "{refused}");
}
