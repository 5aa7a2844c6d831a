//! Tests of files with both views, and of formats that are not read, on files of some bytes.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

use super::*;
use std::io::Cursor;

/// Returns a segment of a JPEG.
fn segment(marker: u8, data: &[u8]) -> Vec<u8> {
    [&[0xff, marker], &(data.len() as u16 + 2).to_be_bytes()[..], data].concat()
}

/// Returns the headers of a JPEG of this size with these segments, and an image without data.
fn jpeg(segments: &[u8], [width, height]: [u16; 2]) -> Vec<u8> {
    let size = [&[8][..], &height.to_be_bytes(), &width.to_be_bytes(), &[1, 1, 0x11, 0]].concat();
    [&[0xff, 0xd8], segments, &segment(0xc0, &size), &[0xff, 0xda, 0, 2, 0xff, 0xd9]].concat()
}

/// Returns an MPO of images by their kinds and sizes, the index in either order of bytes (CIPA DC-007-2009, 5.2).
fn mpo(images: &[(u32, [u16; 2])], more: &[u8], is_big_endian: bool) -> Vec<u8> {
    let n4 = |number: u32| if is_big_endian { number.to_be_bytes() } else { number.to_le_bytes() };
    let n2 = |number: u16| if is_big_endian { number.to_be_bytes() } else { number.to_le_bytes() };
    let index_bytes = 4 + 8 + 2 + 12 + 4 + 16 * images.len();
    let first_bytes = jpeg(&[more, &segment(0xe2, &vec![0; index_bytes])].concat(), images[0].1).len();
    let start = 2 + more.len() + 4 + 4;
    let start_of_index = if is_big_endian { &b"MM\0*"[..] } else { b"II*\0" };
    let mut index = [start_of_index, &n4(8), &n2(1), &n2(0xb002), &n2(7)].concat();
    index.extend([n4(16 * images.len() as u32), n4(26), n4(0)].concat());
    let mut place = first_bytes;
    for (k, (kind, size)) in images.iter().enumerate() {
        let bytes = if k == 0 { first_bytes } else { jpeg(&[], *size).len() };
        let from_start = if k == 0 { 0 } else { place - start };
        place += if k == 0 { 0 } else { bytes };
        index.extend([&n4(*kind)[..], &n4(bytes as u32), &n4(from_start as u32), &[0; 4]].concat());
    }
    let first = jpeg(&[more, &segment(0xe2, &[b"MPF\0", &index[..]].concat())].concat(), images[0].1);
    images[1..].iter().fold(first, |file, (_, size)| [file, jpeg(&[], *size)].concat())
}

fn of(bytes: &[u8]) -> Option<FileOfBoth> {
    FileOfBoth::of_reader(Cursor::new(bytes), false)
}

const PRIMARY: u32 = 0x03_0000;
const DISPARITY: u32 = 0x02_0002;
const PREVIEW: u32 = 0x01_0002;
const SIZE: [u16; 2] = [40, 30];

#[test]
fn an_mpo_is_a_pair_by_the_kinds_of_its_images() {
    for is_big_endian in [false, true] {
        let bytes = mpo(&[(DISPARITY | 1 << 29, SIZE), (DISPARITY, SIZE)], b"", is_big_endian);
        let Some(FileOfBoth { views: BothViews::Jpegs([left, right]), what: Some(what) }) = of(&bytes) else {
            panic!()
        };
        let second = bytes.windows(4).rposition(|window| window == [0xff, 0xd8, 0xff, 0xc0]).unwrap() as u64;
        assert_eq!((left, right), (0..second, second..bytes.len() as u64));
        assert!(what.contains("left image first"), "{what}");
    }
    let pair = |images: &[(u32, [u16; 2])]| of(&mpo(images, b"", false)).is_some();
    assert!(pair(&[(PRIMARY, SIZE), (0, SIZE)]), "Pillow 13.0 names no kind of the second image");
    assert!(pair(&[(DISPARITY, SIZE), (PREVIEW, [20, 15]), (DISPARITY, SIZE)]), "a preview between both views");
    assert!(!pair(&[(PRIMARY, SIZE), (PREVIEW, SIZE)]), "a preview is no view");
    assert!(!pair(&[(PRIMARY, SIZE), (0, [20, 15])]), "a smaller second image is no view");
    assert!(!pair(&[(PRIMARY, SIZE), (0, SIZE), (0, SIZE)]), "three images of no kind");
    let gains = segment(0xe1, b"http://ns.adobe.com/xap/1.0/\0 hdrgm:Version=\"1.0\"");
    assert_eq!(of(&mpo(&[(PRIMARY, SIZE), (0, SIZE)], &gains, false)), None, "gains of Ultra HDR are no view");
    let four = of(&mpo(&[(DISPARITY, SIZE); 4], b"", false)).unwrap();
    assert!(four.what.unwrap().contains("4 views"));
}

