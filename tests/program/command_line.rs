//! Tests the command line for beginners: misspelt words, missing files, one screen of help, one form of JSON.

use super::start::{refused, stereopsis};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::Output;

const QUICK: [&str; 6] = ["--engine", "cpu", "--num-disparities", "16", "--rate", "max"];

/// Creates a folder with a pair, the same pair in the folder `pairs`, and a rig without cameras.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let mut random = fastrand::Rng::with_seed(7);
    let texture: Vec<u8> = (0..86 * 40).map(|_| random.u8(..)).collect();
    fs::create_dir(at("pairs")).unwrap();
    for (name, offset) in [("left.png", 0), ("right.png", 6)] {
        let view = image::GrayImage::from_fn(80, 40, |x, y| image::Luma([texture[(y * 86 + x + offset) as usize]]));
        view.save(at(name)).unwrap();
        fs::copy(at(name), at("pairs").join(name)).unwrap();
    }
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/calibration/example-rig.yml");
    fs::copy(example, at("stereo.yml")).unwrap();
    fs::write(at("rig.toml"), "[calibration]\nfocal_px = 100\nbaseline_m = 0.1\n").unwrap();
    folder
}

fn said(output: &Output) -> String {
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!said.contains("panicked"), "{said}");
    said
}

/// Runs to success; returns the JSON of standard output, and the text of standard error.
fn run(folder: &Path, args: &[&str]) -> (Value, String) {
    let output = stereopsis(folder, args).output().unwrap();
    let said = said(&output);
    assert!(output.status.success(), "{args:?}: {said}");
    (serde_json::from_slice(&output.stdout).unwrap_or_default(), said)
}

#[test]
fn unknown_word_is_a_wrong_command_line_with_or_without_a_display() {
    let folder = folder();
    let cases: &[(&[&str], &[&str])] = &[
        (&["foo"], &["'foo' is no subcommand", "no file or folder has this name", "--help"]),
        (&["recrod", "--seconds", "5"], &["'recrod'", "did you mean 'record'?"]),
        (&["play", "walk.mcap", "--once"], &["'play' is no subcommand", "`stereopsis walk.mcap --once`"]),
        (&["view"], &["`stereopsis walk.mcap`"]),
        (&["webcams"], &["`stereopsis devices`", "--source webcam:0,1"]),
        (&["Webcam"], &["`stereopsis devices`"]),
        (&["convrt", "walk.mcap"], &["`stereopsis export walk.mcap --to walk/`", "calibration convert"]),
        (&["comptue", "left.png", "right.png", "-o", "a.pfm"], &["did you mean 'compute'?"]),
        (&["left.png", "rigth.png"], &["cannot open rigth.png: there is no such file: did you mean right.png?"]),
        (&["live", "left.png", "rigth.png"], &["cannot open rigth.png: there is no such file"]),
        (&["left.png"], &["left.png is one image, and a pair needs two"]),
        (&["left.png", "right.png", "left.png"], &["cannot be opened together", "a folder of pairs"]),
        (
            &["live", "left.png", "right.png", "--right-shift-s", "1"],
            &["--right-shift-s is for a left and a right video file"],
        ),
        (&["gone/walk.mcap"], &["cannot open gone/walk.mcap: the folder gone does not exist"]),
        (&["walk.mcap"], &["cannot open walk.mcap: there is no such file"]),
        (&["gone.toml"], &["cannot open gone.toml: there is no such file"]),
        (&["--source", "sceen"], &["cannot open sceen: there is no such file", "give scene, LEFT,RIGHT"]),
        (&["record", "rigth.png"], &["cannot open rigth.png"]),
        (&["bench", "gone"], &["cannot open gone"]),
        (&["compute", "left.png", "gone.png", "-o", "a.pfm"], &["cannot open gone.png: there is no such file"]),
        (&["export", "gone.mcap", "--to", "out"], &["gone.mcap", "there is no such file"]),
        (&["recompute", "gone.mcap", "-o", "a.mcap"], &["gone.mcap", "there is no such file"]),
        (&["rig.toml", "--rig", "rig.toml"], &["both rigs"]),
        (&["stereo.yml", "--calibration", "stereo.yml"], &["stereo.yml is a calibration", "--calibration"]),
    ];
    for (args, words) in cases {
        for display in [None, Some(":77")] {
            let mut command = stereopsis(folder.path(), args);
            if let Some(display) = display {
                command.env("DISPLAY", display);
            }
            let output = command.output().unwrap();
            let said = said(&output);
            assert_eq!(output.status.code(), Some(2), "{args:?}: {said}");
            for word in *words {
                assert!(said.contains(word), "{args:?} does not say '{word}': {said}");
            }
            let lists_sources = said.contains("webcam:0,1 (two cameras)");
            assert!(!lists_sources || !args.iter().any(|arg| arg.contains('.')), "{args:?} name a file: {said}");
        }
    }
}

