//! Tests of truncated files and of files with false headers.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

use super::*;
use image::codecs::jpeg::JpegEncoder;
use image::codecs::pnm::{PnmEncoder, PnmSubtype, SampleEncoding};
use image::{ExtendedColorType, ImageEncoder as _, Rgb, RgbImage};
use std::io::Write as _;
use std::path::PathBuf;
use stereopsis_frame::jpeg::frame;
use tiff::encoder::{Compression, DeflateLevel, TiffEncoder};

const WIDTH: u32 = 24;
const HEIGHT: u32 = 17;

fn picture() -> RgbImage {
    RgbImage::from_fn(WIDTH, HEIGHT, |x, y| Rgb([(x * 9 + y) as u8, (y * 13 + x * x) as u8, (x * y * 7) as u8]))
}

fn grey() -> Vec<u8> {
    picture().pixels().map(|pixel| pixel.0[1]).collect()
}

fn files() -> Vec<(&'static str, Vec<u8>)> {
    let (rgb, grey) = (picture(), grey());
    let encoded = |format| {
        let mut bytes = io::Cursor::new(Vec::new());
        rgb.write_to(&mut bytes, format).unwrap();
        bytes.into_inner()
    };
    let mut grey_jpeg = Vec::new();
    JpegEncoder::new(&mut grey_jpeg).write_image(&grey, WIDTH, HEIGHT, ExtendedColorType::L8).unwrap();
    let mut plain_text = Vec::new();
    let text = PnmSubtype::Graymap(SampleEncoding::Ascii);
    PnmEncoder::new(&mut plain_text)
        .with_subtype(text)
        .write_image(&grey, WIDTH, HEIGHT, ExtendedColorType::L8)
        .unwrap();
    let tiff = |compression, rows| {
        let mut bytes = io::Cursor::new(Vec::new());
        let mut encoder = TiffEncoder::new(&mut bytes).unwrap().with_compression(compression);
        let mut image = encoder.new_image::<tiff::encoder::colortype::Gray8>(WIDTH, HEIGHT).unwrap();
        image.rows_per_strip(rows).unwrap();
        image.write_data(&grey).unwrap();
        bytes.into_inner()
    };
    vec![
        ("colour JPEG", encoded(ImageFormat::Jpeg)),
        ("grey JPEG", grey_jpeg),
        ("PNG", encoded(ImageFormat::Png)),
        ("PPM", encoded(ImageFormat::Pnm)),
        ("BMP", encoded(ImageFormat::Bmp)),
        ("WebP", encoded(ImageFormat::WebP)),
        ("PGM in text", plain_text),
        ("TIFF", tiff(Compression::Uncompressed, HEIGHT)),
        ("TIFF in strips", tiff(Compression::Lzw, 3)),
        ("packed TIFF", tiff(Compression::Deflate(DeflateLevel::Fast), 5)),
        ("TIFF with its directory first", directory_first(&grey)),
    ]
}

/// Returns a TIFF of one strip that ends with its pixels.
fn directory_first(grey: &[u8]) -> Vec<u8> {
    let long = |tag: u16, value: u32| {
        [&tag.to_le_bytes()[..], &4_u16.to_le_bytes(), &1_u32.to_le_bytes(), &value.to_le_bytes()].concat()
    };
    let entries = [
        long(256, WIDTH),
        long(257, HEIGHT),
        long(258, 8),
        long(259, 1),
        long(262, 1),
        long(273, 8 + 2 + 9 * 12 + 4),
        long(277, 1),
        long(278, HEIGHT),
        long(279, WIDTH * HEIGHT),
    ];
    [b"II*\0\x08\0\0\0\x09\0", &entries.concat()[..], &[0; 4], grey].concat()
}

fn decode(bytes: &[u8]) -> Result<Picture, PictureError> {
    decode_picture(bytes, true, MaxPixels::default())
}

#[test]
fn rejects_truncated_files_and_ignores_trailing_bytes() {
    for (name, bytes) in files() {
        let whole = decode(&bytes).unwrap_or_else(|why| panic!("{name}: {why}"));
        assert_eq!(whole.size(), (WIDTH as usize, HEIGHT as usize), "{name}");
        for garbage in [&[0; 100][..], b"\xff\xd8 an older one \xff\xd9", b"7"] {
            let more = [&bytes[..], garbage].concat();
            assert_eq!(decode(&more).unwrap(), whole, "{name} {garbage:?}");
        }
        // a shorter last number in a text is undetectable, because the text may end without a space
        let unseen = if name == "PGM in text" { 4 } else { 0 };
        let matched: Vec<_> = (0..bytes.len() - unseen).filter(|&length| decode(&bytes[..length]).is_ok()).collect();
        assert!(matched.is_empty(), "{name}: {matched:?} of {}", bytes.len());
    }
}

#[test]
fn pixels_of_a_jpeg_are_those_of_the_image_crate() {
    for (name, bytes) in files().into_iter().take(2) {
        let other = image::load_from_memory_with_format(&bytes, ImageFormat::Jpeg).unwrap();
        assert_eq!(decode(&bytes).unwrap(), picture_of(other, true).unwrap(), "{name}");
    }
}

