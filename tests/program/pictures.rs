//! Runs the commands that messages on image files name, as their reader would: where the programs are installed (Debian 12: imagemagick,
//! libheif-examples, libopenjp2-tools, libjxl-tools, libtiff-tools, dcraw, libimage-exiftool-perl).

#![allow(clippy::print_stderr, reason = "a test may say what it leaves out")]

use super::start::{in_folder, run, stereopsis};
use std::fs;
use std::path::Path;
use std::process::Command;

/// Runs a line of shell; returns whether it succeeds.
fn shell(folder: &Path, line: &str) -> bool {
    let mut command = Command::new("sh");
    command.args(["-c", line]);
    in_folder(folder, command).output().unwrap().status.success()
}

/// Returns the command between backticks in what the program says of these inputs.
fn command_for(folder: &Path, inputs: &[&str]) -> String {
    let args = [&["compute", "--overwrite", "--engine", "cpu", "-o", "map.pfm"], inputs].concat();
    let output = stereopsis(folder, &args).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!said.contains("panicked"), "{said}");
    let commands: Vec<_> = said.split('`').skip(1).step_by(2).collect();
    let [.., command] = commands[..] else { panic!("{inputs:?}: {said}") };
    command.to_owned()
}

/// Creates a folder with a pair of 64x48 px.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mut random = fastrand::Rng::with_seed(7);
    let texture: Vec<u8> = (0..72 * 48).map(|_| random.u8(..)).collect();
    for (name, offset) in [("left.png", 0), ("right.png", 6)] {
        let view = image::GrayImage::from_fn(64, 48, |x, y| image::Luma([texture[(y * 72 + x + offset) as usize]]));
        view.save(folder.path().join(name)).unwrap();
        view.save(folder.path().join(name).with_extension("tif")).unwrap();
        view.save(folder.path().join(name).with_extension("jpg")).unwrap();
    }
    folder
}

/// Returns a DNG of one mosaic of a sensor, with the tags that dcraw 9.28 needs.
fn dng() -> Vec<u8> {
    const SIZE: [u32; 2] = [64, 48];
    let bytes = 2 * SIZE[0] * SIZE[1];
    let place = 8 + 2 + 12 * 20 + 4;
    let tags: [(u16, u16, u32, u32); 20] = [
        (254, 4, 1, 0),
        (256, 4, 1, SIZE[0]),
        (257, 4, 1, SIZE[1]),
        (258, 3, 1, 16),
        (259, 3, 1, 1),
        (262, 3, 1, 32_803),
        (271, 2, 4, u32::from_le_bytes(*b"Abc\0")),
        (272, 2, 4, u32::from_le_bytes(*b"Abc\0")),
        (273, 4, 1, place + 72),
        (274, 3, 1, 1),
        (277, 3, 1, 1),
        (278, 4, 1, SIZE[1]),
        (279, 4, 1, bytes),
        (33_421, 3, 2, 2 << 16 | 2),
        (33_422, 1, 4, u32::from_le_bytes([0, 1, 1, 2])),
        (50_706, 1, 4, u32::from_le_bytes([1, 4, 0, 0])),
        (50_707, 1, 4, u32::from_le_bytes([1, 1, 0, 0])),
        (50_708, 2, 4, u32::from_le_bytes(*b"Abc\0")),
        (50_717, 4, 1, 4095),
        (50_721, 10, 9, place),
    ];
    let mut file = [&b"II*\0\x08\0\0\0"[..], &(tags.len() as u16).to_le_bytes()].concat();
    for (tag, kind, count, value) in tags {
        let (tag, kind) = (tag.to_le_bytes(), kind.to_le_bytes());
        file.extend([&tag[..], &kind, &count.to_le_bytes(), &value.to_le_bytes()].concat());
    }
    file.extend([0; 4]);
    let matrix = (0..9).flat_map(|k: u32| [u32::from(k.is_multiple_of(4)), 1]);
    file.extend(matrix.flat_map(u32::to_le_bytes));
    let mut random = fastrand::Rng::with_seed(7);
    file.extend((0..bytes / 2).flat_map(|_| random.u16(0..4095).to_le_bytes()));
    file
}