#[test]
fn paths_open_as_what_they_are() {
    let folder = folder();
    let quick = [&["--frames", "1", "--json", "--size", "64x48"], &QUICK[..]].concat();
    let live = |paths: &[&str]| run(folder.path(), &[paths, &quick].concat());
    run(folder.path(), &[&["record", "pairs", "--frames", "2", "--lossless", "-o", "walk.mcap"][..], &QUICK].concat());
    for paths in [&["left.png", "right.png"][..], &["pairs"], &["walk.mcap"]] {
        assert_eq!(live(paths).0["size"], json!([80, 40]), "{paths:?}");
    }
    let scene = live(&[]).0;
    let rig = live(&["rig.toml"]).0;
    assert_ne!(rig["geometry"], scene["geometry"], "the rig says how the scene is seen");
    assert_eq!(rig["geometry"], live(&["--rig", "rig.toml"]).0["geometry"]);
    let (_, said) = live(&["stereo.yml"]);
    assert!(said.contains("has its own geometry: the calibration is not used"), "{said}");
}

#[test]
fn missing_calibration_is_an_error_for_every_source() {
    let folder = folder();
    fs::create_dir(folder.path().join("empty")).unwrap();
    let record = ["record", "--frames", "1", "-o", "a.mcap"];
    let live = ["live", "--frames", "1"];
    let window = ["live"];
    let pair = ["live", "left.png", "right.png", "--frames", "1"];
    for command in [&record[..], &live, &window, &pair] {
        for (calibration, why) in [
            ("gone.yml", "cannot read the calibration gone.yml: there is no such file"),
            ("no/gone.yml", "the folder no does not exist"),
            ("empty", "it is a folder without left.yaml and right.yaml"),
        ] {
            let args = [command, &["--calibration", calibration], &QUICK].concat();
            let output = stereopsis(folder.path(), &args).env("DISPLAY", ":77").output().unwrap();
            let said = said(&output);
            assert!(output.status.code() == Some(1) && said.contains(why), "{args:?}: {said}");
        }
    }
    assert!(!folder.path().join("a.mcap").exists());
}

#[test]
fn messages_contain_no_system_error_numbers() {
    let folder = folder();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir(at("dir.mcap")).unwrap();
    fs::write(at("file"), "").unwrap();
    run(folder.path(), &[&["record", "pairs", "--frames", "1", "-o", "walk.mcap"][..], &QUICK].concat());
    let missing = "the folder no does not exist";
    let compute = ["compute", "left.png", "right.png", "--num-disparities", "16", "--engine", "cpu"];
    let record = ["record", "pairs", "--frames", "1"];
    let plan = ["plan", "--fov-deg", "70", "--baseline-m", "0.06"];
    let cases: &[(&[&str], &[&str], &str)] = &[
        (&record, &["-o", "no/walk.mcap"], missing),
        (&record, &["-o", "file/walk.mcap"], "file is not a folder"),
        (&compute, &["-o", "no/a.pfm"], missing),
        (&compute, &["-o", "pairs.pfm/a.pfm", "--color", "no/a.png"], "the folder pairs.pfm does not exist"),
        (&compute, &["-o", "a.pfm", "--settings", "no/a.toml"], missing),
        (&compute, &["-o", "a.pfm", "--settings", "pairs"], "it is a folder"),
        (&compute, &["-o", "a.pfm", "--rig", "no/a.toml"], missing),
        (&compute, &["-o", "a.pfm", "--calibration", "no/a.yml"], missing),
        (&["live", "pairs", "--frames", "1"], &["--preview", "no/a.png"], missing),
        (&["bench", "--size", "64x48", "--frames", "1"], &["--write-pairs", "file/a"], "file"),
        (&["recompute", "walk.mcap"], &["-o", "no/a.mcap"], missing),
        (&["recompute", "dir.mcap"], &["-o", "a.mcap"], "dir.mcap: it is a folder"),
        (&["export", "walk.mcap"], &["--to", "file/out"], "file"),
        (&["export", "dir.mcap"], &["--to", "out"], "dir.mcap: it is a folder"),
        (&["calibration", "convert", "stereo.yml"], &["-o", "no/a.toml"], missing),
        (&["calibration", "show"], &["pairs"], "it is a folder"),
        (&plan, &["--plot", "no/a.svg"], missing),
        (&["live", "left.png", "pairs", "--frames", "1"], &[], "cannot be opened together"),
    ];
    for (command, more, words) in cases {
        let args = [*command, *more].concat();
        let said = said(&stereopsis(folder.path(), &args).output().unwrap());
        assert!(said.contains(words), "{args:?} does not say '{words}': {said}");
        assert!(!said.contains("os error"), "{args:?}: {said}");
    }
    if cfg!(target_os = "linux") {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = stereopsis(folder.path(), &plan).stdout(full).output().unwrap();
        let full = "stereopsis: cannot write to standard output: the disk is full\n";
        assert_eq!((output.status.code(), said(&output)), (Some(1), full.to_owned()));
    }
}