#[test]
fn finds_the_end_of_a_jpeg() {
    let bytes = &files()[0].1;
    let parts = frame(bytes).unwrap();
    assert_eq!((parts.end, parts.is_plain), (bytes.len() - 2, true));
    // an end marker inside a segment between two scans must not end the image
    let second = [
        &bytes[..parts.end],
        b"\xff\xfe\x00\x06\xff\xd9\xff\xd9",
        b"\xff\xda\x00\x02data\xff\x00\xff\xd0",
        b"\xff\xd9",
    ]
    .concat();
    let parts = frame(&second).unwrap();
    assert_eq!((parts.end, parts.is_plain), (second.len() - 2, false));
    assert_eq!(frame(&second[..second.len() - 2]), None);
}

fn png(width: u32, height: u32, more: &[u8]) -> Vec<u8> {
    let part = |name: &[u8; 4], data: &[u8]| {
        let mut crc = flate2::Crc::new();
        crc.update(&[&name[..], data].concat());
        [&(data.len() as u32).to_be_bytes()[..], name, data, &crc.sum().to_be_bytes()].concat()
    };
    let head = [&width.to_be_bytes()[..], &height.to_be_bytes(), &[8, 0, 0, 0, 0]].concat();
    let mut packed = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(&vec![0; (width as usize + 1) * height.min(10) as usize]).unwrap();
    let pixels = packed.finish().unwrap();
    [b"\x89PNG\r\n\x1a\n", &part(b"IHDR", &head)[..], more, &part(b"IDAT", &pixels), &part(b"IEND", &[])].concat()
}

/// Returns a text chunk of a PNG that unpacks to this number of bytes.
fn packed_text(bytes: usize) -> Vec<u8> {
    let mut packed = flate2::write::ZlibEncoder::new(b"Comment\0\0".to_vec(), flate2::Compression::fast());
    packed.write_all(&vec![b'a'; bytes]).unwrap();
    let data = packed.finish().unwrap();
    let mut crc = flate2::Crc::new();
    crc.update(&[b"zTXt", &data[..]].concat());
    [&(data.len() as u32).to_be_bytes()[..], b"zTXt", &data, &crc.sum().to_be_bytes()].concat()
}

#[test]
fn checks_the_claimed_size_before_allocation() {
    let mut jpeg = files()[0].1.clone();
    let sof = jpeg.windows(2).position(|two| two == [0xff, 0xc0]).unwrap();
    jpeg[sof + 5..sof + 9].copy_from_slice(&[0xff, 0xdc, 0xff, 0xdc]);
    let mut tiff = directory_first(&grey());
    // width, height, rows per strip
    for at in [18, 30, 102] {
        tiff[at..at + 4].copy_from_slice(&40_000_u32.to_le_bytes());
    }
    for (bytes, size) in [
        (png(70_000, 70_000, &[]), "70000x70000"),
        (jpeg, "65500x65500"),
        (tiff, "40000x40000"),
        (b"P5 4000000000 4000000000 255\n0".to_vec(), "4000000000x4000000000"),
        (b"P6 20000 20000 65535\n0".to_vec(), "20000x20000"),
    ] {
        let why = decode(&bytes).unwrap_err().to_string();
        assert!(why.contains(&format!("{size} px are more than the 268435456 of max-pixels")), "{why}");
    }
    let small = MaxPixels(u64::from(WIDTH * HEIGHT) - 1);
    for (name, bytes) in files() {
        let why = decode_picture(&bytes, false, small).unwrap_err().to_string();
        assert!(why.contains("24x17 px are more than the 407"), "{name}: {why}");
        assert!(decode_picture(&bytes, false, MaxPixels(408)).is_ok(), "{name}");
    }
}

#[test]
fn limits_the_memory_of_texts() {
    assert!(decode(&png(4, 4, &packed_text(1000))).is_ok());
    let why = decode(&png(4, 4, &packed_text(100 << 20))).map(|picture| picture.size());
    // the text is either not unpacked or refused
    assert!(why.as_ref().map_or(true, |size| *size == (4, 4)), "{why:?}");
}

#[test]
fn survives_false_strips_of_a_tiff() {
    for (entry, value) in [(5, u32::MAX), (8, u32::MAX), (8, 0), (7, 0), (7, 1), (5, 0)] {
        let mut tiff = directory_first(&grey());
        let at = 10 + 12 * entry + 8;
        tiff[at..at + 4].copy_from_slice(&value.to_le_bytes());
        let _ = decode(&tiff); // must not panic or allocate much
    }
    let many = {
        let mut tiff = directory_first(&grey());
        for entry in [5, 8] {
            let at = 10 + 12 * entry + 4;
            tiff[at..at + 4].copy_from_slice(&0x3fff_ffff_u32.to_le_bytes()); // number of strips
        }
        tiff
    };
    assert!(decode(&many).is_err());
}

#[test]
fn rejects_huge_sparse_files() {
    let folder = tempfile::tempdir().unwrap();
    let path: PathBuf = folder.path().join("a.png");
    for (name, bytes) in files().into_iter().chain([("holes", vec![])]) {
        std::fs::write(&path, &bytes).unwrap();
        std::fs::File::options().write(true).open(&path).unwrap().set_len(200 << 30).unwrap();
        let why = read_picture(&path, true, MaxPixels::default()).unwrap_err().to_string();
        assert!(why.contains("214748364800 bytes") || why.contains("no PNG"), "{name}: {why}");
    }
}

#[cfg(unix)]
#[test]
fn rejects_pipes_and_devices() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("left1.png");
    assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
    let why = read_picture(&path, true, MaxPixels::default()).unwrap_err().to_string();
    assert!(why.contains("left1.png: it is a pipe"), "{why}");
    let why = read_picture(Path::new("/dev/zero"), true, MaxPixels::default()).unwrap_err().to_string();
    assert!(why.contains("a device"), "{why}");
}
