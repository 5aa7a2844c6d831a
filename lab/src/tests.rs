//! Tests of the experiments' output on small pairs and on a synthetic study.

use super::variants::{About, Tables};
use super::*;
use clap::Parser as _;
use std::io::Write;
use stereopsis_frame::engine::{AdapterChoice, EngineInfo, EngineKind};
use stereopsis_frame::{SourceOptions, SourceSpec};
use stereopsis_gpu::Gpu;
use stereopsis_gpu::limits::Limits;
use stereopsis_gpu::tuning::{Study, Trial};
use stereopsis_gpu::variant::{Exchange, PIECES, PathBits, Requirements, Variant, VariantOverrides, WORKGROUPS};
use stereopsis_stereo::StereoParams;

fn about() -> About {
    About {
        info: EngineInfo { kind: EngineKind::Gpu, adapter: "made up".to_owned(), software: false },
        limits: Limits {
            subgroup: 16,
            workgroup: 256,
            has_f16: true,
            has_i16: true,
            packs_i16: true,
            discrete: true,
            integrated: false,
            binding_bytes: 1 << 30,
            storage_buffers: 32,
            side_px: 16384,
            path_bytes: 1 << 30,
        },
        requirements: Requirements { candidates: 128, wide: false, has_codes: true, has_row_path: true },
        size: (640, 480),
        parameters: StereoParams::default(),
    }
}

/// Creates a study with every variant of the first part and two of the second one.
fn made_up(about: &About) -> Study {
    let baseline = Variant::baseline(&about.limits, &about.requirements);
    let mut variants = Variant::all(&about.limits, &about.requirements, &WORKGROUPS, &[baseline.piece]);
    variants.retain(|variant| {
        variant.fused == baseline.fused && variant.path_bits == PathBits::I32 && variant.ahead == baseline.ahead
    });
    let trial = |variant: Variant| {
        let ms = 1.0 + 10.0 / f64::from(variant.workgroup) + f64::from(variant.words) / 8.0;
        let winner_ms = if variant.piece == PIECES[0] { 0.1 } else { 0.2 };
        Trial { variant, paths_ms: Some(ms), winner_ms: Some(winner_ms), pair_ms: ms + winner_ms }
    };
    let mut study = Study { trials: variants.into_iter().map(trial).collect(), left_out: Vec::new() };
    let best = study.best().unwrap().variant;
    let others = [
        Variant { piece: PIECES[0], ..best },
        Variant { fused: true, ..best },
        Variant { words: 4, path_bits: PathBits::I16, ..best },
        Variant { path_bits: PathBits::F16, ..best },
        Variant { ahead: 4, ..best },
    ];
    study.trials.extend(others.map(trial));
    study
}

