//! Tests of files with both views, of pairs of numbers, and of what is said of them.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

use super::*;
use std::path::PathBuf;
use tiff::encoder::{TiffEncoder, colortype};
use tiff::tags::Tag;

fn jpeg(level: u8, (width, height): (u32, u32)) -> Vec<u8> {
    let mut bytes = std::io::Cursor::new(Vec::new());
    image::GrayImage::from_pixel(width, height, image::Luma([level]))
        .write_to(&mut bytes, image::ImageFormat::Jpeg)
        .unwrap();
    bytes.into_inner()
}

/// Returns an MPO of two disparity images (CIPA DC-007-2009).
fn mpo(left: &[u8], right: &[u8]) -> Vec<u8> {
    let index_bytes = 4 + 4 + 4 + 4 + 2 + 12 + 4 + 32;
    let first_bytes = left.len() + index_bytes;
    let from_start = first_bytes - 2 - 8;
    let numbers = |numbers: &[u32]| numbers.iter().flat_map(|n| n.to_le_bytes()).collect::<Vec<_>>();
    let mut index =
        [&b"\xff\xe2"[..], &(index_bytes as u16 - 2).to_be_bytes(), b"MPF\0II*\0\x08\0\0\0\x01\0\x02\xb0\x07\0"]
            .concat();
    index.extend(numbers(&[32, 26, 0]));
    index.extend(numbers(&[0x2002_0002, first_bytes as u32, 0, 0]));
    index.extend(numbers(&[0x0002_0002, right.len() as u32, from_start as u32, 0]));
    assert_eq!(index.len(), index_bytes);
    [&left[..2], &index, &left[2..], right].concat()
}

fn levels(pair: &RawPair) -> [u8; 2] {
    [&pair.left, &pair.right].map(|picture| picture.luma.to_u8().at(1, 1))
}

fn listed(folder: &Path) -> Vec<FilePair> {
    list_pairs(folder).unwrap().pairs
}

#[test]
fn an_mpo_is_a_pair_alone_in_a_folder_and_given_twice() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.MPO");
    let (left, right) = (jpeg(40, (64, 48)), jpeg(200, (64, 48)));
    std::fs::write(&path, mpo(&left, &right)).unwrap();
    std::fs::write(folder.path().join("b.jpg"), mpo(&right, &left)).unwrap();
    std::fs::write(folder.path().join("c.jpg"), &left).unwrap();
    let in_folder = listed(folder.path());
    assert_eq!(in_folder.iter().map(|pair| &pair.name[..]).collect::<Vec<_>>(), ["a", "b"], "by content");
    assert_eq!(levels(&in_folder[1].read(false, MaxPixels::default()).unwrap()), [200, 40]);
    for pair in [listed(&path).remove(0), FilePair::of_two(&path, &path), in_folder[0].clone()] {
        let (read, remarks) = pair.read_and_remark(false, MaxPixels::default(), false).unwrap();
        assert_eq!(levels(&read), [40, 200]);
        assert!(remarks.concat().contains("an MPO, the left image first"), "{remarks:?}");
        let view = pair.read_view(true, MaxPixels::default(), Some((64, 48))).unwrap();
        assert_eq!(view.luma.to_u8().at(1, 1), 200);
    }
    // as one of two files, or as halves, the second image is named
    let other = folder.path().join("c.jpg");
    let halves = FilePair::of_both(&path, FileOfBoth::of_halves(Arrangement::SideBySide));
    for (pair, said) in
        [(FilePair::of_two(&path, &other), "only its first image is used"), (halves, "so it is read without")]
    {
        let (_, remarks) = pair.read_and_remark(false, MaxPixels::default(), false).unwrap();
        assert!(remarks.concat().contains(said), "{remarks:?}");
    }
    let cut = mpo(&left, &right);
    std::fs::write(&path, &cut[..cut.len() - 200]).unwrap();
    let text = listed(&path)[0].read(false, MaxPixels::default()).unwrap_err().to_string();
    assert!(text.contains("a.MPO") && text.contains("cut off"), "{text}");
}

