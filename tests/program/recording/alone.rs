//! Runs two processes that write the same output: one of them does, and its output is complete.

use super::{finished, packets, record, record_scene, run, stereopsis};
use crate::start::in_folder;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use stereopsis::inside::{Recording, topic};

const ROUNDS: usize = 50;

/// Runs both at once; returns their exit codes and texts of standard error.
fn at_once(mut commands: [Command; 2]) -> [(i32, String); 2] {
    commands
        .each_mut()
        .map(|command| command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap())
        .map(|child| child.wait_with_output().unwrap())
        .map(|output| (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap()))
}

/// Fails unless one succeeded and the other one was refused with one of these words.
fn one_did(ends: &[(i32, String); 2], words: &[&str]) {
    let mut codes = ends.each_ref().map(|(code, _)| *code);
    codes.sort_unstable();
    assert_eq!(codes, [0, 1], "{ends:?}");
    let (_, said) = ends.iter().find(|(code, _)| *code == 1).unwrap();
    assert!(words.iter().any(|word| said.contains(word)) && !said.contains("panicked"), "{said}");
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn recompute_takes_a_part_up_alone() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    record_scene(folder.path(), "in.mcap", 6, "raw");
    let args = |output| ["recompute", "in.mcap", "-o", output, "--streams", "raw", "--compression", "none"];
    run(folder.path(), &args("whole.mcap"));
    let whole = fs::read(at("whole.mcap")).unwrap();
    let pairs = packets(&at("whole.mcap"), topic::PAIRS);
    for round in 0..ROUNDS {
        fs::write(at("out.mcap.part"), &whole[..whole.len() * (round % 8) / 8]).unwrap();
        let ends = at_once([(); 2].map(|()| stereopsis(folder.path(), &args("out.mcap"))));
        one_did(&ends, &["is being written by another run", "exists and is not overwritten"]);
        let recording = Recording::open(&at("out.mcap")).unwrap();
        assert_eq!((recording.damage(), recording.pairs().len()), (None, 6), "round {round}");
        assert!(packets(&at("out.mcap"), topic::PAIRS) == pairs, "round {round}");
        fs::remove_file(at("out.mcap")).unwrap();
        for rest in names(folder.path()) {
            assert!(rest == "in.mcap" || rest == "whole.mcap", "round {round} left {rest}: {ends:?}");
        }
    }
}

#[test]
fn a_recording_has_one_recorder() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.mcap");
    for round in 0..ROUNDS {
        let more = ["--streams", "raw", "--frames", "2", "--rate", "max", "--lossless", "-o", "out.mcap"];
        let ends = at_once([(); 2].map(|()| record(folder.path(), more)));
        one_did(&ends, &["exists and is not overwritten"]);
        let recording = Recording::open(&path).unwrap();
        assert_eq!((recording.damage(), recording.pairs().len()), (None, 2), "round {round}");
        fs::remove_file(&path).unwrap();
    }
}

#[test]
fn an_export_has_its_folder_alone() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    record_scene(folder.path(), "in.mcap", 2, "raw");
    let args = ["export", "in.mcap", "--to", "out", "--what", "left,csv"];
    for round in 0..ROUNDS {
        let ends = at_once([(); 2].map(|()| stereopsis(folder.path(), &args)));
        one_did(&ends, &["is being written by another export", "holds something already"]);
        assert_eq!(names(&out), ["000000_left.png", "000001_left.png", "frames.csv"], "round {round}");
        fs::remove_dir_all(&out).unwrap();
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_stopped_export_goes_on_and_keeps_what_it_wrote() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    record_scene(folder.path(), "in.mcap", 3, "raw,disparity");
    run(folder.path(), &["export", "in.mcap", "--to", "whole"]);
    let whole = names(&folder.path().join("whole"));
    let args = ["export", "in.mcap", "--to", "out"];
    // no file of more than two kilobytes can be written
    let mut limited = Command::new("sh");
    limited.args(["-c", "ulimit -f 4; exec \"$@\"", "sh", env!("CARGO_BIN_EXE_stereopsis")]).args(args);
    let (said, _) = finished(in_folder(folder.path(), limited), 1);
    assert!(said.contains("the disk does not take files of this size"), "{said}");
    // a kill leaves a draft too
    fs::write(out.join(".stereopsis-killed.part"), "").unwrap();
    assert!(names(&out).contains(&"unfinished-export.json".to_owned()), "{:?}", names(&out));
    fs::write(out.join("000002_left.png"), "kept").unwrap();
    let other = stereopsis(folder.path(), &[&args[..], &["--every", "2"]].concat());
    let (said, _) = finished(other, 1);
    assert!(said.contains("the beginning of another export"), "{said}");
    run(folder.path(), &args);
    assert_eq!(names(&out), whole);
    assert_eq!(fs::read(out.join("000002_left.png")).unwrap(), b"kept", "what is there was written whole");
    let (said, _) = finished(stereopsis(folder.path(), &args), 1);
    assert!(said.contains("holds something already"), "{said}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_recording_that_is_deleted_or_cut_is_no_success() {
    for (harm, word) in [("rm out.mcap", "deleted it"), ("truncate -s 100 out.mcap", "changed it")] {
        let folder = tempfile::tempdir().unwrap();
        let more = ["--streams", "raw", "--seconds", "20", "--rate", "30", "-o", "out.mcap"];
        let mut command = record(folder.path(), more);
        let child = command.stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        let path = folder.path().join("out.mcap");
        while fs::metadata(&path).map_or(0, |meta| meta.len()) < 10_000 {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        assert!(Command::new("sh").args(["-c", harm]).current_dir(folder.path()).status().unwrap().success());
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(1) && said.contains(word), "{harm}: {said}");
    }
}