#[test]
fn tables_contain_all_trials_and_mark_the_best() {
    let about = about();
    let study = made_up(&about);
    let mut tables = Tables::new(&about);
    let mut out = Vec::new();
    tables.print_head(&mut out).unwrap();
    for trial in &study.trials {
        tables.add(trial, &mut out).unwrap();
    }
    tables.print_rest(&study, &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    let tables: Vec<_> = text.split("\n\n").collect();
    // workgroup memory and subgroups, each with costs from a volume and from codes
    let grids: Vec<_> = tables.iter().filter(|table| table.starts_with("exchange=")).collect();
    assert_eq!(grids.len(), 4, "{text}");
    for table in &grids {
        let lines: Vec<_> = table.lines().collect();
        assert_eq!(lines.len(), 5, "{table}");
        assert!(lines.iter().all(|line| line.len() == lines[1].len() || line.starts_with("exchange=")), "{table}");
        assert_eq!(table.matches('*').count(), 1, "{table}");
        // one word is quickest here; a variant is omitted if a subgroup is too small for it
        let dashes = if table.contains("exchange=subgroup") { 4 } else { 0 };
        assert_eq!(table.matches(" -").count(), dashes, "{table}");
        assert!(lines[if dashes > 0 { 3 } else { 2 }].ends_with('*'), "{table}");
    }
    let pieces = tables.iter().find(|table| table.starts_with("the quickest of these")).unwrap();
    assert!(pieces.lines().any(|line| line.starts_with("pieces of 16 px") && line.ends_with('*')), "{pieces}");
    assert!(pieces.lines().any(|line| line.starts_with("fused") && !line.contains('-')), "{pieces}");
    let lanes = "not run: exchange=subgroup, words=1: a pixel of 128 candidates needs 32 lanes";
    assert!(text.contains(lanes), "{text}");
    assert!(!text.contains("software"), "{text}");
}

/// Checks that JSON has the bits of integers as numbers.
#[test]
fn words_and_json_keep_a_variant() {
    let About { limits, requirements, .. } = about();
    for (&path_bits, json) in PathBits::ALL.iter().zip(["32", "16", "\"f16\""]) {
        let variant = Variant { path_bits, ..Variant::baseline(&limits, &requirements) };
        let text = serde_json::to_string(&variant).unwrap();
        assert!(text.contains(&format!("\"path_bits\":{json},")), "{text}");
        assert_eq!(serde_json::from_str::<Variant>(&text).unwrap(), variant);
        assert!(serde_json::from_str::<Variant>(&text.replace(json, "8")).is_err());
        let other = Variant { exchange: Exchange::Workgroup, words: 1, path_bits: PathBits::I32, ..variant };
        assert_eq!(variant.to_string().parse::<VariantOverrides>().unwrap().apply(other), variant);
    }
}

#[test]
fn variants_without_room_are_listed() {
    let about = about();
    let variant =
        Variant { words: 4, exchange: Exchange::Workgroup, ..Variant::baseline(&about.limits, &about.requirements) };
    let study = Study { trials: Vec::new(), left_out: vec![(variant, "no room for 9 MiB".to_owned())] };
    let named = variants::not_run(&about, &study);
    assert!(named.iter().any(|(what, why)| what.contains("words=4") && why == "no room for 9 MiB"), "{named:?}");
}

/// Returns a setup for the GPU if there is one, and whether it is software.
fn gpu_setup(frames: usize) -> Option<(Setup, bool)> {
    let setup = Setup { engine: EngineChoice::Gpu, ..setup(frames) };
    let found = Gpu::open(&setup.adapter);
    assert!(found.is_ok() || std::env::var_os("REQUIRE_GPU").is_none(), "REQUIRE_GPU is set, and there is no GPU");
    found.ok().map(|gpu| (setup, gpu.info.software))
}

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
fn results(setup: &Setup, run: fn(&Setup, &mut dyn Write) -> anyhow::Result<()>) -> Vec<serde_json::Value> {
    let mut text = Vec::new();
    run(setup, &mut text).unwrap();
    let json: serde_json::Value = serde_json::from_slice(&text).unwrap();
    assert_eq!(json["program"], concat!("stereopsis ", env!("CARGO_PKG_VERSION")));
    json["results"].as_array().unwrap().clone()
}

#[test]
fn gpu_stages_have_bytes_and_only_measured_rates() {
    let Some((setup, software)) = gpu_setup(2) else { return };
    for result in results(&setup, device::run) {
        assert!(result["variant"]["words"].is_u64(), "{result}");
        assert!(result["frame_ms"]["median"].as_f64().unwrap() > 0.0);
        let stages = result["device_stages"].as_array().unwrap();
        let names: Vec<_> = stages.iter().map(|stage| stage["name"].as_str().unwrap()).collect();
        assert_eq!(names, ["cost", "paths", "winner", "filters"]);
        for stage in stages {
            assert!(stage["bytes"].as_u64().unwrap() > 0, "{stage}");
            // filters have no operation count, and the path stage computes costs from codes
            let has_volume = result["variant"]["costs"] == "volume";
            let is_counted = stage["name"] != "filters" && (stage["name"] != "cost" || has_volume);
            assert_eq!(stage["operations"].as_u64().unwrap() > 0, is_counted, "{stage}");
            let told = ["gb_per_s", "share_of_bandwidth", "share_of_arithmetic"].map(|key| stage[key].is_f64());
            assert_eq!(told, [!software; 3], "{stage}");
            assert_eq!(stage["bound"].is_string(), !software, "{stage}");
        }
        assert_eq!((result["rates"].is_object(), result["device_ms"].is_object()), (!software, !software), "{result}");
        assert_eq!(result["note"].as_str().is_some_and(|note| note.contains("not measurable here")), software);
    }
    let mut text = Vec::new();
    device::run(&Setup { json: false, ..setup }, &mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    assert!(text.contains("variant exchange=") && text.contains("of bandwidth"), "{text}");
    assert_eq!(text.contains("not measurable here: this GPU is software"), software, "{text}");
}

#[test]
fn stages_have_their_work_and_software_has_no_times() {
    let Some((setup, software)) = gpu_setup(1) else { return };
    let (spec, options) = &setup.sources[0];
    let jobs = setup.jobs(spec, options).unwrap();
    let gpu = Gpu::open(&setup.adapter).unwrap();
    let found = stages::measure(&gpu, &mut device::RatesCache::default(), &jobs, 1).unwrap();
    let all = [found.costs, found.one_by_one, found.together, found.winners].map(Option::unwrap);
    assert_eq!(all[1].work.bytes, all[2].work.bytes, "one after another they do the same");
    assert!(all.iter().all(|figures| figures.ms.is_some() != software && figures.work.bytes > 0), "{all:?}");
}

#[test]
fn software_adapters_have_no_pipeline_times() {
    let Some((setup, software)) = gpu_setup(3) else { return };
    for result in results(&setup, pipeline::run) {
        assert_eq!(result["pipeline"].is_object(), !software, "{result}");
        let said = result["note"].as_str().is_some_and(|note| note.contains("share the processor"));
        assert_eq!(said, software, "{result}");
    }
}

#[test]
fn the_model_predicts_the_radii_that_do_not_calibrate_it() {
    let sources = vec![(SourceSpec::Scene, SourceOptions { size: Some((40, 30)), ..SourceOptions::default() })];
    let params = StereoParams { num_disparities: 4, ..StereoParams::default() };
    let results = results(&Setup { sources, params, ..setup(2) }, model::run);
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
    let Some((setup, software)) = gpu_setup(1) else { return };
    let first = &results(&setup, model::run)[0];
    let says_so = first["note"].as_str().is_some_and(|note| note.contains("not measurable here"));
    assert_eq!(says_so, software, "{first}");
    assert_eq!(first["rows"].as_array().unwrap().is_empty(), software, "{first}");
}

#[test]
fn commands_of_the_documentation_are_parsed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut pages: Vec<_> = fs::read_dir(root.join("docs")).unwrap().map(|entry| entry.unwrap().path()).collect();
    pages.extend(["assets/README.md", "lab/REPORT.md"].map(|page| root.join(page)));
    let mut count = 0;
    for page in pages.iter().filter(|page| page.extension().is_some_and(|ending| ending == "md")) {
        let text = fs::read_to_string(page).unwrap();
        for command in text.split(['\n', '`']).filter(|text| text.starts_with("stereopsis-lab ")) {
            let words = command.split(" #").next().unwrap().split_whitespace();
            if let Err(err) = Lab::try_parse_from(words.chain(["--help"])) {
                assert_eq!(err.kind(), clap::error::ErrorKind::DisplayHelp, "{}: {command}\n{err}", page.display());
            }
            count += 1;
        }
    }
    assert!(count > 15, "{count}");
}
