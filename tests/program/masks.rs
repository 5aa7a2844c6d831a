//! Tests what is left out of matching: masks of the user, black bars, marks that stay. Tests what is said of images with nothing in common.

use super::start::{printed, refused, run};
use image::{GrayImage, Luma};
use std::path::Path;

const SETTINGS: [&str; 4] = ["--num-disparities", "32", "--engine", "cpu"];
const SIZE: (u32, u32) = (160, 120);

/// Draws soft noise of a seed; of two columns with one number both views show the same.
fn texture(seed: u64) -> impl Fn(u32, u32) -> u8 {
    let mut random = fastrand::Rng::with_seed(seed);
    let noise: Vec<u32> = (0..512 * 256).map(|_| random.u32(40..220)).collect();
    move |x, y| ((0..4).map(|k| noise[((y + k / 2) * 512 + x + k % 2) as usize]).sum::<u32>() / 4) as u8
}

/// Writes both views of a wall at 9 px; `draw` may replace a pixel of either view.
fn write_pair(folder: &Path, [left, right]: [&str; 2], from: u32, draw: impl Fn(u32, u32) -> Option<u8>) {
    let texture = texture(1);
    for (name, shift) in [(left, 0), (right, 9)] {
        let view = GrayImage::from_fn(SIZE.0, SIZE.1, |x, y| {
            Luma([draw(x, y).unwrap_or_else(|| texture(x + shift + from, y))])
        });
        view.save(folder.join(name)).unwrap();
    }
}

/// Returns the share of the pixels in a rectangle that have a disparity.
fn measured(folder: &Path, map: &str, columns: std::ops::Range<u32>, rows: std::ops::Range<u32>) -> f64 {
    let map = image::open(folder.join(map)).unwrap().to_luma16();
    let pixels = rows.flat_map(|y| columns.clone().map(move |x| (x, y)));
    let found: Vec<_> = pixels.map(|(x, y)| f64::from(u8::from(map.get_pixel(x, y).0 != [0]))).collect();
    found.iter().sum::<f64>() / found.len() as f64
}

#[test]
fn masks_are_left_out_at_every_size_and_by_rig_files() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write_pair(folder, ["left.png", "right.png"], 0, |_, _| None);
    let mask = |name: &str, size: (u32, u32)| {
        let hole = |x: u32, y: u32| (60..100).contains(&x) && (40..80).contains(&y);
        let mask = GrayImage::from_fn(size.0, size.1, |x, y| Luma([if hole(x, y) { 0 } else { 255 }]));
        mask.save(folder.join(name)).unwrap();
    };
    mask("mask.png", SIZE);
    mask("small.png", (80, 60));
    GrayImage::from_pixel(SIZE.0, SIZE.1, Luma([255])).save(folder.join("all.png")).unwrap();
    let compute = |args: &[&str]| {
        run(
            folder,
            &[&["compute", "left.png", "right.png", "-o", "map.png", "--overwrite"][..], &SETTINGS, args].concat(),
        )
    };
    let shares = || {
        let hidden = measured(folder, "map.png", 71..98, 42..78);
        // partners of these pixels lie in the hole
        let partners = measured(folder, "map.png", 101..107, 42..78);
        (hidden, partners, measured(folder, "map.png", 112..150, 20..100))
    };
    compute(&[]);
    let (hidden, ..) = shares();
    assert!(hidden > 0.95, "{hidden}");
    compute(&["--mask", "mask.png"]);
    let (hidden, partners, beside) = shares();
    assert!(hidden == 0.0 && partners < 0.1 && beside > 0.95, "{hidden} {partners} {beside}");
    compute(&["--mask", "mask.png,all.png"]);
    let (hidden, partners, _) = shares();
    assert!(hidden == 0.0 && partners > 0.7, "the right view is whole: {hidden} {partners}");
    compute(&["--mask", "mask.png", "--fill=background"]);
    assert!(shares().0 == 0.0, "no fill invents anything there");
    compute(&["--mask", "mask.png", "--scale", "1/2"]);
    assert!(measured(folder, "map.png", 36..49, 21..39) == 0.0);
    std::fs::write(folder.join("rig.toml"), "[calibration]\nmask = [\"mask.png\"]\n").unwrap();
    compute(&["--rig", "rig.toml"]);
    assert!(shares().0 == 0.0);

    let pair = ["compute", "left.png", "right.png", "-o", "new.png"];
    refused(folder, &[&pair[..], &["--mask", "small.png"]].concat(), 1, &["small.png", "80x60", "160x120", "one view"]);
    refused(folder, &[&pair[..], &["--mask", "none.png"]].concat(), 2, &["none.png"]);
    let three = "mask.png,mask.png,mask.png";
    refused(folder, &[&pair[..], &["--mask", three]].concat(), 1, &["3 masks", "LEFT,RIGHT"]);
    refused(
        folder,
        &[&pair[..], &["--mask", "mask.png", "--color", "mask.png", "--overwrite"]].concat(),
        1,
        &["mask.png"],
    );
}

