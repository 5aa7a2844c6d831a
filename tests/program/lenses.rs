//! Tests what images say about their lenses: Exif data, and signs that they are not flat.

use super::start::{finished, run, stereopsis};
use std::path::Path;

/// Writes `left.png` and `right.png`, views of the scene at this size, and returns the field of view of its lens, degrees.
fn scene(folder: &Path, size: &str) {
    let record = ["record", "--source", "scene", "--lossless", "--frames", "1", "--streams", "raw", "-o", "in.mcap"];
    run(folder, &[&record[..], &["--size", size, "--scene-vertical-px", "3"]].concat());
    run(folder, &["export", "in.mcap", "--to", "out", "--what", "left,right"]);
}

/// Returns a JPEG of an image with a focal length on film as its Exif data.
fn with_exif(path: &Path, film_mm: u16) -> Vec<u8> {
    let mut bytes = Vec::new();
    let encoder = image::codecs::jpeg::JpegEncoder::new_with_quality(&mut bytes, 100);
    image::open(path).unwrap().write_with_encoder(encoder).unwrap();
    let mut data = b"Exif\0\0II*\0\x08\0\0\0\x01\0\x69\x87\x04\0\x01\0\0\0\x1a\0\0\0\0\0\0\0".to_vec();
    data.extend([&b"\x01\0\x05\xa4\x03\0\x01\0\0\0"[..], &film_mm.to_le_bytes(), &[0; 6]].concat());
    let length = (data.len() as u16 + 2).to_be_bytes();
    [&bytes[..2], b"\xff\xe1", &length, &data, &bytes[2..]].concat()
}

#[test]
fn an_estimate_takes_the_lens_that_exif_names() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    scene(folder, "640x480");
    let estimated = |films: [u16; 2], more: &[&str]| {
        for (view, film_mm) in ["left", "right"].iter().zip(films) {
            let jpeg = with_exif(&folder.join(format!("out/000000_{view}.png")), film_mm);
            std::fs::write(folder.join(format!("{view}.jpg")), jpeg).unwrap();
        }
        let args = ["compute", "left.jpg", "right.jpg", "-o", "o.pfm", "--overwrite", "--rectify", "auto", "--json"];
        let (_, output) = finished(stereopsis(folder, &[&args[..], &["--baseline-m", "0.065"], more].concat()), 0);
        let told: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let focal_px = told["results"][0]["geometry"]["focal_px"].as_f64().unwrap();
        (focal_px, told["remarks"].to_string())
    };
    // 58 degrees of the scene are 31 mm on film, by the diagonal
    let (focal_px, said) = estimated([31, 31], &[]);
    assert!(said.contains("focal length from the Exif data of the images: 31 mm of 35 mm film"), "{said}");
    assert!(!said.contains("assumed") && (focal_px / 577.0 - 1.0).abs() < 0.05, "{focal_px}");
    let (_, said) = estimated([31, 33], &[]);
    assert!(said.contains("left 31 mm of 35 mm film, right 33 mm of 35 mm film"), "{said}");
    let (_, said) = estimated([31, 75], &[]);
    assert!(said.contains("two lenses that are not of one pair") && said.contains("60° assumed"), "{said}");
    let (_, said) = estimated([31, 31], &["--fov-deg", "58"]);
    assert!(!said.contains("Exif"), "a lens that is said wins: {said}");
}

#[test]
fn images_that_are_not_flat_are_named_with_a_cure() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    scene(folder, "320x320");
    let pair = |name: &str| {
        for view in ["left", "right"] {
            std::fs::copy(folder.join(format!("out/000000_{view}.png")), folder.join(format!("{name}_{view}.png")))
                .unwrap();
        }
        [format!("{name}_left.png"), format!("{name}_right.png")]
    };
    let told = |[left, right]: [String; 2], code, more: &[&str]| {
        let args = ["compute", &left, &right, "-o", "o.pfm", "--overwrite", "--engine", "cpu"];
        finished(stereopsis(folder, &[&args[..], more].concat()), code).0
    };
    for lens in [&["--rectify", "auto"][..], &["--fov-deg", "60", "--baseline-m", "0.06"]] {
        let said = told(pair("room_vr180"), 1, lens);
        assert!(said.contains("VR180") && said.contains("v360=hequirect:flat"), "{said}");
        told(pair("room"), 0, lens);
    }
    assert!(told(pair("room_vr180"), 0, &[]).contains("v360=hequirect:flat"), "disparities come with the remark");
    for rectify in ["auto", "off"] {
        let said = told(pair("room"), 1, &["--fov-deg", "170", "--baseline-m", "0.06", "--rectify", rectify]);
        assert!(said.contains("--fov-deg 170 says") && said.contains("v360="), "{said}");
    }
}
