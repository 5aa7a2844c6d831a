//! Runs `stereopsis optimize` like a user, on the built-in scene, which has truth, and on a folder of pairs, which has none.

use super::start::{printed, refused, run};
use serde_json::Value;
use std::fs;
use std::path::Path;

const QUICK: [&str; 5] = ["--num-disparities", "16", "--engine", "cpu", "--pairs"];
const SCENE: [&str; 3] = ["optimize", "--size", "96x72"];

fn scene<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&SCENE[..], &QUICK, &["2"], more].concat()
}

fn lines(path: &Path) -> Vec<Value> {
    fs::read_to_string(path).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn folder_of_pairs(folder: &Path) {
    run(folder, &["bench", "--write-pairs", ".", "--size", "96x72", "--frames", "3", "--num-disparities", "8"]);
}

#[test]
fn a_setting_is_found_written_drawn_and_used() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let text = printed(folder, &scene(&["-o", "best.toml", "--plot", "best.svg"]));
    for words in [
        "balanced",
        "present setting",
        "found",
        "changed:",
        "pixels off by more than 1 px, of all with truth, holes filled",
        "Only presets are proposed: what suits fewer than 6 pairs",
        "cpu",
    ] {
        assert!(text.contains(words), "no '{words}': {text}");
    }
    let settings = fs::read_to_string(folder.join("best.toml")).unwrap();
    assert!(
        settings.starts_with("# Found by stereopsis optimize") && settings.contains("num-disparities"),
        "{settings}"
    );
    assert!(fs::read_to_string(folder.join("best.svg")).unwrap().contains("time of a pair, ms"));
    let found: Value = serde_json::from_str(&printed(folder, &scene(&["-o", "best.toml", "--json"]))).unwrap();
    assert_eq!((found["judge"].as_str(), found["trials"].as_array().unwrap().len()), (Some("truth"), 4));
    let measure = ["measure", "--size", "96x72", "--frames", "1", "--json", "--settings", "best.toml"];
    let used: Value = serde_json::from_str(&printed(folder, &measure)).unwrap();
    assert_eq!(used["parameters"], found["found"]["parameters"], "the file has the setting");
    let loss = |of: &Value| of["loss"].as_f64().unwrap();
    assert!(loss(&found["found"]) <= loss(&found["start"]), "{found}");
    assert!(found["presets"]["fast"]["time_ms"].as_f64().unwrap() > 0.0);
}

#[test]
fn the_same_command_goes_on_and_another_one_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let scene = |more: &[&'static str]| [&SCENE[..], &QUICK, &["6"], more].concat();
    run(folder, &scene(&["--trials", "8", "-o", "whole.toml"]));
    run(folder, &scene(&["--trials", "6", "-o", "parts.toml"]));
    // as if the machine had stopped amid a line
    let journal = folder.join("parts.search.jsonl");
    let text = fs::read_to_string(&journal).unwrap();
    fs::write(&journal, &text[..text.len() - 20]).unwrap();
    let said = run(folder, &scene(&["--trials", "8", "-o", "parts.toml"]));
    assert!(said.contains("goes on after the 5 settings"), "{said}");
    let tried = |name: &str| {
        let lines = lines(&folder.join(name));
        lines[1..].iter().map(|line| line["params"].clone()).collect::<Vec<_>>()
    };
    let (whole, parts) = (tried("whole.search.jsonl"), {
        // the cut line exists once more, complete
        let text = fs::read_to_string(&journal).unwrap();
        let whole: String =
            text.lines().filter(|l| serde_json::from_str::<Value>(l).is_ok()).fold(String::new(), |t, l| t + l + "\n");
        fs::write(folder.join("read.jsonl"), whole).unwrap();
        tried("read.jsonl")
    });
    assert_eq!(whole.len(), 8);
    assert_eq!(whole, parts, "a search in parts tries the same settings");
    let said = run(folder, &scene(&["--trials", "8", "-o", "whole.toml"]));
    assert!(said.contains("all of them by an earlier run"), "{said}");
    let other = scene(&["--trials", "8", "-o", "whole.toml", "--max-ms", "900"]);
    refused(
        folder,
        &other,
        1,
        &["whole.search.jsonl was left by another search", "its max-ms is null, not 900", "Delete it"],
    );
}