#[test]
fn commands_that_messages_on_images_name_run() {
    let folder = folder();
    let at = folder.path();
    fs::write(at.join("raw.dng"), dng()).unwrap();
    let both = "cat left.png > x.png";
    for (programs, made_by, inputs, results) in [
        ("convert", "convert left.png a.gif", &["a.gif"][..], &["a-000.png"][..]),
        ("convert", "convert left.png a.tga", &["a.tga"], &["a.png"]),
        ("convert", "convert -delay 10 left.png right.png w.webp", &["w.webp"], &["w-000.png", "w-001.png"]),
        ("opj_decompress opj_compress", "opj_compress -i left.png -o j.jp2", &["j.jp2"], &["j.png"]),
        ("djxl cjxl", "cjxl left.png x.jxl", &["x.jxl"], &["x.png"]),
        ("heif-convert heif-enc", "heif-enc left.png right.png -o h.heic", &["h.heic"], &["h-1.png", "h-2.png"]),
        ("dcraw", both, &["raw.dng", "raw.dng"], &["raw.tiff"]),
        ("tiffcp", "tiffcp -c lzma left.tif l.tif", &["l.tif", "l.tif"], &["l_zip.tif"]),
        (
            "tiffsplit tiffcp",
            "tiffcp left.tif left.tif left.tif s.tif",
            &["s.tif", "right.tif"],
            &["s_aaa.tif", "s_aac.tif"],
        ),
        ("convert", "convert left.png -resize 128x96 big.png", &["big.png", "right.png"], &["OUT.png"]),
        ("exiftool", "printf 'XMP' > v.txt", &["vr.jpg"], &["vr_right.jpg"]),
    ] {
        if !programs.split(' ').all(|program| shell(at, &format!("command -v {program}"))) {
            eprintln!("{programs}: not installed, and not tried");
            continue;
        }
        if programs == "exiftool" {
            let picture = fs::read(at.join("left.jpg")).unwrap();
            fs::write(at.join("vr.jpg"), with_view_in_xmp(&picture)).unwrap();
        }
        assert!(shell(at, made_by), "{made_by}");
        let command = command_for(at, inputs);
        assert!(shell(at, &command), "{inputs:?}: {command}");
        let [first, last] = [results.first(), results.last()].map(|name| *name.unwrap());
        run(at, &["compute", "--overwrite", "--engine", "cpu", "-o", "map.pfm", first, last]);
    }
}

/// Returns a photo whose XMP names a second view, as photos of VR180 do; here it is the photo's own start in base64.
fn with_view_in_xmp(picture: &[u8]) -> Vec<u8> {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let code = |three: &[u8]| {
        let number =
            three.iter().fold(0_usize, |number, byte| number << 8 | usize::from(*byte)) << (8 * (3 - three.len()));
        (0..=three.len()).map(|k| LETTERS[number >> (18 - 6 * k) & 63] as char).collect::<String>()
    };
    let view: String = picture.chunks(3).map(code).collect();
    let xmp = format!(
        "http://ns.adobe.com/xap/1.0/\0<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"><rdf:RDF \
         xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\"><rdf:Description rdf:about=\"\" \
         xmlns:GImage=\"http://ns.google.com/photos/1.0/image/\" GImage:Mime=\"image/jpeg\" \
         GImage:Data=\"{view}\"/></rdf:RDF></x:xmpmeta>"
    );
    let length = (xmp.len() as u16 + 2).to_be_bytes();
    [&picture[..2], &[0xff, 0xe1], &length, xmp.as_bytes(), &picture[2..]].concat()
}

#[test]
fn commands_for_all_images_of_a_folder_run() {
    let folder = folder();
    let at = folder.path();
    for (programs, made_by, ending, expected) in [
        (
            "heif-convert heif-enc",
            "heif-enc ../left.png ../right.png -o a.heic && cp a.heic b.heic",
            "heic",
            "b_left.pfm",
        ),
        (
            "opj_decompress opj_compress",
            "for v in left right; do opj_compress -i ../$v.png -o $v.jp2; done",
            "jp2",
            "jp2.pfm",
        ),
        ("djxl cjxl", "for v in left right; do cjxl ../$v.png $v.jxl; done", "jxl", "jxl.pfm"),
        ("convert mogrify", "for v in left right; do convert ../$v.png $v.tga; done", "tga", "tga.pfm"),
    ] {
        if !programs.split(' ').all(|program| shell(at, &format!("command -v {program}"))) {
            eprintln!("{programs}: not installed, and not tried");
            continue;
        }
        let inside = at.join(ending);
        fs::create_dir(&inside).unwrap();
        assert!(shell(&inside, made_by), "{made_by}");
        let command = command_for(at, &[ending]);
        assert!(shell(&inside, &command), "{command}");
        let maps = format!("maps_{ending}");
        run(at, &["compute", ending, "-o", &maps, "--engine", "cpu"]);
        assert!(at.join(maps).join(expected).exists(), "{ending}: {expected}");
    }
}
