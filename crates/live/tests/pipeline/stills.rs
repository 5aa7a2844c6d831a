//! Tests of pairs of files in the pipeline of the window: a still is matched once for each change, and truth passes through.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use stereopsis_cpu::CpuEngine;
use stereopsis_engine::OpenOptions;
use stereopsis_engine::worker::EngineSource;
use stereopsis_frame::engine::{EngineChoice, EngineSettings};
use stereopsis_frame::{FramePreparation, RawPair, Scale, SceneOptions, SourceOptions, SourceSpec};
use stereopsis_images::write_picture;
use stereopsis_live::{Dropped, Live, LiveOptions};
use stereopsis_scene::render;
use stereopsis_settings::rig::CalibrationChoice;
use stereopsis_sources::{CalibratedSource, open_calibrated};
use stereopsis_stereo::StereoParams;

const SIZE: (usize, usize) = (160, 120);
const TIMEOUT: Duration = Duration::from_secs(30);

fn watched() -> SourceOptions {
    SourceOptions { watched: true, looped: true, rate_hz: Some(30.0), ..SourceOptions::default() }
}

/// Writes frame `k` of the scene as two files of these names, and its truth as `truth.pfm`.
fn write_pair(folder: &Path, k: u64, left: &str, right: &str, truth: &str) -> RawPair {
    let pair = render(&SceneOptions { width: SIZE.0, height: SIZE.1, ..SceneOptions::default() }, k, false);
    write_picture(&folder.join(left), &pair.left).unwrap();
    write_picture(&folder.join(right), &pair.right).unwrap();
    let exact = &pair.truth.as_ref().unwrap().left_px;
    let rows = (0..SIZE.1).rev().flat_map(|y| exact.row(y).iter().flat_map(|d| d.to_le_bytes()));
    let head = format!("Pf\n{} {}\n-1\n", SIZE.0, SIZE.1).into_bytes();
    fs::write(folder.join(truth), head.into_iter().chain(rows).collect::<Vec<_>>()).unwrap();
    pair
}

fn start(spec: &SourceSpec, choice: &CalibrationChoice) -> Live {
    let CalibratedSource { source, calibrated, .. } = open_calibrated(spec, &watched(), choice).unwrap();
    let params = StereoParams { num_disparities: 24, ..StereoParams::default() };
    let engine =
        OpenOptions::from(EngineSettings { choice: EngineChoice::Cpu, threads: Some(1), ..EngineSettings::default() });
    let options = LiveOptions { capture: calibrated.preparation.into(), ..LiveOptions::new(params, engine) };
    Live::start(source, options).unwrap()
}

