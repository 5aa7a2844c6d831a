//! Runs the laboratory's program.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

use std::path::Path;
use std::process::{Command, Output};
use stereopsis_frame::engine::AdapterChoice;
use stereopsis_frame::engine::cached::Measurements;
use stereopsis_gpu::layout::Structure;
use stereopsis_gpu::tuning::{Record, record_key};
use stereopsis_gpu::variant::Variant;
use stereopsis_gpu::{Gpu, GpuEngine};
use stereopsis_stereo::{Preset, StereoParams};

fn laboratory(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_stereopsis-lab"))
        .args(args)
        .current_dir(folder)
        .env("HOME", folder)
        .env("XDG_CACHE_HOME", folder.join("cache"))
        .env_remove("STEREOPSIS_DATA")
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn wrong_command_lines_are_refused_with_the_remedy() {
    let folder = tempfile::tempdir().unwrap();
    for (args, words) in [
        (&["device", "--engine", "cpu"][..], &["--engine gpu"][..]),
        (&["pipeline", "--engine", "cpu"], &["--engine gpu"]),
        (&["model", "--window", "5"], &["the model", "leave out --window"]),
        (&["reproduce", "nobody"], &["banz", "leu"]),
        (&["scores"], &["which scenes?"]),
    ] {
        let output = laboratory(folder.path(), args);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {said}");
        assert!(words.iter().all(|word| said.contains(word)), "{args:?}: {said}");
    }
}

#[test]
fn help_is_that_of_the_program() {
    let folder = tempfile::tempdir().unwrap();
    let help = |args: &[&str]| text(&laboratory(folder.path(), args).stdout);
    let long = help(&["device", "--help"]);
    for (name, _) in StereoParams::default().words() {
        assert!(long.contains(&format!("--{name}")), "--{name}");
    }
    assert!(Preset::ALL.iter().all(|preset| long.contains(&format!("- {preset}: "))), "{long}");
    let short = help(&["device", "-h"]);
    assert!(short.lines().count() <= 40 && short.contains("`stereopsis-lab device --help`"), "{short}");
    assert!(help(&["--help"]).contains("Exit code: 0 done"));
}

#[test]
fn a_paper_is_made_again_as_a_page_with_figures() {
    let folder = tempfile::tempdir().unwrap();
    let args = ["reproduce", "leu", "--quick", "--svg", "figures", "-o", "page.md"];
    let output = laboratory(folder.path(), &args);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let page = std::fs::read_to_string(folder.path().join("page.md")).unwrap();
    assert!(page.contains("stereopsis-lab reproduce leu --quick") && page.contains("figures/leu-fig-5.svg"), "{page}");
}

/// Keeps a variant as `stereopsis tune` does.
#[test]
fn a_kept_variant_is_run() {
    let Ok(gpu) = Gpu::open(&AdapterChoice::Best) else {
        assert!(std::env::var_os("REQUIRE_GPU").is_none(), "REQUIRE_GPU is set, and there is no GPU");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let params = StereoParams { num_disparities: 4, ..StereoParams::default() };
    let structure = Structure::levels((24, 16), &params).swap_remove(0).0;
    let limits = *GpuEngine::new(gpu.clone()).unwrap().limits();
    let baseline = Variant::baseline(&limits, &structure.requirements());
    let kept = Variant { ahead: 4, ..baseline };
    assert_eq!(kept.unsupported_reason(&limits, &structure.requirements()), None);
    let records = Measurements::in_file(folder.path().join("cache/stereopsis/gpu-variants.json"));
    records.put(&record_key(&gpu, &structure), &Record { variant: kept, ms: 0.1 });
    let args = ["device", "--frames", "1", "--size", "24x16", "--num-disparities", "4", "--json"];
    let output = laboratory(folder.path(), &args);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["results"][0]["variant"], serde_json::to_value(kept).unwrap(), "{report}");
}