#[test]
fn short_help_fits_a_screen_and_names_the_long_one() {
    let folder = tempfile::tempdir().unwrap();
    let help = |args: &[&str]| {
        let output = stereopsis(folder.path(), args).output().unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stdout).unwrap()
    };
    for command in ["", "live", "record", "compute", "recompute", "export", "measure", "optimize", "bench", "tune"] {
        let words: Vec<_> = Some(command).filter(|word| !word.is_empty()).into_iter().collect();
        let (short, long) = (help(&[&words[..], &["-h"]].concat()), help(&[&words[..], &["--help"]].concat()));
        let named = format!("`{} --help`", [&["stereopsis"], &words[..]].concat().join(" "));
        assert!(short.contains(&named) && !long.contains(&named), "{command}: {short}");
        assert!(short.lines().count() <= 40, "{command} has {} lines:\n{short}", short.lines().count());
        assert!(long.lines().count() > 40 || command == "export", "{command}");
    }
}

#[test]
fn all_json_uses_the_same_names() {
    let folder = folder();
    let of = |args: &[&str]| run(folder.path(), args).0;
    let quick = &QUICK[..4];
    let compute = of(&[&["compute", "left.png", "right.png", "-o", "a.pfm", "--json"], quick].concat());
    let bench = of(&[&["bench", "left.png", "right.png", "--frames", "1", "--json"], quick].concat());
    let steady = ["bench", "left.png", "right.png", "--rate", "50", "--seconds", "0.1", "--json"];
    let steady = of(&[&steady, quick].concat());
    let live = of(&[&["live", "left.png", "right.png", "--frames", "1", "--json"], &QUICK[..]].concat());
    let record = ["record", "pairs", "--frames", "1", "--lossless", "--streams", "raw,disparity", "-o", "walk.mcap"];
    let record = of(&[&record, &["--json"][..], &QUICK].concat());
    let recompute = of(&[&["recompute", "walk.mcap", "-o", "again.mcap", "--json"], quick].concat());
    let export = of(&["export", "walk.mcap", "--to", "out", "--json"]);
    let plan = of(&["plan", "--fov-deg", "70", "--baseline-m", "0.06", "--size", "80x40", "--json"]);
    let results = [&compute["results"][0], &bench["results"][0], &steady["results"][0], &live];
    for (about, name) in results.into_iter().zip(["compute", "bench", "bench --rate", "live"]) {
        assert_eq!(about["size"], json!([80, 40]), "{name}: {about}");
        assert_eq!(about["parameters"], compute["results"][0]["parameters"], "{name}");
    }
    for about in results.into_iter().chain([&record, &recompute]) {
        let engine = &about["engine"];
        assert_eq!((&engine["kind"], &engine["software"]), (&json!("cpu"), &json!(false)), "{about}");
        assert!(engine["adapter"].is_string(), "{about}");
    }
    for (about, output) in [(&compute["results"][0], "a.pfm"), (&record, "walk.mcap"), (&recompute, "again.mcap")] {
        assert_eq!(about["output"], output, "{about}");
    }
    assert_eq!((&export["output"], &export["pairs"]), (&json!("out"), &json!(1)), "{export}");
    assert_eq!((&plan["size"], &plan["parameters"]["num-disparities"]), (&json!([80, 40]), &json!(64)), "{plan}");
    for about in [&steady["results"][0], &live, &live["run"], &record["run"]] {
        let causes: Vec<_> = about["dropped"].as_object().unwrap().keys().collect();
        assert_eq!(causes, ["failed", "late", "source", "while_paused"], "{about}");
    }
    for about in [&compute["results"][0], &bench["results"][0], &live] {
        assert!(about["stages_ms"].as_object().is_some_and(|stages| stages.contains_key("cost")), "{about}");
    }
}

