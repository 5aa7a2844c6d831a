//! The public surface, used as a program does that has this crate as a library.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;
use stereopsis::depth::{Geometry, depth_map};
use stereopsis::filters::{Median, median};
use stereopsis::matching::{CpuEngine, Image, Luma, StereoParams, job, match_pair, run};
use stereopsis::parameters::{Settings, read_file};
use stereopsis::recordings::{
    About, FrameTap as _, RecordOptions, RecordedPairs, Recorder, Recording, ResultTap as _, SourceInfo, Target, topic,
};
use stereopsis::rectification::{LoadOptions, load};

/// A texture, and the same 3 px further left.
fn pair() -> (Luma, Luma) {
    let texture = |x: usize, y: usize| ((x * 73) ^ (y * 151) ^ (x * y * 7)) as u8;
    (Luma::U8(Image::from_fn(64, 32, texture)), Luma::U8(Image::from_fn(64, 32, |x, y| texture(x + 3, y))))
}

#[test]
fn a_calibration_gives_the_geometry_of_rectified_pictures() {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("calibration/example-rig.toml");
    let rig = load(&[example], &LoadOptions::default()).unwrap();
    let (width, height) = rig.size.unwrap();
    let rectifier = rig.rectifier(width, height, 0.0).unwrap();
    assert!((rectifier.geometry().baseline_m - rig.baseline_m()).abs() < 1e-9);
}

#[test]
fn an_engine_gives_the_map_of_the_reference_and_depth_follows() {
    let (left, right) = pair();
    let params = StereoParams { num_disparities: 16, ..StereoParams::default() };
    let expected = match_pair(&left, &right, &params);
    let output = run(&mut CpuEngine::new(Some(1)), job(left, right, params)).unwrap();
    let map = output.map.unwrap();
    assert_eq!(map.values.pixels(), expected.values.pixels());
    assert_eq!(median(&map, Median::Three).disparity_px(30, 16), Some(3.0));
    let geometry =
        Geometry { focal_px: 300.0, baseline_m: 0.1, doffs_px: 0.0, cx_px: 32.0, cy_px: 16.0, estimated: false };
    assert!((depth_map(&map, &geometry).at(30, 16) - 10.0).abs() < 1e-3);
}

#[test]
fn settings_come_from_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("settings.toml");
    std::fs::write(&path, "preset = \"accurate\"\nnum-disparities = 48\n").unwrap();
    let settings = Settings::resolve(&read_file(&path).unwrap()).unwrap();
    assert_eq!(settings.params.num_disparities, 48);
}

#[test]
fn pairs_and_results_are_recorded_and_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("walk.mcap");
    let (left, right) = pair();
    let info =
        SourceInfo { name: "texture".into(), width: 64, height: 32, is_rectified: true, ..SourceInfo::default() };
    let about =
        About { streams: "raw,disparity".parse().unwrap(), ..About::of_source("texture", &info, SystemTime::now()) };
    let recorder = Recorder::start(Target::File(path.clone()), about, RecordOptions::default()).unwrap();
    let output = run(&mut CpuEngine::new(Some(1)), job(left.clone(), right, StereoParams::default())).unwrap();
    recorder.frame(&output.job.frame, &info);
    recorder.result(&Arc::new(output));
    recorder.stop().unwrap();
    let recording = Recording::open(&path).unwrap();
    assert_eq!((recording.pairs().len(), recording.len(topic::RESULTS)), (1, 1));
    let mut pairs = RecordedPairs::open(&path).unwrap();
    assert_eq!((pairs.num_pairs(), pairs.are_rectified()), (1, true));
    let pair = pairs.next().unwrap().unwrap();
    assert_eq!(pair.left.luma, left);
    let disparity_px = pair.recorded.unwrap().disparity_px.clone().unwrap();
    assert_eq!(disparity_px.at(40, 16).to_bits(), 3f32.to_bits());
    assert!(pairs.next().is_none());
}