fn until(live: &Live, what: &str, condition: impl Fn() -> bool) {
    let deadline = Instant::now() + TIMEOUT;
    while !condition() {
        assert!(Instant::now() < deadline, "waited in vain until {what}: {:?}", live.status());
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Waits for this number of results, and checks that no more follow.
fn settles(live: &Live, results: u64) {
    until(live, &format!("there are {results} results"), || live.status().engine.computed >= results);
    std::thread::sleep(Duration::from_millis(250));
    assert_eq!(live.status().engine.computed, results, "one for each change");
}

#[test]
fn a_still_is_matched_once_for_each_change_and_never_ends() {
    let folder = tempfile::tempdir().unwrap();
    write_pair(folder.path(), 0, "left.png", "right.png", "truth.pfm");
    let file = |name: &str| folder.path().join(name);
    let live =
        start(&SourceSpec::from_paths(&[file("left.png"), file("right.png")]).unwrap(), &CalibrationChoice::default());
    settles(&live, 1);
    live.set_params(StereoParams { p1: 5, ..(*live.params()).clone() });
    settles(&live, 2);
    live.set_preparation(FramePreparation { scale: Scale::Half, ..live.preparation() }).unwrap();
    settles(&live, 3);
    assert_eq!(live.latest().unwrap().job.frame.size(), (SIZE.0 / 2, SIZE.1 / 2));
    live.set_engine(EngineSource::Ready(Box::new(CpuEngine::new(Some(2)))));
    settles(&live, 4);
    assert_eq!(live.latest().unwrap().job.params.p1, 5);
    let status = live.status();
    assert_eq!((status.capture.captured, status.dropped), (1, Dropped::default()));
    assert!(!status.engine.ended && !status.capture.ended && status.errors.is_empty() && !status.paused);
    assert!(status.source.is_still && status.source.rate_hz.is_none());
    // pause and step change nothing on a still
    live.pause();
    live.step(1);
    live.resume();
    settles(&live, 4);
}

#[test]
fn a_folder_is_held_and_each_step_is_matched_once() {
    let folder = tempfile::tempdir().unwrap();
    for k in 0..3 {
        write_pair(folder.path(), k, &format!("left{k}.png"), &format!("right{k}.png"), "unused.pfm");
    }
    let live = start(&SourceSpec::Folder(folder.path().into()), &CalibrationChoice::default());
    settles(&live, 1);
    assert!(live.is_paused());
    live.step(1);
    settles(&live, 2);
    assert_eq!(live.latest().unwrap().job.frame.raw.name, "left1");
    live.set_preparation(FramePreparation { scale: Scale::Quarter, ..live.preparation() }).unwrap();
    settles(&live, 3);
    fs::write(folder.path().join("left2.png"), "no image").unwrap();
    live.step(-1);
    settles(&live, 4);
    // read ahead before it was damaged; a jump over it drops it from memory
    live.transport().unwrap().seek(2);
    std::thread::sleep(Duration::from_millis(200));
    assert!(!live.status().engine.ended, "{:?}", live.status());
}

#[test]
fn another_source_begins_unpaused_after_a_paused_one() {
    let folder = tempfile::tempdir().unwrap();
    write_pair(folder.path(), 0, "left.png", "right.png", "truth.pfm");
    let spec = SourceSpec::Folder(folder.path().into());
    let live = start(&spec, &CalibrationChoice::default());
    settles(&live, 1);
    live.pause();
    let CalibratedSource { source, calibrated, .. } =
        open_calibrated(&spec, &watched(), &CalibrationChoice::default()).unwrap();
    live.set_source(source, calibrated.preparation.into());
    assert!(!live.is_paused());
    until(&live, "it is matched", || live.status().engine.computed == 1);
}

#[test]
fn truth_is_compared_and_follows_the_working_size() {
    let folder = tempfile::tempdir().unwrap();
    let pair = write_pair(folder.path(), 0, "im0.png", "im1.png", "disp0.pfm");
    let exact = pair.truth.unwrap();
    fs::copy(folder.path().join("disp0.pfm"), folder.path().join("named.pfm")).unwrap();
    let file = |name: &str| folder.path().join(name);
    let pair = SourceSpec::from_paths(&[file("im0.png"), file("im1.png")]).unwrap();
    let dropped = SourceSpec::from_paths(&[file("im0.png"), file("im1.png"), file("named.pfm")]).unwrap();
    for spec in [SourceSpec::Folder(folder.path().into()), pair, dropped] {
        let live = start(&spec, &CalibrationChoice::default());
        settles(&live, 1);
        let output = live.latest().unwrap();
        let truth = output.job.frame.truth.clone().unwrap();
        assert!(truth.left_px == exact.left_px, "{spec}");
        let error = live.status().engine.figures.unwrap().truth.unwrap();
        // the truth of hidden pixels counts too: no mask marks them
        assert!(error.nonocc == error.all && error.all.pixels == SIZE.0 * SIZE.1, "{spec}: {error:?}");
        assert!((1.0..25.0).contains(&error.all.bad_1_percent), "{spec}: {error:?}");
        live.set_preparation(FramePreparation { scale: Scale::Half, ..live.preparation() }).unwrap();
        settles(&live, 2);
        let half = live.latest().unwrap().job.frame.truth.clone().unwrap();
        assert!((half.left_px.at(10, 10) - exact.left_px.at(21, 21) / 2.0).abs() < 1e-6, "{spec}");
        assert!(live.status().engine.figures.unwrap().truth.is_some());
    }
}

#[test]
fn truth_is_refused_for_rectified_images() {
    let folder = tempfile::tempdir().unwrap();
    write_pair(folder.path(), 0, "left.png", "right.png", "truth.pfm");
    let rig = folder.path().join("rig.txt");
    fs::write(
        &rig,
        "cam0=[150 0 79.5; 0 150 59.5; 0 0 1]\ncam1=[150 0 79.5; 0 150 59.5; 0 0 1]\ndoffs=0\nbaseline=65\nwidth=160\n\
         height=120\n",
    )
    .unwrap();
    let names = ["left.png", "right.png", "truth.pfm"].map(|name| folder.path().join(name));
    let spec = SourceSpec::from_paths(&names).unwrap();
    let live = start(&spec, &CalibrationChoice { files: vec![rig], ..CalibrationChoice::default() });
    settles(&live, 1);
    assert!(live.latest().unwrap().job.frame.truth.is_none() && live.preparation().rectifier.is_some());
    let said = |live: &Live| live.status().warnings.iter().filter(|warning| warning.text.contains("truth")).count();
    until(&live, "it is said", || said(&live) == 1);
    live.set_preparation(FramePreparation::default()).unwrap();
    settles(&live, 2);
    assert!(live.latest().unwrap().job.frame.truth.is_some());
    until(&live, "nothing is said", || said(&live) == 0);
}

#[test]
fn third_size_middlebury_pairs_are_compared_with_their_truth() {
    let Some(data) = std::env::var_os("STEREOPSIS_DATA").map(PathBuf::from) else {
        eprintln!("skipped: STEREOPSIS_DATA is not set");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let names = [("left", "view1"), ("right", "view5"), ("disp", "disp1"), ("disp_right", "disp5")];
    for (from, to) in names {
        let from = data.join(format!("middlebury2005/reindeer/{from}.png"));
        fs::copy(from, folder.path().join(format!("{to}.png"))).unwrap();
    }
    let live = start(&SourceSpec::Folder(folder.path().into()), &CalibrationChoice::default());
    live.set_params(StereoParams { num_disparities: 72, ..StereoParams::default() });
    until(&live, "it is matched", || live.latest().is_some_and(|output| output.job.params.num_disparities == 72));
    let error = live.status().engine.figures.unwrap().truth.unwrap();
    eprintln!("reindeer: bad-1.0 nonocc {:.2} %, all {:.2} %", error.nonocc.bad_1_percent, error.all.bad_1_percent);
    assert!(error.nonocc.bad_1_percent < 20.0 && error.nonocc.pixels < error.all.pixels, "{error:?}");
}
