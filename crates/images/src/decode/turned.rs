//! Tests of orientation tags.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

use super::*;
use image::codecs::jpeg::JpegEncoder;
use image::{ExtendedColorType, ImageEncoder as _};
use tiff::encoder::{TiffEncoder, colortype};
use tiff::tags::Tag;

const WIDTH: usize = 24;
const HEIGHT: usize = 16;

/// Returns the level of a pixel; no two corners of the image are equal, and it is smooth enough for JPEG.
fn level(x: usize, y: usize) -> u8 {
    (x * 5 + y * 7) as u8
}

fn grey() -> Vec<u8> {
    (0..WIDTH * HEIGHT).map(|i| level(i % WIDTH, i / WIDTH)).collect()
}

/// Returns Exif data with the orientation as its only entry.
fn exif(tag: u8, is_big_endian: bool) -> Vec<u8> {
    if is_big_endian {
        [&b"MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0"[..], &[tag], &[0; 6]].concat()
    } else {
        [&b"II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0"[..], &[tag], &[0; 7]].concat()
    }
}

fn jpeg(tag: u8) -> Vec<u8> {
    let mut bytes = Vec::new();
    let encoder = JpegEncoder::new_with_quality(&mut bytes, 100);
    encoder.write_image(&grey(), WIDTH as u32, HEIGHT as u32, ExtendedColorType::L8).unwrap();
    let data = [&b"Exif\0\0"[..], &exif(tag, tag.is_multiple_of(2))].concat();
    let length = (data.len() as u16 + 2).to_be_bytes();
    [&bytes[..2], b"\xff\xe1", &length, &data, &bytes[2..]].concat()
}

fn tiff_file(tag: u8) -> Vec<u8> {
    let mut bytes = io::Cursor::new(Vec::new());
    let mut encoder = TiffEncoder::new(&mut bytes).unwrap();
    let mut image = encoder.new_image::<colortype::Gray8>(WIDTH as u32, HEIGHT as u32).unwrap();
    image.encoder().write_tag(Tag::Orientation, u16::from(tag)).unwrap();
    image.write_data(&grey()).unwrap();
    bytes.into_inner()
}

fn png(tag: u8) -> Vec<u8> {
    let mut bytes = io::Cursor::new(Vec::new());
    let image = image::GrayImage::from_vec(WIDTH as u32, HEIGHT as u32, grey()).unwrap();
    image.write_to(&mut bytes, ImageFormat::Png).unwrap();
    let (bytes, data) = (bytes.into_inner(), [&b"eXIf"[..], &exif(tag, true)].concat());
    let mut crc = flate2::Crc::new();
    crc.update(&data);
    let length = (data.len() as u32 - 4).to_be_bytes();
    [&bytes[..33], &length, &data, &crc.sum().to_be_bytes(), &bytes[33..]].concat()
}

/// Returns the level of a pixel in the upright image, by Exif's table of the positions of row 0 and column 0.
fn upright(tag: u8, x: usize, y: usize) -> u8 {
    let (right, bottom) = (WIDTH - 1, HEIGHT - 1);
    match tag {
        2 => level(right - x, y),
        3 => level(right - x, bottom - y),
        4 => level(x, bottom - y),
        5 => level(y, x),
        6 => level(y, bottom - x),
        7 => level(right - y, bottom - x),
        8 => level(right - y, x),
        _ => level(x, y),
    }
}

#[test]
fn every_orientation_tag_gives_the_upright_image() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("left");
    for tag in 0..=9 {
        let size = if (5..=8).contains(&tag) { (HEIGHT, WIDTH) } else { (WIDTH, HEIGHT) };
        for (kind, bytes) in [("JPEG", jpeg(tag)), ("TIFF", tiff_file(tag)), ("PNG", png(tag))] {
            std::fs::write(&path, &bytes).unwrap();
            let ReadImage { content, turn, .. } =
                read_part(&path, Part::Main, false, MaxPixels::default(), Some(size)).unwrap();
            let Content::Picture(picture) = content else { panic!("{kind}") };
            assert_eq!((picture.size(), turn.words().is_some()), (size, (2..=8).contains(&tag)), "{kind} {tag}");
            let luma = picture.luma.to_u8();
            let differing = (0..size.1).flat_map(|y| (0..size.0).map(move |x| (x, y)));
            let worst = differing.map(|(x, y)| luma.at(x, y).abs_diff(upright(tag, x, y))).max().unwrap();
            assert!(worst <= 2, "{kind} {tag}: {worst}");
            let as_it_lies = decode_picture(&bytes, false, MaxPixels::default()).unwrap();
            assert_eq!(as_it_lies.size(), (WIDTH, HEIGHT), "{kind} {tag}");
        }
    }
}

#[test]
fn compares_the_wanted_size_with_the_upright_image() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("left.jpg");
    std::fs::write(&path, jpeg(6)).unwrap();
    let read = read_part(&path, Part::Main, false, MaxPixels::default(), Some((WIDTH, HEIGHT)));
    let text = read.unwrap_err().to_string();
    assert!(text.contains("16x24 px instead of 24x16"), "{text}");
}
