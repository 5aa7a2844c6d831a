//! Uses the public surface like a program with this crate as a library.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

use std::path::Path;
use std::process::Command;
use stereopsis::depth::{Geometry, depth_map, points_m};
use stereopsis::filters::{Median, median};
use stereopsis::matching::{
    EngineChoice, Image, Luma, Matcher, Picture, Preset, StereoParams, Temporal, match_pair, read_picture,
};
use stereopsis::parameters::Settings;
use stereopsis::recordings::RecordedPairs;
use stereopsis::rectification::{LoadOptions, load};
#[cfg(target_os = "linux")]
use {stereopsis::cameras::CameraPairs, stereopsis_capture::emulated};

/// Returns a texture, and the same texture 3 px further left.
fn pair() -> (Luma, Luma) {
    let texture = |x: usize, y: usize| ((x * 73) ^ (y * 151) ^ (x * y * 7)) as u8;
    (Luma::U8(Image::from_fn(64, 32, texture)), Luma::U8(Image::from_fn(64, 32, |x, y| texture(x + 3, y))))
}

fn example_rig() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("calibration/example-rig.toml")
}

/// Whether two maps have the same bits, with the same holes.
fn same(one: &Image<f32>, other: &Image<f32>) -> bool {
    one.pixels().iter().zip(other.pixels()).all(|(a, b)| a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan()))
}

fn stereopsis(folder: &Path, words: &[&str]) {
    let output = Command::new(env!("CARGO_BIN_EXE_stereopsis")).args(words).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_calibration_gives_the_geometry_of_rectified_pictures() {
    let rig = load(&[example_rig()], &LoadOptions::default()).unwrap();
    let (width, height) = rig.size.unwrap();
    let rectifier = rig.rectifier(width, height, 0.0).unwrap();
    assert!((rectifier.geometry().baseline_m - rig.baseline_m()).abs() < 1e-9);
}

#[test]
fn a_matcher_gives_the_map_of_the_reference_and_depth_follows() {
    let (left, right) = pair();
    let params = StereoParams { num_disparities: 16, ..StereoParams::default() };
    let expected = match_pair(&left, &right, &params);
    let result = Matcher::new(params).match_pair(left, right).unwrap();
    assert_eq!(result.map.values.pixels(), expected.values.pixels());
    assert!(result.stages_ms.contains_key("filters") && result.engine.contains("thread"), "{result:?}");
    assert_eq!(median(&result.map, Median::Three).disparity_px(30, 16), Some(3.0));
    let geometry = Geometry::new(300.0, 0.1, 0.0, [20.0, 16.0]);
    let depth_m = depth_map(&result.map, &geometry);
    assert!((depth_m.at(30, 16) - 10.0).abs() < 1e-3);
    let [x, y, z] = points_m(&depth_m, &geometry).at(30, 16);
    assert!((x - 10.0 / 30.0).abs() < 1e-3 && y.abs() < 1e-6 && (z - 10.0).abs() < 1e-3, "{x} {y} {z}");
}

#[test]
fn matcher_keeps_state_until_forget() {
    let (left, right) = pair();
    // half a pixel further: the temporal filter smooths so small a step
    let (Luma::U8(pixels), (width, height)) = (&right, right.size()) else { panic!("8 bits") };
    let further = Luma::U8(Image::from_fn(width, height, |x, y| {
        u8::midpoint(pixels.at(x, y), pixels.at((x + 1).min(width - 1), y))
    }));
    let params = StereoParams { num_disparities: 16, temporal: Temporal::On, ..StereoParams::default() };
    let alone = match_pair(&left, &further, &params).values;
    let mut matcher = Matcher::new(params);
    let mut values = |right: &Luma| matcher.match_pair(left.clone(), right.clone()).unwrap().map.values;
    values(&right);
    assert_ne!(values(&further), alone);
    matcher.forget();
    assert_eq!(matcher.match_pair(left.clone(), further).unwrap().map.values, alone);
}

#[test]
fn invalid_pairs_are_refused_and_the_matcher_stays_usable() {
    let (left, right) = pair();
    let mut matcher = Matcher::new(StereoParams { num_disparities: 16, ..StereoParams::default() });
    let small = Luma::U8(Image::filled(10, 10, 0));
    let why = matcher.match_pair(left.clone(), small.clone()).unwrap_err().to_string();
    assert!(why.contains("64x32 px of 8 bits") && why.contains("10x10"), "{why}");
    let empty = Luma::U8(Image::filled(0, 5, 0));
    assert!(matcher.match_pair(empty.clone(), empty).unwrap_err().to_string().contains("empty"));
    let torn = Picture { luma: left.clone(), rgb: Some(Image::filled(3, 3, [0; 3])) };
    assert!(matcher.match_pair(torn, right.clone()).unwrap_err().to_string().contains("colours are 3x3"));
    let far = StereoParams { min_disparity: 200, ..matcher.settings().params.clone() };
    assert!(Matcher::new(far).match_pair(left.clone(), right.clone()).is_err(), "64 px have no disparity of 200");
    assert!(matcher.match_pair(left, right).is_ok());
}

#[test]
fn settings_come_from_a_file_and_from_words() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("settings.toml");
    std::fs::write(&path, "preset = \"accurate\"\nnum-disparities = 48\n").unwrap();
    let settings = Settings::of_file(&path, &[("engine", "cpu"), ("p1", "9")]).unwrap();
    assert_eq!((settings.params.num_disparities, settings.params.p1), (48, 9));
    assert_eq!((settings.preset, settings.engine), (Some(Preset::Accurate), EngineChoice::Cpu));
    let why = Settings::of_words(&[("no-such-word", "1")]).unwrap_err().to_string();
    assert!(why.contains("no-such-word"), "{why}");
}

