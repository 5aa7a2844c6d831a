//! Tests of the output of `bench` on small pairs.

use super::*;
use stereopsis_frame::engine::AdapterChoice;
use stereopsis_frame::{SourceOptions, SourceSpec};

/// Returns a setup with two sizes on one thread.
fn setup(frames: usize) -> Setup {
    let of_size = |size| (SourceSpec::Scene, SourceOptions { size: Some(size), ..SourceOptions::default() });
    Setup {
        engine: EngineChoice::Cpu,
        sources: vec![of_size((64, 48)), of_size((40, 30))],
        open_source: stereopsis_sources::open,
        params: StereoParams { num_disparities: 16, ..StereoParams::default() },
        frames,
        json: true,
        threads: Some(1),
        model: None,
        adapter: AdapterChoice::Best,
    }
}

/// Returns the rows of a report.
fn results_of(report: impl FnOnce(&mut dyn Write) -> anyhow::Result<()>) -> Vec<serde_json::Value> {
    let mut text = Vec::new();
    report(&mut text).unwrap();
    let json: serde_json::Value = serde_json::from_slice(&text).unwrap();
    assert_eq!(json["program"], concat!("stereopsis ", env!("CARGO_PKG_VERSION")));
    json["results"].as_array().unwrap().clone()
}

fn results(setup: &Setup, task: Task) -> Vec<serde_json::Value> {
    results_of(|out| run(setup, task, None, out))
}

#[test]
fn json_has_subject_times_and_memory() {
    let results = results(&setup(3), Task::OneByOne);
    assert_eq!(results.len(), 2, "one for each size");
    let first = &results[0];
    assert_eq!((&first["engine"]["kind"], &first["size"]), (&"cpu".into(), &serde_json::json!([64, 48])));
    let parameters = &first["parameters"];
    assert_eq!((&parameters["num-disparities"], &parameters["paths"]), (&16.into(), &8.into()));
    assert_eq!(parameters["cost"], "census-5x5");
    let time = |name: &str| first["frame_ms"][name].as_f64().unwrap();
    assert!(time("best") > 0.0 && time("best") <= time("median"));
    let all = first["frame_ms"]["all"].as_array().unwrap();
    assert!(all.len() == 3 && all.iter().any(|ms| ms.as_f64() == Some(time("best"))), "{all:?}");
    let stages = first["stages_ms"].as_object().unwrap();
    assert!(["cost", "filters"].iter().all(|stage| stages.contains_key(*stage)), "{stages:?}");
    // at least the sums of 64 x 48 pixels with 16 candidates
    assert!(first["engine_mb"].as_f64().unwrap() > 0.046, "{first}");
    assert_eq!(cfg!(target_os = "linux"), first["peak_mb"].is_u64());
}

#[test]
fn at_a_slow_rate_pairs_are_matched_and_each_is_counted() {
    let results = results(&setup(1), Task::Steady { rate_hz: 50.0, seconds: 0.4 });
    let first = &results[0];
    assert_eq!((first["came"].as_u64(), first["rate_hz"].as_f64()), (Some(20), Some(50.0)));
    let dropped = |cause: &str| first["dropped"][cause].as_u64().unwrap();
    let sum = first["computed"].as_u64().unwrap() + dropped("late");
    assert_eq!((sum, dropped("failed")), (20, 0), "{first}");
    assert!(first["computed"].as_u64().unwrap() > 0, "{first}");
    let latency = |name: &str| first["latency_ms"][name].as_f64().unwrap();
    assert!(latency("median") > 0.0 && latency("median") <= latency("p99") && latency("p99") <= latency("largest"));
    assert!(first["seconds"].as_f64().unwrap() >= 19.0 / 50.0);
    assert_eq!(cfg!(target_os = "linux"), first["cpu_percent"].as_f64().is_some_and(|percent| percent > 0.0));
    assert!(first["frame_ms"].is_null());
}

#[test]
fn excessive_rate_drops_pairs_and_keeps_latency() {
    let results = results(&setup(1), Task::Steady { rate_hz: 20_000.0, seconds: 0.2 });
    let first = &results[0];
    let (computed, late) = (first["computed"].as_u64().unwrap(), first["dropped"]["late"].as_u64().unwrap());
    assert_eq!(computed + late, 4000, "{first}");
    assert!(late > 1000 && computed > 0, "{first}");
    // each pair waits for one other at most, and none in a queue
    let latency = |name: &str| first["latency_ms"][name].as_f64().unwrap();
    let per_pair_ms = 1e3 * first["seconds"].as_f64().unwrap() / computed as f64;
    assert!(latency("median") < 3.0 * per_pair_ms, "{first}");
}