#[test]
fn foreign_output_file_is_not_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("mine.toml"), "p1 = 9\n").unwrap();
    let args = scene(&["--trials", "2", "-o", "mine.toml"]);
    refused(folder, &args, 1, &["mine.toml exists and is not overwritten", "--overwrite"]);
    assert_eq!(fs::read_to_string(folder.join("mine.toml")).unwrap(), "p1 = 9\n");
    let args = scene(&["--trials", "2", "-o", "mine.toml", "--settings", "mine.toml", "--overwrite"]);
    refused(folder, &args, 1, &["mine.toml is read by this run"]);
    run(folder, &scene(&["--trials", "2", "-o", "mine.toml", "--overwrite"]));
    assert!(fs::read_to_string(folder.join("mine.toml")).unwrap().contains("Found by"));
}

#[test]
fn folders_of_pairs_and_folders_of_scenes_are_searched_without_truth() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    folder_of_pairs(folder);
    for name in ["b", "a"] {
        fs::create_dir_all(folder.join("scenes").join(name)).unwrap();
        for side in ["left", "right"] {
            let from = folder.join("96x72").join(format!("{side}0.png"));
            fs::copy(from, folder.join("scenes").join(name).join(format!("{side}.png"))).unwrap();
        }
    }
    let of = |input: &str, output: &str| -> Value {
        let args = [&["optimize", input], &QUICK[..], &["2", "--trials", "3", "--json", "-o", output]].concat();
        serde_json::from_str(&printed(folder, &args)).unwrap()
    };
    for (input, output) in [("96x72", "a.toml"), ("scenes", "b.toml")] {
        let found = of(input, output);
        assert_eq!((&found["pairs"], &found["judge"]), (&2.into(), &"without-truth".into()), "{input}: {found}");
        assert!(found["start"]["loss"].is_number(), "{found}");
        // three settings are the current one, a quicker preset, and the dearest of these
        assert_eq!(found["found"], found["presets"]["accurate"], "{found}");
        assert!(found["keeps_to_presets"].as_str().unwrap().contains("without truth"), "{found}");
    }
    // other images with the same names
    fs::copy(folder.join("96x72/left1.png"), folder.join("96x72/left0.png")).unwrap();
    let args = [&["optimize", "96x72"], &QUICK[..], &["2", "--trials", "3", "-o", "a.toml"]].concat();
    refused(folder, &args, 1, &["a.search.jsonl was left by another search", "its pairs have other images"]);
    let args = [&["optimize", "96x72"], &QUICK[..], &["2", "--judge", "truth", "-o", "c.toml"]].concat();
    refused(folder, &args, 2, &["--judge truth", "has no truth", "--judge without-truth"]);
    assert!(!folder.join("c.search.jsonl").exists(), "nothing was begun");
}

#[test]
fn impossible_searches_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    refused(folder, &["optimize", "--source", "webcam:0,1", "-o", "a.toml"], 2, &["record some first"]);
    refused(folder, &["optimize", "-o", "a.toml", "--plot", "a.pdf"], 1, &[".svg or .png"]);
    refused(folder, &["optimize"], 2, &["--output"]);
    refused(folder, &["optimize", "-o", "a.toml", "--trials", "0"], 2, &["--trials"]);
    refused(folder, &["optimize", "-o", "a.toml", "--trials", "3", "--seconds", "2"], 2, &["--seconds"]);
    let slow = scene(&["--trials", "4", "--max-ms", "0.000001", "-o", "slow.toml"]);
    refused(folder, &slow, 1, &["no setting takes at most 0.000001 ms", "raise --max-ms"]);
    assert!(!folder.join("slow.toml").exists());
}
