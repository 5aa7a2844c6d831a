//! What `bench` prints, on small pairs.

use super::*;

fn options(task: Task) -> BenchOptions {
    let of_size = |size| (SourceSpec::Scene, SourceOptions { size: Some(size), ..SourceOptions::default() });
    BenchOptions {
        engines: vec![EngineChoice::Cpu, EngineChoice::Cpu],
        sources: vec![of_size((64, 48)), of_size((40, 30))],
        params: StereoParams { num_disparities: 16, ..StereoParams::default() },
        task,
        json: true,
        threads: Some(1),
        ..BenchOptions::default()
    }
}

fn results(options: &BenchOptions) -> Vec<serde_json::Value> {
    let mut text = Vec::new();
    run(options, &mut text).unwrap();
    let json: serde_json::Value = serde_json::from_slice(&text).unwrap();
    assert_eq!(json["program"], concat!("stereopsis ", env!("CARGO_PKG_VERSION")));
    json["results"].as_array().unwrap().clone()
}

#[test]
fn json_has_what_was_promised() {
    let results = results(&options(Task::OneByOne { frames: 3 }));
    assert_eq!(results.len(), 2, "one for each size, the engine named twice is timed once");
    let first = &results[0];
    assert_eq!((first["engine"].as_str(), first["size"].as_str()), (Some("cpu"), Some("64x48")));
    assert_eq!((first["num_disparities"].as_u64(), first["paths"].as_u64()), (Some(16), Some(8)));
    assert_eq!(first["parameters"]["cost"], "census-5x5");
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
    let results = results(&options(Task::Steady { rate_hz: 50.0, seconds: 0.4 }));
    let first = &results[0];
    assert_eq!((first["came"].as_u64(), first["rate_hz"].as_f64()), (Some(20), Some(50.0)));
    let sum: u64 = ["computed", "dropped", "failed"].iter().map(|key| first[key].as_u64().unwrap()).sum();
    assert_eq!((sum, first["failed"].as_u64()), (20, Some(0)), "{first}");
    assert!(first["computed"].as_u64().unwrap() > 10, "{first}");
    let latency = |name: &str| first["latency_ms"][name].as_f64().unwrap();
    assert!(latency("median") > 0.0 && latency("median") <= latency("p99") && latency("p99") <= latency("largest"));
    assert!(first["seconds"].as_f64().unwrap() >= 19.0 / 50.0);
    assert_eq!(cfg!(target_os = "linux"), first["cpu_percent"].as_f64().is_some_and(|percent| percent > 0.0));
    assert!(first["frame_ms"].is_null());
}

#[test]
fn at_a_rate_beyond_the_engine_pairs_are_dropped_and_latency_stays() {
    let results = results(&options(Task::Steady { rate_hz: 20_000.0, seconds: 0.2 }));
    let first = &results[0];
    let count = |name: &str| first[name].as_u64().unwrap();
    assert_eq!(count("computed") + count("dropped"), 4000, "{first}");
    assert!(count("dropped") > 1000 && count("computed") > 0, "{first}");
    // each waits for one pair at most, and none in a queue
    let latency = |name: &str| first["latency_ms"][name].as_f64().unwrap();
    assert!(latency("median") < 50.0, "{first}");
}

