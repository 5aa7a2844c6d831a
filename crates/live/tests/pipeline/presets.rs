//! Tests of every preset, live, on both engines: results equal the reference while size and source change.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use stereopsis_engine::OpenOptions;
use stereopsis_frame::engine::{AdapterChoice, EngineChoice, EngineKind, EngineSettings, Output};
use stereopsis_frame::{PairSource, SourceOptions, SourceSpec};
use stereopsis_gpu::Gpu;
use stereopsis_live::capture::CaptureOptions;
use stereopsis_live::{Live, LiveOptions};
use stereopsis_sources::open;
use stereopsis_stereo::{Preset, StereoParams, match_pair};

#[test]
fn every_preset_runs_live_on_the_cpu_and_survives_other_sizes_and_sources() {
    through_all_presets(EngineChoice::Cpu, EngineKind::Cpu);
}

#[test]
fn every_preset_runs_live_on_the_gpu_and_survives_other_sizes_and_sources() {
    match Gpu::open(&AdapterChoice::Best) {
        Ok(gpu) => drop(gpu),
        Err(err) if std::env::var("REQUIRE_GPU").is_ok_and(|v| v == "1") => panic!("{err}"),
        Err(err) => return eprintln!("skipped: {err}"),
    }
    through_all_presets(EngineChoice::Gpu, EngineKind::Gpu);
}

/// Starts with one preset and applies all of them; after each, the source changes.
fn through_all_presets(choice: EngineChoice, kind: EngineKind) {
    let folder = tempfile::tempdir().unwrap();
    let picture = |name: &str, shift: u32| {
        let path = folder.path().join(name);
        let pixel = |x: u32, y: u32| {
            image::Luma([((x + shift) * 7919 + y * 104_729).wrapping_mul(2_654_435_761).to_be_bytes()[1]])
        };
        image::GrayImage::from_fn(61, 44, pixel).save(&path).unwrap();
        path
    };
    let (left, right) = (picture("left.png", 0), picture("right.png", 5));
    let mut params = StereoParams { min_disparity: 1, num_disparities: 19, ..StereoParams::default() };
    let engine = OpenOptions::from(EngineSettings { choice, threads: Some(2), ..EngineSettings::default() });
    let options = LiveOptions { read_back: true, ..LiveOptions::new(params.clone(), engine) };
    let live = Live::start(scene((72, 54)), options).unwrap();
    for (i, &preset) in Preset::ALL.iter().enumerate() {
        preset.apply(&mut params);
        live.set_params(params.clone());
        let size = if i == 0 { (72, 54) } else { (61, 44) };
        check(&live, preset, kind, |output| *output.job.params == params && output.job.frame.size() == size);
        let size = (47 + 2 * i, 52 - i);
        live.set_source(scene(size), CaptureOptions::default());
        check(&live, preset, kind, |output| output.job.frame.size() == size);
        live.set_source(files(&left, &right), CaptureOptions::default());
        check(&live, preset, kind, |output| output.job.frame.size() == (61, 44));
    }
}

/// Waits for a result that `is_wanted` accepts, and compares it with the reference.
fn check(live: &Live, preset: Preset, kind: EngineKind, is_wanted: impl Fn(&Output) -> bool) {
    let deadline = Instant::now() + Duration::from_secs(100);
    let output: Arc<Output> = loop {
        assert!(Instant::now() < deadline, "{preset} on the {kind}: waited in vain, {:?}", live.status());
        match live.latest().filter(|output| is_wanted(output)) {
            Some(output) => break output,
            None => std::thread::sleep(Duration::from_millis(2)),
        }
    };
    assert_eq!(output.engine.kind, kind, "{preset}: {:?}", live.status());
    let frame = &output.job.frame;
    let expected = match_pair(&*frame.left, &*frame.right, &output.job.params);
    let map = output.map.as_ref().unwrap();
    assert_eq!(map.values.pixels(), expected.values.pixels(), "{preset} on the {kind}, {:?}", frame.size());
    assert_eq!(map.reasons.pixels(), expected.reasons.pixels(), "{preset} on the {kind}, {:?}", frame.size());
}

fn scene(size: (usize, usize)) -> Box<dyn PairSource> {
    open(&SourceSpec::Scene, &SourceOptions { size: Some(size), rate_hz: Some(20.0), ..SourceOptions::default() })
        .unwrap()
}

fn files(left: &Path, right: &Path) -> Box<dyn PairSource> {
    let spec = SourceSpec::Files { left: left.to_owned(), right: right.to_owned(), truth: None };
    open(&spec, &SourceOptions { rate_hz: Some(20.0), looped: true, ..SourceOptions::default() }).unwrap()
}