#[test]
fn damaged_indexes_are_no_pair_and_no_panic() {
    let whole = mpo(&[(DISPARITY, SIZE), (DISPARITY, SIZE)], b"", true);
    for cut in 0..whole.len() {
        let _ = of(&whole[..cut]);
    }
    for at in 2..whole.len() {
        let mut damaged = whole.clone();
        damaged[at] = 0xff;
        let _ = of(&damaged);
    }
    assert_eq!(of(&whole[..whole.len() - 20]), None, "the second image is cut off");
    assert_eq!(of(&jpeg(&[], SIZE)), None);
    assert_eq!(of(b""), None);
}

#[test]
fn jps_is_read_as_its_descriptor_says() {
    let file = |flags: u8, layout: u8| {
        let data = [&b"_JPSJPS_"[..], &[0, 4, 0, flags, layout, 1, 0, 0]].concat();
        of(&jpeg(&segment(0xe3, &data), SIZE)).map(|both| both.views)
    };
    let halves = |arrangement, is_right_first| Some(BothViews::Halves { arrangement, is_right_first });
    assert_eq!(file(4, 2), halves(Arrangement::SideBySide, false));
    assert_eq!(file(0, 2), halves(Arrangement::SideBySide, true));
    assert_eq!(file(6, 3), halves(Arrangement::TopBottom, false));
    assert_eq!(file(4, 1), None, "interleaved rows are no halves");
    let plain = jpeg(&[], SIZE);
    let named = FileOfBoth::of_reader(Cursor::new(&plain), true).map(|both| both.views);
    assert_eq!(named, halves(Arrangement::SideBySide, true), "without a descriptor the right view is left");
}

fn boxed(name: &[u8; 4], data: &[u8]) -> Vec<u8> {
    [&(data.len() as u32 + 8).to_be_bytes()[..], name, data].concat()
}

#[test]
fn formats_that_are_not_read_are_named_with_a_command() {
    // as libheif 1.15 orders the boxes; the group is that of ISO/IEC 23008-12, 6.8.5
    let heic = |group: &[u8]| {
        let meta = [&[0; 4], &boxed(b"hdlr", b"pict")[..], &boxed(b"grpl", group)].concat();
        [boxed(b"ftyp", b"heic\0\0\0\0"), boxed(b"meta", &meta), boxed(b"mdat", b"")].concat()
    };
    let group = |ids: [u8; 2]| boxed(b"ster", &[0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 2, 0, 0, 0, ids[0], 0, 0, 0, ids[1]]);
    for (bytes, name, words) in [
        (heic(b""), "a.heic", &["a HEIC image", "`heif-convert a.heic a.png`", "a-1.png and a-2.png"][..]),
        (heic(&group([1, 2])), "a.heic", &["of two views", "the left one a-1.png and the right one a-2.png"]),
        (heic(&group([2, 1])), "a b.heic", &["'a b.heic'", "the left one 'a b-2.png'"]),
        (boxed(b"ftyp", b"avif"), "a.avif", &["an AVIF image"]),
        (b"\0\0\0\x0cjP  \r\n\x87\n".to_vec(), "a.jp2", &["JPEG 2000", "`opj_decompress -i a.jp2 -o a.png`"]),
        (b"\xff\x0a".to_vec(), "a.jxl", &["JPEG XL", "`djxl a.jxl a.png`"]),
        (b"GIF89a".to_vec(), "a.gif", &["a GIF", "`convert a.gif 'a-%03d.png'`"]),
        (b"\x0a\x05\x01\x08".to_vec(), "a.pcx", &["a PCX image", "`convert a.pcx a.png`"]),
        (b"PK\x03\x04\x14".to_vec(), "d/a.npz", &["NumPy", "`python3 -m zipfile -e d/a.npz d`"]),
        (b"\x1f\x8b\x08\0".to_vec(), "a.pfm.gz", &["gzip", "`gunzip -k a.pfm.gz`"]),
        ([&[0; 128][..], b"DICM"].concat(), "a.dcm", &["a DICOM image, which is not read: save it as PNG of 16 bits"]),
        (b"\x89HDF\r\n\x1a\n".to_vec(), "a.dsp5", &["an HDF5 file", "twice the size"]),
        (b"PIEH".to_vec(), "a.flo", &["an optical flow", "minus the first"]),
        (b"II*\0\x10\0\0\0CR\x02\0".to_vec(), "a.cr2", &["a raw photo", "`dcraw -w -W -6 -T a.cr2` writes a.tiff"]),
    ] {
        let text = UnreadImage::of_bytes(&bytes).unwrap().words(Path::new(name));
        assert!(words.iter().all(|word| text.contains(word)), "{name}: {text}");
        for cut in 0..bytes.len() {
            let _ = UnreadImage::of_bytes(&bytes[..cut]);
        }
    }
    assert_eq!(UnreadImage::of_bytes(&boxed(b"ftyp", b"isom")), None, "a video");
}