#[test]
fn a_jps_has_the_right_view_in_its_left_half() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("one.jps");
    let both = image::GrayImage::from_fn(48, 16, |x, _| image::Luma([if x < 24 { 200 } else { 40 }]));
    both.save_with_format(&path, image::ImageFormat::Jpeg).unwrap();
    let pair = listed(folder.path()).remove(0);
    assert_eq!(levels(&pair.read(false, MaxPixels::default()).unwrap()), [40, 200]);
    assert_eq!(pair.read_view(true, MaxPixels::default(), Some((24, 16))).unwrap().luma.to_u8().at(1, 1), 200);
    let named = list_pictures_of_both(folder.path(), Arrangement::SideBySide).unwrap().pairs.remove(0);
    assert_eq!(levels(&named.read(false, MaxPixels::default()).unwrap()), [200, 40], "the user's word decides");
}

/// Writes a TIFF of grey pages with their `NewSubfileType` and level.
fn pages(path: &Path, pages: &[((u32, u32), u32, u8)]) {
    let mut encoder = TiffEncoder::new(std::fs::File::create(path).unwrap()).unwrap();
    for &((width, height), kind, level) in pages {
        let mut image = encoder.new_image::<colortype::Gray8>(width, height).unwrap();
        image.encoder().write_tag(Tag::NewSubfileType, kind).unwrap();
        image.write_data(&vec![level; (width * height) as usize]).unwrap();
    }
}

#[test]
fn the_whole_image_of_a_tiff_is_read_and_its_pages_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let [left, right] = ["left.tif", "right.tif"].map(|name| folder.path().join(name));
    let read = || FilePair::of_two(&left, &right).read_and_remark(false, MaxPixels::default(), false);
    for path in [&left, &right] {
        pages(path, &[((4, 3), 1, 9), ((8, 6), 0, 70), ((2, 2), 1, 9)]);
    }
    let (pair, remarks) = read().unwrap();
    assert_eq!((pair.left.size(), levels(&pair)), ((8, 6), [70, 70]));
    assert_eq!(remarks, Vec::<String>::new());
    // a stack of planes
    pages(&left, &[((8, 6), 0, 50), ((8, 6), 0, 60), ((8, 6), 0, 61)]);
    let (pair, remarks) = read().unwrap();
    assert_eq!(levels(&pair), [50, 70]);
    assert!(remarks.concat().contains("left.tif has 3 pages of one size") && remarks.concat().contains("`tiffsplit "));
    pages(&left, &[((4, 3), 1, 9)]);
    let text = read().unwrap_err().to_string();
    assert!(text.contains("left.tif") && text.contains("marked as a smaller copy (4x3 px)"), "{text}");
    // two pages of one size are a pair, if the file is given alone
    pages(&left, &[((8, 6), 0, 50), ((8, 6), 0, 60)]);
    let alone = listed(&left).remove(0);
    let (pair, remarks) = alone.read_and_remark(false, MaxPixels::default(), false).unwrap();
    assert_eq!(levels(&pair), [50, 60]);
    assert!(remarks.concat().contains("a TIFF of two pages"), "{remarks:?}");
    let text = list_pairs(&right).unwrap_err().to_string();
    assert!(text.contains("right.tif is a file"), "{text}");
}

fn floats(path: &Path, values: &[f32]) {
    let mut encoder = TiffEncoder::new(std::fs::File::create(path).unwrap()).unwrap();
    encoder.write_image::<colortype::Gray32Float>(values.len() as u32, 1, values).unwrap();
}

