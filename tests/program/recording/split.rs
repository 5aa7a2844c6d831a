//! Runs the recorder into several files: asked for, and where a file cannot become larger.

use super::{finished, packets, record, run, stereopsis};
use crate::start::in_folder;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use stereopsis::inside::{Recording, topic};

/// Arguments that record the scene in 96x64, some 37 kB a pair, without drops.
const SCENE: [&str; 15] = [
    "record",
    "--source",
    "scene",
    "--size",
    "96x64",
    "--lossless",
    "--rate",
    "max",
    "--compression",
    "none",
    "--engine",
    "cpu",
    "--num-disparities",
    "16",
    "--json",
];

fn files_of(output: &std::process::Output) -> Vec<PathBuf> {
    let summary: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    serde_json::from_value(summary["outputs"].clone()).unwrap()
}

/// Returns the sequence numbers of a recording's pairs.
fn numbers(path: &Path) -> Vec<u32> {
    packets(path, topic::PAIRS).iter().map(|packet| packet.sequence).collect()
}

#[test]
fn a_split_recording_is_computed_like_one_file() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let (_, whole) =
        finished(stereopsis(folder.path(), &[&SCENE[..], &["--frames", "24", "-o", "whole.mcap"]].concat()), 0);
    assert_eq!(files_of(&whole), [PathBuf::from("whole.mcap")]);
    let split = [&SCENE[..], &["--frames", "24", "--split", "400kB", "-o", "walk.mcap"]].concat();
    let (said, output) = finished(stereopsis(folder.path(), &split), 0);
    let files = files_of(&output);
    assert!(files.len() > 2 && files[1].ends_with("walk_part002.mcap"), "{files:?}");
    assert!(said.contains(&format!("walk.mcap and {} further parts: 24 pairs", files.len() - 1)), "{said}");
    let sizes = files.iter().map(|file| at("").join(file).metadata().unwrap().len()).collect::<Vec<_>>();
    let summary: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(summary["bytes"].as_u64(), Some(sizes.iter().sum()));
    assert!(sizes.iter().all(|&size| size <= 400_000), "{sizes:?}");
    assert_eq!(numbers(&at("walk.mcap")), (0..24).collect::<Vec<_>>());
    for name in ["whole", "walk"] {
        run(
            folder.path(),
            &["compute", &format!("{name}.mcap"), "-o", name, "--engine", "cpu", "--num-disparities", "16"],
        );
    }
    let maps = |name: &str| {
        let mut maps: Vec<_> = fs::read_dir(at(name)).unwrap().map(|map| map.unwrap().path()).collect();
        maps.sort();
        maps.iter().map(|map| (map.file_name().unwrap().to_owned(), fs::read(map).unwrap())).collect::<Vec<_>>()
    };
    assert!(maps("walk") == maps("whole") && maps("walk").len() == 24, "the same maps of the same pairs");

    // no part is ever written
    let kept = fs::read(at("walk_part002.mcap")).unwrap();
    let (said, _) = finished(stereopsis(folder.path(), &["recompute", "walk.mcap", "-o", "walk_part002.mcap"]), 1);
    assert!(said.contains("exists and is not overwritten"), "{said}");
    let streams = ["--streams", "raw", "--json"];
    let again = [&["recompute", "walk.mcap", "-o", "again.mcap"][..], &streams].concat();
    let (_, output) = finished(stereopsis(folder.path(), &again), 0);
    let summary: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&summary["pairs"], Recording::open(&at("again.mcap")).unwrap().pairs().len()), (&24.into(), 24));
    let (said, _) = finished(stereopsis(folder.path(), &split), 1);
    assert!(said.contains("exists") && said.contains("is free"), "{said}");
    assert!(fs::read(at("walk_part002.mcap")).unwrap() == kept);
}