#[test]
fn numbers_stand_below_their_heads() {
    for task in [Task::OneByOne { frames: 2 }, Task::Steady { rate_hz: 100.0, seconds: 0.1 }] {
        let mut text = Vec::new();
        run(&BenchOptions { json: false, ..options(task) }, &mut text).unwrap();
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

/// Options for the GPU, where there is one.
fn gpu_options(task: Task) -> Option<BenchOptions> {
    let options = BenchOptions { engines: vec![EngineChoice::Gpu], ..options(task) };
    let found = Gpu::open(&options.adapter);
    assert!(found.is_ok() || std::env::var_os("REQUIRE_GPU").is_none(), "REQUIRE_GPU is set, and there is no GPU");
    found.is_ok().then_some(options)
}

#[test]
fn of_a_gpu_each_stage_has_its_bytes_and_what_is_no_speed_is_not_told() {
    let Some(options) = gpu_options(Task::OneByOne { frames: 2 }) else { return };
    let software = Gpu::open(&options.adapter).unwrap().info.software;
    for result in results(&options) {
        assert!(result["variant"]["words"].is_u64(), "{result}");
        assert!(result["frame_ms"]["median"].as_f64().unwrap() > 0.0);
        let stages = result["device_stages"].as_array().unwrap();
        let names: Vec<_> = stages.iter().map(|stage| stage["name"].as_str().unwrap()).collect();
        assert_eq!(names, ["cost", "paths", "winner", "filters"]);
        for stage in stages {
            assert!(stage["bytes"].as_u64().unwrap() > 0 && stage["operations"].as_u64().unwrap() > 0, "{stage}");
            let told = ["gb_per_s", "share_of_bandwidth", "share_of_arithmetic"].map(|key| stage[key].is_f64());
            assert_eq!(told, [!software; 3], "{stage}");
            assert_eq!(stage["bound"].is_string(), !software, "{stage}");
        }
        assert_eq!((result["rates"].is_object(), result["device_ms"].is_object()), (!software, !software), "{result}");
        assert_eq!(result["note"].as_str().is_some_and(|note| note.contains("not measurable here")), software);
    }
    let mut text = Vec::new();
    run(&BenchOptions { json: false, ..options }, &mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    assert!(text.contains("variant exchange=") && text.contains("of bandwidth"), "{text}");
    assert_eq!(text.contains("not measurable here: this GPU is software"), software, "{text}");
}

#[test]
fn a_grid_has_every_cost_size_and_range_on_any_engine() {
    let grid = Grid { sizes: vec![(64, 48), (40, 30)], disparities: vec![8, 16] };
    for engine in [EngineChoice::Cpu, EngineChoice::Gpu] {
        let Some(gpu) = gpu_options(Task::Grid { grid: grid.clone(), frames: 1 }) else { continue };
        let software = engine == EngineChoice::Gpu && Gpu::open(&gpu.adapter).unwrap().info.software;
        let options = BenchOptions { engines: vec![engine], ..gpu };
        let results = results(&options);
        assert_eq!(results.len(), 8);
        for result in &results {
            assert_eq!(result["frame_ms"].is_object(), !software, "{result}");
            assert_eq!(result["note"].is_string(), software, "{result}");
            assert_eq!(result["device_ms"].is_object(), engine == EngineChoice::Gpu && !software, "{result}");
        }
        assert_eq!((results[0]["cost"].as_str(), results[7]["cost"].as_str()), (Some("rank"), Some("census-5x5")));
        let mut text = Vec::new();
        run(&BenchOptions { json: false, ..options }, &mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        assert!(text.lines().count() >= 10 && text.contains("Tesla C2050"), "{text}");
    }
}

#[test]
fn stages_stand_beside_the_paper_and_are_the_gpu_s_alone() {
    let Some(options) = gpu_options(Task::Stages { frames: 1 }) else { return };
    let software = Gpu::open(&options.adapter).unwrap().info.software;
    let results = results(&options);
    let rows = results[0]["rows"].as_array().unwrap();
    let paper: Vec<_> = rows.iter().map(|row| row["paper"]["ms"].as_f64().unwrap()).collect();
    assert_eq!(paper, [1.80, 75.68, 39.81, 15.09]);
    assert_eq!(rows[1]["bytes"], rows[2]["bytes"], "one after another they do the same");
    assert!(rows.iter().all(|row| row["ms"].is_f64() != software), "{rows:?}");
    for task in [Task::Stages { frames: 1 }, Task::Pipeline { frames: 1 }] {
        let cpu = BenchOptions { engines: vec![EngineChoice::Cpu], task, ..options.clone() };
        let err = run(&cpu, &mut Vec::new()).unwrap_err();
        assert!(err.is::<crate::cli::UsageError>() && err.to_string().contains("--engine gpu"), "{err}");
    }
}

#[test]
fn the_pipeline_of_software_is_not_told() {
    let Some(options) = gpu_options(Task::Pipeline { frames: 3 }) else { return };
    let software = Gpu::open(&options.adapter).unwrap().info.software;
    for result in results(&options) {
        assert_eq!(result["pipeline"].is_object(), !software, "{result}");
        let said = result["note"].as_str().is_some_and(|note| note.contains("share the processor"));
        assert_eq!(said, software, "{result}");
    }
}

#[test]
fn pairs_that_were_written_are_timed_again() {
    let folder = tempfile::tempdir().unwrap();
    let scene = BenchOptions { write_pairs: Some(folder.path().into()), ..options(Task::OneByOne { frames: 1 }) };
    results(&scene);
    for name in ["64x48/left0.png", "64x48/right3.png", "40x30/left2.png"] {
        assert!(folder.path().join(name).is_file(), "{name}");
    }
    let spec = SourceSpec::Folder(folder.path().join("40x30"));
    let sources = vec![(spec.clone(), SourceOptions::default())];
    let again = results(&BenchOptions { sources, ..options(Task::OneByOne { frames: 1 }) });
    assert_eq!(again[0]["size"], "40x30");
    let params = StereoParams::default();
    let read = pairs::jobs(&spec, &SourceOptions::default(), &params).unwrap();
    let (scene, at_size) = &scene.sources[1];
    let rendered = pairs::jobs(scene, at_size, &params).unwrap();
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
    let err = run(&BenchOptions { sources, ..options(Task::OneByOne { frames: 1 }) }, &mut Vec::new()).unwrap_err();
    assert!(err.to_string().contains("40x30") && err.to_string().contains("44x30"), "{err}");
}

#[test]
fn a_range_that_matches_nowhere_is_refused() {
    let params = StereoParams { min_disparity: 100, ..StereoParams::default() };
    let err = run(&BenchOptions { params, ..options(Task::OneByOne { frames: 1 }) }, &mut Vec::new()).unwrap_err();
    assert!(err.to_string().contains("match nowhere"), "{err}");
}

#[test]
fn presets_stand_side_by_side_with_their_papers_and_densities() {
    let mut options = options(Task::Presets { frames: 1 });
    options.sources.truncate(1);
    options.engines.truncate(1);
    let results = results(&options);
    assert_eq!(results.len(), crate::stereo::Preset::ALL.len());
    for (result, &preset) in results.iter().zip(crate::stereo::Preset::ALL) {
        assert_eq!((result["preset"].as_str(), result["paper"].as_str()), (Some(preset.word()), preset.paper()));
        assert_eq!(result["num_disparities"], 16, "a preset leaves the range alone");
        let done = result["frame_ms"]["median"].as_f64().is_some_and(|ms| ms > 0.0);
        let density = result["density"].as_f64().is_some_and(|share| (0.2..=1.0).contains(&share));
        assert!((done && density) || result["refused"].is_string(), "{result}");
    }
    let mut text = Vec::new();
    run(&BenchOptions { json: false, ..options }, &mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    assert!(text.lines().filter(|line| !line.starts_with("  ")).count() == results.len() + 1, "{text}");
    assert!(text.contains("balanced       cpu     64x48") && text.contains("Banz, Blume, Pirsch 2011"), "{text}");
}

#[test]
fn the_model_predicts_the_radii_that_do_not_calibrate_it() {
    let results = results(&BenchOptions {
        sources: vec![(SourceSpec::Scene, SourceOptions { size: Some((40, 30)), ..SourceOptions::default() })],
        params: StereoParams { num_disparities: 4, ..StereoParams::default() },
        ..options(Task::Model { frames: 2 })
    });
    assert!(results[0]["bytes_per_s"].as_f64().unwrap() > 1e8, "{}", results[0]);
    let rows = results[0]["rows"].as_array().unwrap();
    for aggregation in ["window", "adaptive-weight", "cross"] {
        let rows: Vec<_> = rows.iter().filter(|row| row["aggregation"] == aggregation).collect();
        let predicted: Vec<_> = rows.iter().filter(|row| row["predicted_hz"].is_number()).collect();
        assert_eq!((rows.len(), predicted.len()), (7, 4), "{rows:?}");
        for row in &rows {
            let number = |name: &str| row[name].as_f64().unwrap();
            assert!((number("usage") - number("measured_hz") / number("ideal_hz")).abs() < 1e-9 * number("usage"));
        }
        for row in predicted {
            let number = |name: &str| row[name].as_f64().unwrap();
            let error = 100.0 * (number("predicted_hz") / number("measured_hz") - 1.0);
            assert!((number("error_percent") - error).abs() < 1e-6 * (100.0 + error), "{row}");
        }
    }
}

#[test]
fn the_model_says_that_nothing_is_measurable_on_software() {
    let options = BenchOptions { engines: vec![EngineChoice::Gpu], ..options(Task::Model { frames: 1 }) };
    let Ok(gpu) = Gpu::open(&options.adapter) else {
        assert!(std::env::var_os("REQUIRE_GPU").is_none(), "REQUIRE_GPU is set, and there is no GPU");
        return;
    };
    let first = &results(&options)[0];
    let says_so = first["note"].as_str().is_some_and(|note| note.contains("not measurable here"));
    assert_eq!(says_so, gpu.info.software, "{first}");
    assert_eq!(first["rows"].as_array().unwrap().is_empty(), gpu.info.software, "{first}");
}