#[test]
fn numbers_of_a_pair_get_one_range() {
    let folder = tempfile::tempdir().unwrap();
    let [left, right] = ["left.tif", "right.tif"].map(|name| folder.path().join(name));
    let words = |picture: &Picture| match &picture.luma {
        Luma::U16 { image, .. } => image.pixels().to_vec(),
        Luma::U8(image) => image.pixels().iter().map(|&level| u16::from(level)).collect(),
    };
    let read = || FilePair::of_two(&left, &right).read_and_remark(false, MaxPixels::default(), false).unwrap();
    floats(&left, &[1.0, 2.0, f32::NAN, 5.5, -3.4e38, -9999.0]);
    floats(&right, &[2.0, 3.0, 1.5, 4.0, 2.0, 10.0]);
    let (pair, remarks) = read();
    let at = |value: f64| 1 + ((value - 1.0) / 9.0 * 65_534.0).round() as u16;
    assert_eq!(words(&pair.left), [1, at(2.0), 0, at(5.5), 0, 0], "one range, and no number is black");
    assert_eq!(words(&pair.right), [at(2.0), at(3.0), at(1.5), at(4.0), at(2.0), 65_535]);
    assert!(remarks.concat().contains("of both 1 is black and 10 white"), "{remarks:?}");
    // whole numbers within those of images are brightness
    floats(&left, &[0.0, 7.0, 200.0]);
    floats(&right, &[0.0, 9.0, 100.0]);
    let (pair, remarks) = read();
    assert_eq!((words(&pair.left), words(&pair.right), remarks.len()), (vec![0, 7, 200], vec![0, 9, 100], 0));
    let mut encoder = TiffEncoder::new(std::fs::File::create(&left).unwrap()).unwrap();
    encoder.write_image::<colortype::GrayI16>(3, 1, &[-100, 0, 100]).unwrap();
    let (pair, remarks) = read();
    assert_eq!((words(&pair.left), words(&pair.right)), (vec![1, 32_768, 65_535], vec![32_768, 35_717, 65_535]));
    assert!(remarks.concat().contains("hold signed numbers"), "{remarks:?}");
    image::GrayImage::new(3, 1).save(&right).unwrap();
    let text = FilePair::of_two(&left, &right).read(false, MaxPixels::default()).unwrap_err().to_string();
    assert!(text.contains("left.tif holds signed numbers and") && text.contains("of one kind"), "{text}");
    floats(&left, &[f32::NAN; 3]);
    floats(&right, &[f32::NAN; 3]);
    let text = FilePair::of_two(&left, &right).read(false, MaxPixels::default()).unwrap_err().to_string();
    assert!(text.contains("no pixel with a number"), "{text}");
}

#[test]
fn numbers_of_numpy_and_pfm_are_a_pair_where_there_are_no_images() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| -> PathBuf { folder.path().join(name) };
    let header = "{'descr': '<u2', 'fortran_order': False, 'shape': (2, 3), }\n";
    let head = [b"\x93NUMPY\x01\0", &(header.len() as u16).to_le_bytes()[..], header.as_bytes()].concat();
    for (name, values) in [("left_1.npy", [1_u16, 2, 4000, 0, 9, 9]), ("right_1.npy", [3, 4, 5, 0, 9, 9])] {
        let values: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        std::fs::write(path(name), [&head[..], &values].concat()).unwrap();
    }
    let pair = listed(folder.path()).remove(0).read(false, MaxPixels::default()).unwrap();
    assert_eq!(pair.left.luma.bits(), 12, "as of 12 bits in 16");
    for (name, level) in [("left_2.pfm", 0.25_f32), ("right_2.pfm", 0.5)] {
        let values: Vec<u8> = [0.0, level, 1.0].iter().flat_map(|value| value.to_le_bytes()).collect();
        std::fs::write(path(name), [b"Pf\n3 1\n-1\n", &values[..]].concat()).unwrap();
    }
    let pairs = listed(folder.path());
    assert_eq!(pairs.len(), 2);
    let pair = pairs[1].read(false, MaxPixels::default()).unwrap();
    assert_eq!((pair.left.luma.to_u16().at(1, 0), pair.right.luma.to_u16().at(1, 0)), (16_385, 32_768));
    image::GrayImage::new(3, 1).save(path("left_3.png")).unwrap();
    image::GrayImage::new(3, 1).save(path("right_3.png")).unwrap();
    assert_eq!(listed(folder.path()).len(), 1, "beside images they are disparities");
}
