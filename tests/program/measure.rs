//! Runs `stereopsis measure` like a user, on the built-in scene, which has truth, and on images without a calibration.

use super::start::{printed, refused, run};
use serde_json::Value;
use std::fs;
use std::path::Path;

const SCENE: [&str; 7] = ["measure", "--size", "160x120", "--num-disparities", "24", "--engine", "cpu"];

fn json(folder: &Path, args: &[&str]) -> Value {
    let text = printed(folder, &[args, &["--json"]].concat());
    serde_json::from_str(&text).unwrap_or_else(|err| panic!("{args:?}: {err}: {text}"))
}

fn number(row: &Value, name: &str) -> f64 {
    row[name].as_f64().unwrap_or_else(|| panic!("no {name}: {row}"))
}

#[test]
fn the_scene_is_measured_pair_by_pair_and_beside_its_truth() {
    let folder = tempfile::tempdir().unwrap();
    let found = json(folder.path(), &[&SCENE[..], &["--frames", "3", "--points", "40,60,120,60"]].concat());
    let rows = found["results"].as_array().unwrap();
    assert_eq!(rows.len(), 3, "{found}");
    let last = &rows[2];
    assert!(number(last, "fill_percent") > 50.0, "{last}");
    assert!(number(last, "plane_distance_mm") > 100.0 && number(last, "plane_angle_deg") < 90.0, "{last}");
    assert!(number(last, "bad_1_percent") < 30.0, "{last}");
    assert!(number(last, "left_right_percent") > 60.0, "{last}");
    assert!(number(last, "grey_levels") < 20.0 && number(last, "census_bits") < 8.0, "{last}");
    assert!(number(last, "agreement_percent") > 50.0, "{last}");
    assert!(number(last, "temporal_noise_percent") < 50.0, "{last}");
    assert!(number(last, "distance_mm") > 0.0 && number(last, "distance_error_mm") > 0.0, "{last}");
    let part = |name: &str| last[format!("distance_{name}_error_mm")].as_f64().unwrap_or(0.0);
    let parts = ["quantisation", "matching", "calibration"].map(part);
    assert!((part("total") - parts.iter().fold(0.0, |sum: f64, part| sum.hypot(*part))).abs() < 1e-9, "{last}");
    assert!(parts[0] > 0.0 && last["missing"]["distance_calibration_error_mm"].is_string(), "{last}");
    // an unavailable number is null, with a sentence
    assert!(last["z_accuracy_percent"].is_null(), "{last}");
    assert!(last["missing"]["z_accuracy_percent"].as_str().unwrap().contains("--distance-m"), "{last}");
    assert!(rows[0]["missing"]["temporal_noise_percent"].is_string(), "one pair has no noise: {}", rows[0]);
    assert_eq!(found["region"], serde_json::json!({ "x": 48, "y": 36, "width": 64, "height": 48 }));
    assert_eq!(found["ranges"][0]["numbers"]["fill_percent"]["pairs"], 3);
}

#[test]
fn a_true_distance_gives_an_accuracy_and_a_worse_map_a_worse_score() {
    let folder = tempfile::tempdir().unwrap();
    let measured = |more: &[&str]| {
        let found = json(folder.path(), &[&SCENE[..], &["--frames", "1", "--distance-m", "2"], more].concat());
        found["results"][0].clone()
    };
    let (good, bad) = (measured(&[]), measured(&["--paths", "0", "--cost", "census-5x5", "--aggregation", "none"]));
    assert!(good["z_accuracy_percent"].is_number(), "{good}");
    assert!(number(&bad, "bad_1_percent") > number(&good, "bad_1_percent"), "{good} {bad}");
    assert!(number(&bad, "left_right_percent") < number(&good, "left_right_percent"), "{good} {bad}");
    let unchecked = measured(&["--left-right", "off"]);
    assert!(unchecked["missing"]["left_right_percent"].as_str().unwrap().contains("--left-right"), "{unchecked}");
}

#[test]
fn ranges_are_summed_apart_and_the_table_is_never_replaced_unasked() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let ranges = ["--range", "wall=0-1", "--range", "floor=2-3", "--csv", "measured.csv"];
    let text = printed(folder, &[&SCENE[..], &ranges].concat());
    for words in ["wall=0-1 (2 pairs)", "floor=2-3 (2 pairs)", "fill rate", "sub-pixel RMS", "degrees", "bits of 24"] {
        assert!(text.contains(words), "no '{words}': {text}");
    }
    let table = fs::read_to_string(folder.join("measured.csv")).unwrap();
    let lines: Vec<_> = table.lines().collect();
    assert_eq!(lines.len(), 5, "{table}");
    assert!(lines[0].starts_with("range,pair,name,fill_percent,"), "{table}");
    assert!(lines[1].starts_with("wall,0,") && lines[4].starts_with("floor,3,"), "{table}");
    let columns = |line: &str| line.split(',').count();
    assert!(lines.iter().all(|line| columns(line) == columns(lines[0])), "{table}");
    let again = [&SCENE[..], &ranges].concat();
    refused(folder, &again, 1, &["measured.csv exists and is not overwritten", "--overwrite"]);
    run(folder, &[&again[..], &["--overwrite"]].concat());
    refused(
        folder,
        &[&SCENE[..], &["--frames", "2", "--range", "late=5-9"]].concat(),
        2,
        &["late=5-9", "2 pairs only"],
    );
}

#[test]
fn pictures_without_a_calibration_have_pixels_and_no_millimetres() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    run(folder, &["bench", "--write-pairs", ".", "--size", "160x120", "--frames", "1", "--num-disparities", "8"]);
    let pair = ["measure", "160x120/left0.png", "160x120/right0.png", "--num-disparities", "24", "--engine", "cpu"];
    let found = json(folder, &pair);
    let row = &found["results"][0];
    assert_eq!(found["pairs"], 1, "a pair is one pair: {found}");
    assert!(row["subpixel_rms_px"].is_number() && row["plane_rms_mm"].is_null(), "{row}");
    for name in ["plane_rms_mm", "plane_distance_mm", "plane_angle_deg", "z_accuracy_percent"] {
        let why = row["missing"][name].as_str().unwrap();
        assert!(why.contains("no calibration") && why.contains("--baseline-m"), "{name}: {why}");
    }
    let text = printed(folder, &pair);
    assert!(text.contains("no calibration"), "{text}");
    let metric = json(folder, &[&pair[..], &["--focal-px", "144", "--baseline-m", "0.065"]].concat());
    assert!(metric["results"][0]["plane_rms_mm"].is_number(), "{metric}");
}

#[test]
fn regions_and_points_outside_the_picture_are_wrong_command_lines() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |args: &[&str], words: &[&str]| refused(folder.path(), &[&SCENE[..], args].concat(), 2, words);
    refused(&["--region", "100,100,100,10"], &["100,100,100,10", "160x120 px"]);
    refused(&["--region", "100,100,0,10"], &["--region", "X,Y,WIDTH,HEIGHT"]);
    refused(&["--region", "middle"], &["--region", "X,Y,WIDTH,HEIGHT"]);
    refused(&["--points", "1,2,3,400"], &["pixel 3,400", "160x120 px"]);
    refused(&["--points", "1,2,3"], &["--points", "X1,Y1,X2,Y2"]);
    refused(&["--distance-m", "0"], &["--distance-m"]);
    refused(&["--range", "wall"], &["NAME=FROM-TO"]);
    refused(&["--overwrite"], &["--csv"]);
}