/// Copies the recording without the results of its first pair.
fn without_first_depth(from: &Path, to: &Path) {
    let bytes = fs::read(from).unwrap();
    let mut writer = mcap::Writer::new(fs::File::create(to).unwrap()).unwrap();
    let mut is_first = true;
    for message in mcap::MessageStream::new(&bytes).unwrap() {
        let message = message.unwrap();
        let is_depth = message.channel.topic.contains("depth/image");
        if !(is_depth && std::mem::take(&mut is_first)) {
            writer.write(&message).unwrap();
        }
    }
    writer.finish().unwrap();
}

#[test]
fn export_reports_missing_parts_and_fails_without_any() {
    let folder = tempfile::tempdir().unwrap();
    super::recording::record_scene(folder.path(), "whole.mcap", 2, "raw,depth");
    without_first_depth(&folder.path().join("whole.mcap"), &folder.path().join("in.mcap"));
    let export = |to: &str, what: &str, count: &str| {
        let args = ["export", "in.mcap", "--to", to, "--what", what, "--count", count];
        let output = stereopsis(folder.path(), &args).output().unwrap();
        (output.status.code().unwrap(), said(&output))
    };
    let (code, said) = export("nothing", "depth-mm", "1");
    assert!(code == 1 && said.contains("nothing was exported"), "{said}");
    assert!(said.contains("depth-mm: the recording has none of it for 1 chosen pair"), "{said}");
    let (code, said) = export("some", "left,depth-mm", "1");
    assert!(code == 0 && said.contains("1 pair -> some: left\n"), "{said}");
    assert!(said.contains("left out: depth-mm: the recording has none of it for 1 chosen pair"), "{said}");
    let (code, said) = export("all", "left,depth-mm", "2");
    assert!(code == 0 && said.contains("2 pairs -> all: left, depth-mm") && !said.contains("left out"), "{said}");
    assert!(folder.path().join("all/000001_depth_mm.png").is_file());
}

/// Finds a file below a folder with this ending.
fn find(folder: &Path, ending: &str) -> Option<std::path::PathBuf> {
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).find_map(|path| {
        if path.is_dir() { find(&path, ending) } else { path.to_string_lossy().ends_with(ending).then_some(path) }
    })
}

#[test]
fn compute_warns_of_exchanged_images_and_short_ranges() {
    let folder = tempfile::tempdir().unwrap();
    let recorded =
        ["record", "--source", "scene", "--size", "320x240", "--frames", "1", "--streams", "raw", "-o", "a.mcap"];
    run(folder.path(), &recorded);
    run(folder.path(), &["export", "a.mcap", "--to", "out", "--what", "left,right"]);
    let side = |ending: &str| find(&folder.path().join("out"), ending).unwrap().display().to_string();
    let (left, right) = (side("left.png"), side("right.png"));
    let compute = |one: &str, other: &str, more: &[&str]| {
        let args =
            [&["compute", one, other, "-o", "map.pfm", "--overwrite", "--engine", "cpu", "--json"][..], more].concat();
        let (json, said) = run(folder.path(), &args);
        (json["results"][0]["warnings"].clone(), said)
    };
    let (warnings, said) = compute(&left, &right, &["--num-disparities", "48"]);
    assert_eq!(warnings, json!([]), "{said}");
    let (warnings, said) = compute(&right, &left, &["--num-disparities", "48"]);
    assert!(said.contains("left and right look exchanged") && said.contains("--swap-pictures"), "{said}");
    assert_eq!(warnings.as_array().map(Vec::len), Some(1), "the cause alone: {warnings}");
    let (warnings, said) = compute(&right, &left, &["--num-disparities", "48", "--swap-pictures"]);
    assert_eq!(warnings, json!([]), "{said}");
    let (_, said) = compute(&left, &right, &["--num-disparities", "8"]);
    assert!(said.contains("end at 7 px: nearer things are cut off"), "{said}");
}

#[test]
fn an_engine_that_fails_with_each_pair_ends_the_run() {
    if std::env::var_os("REQUIRE_GPU").is_none() {
        return eprintln!("skipped: REQUIRE_GPU is not set");
    }
    let folder = tempfile::tempdir().unwrap();
    let large = ["--size", "16384x128", "--num-disparities", "1024", "--engine", "gpu", "--adapter", "llvmpipe"];
    let args = [&["live", "--headless", "--frames", "2", "--preview", "preview.png"][..], &large].concat();
    refused(
        folder.path(),
        &args,
        1,
        &["no pair was matched", "with 1024 disparities needs volumes of", "lower --num-disparities"],
    );
    assert!(!folder.path().join("preview.png").exists());
}