#[test]
fn bars_and_clocks_are_left_out_and_named() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write_pair(folder, ["left.png", "right.png"], 0, |_, y| (!(20..100).contains(&y)).then_some(16));
    let said = run(folder, &[&["compute", "left.png", "right.png", "-o", "map.png"], &SETTINGS[..]].concat());
    assert!(said.contains("20 rows at the top and 20 at the bottom"), "{said}");
    assert!(measured(folder, "map.png", 0..160, 0..20) + measured(folder, "map.png", 0..160, 100..120) == 0.0);
    assert!(measured(folder, "map.png", 40..160, 24..96) > 0.95);

    std::fs::create_dir(folder.join("pairs")).unwrap();
    for k in 0..10 {
        let names = ["left", "right"].map(|side| format!("pairs/{side}{k}.png"));
        write_pair(folder, names.each_ref().map(String::as_str), 7 * k, |x, y| {
            let (x, y) = (x.wrapping_sub(80), y.wrapping_sub(8));
            (x < 56 && y < 14).then(|| if x % 4 < 2 && (2..12).contains(&y) { 250 } else { 0 })
        });
    }
    let said = run(folder, &[&["compute", "pairs", "-o", "maps", "--format", "png"], &SETTINGS[..]].concat());
    assert_eq!(said.matches("such as a clock or a logo").count(), 1, "{said}");
    assert!(measured(folder, "maps/left0.png", 82..134, 10..20) > 0.5, "nothing has moved yet");
    assert!(measured(folder, "maps/left9.png", 82..134, 10..20) == 0.0);
    assert!(measured(folder, "maps/left9.png", 40..160, 40..118) > 0.95);
}

#[test]
fn halves_of_one_view_and_images_of_different_things_have_words() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    // spots of 5 px, between which matching finds some likeness
    let soft = |name: &str, seed: u64, width: u32| {
        let texture = texture(seed);
        let mean = |x: u32, y: u32| (0..25).map(|k| i32::from(texture(x + k % 5, y + k / 5))).sum::<i32>() / 25;
        let view = GrayImage::from_fn(width, 200, |x, y| Luma([(128 + 5 * (mean(x, y) - 130)).clamp(0, 255) as u8]));
        view.save(folder.join(name)).unwrap();
    };
    soft("film.png", 1, 480);
    soft("left.png", 1, 240);
    soft("right.png", 2, 240);
    let matching = ["--num-disparities", "16", "--engine", "cpu"];
    let said = run(folder, &[&["compute", "film.png", "--side-by-side", "-o", "cut.pfm"], &matching[..]].concat());
    assert!(said.contains("halves of the images show nothing in common") && said.contains("MV-HEVC"), "{said}");
    assert!(!said.contains("search further"), "{said}");
    let json =
        printed(folder, &[&["compute", "left.png", "right.png", "-o", "o.pfm", "--json"], &matching[..]].concat());
    assert!(json.contains("the two images show nothing in common"), "{json}");
}