#[test]
fn impossible_splits_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let refuse = |more: &[&str]| finished(record(folder.path(), more.iter().copied()), 2).0;
    assert!(refuse(&["--split", "4GB", "-o", "-"]).contains("--split"));
    for wrong in ["4", "4 apples", "10m", "0GB"] {
        assert!(refuse(&["--split", wrong, "-o", "a.mcap"]).contains(wrong), "{wrong}");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn what_is_missing_is_in_each_summary() {
    let folder = tempfile::tempdir().unwrap();
    run(folder.path(), &[&SCENE[..], &["--frames", "24", "--split", "400kB", "-o", "walk.mcap"]].concat());
    fs::remove_file(folder.path().join("walk_part002.mcap")).unwrap();
    let missing = "the recording goes on in walk_part002.mcap, which is not there";
    let matching = ["--engine", "cpu", "--num-disparities", "16"];
    let commands: [&[&str]; 7] = [
        &["compute", "walk.mcap", "-o", "maps"],
        &["measure", "walk.mcap"],
        &["eval", "walk.mcap"],
        &["recompute", "walk.mcap", "-o", "again.mcap"],
        &["record", "walk.mcap", "-o", "copy.mcap"],
        &["record", "walk.mcap", "--streams", "raw", "-o", "raw.mcap"],
        &["export", "walk.mcap", "--what", "left", "--to", "files"],
    ];
    for command in commands {
        let matching: &[&str] = if command[0] == "export" { &[] } else { &matching };
        let (said, output) = finished(stereopsis(folder.path(), &[command, matching, &["--json"]].concat()), 0);
        let summary: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let remarks = summary["remarks"].as_array().unwrap_or_else(|| panic!("{command:?}: {summary}"));
        let has = remarks.iter().any(|remark| remark.as_str().is_some_and(|remark| remark.contains(missing)));
        assert!(has, "{command:?}: {remarks:?}");
        assert!(said.contains(missing) || ["measure", "eval"].contains(&command[0]), "{command:?}: {said}");
    }
    for command in [&["measure", "walk.mcap"], &["eval", "walk.mcap"]] {
        let (said, _) = finished(stereopsis(folder.path(), &[&command[..], &matching].concat()), 0);
        assert!(said.contains(missing), "{command:?}: {said}");
    }
}

/// Returns the command with a limit of file sizes, in units of 512 bytes.
#[cfg(target_os = "linux")]
fn limited(folder: &Path, units: &str, args: &[&str]) -> Command {
    let mut command = Command::new("sh");
    let limit = format!("ulimit -f {units}; exec \"$@\"");
    command.args(["-c", &limit, "sh", env!("CARGO_BIN_EXE_stereopsis")]).args(args);
    in_folder(folder, command)
}

#[cfg(target_os = "linux")]
#[test]
fn a_limit_of_file_sizes_splits_and_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let args = [&SCENE[..], &["--frames", "24", "-o", "walk.mcap"]].concat();
    let (said, output) = finished(limited(folder.path(), "1000", &args), 0);
    let files = files_of(&output);
    assert!(files.len() > 1 && said.contains("(a file here can have 512.0 kB at most): 24 pairs"), "{said}");
    assert_eq!(numbers(&folder.path().join("walk.mcap")), (0..24).collect::<Vec<_>>());
    for file in files {
        let path = folder.path().join(file);
        assert_eq!(Recording::open(&path).unwrap().damage(), None);
        assert!(path.metadata().unwrap().len() <= 512_000);
    }
    // too small for any part
    let (said, _) = finished(limited(folder.path(), "4", &[&SCENE[..], &["-o", "tiny.mcap"]].concat()), 1);
    assert!(said.contains("the disk does not take files of this size"), "{said}");
    // all that write say why they cannot
    let recompute = ["recompute", "walk.mcap", "-o", "again.mcap", "--streams", "raw", "--compression", "none"];
    let (said, _) = finished(limited(folder.path(), "1000", &recompute), 1);
    assert!(said.contains("the disk does not take files of this size"), "{said}");
    assert!(said.contains("the same command goes on there"), "{said}");
    run(folder.path(), &recompute);
    assert_eq!(numbers(&folder.path().join("again.mcap")).len(), 24);
}

/// A limit that comes into force while a file is written, as of a disk that does not tell it.
#[cfg(target_os = "linux")]
#[test]
fn a_limit_that_comes_without_warning_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("walk.mcap");
    let args =
        ["record", "--source", "scene", "--size", "96x64", "--rate", "60", "--compression", "none", "--streams", "raw"];
    let args = [&args[..], &["--seconds", "4", "--json", "-o", "walk.mcap"]].concat();
    let mut command = stereopsis(folder.path(), &args);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_for_bytes(&path, 20_000);
    let limit = Command::new("prlimit").args(["--fsize=2000000", "--pid", &child.id().to_string()]).status();
    let output = child.wait_with_output().unwrap();
    assert!(limit.expect("prlimit of util-linux").success());
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("the disk takes no file of much more than"), "{said}");
    let numbers = numbers(&path);
    assert_eq!(numbers, (0..numbers.len() as u32).collect::<Vec<_>>(), "no gap and nothing twice");
    let recording = Recording::open(&path).unwrap();
    assert_eq!((recording.pairs().len(), recording.damage()), (numbers.len(), None));
    assert!(recording.files().len() > 2, "{:?}", recording.files());
}

/// Waits until a file has so many bytes.
fn wait_for_bytes(path: &Path, bytes: u64) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while path.metadata().map_or(0, |file| file.len()) < bytes {
        assert!(Instant::now() < deadline, "nothing is written to {}", path.display());
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Tolerance of a late write, s: other programs and tests share the cores.
const LATE_S: f64 = 0.5;

/// However the program ends, also between two files, there is every pair that is older than a second.
#[cfg(unix)]
#[test]
fn a_recorder_killed_between_parts_loses_at_most_the_last_second() {
    const ROUNDS: usize = 12;
    let folder = tempfile::tempdir().unwrap();
    let mut random = fastrand::Rng::with_seed(7);
    for round in 0..ROUNDS {
        let name = format!("{round}.mcap");
        let path = folder.path().join(&name);
        let flags = ["--streams", "raw", "--rate", "60", "--compression", "none", "--split", "150kB", "-o", &name];
        let mut child = record(folder.path(), flags).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        wait_for_bytes(&folder.path().join(format!("{round}_part002.mcap")), 20_000);
        std::thread::sleep(Duration::from_millis(random.u64(0..700)));
        let now_ns = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos() as u64;
        child.kill().unwrap();
        child.wait().unwrap();
        let pairs = packets(&path, topic::PAIRS);
        let numbers: Vec<_> = pairs.iter().map(|packet| packet.sequence).collect();
        assert_eq!(numbers, (0..numbers.len() as u32).collect::<Vec<_>>(), "{name}: no gaps");
        let recording = Recording::open(&path).unwrap();
        let whole = recording.pairs().len();
        assert!((numbers.len() - 1..=numbers.len()).contains(&whole), "{name}: {whole} whole pairs, {numbers:?}"); // the last one may be cut
        let missing_s = (now_ns - pairs[whole - 1].log_time_ns) as f64 / 1e9;
        assert!(missing_s < 1.0 + LATE_S, "{name}: {missing_s} s are missing after {whole} pairs");
        let files = recording.files();
        for file in &files[..files.len().saturating_sub(2)] {
            let alone = fs::read(file).unwrap();
            assert!(mcap::Summary::read(&alone).unwrap().is_some(), "{}: parts before are whole", file.display());
        }
    }
}