#[test]
fn the_nearest_depth_needs_a_geometry() {
    let (left, right) = pair();
    let settings = Settings::of_words(&[("near-m", "2"), ("engine", "cpu")]).unwrap();
    let why = Matcher::new(settings.clone()).match_pair(left.clone(), right.clone()).unwrap_err().to_string();
    assert!(why.contains("near-m"), "{why}");
    let geometry = Geometry::centred(300.0, 0.1, 0.0, (64, 32));
    assert!(Matcher::new(settings).with_geometry(geometry).match_pair(left, right).is_ok());
}

#[test]
fn pairs_of_the_programs_recording_give_its_depth_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("walk.mcap");
    let words = ["record", "--source", "scene", "--size", "160x120", "--frames", "2", "--lossless", "--engine", "cpu"];
    stereopsis(folder.path(), &[&words[..], &["--streams", "raw,disparity,depth", "-o", "walk.mcap"]].concat());
    let mut pairs = RecordedPairs::open(&path).unwrap();
    assert_eq!((pairs.num_pairs(), pairs.are_rectified()), (2, true));
    let pair = pairs.next().unwrap().unwrap();
    let geometry = pairs.geometry(&pair).unwrap();
    let recorded = pair.recorded.unwrap();
    let map = Matcher::new(StereoParams::default()).match_pair(pair.left, pair.right).unwrap().map;
    assert!(same(&map.to_px(), recorded.disparity_px.as_ref().unwrap()));
    // depth is recorded in whole millimetres
    let (depth_m, recorded_m) = (depth_map(&map, &geometry), recorded.depth_m.as_ref().unwrap());
    let near = |(a, b): (&f32, &f32)| (a - b).abs() < 0.000_51 || (a.is_nan() && b.is_nan());
    assert!(depth_m.pixels().iter().zip(recorded_m.pixels()).all(near));
    assert!(map.valid_share() > 0.5 && pairs.next().unwrap().is_ok() && pairs.next().is_none());
}

#[test]
fn raw_pairs_of_a_recording_are_rectified_as_the_program_did() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("raw.mcap");
    let rig = example_rig();
    let mut random = fastrand::Rng::with_seed(5);
    let picture = image::GrayImage::from_fn(640, 480, |_, _| image::Luma([random.u8(..)]));
    for name in ["left.png", "right.png"] {
        picture.save(folder.path().join(name)).unwrap();
    }
    let words = ["record", "left.png", "right.png", "--once", "--lossless", "--engine", "cpu", "--calibration"];
    let streams = [rig.to_str().unwrap(), "--num-disparities", "32", "--streams", "raw,disparity", "-o", "raw.mcap"];
    stereopsis(folder.path(), &[&words[..], &streams].concat());
    let mut pairs = RecordedPairs::open(&path).unwrap();
    let pair = pairs.next().unwrap().unwrap();
    assert!(!pairs.are_rectified());
    let rectifier = pairs.rectifier(&pair).unwrap().unwrap();
    assert_eq!(Some(rectifier.geometry()), pairs.geometry(&pair));
    let (left, right) = rectifier.apply(&pair.left, &pair.right).unwrap();
    let params = StereoParams { num_disparities: 32, ..StereoParams::default() };
    let map = Matcher::new(params).match_pair(left, right).unwrap().map;
    let recorded = pair.recorded.unwrap();
    assert!(same(&map.to_px(), recorded.disparity_px.as_ref().unwrap()));
}

#[test]
fn colours_of_a_file_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("red.png");
    image::RgbImage::from_pixel(4, 3, image::Rgb([200, 0, 0])).save(&path).unwrap();
    let picture = read_picture(&path).unwrap();
    assert_eq!((picture.size(), picture.rgb.unwrap().at(3, 2)), ((4, 3), [200, 0, 0]));
    assert!(read_picture(&folder.path().join("none.png")).unwrap_err().to_string().contains("none.png"));
}

#[cfg(target_os = "linux")]
#[test]
fn a_program_iterates_over_pairs_of_cameras() {
    let dress = |folder: &Path| (0..2).for_each(|i| emulated::dress(folder, i));
    emulated::with_dressed_cameras(&["", ""], dress, "inside_a_program_iterates_over_pairs");
}

#[cfg(target_os = "linux")]
#[test]
#[ignore = "runs under LD_PRELOAD"]
fn inside_a_program_iterates_over_pairs() {
    let pairs = CameraPairs::open("webcam:0,1", Some((320, 240))).expect("opens");
    assert_eq!(pairs.size(), (320, 240));
    let pairs: Vec<_> = pairs.take(3).collect::<Result<_, _>>().expect("runs");
    assert!(pairs.is_sorted_by(|one, other| one.sequence < other.sequence), "each pair comes once");
    for pair in &pairs {
        assert!(pair.left.rgb.is_some(), "colours are kept");
        assert!(pair.left.luma != pair.right.luma, "left and right camera");
    }
    let Err(why) = CameraPairs::open("scene", None) else { panic!("no camera") };
    assert!(why.to_string().starts_with("'scene' is no camera: give webcam:0,1"), "{why}");
    assert!(CameraPairs::open("webcam:7,8", None).is_err());
}