#[test]
fn numbers_stand_below_their_heads() {
    for task in [Task::OneByOne, Task::Steady { rate_hz: 100.0, seconds: 0.1 }] {
        let mut text = Vec::new();
        run(&Setup { json: false, ..setup(2) }, task, None, &mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines.len(), 3, "{text}");
        assert!(lines[1].starts_with("cpu     64x48") && lines[2].starts_with("cpu     40x30"), "{text}");
        for head in ["disparities", "paths", "pairs/s", "engine MB", "peak MB"] {
            let end = lines[0].find(head).unwrap() + head.len();
            let around = lines[1][..=end].trim_end();
            assert!(around.len() == end && !around.ends_with(' '), "{head}:\n{text}");
        }
    }
}

#[test]
fn pairs_that_were_written_are_timed_again() {
    let folder = tempfile::tempdir().unwrap();
    let scene = setup(1);
    let written = PairFolder { path: folder.path().into(), overwrite: false };
    results_of(|out| run(&scene, Task::OneByOne, Some(&written), out));
    for name in ["64x48/left0.png", "64x48/right3.png", "40x30/left2.png"] {
        assert!(folder.path().join(name).is_file(), "{name}");
    }
    let spec = SourceSpec::Folder(folder.path().join("40x30"));
    let sources = vec![(spec.clone(), SourceOptions::default())];
    let again = results(&Setup { sources, ..setup(1) }, Task::OneByOne);
    assert_eq!(again[0]["size"], serde_json::json!([40, 30]));
    let params = StereoParams::default();
    let read = pairs::jobs(stereopsis_sources::open, &spec, &SourceOptions::default(), &params).unwrap();
    let (scene, at_size) = &scene.sources[1];
    let rendered = pairs::jobs(stereopsis_sources::open, scene, at_size, &params).unwrap();
    assert_eq!(read.len(), 4);
    for (read, rendered) in read.iter().zip(&rendered) {
        assert_eq!(
            (&read.frame.left.luma, &read.frame.right.luma),
            (&rendered.frame.left.luma, &rendered.frame.right.luma)
        );
    }
    assert_ne!(read[0].frame.left.luma, read[1].frame.left.luma);
}

#[test]
fn a_folder_of_two_sizes_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    for (number, width) in [(0, 40), (1, 44)] {
        for side in ["left", "right"] {
            let path = folder.path().join(format!("{side}{number}.png"));
            image::GrayImage::from_pixel(width, 30, image::Luma([9])).save(path).unwrap();
        }
    }
    let sources = vec![(SourceSpec::Folder(folder.path().into()), SourceOptions::default())];
    let err = run(&Setup { sources, ..setup(1) }, Task::OneByOne, None, &mut Vec::new()).unwrap_err();
    assert!(err.to_string().contains("40x30") && err.to_string().contains("44x30"), "{err}");
}

#[test]
fn a_range_that_matches_nowhere_is_refused() {
    let params = StereoParams { min_disparity: 100, ..StereoParams::default() };
    let err = run(&Setup { params, ..setup(1) }, Task::OneByOne, None, &mut Vec::new()).unwrap_err();
    assert!(err.to_string().contains("match nowhere"), "{err}");
}

#[test]
fn presets_stand_side_by_side_with_their_papers_and_densities() {
    let mut setup = setup(1);
    setup.sources.truncate(1);
    let results = results(&setup, Task::Presets);
    assert_eq!(results.len(), stereopsis_stereo::Preset::ALL.len());
    for (result, &preset) in results.iter().zip(stereopsis_stereo::Preset::ALL) {
        assert_eq!((result["preset"].as_str(), result["paper"].as_str()), (Some(preset.word()), preset.paper()));
        assert_eq!(result["parameters"]["num-disparities"], 16, "a preset leaves the range alone");
        let done = result["frame_ms"]["median"].as_f64().is_some_and(|ms| ms > 0.0);
        let density = result["valid_share"].as_f64().is_some_and(|share| (0.2..=1.0).contains(&share));
        assert!((done && density) || result["refused"].is_string(), "{result}");
    }
    let mut text = Vec::new();
    run(&Setup { json: false, ..setup }, Task::Presets, None, &mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    assert!(text.lines().filter(|line| !line.starts_with("  ")).count() == results.len() + 1, "{text}");
    assert!(text.contains("balanced       cpu     64x48") && text.contains("Banz, Blume, Pirsch 2011"), "{text}");
}
