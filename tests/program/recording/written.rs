//! Runs the recorder: `stereopsis record`.

use super::{finished, packets, record, stereopsis};
use std::io::Read as _;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use stereopsis::inside::{PairNote, Recording, topic};

fn json(output: &std::process::Output) -> serde_json::Value {
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Returns numbers and log times of a file's pairs, in its order.
fn pairs(recording: &mut Recording) -> Vec<(u64, u64)> {
    let notes = 0..recording.len(topic::PAIRS);
    let note = |recording: &mut Recording, k| {
        let packet = recording.packet(topic::PAIRS, k).unwrap();
        let channel = std::sync::Arc::clone(&packet.channel);
        let message = stereopsis::inside::decode(&channel, &packet.data).unwrap();
        let stereopsis::inside::Body::Json(value) = message.body else { panic!("a note is JSON") };
        (serde_json::from_value::<PairNote>(value).unwrap().sequence, packet.log_time_ns)
    };
    notes.map(|k| note(recording, k)).collect()
}

#[test]
fn recording_of_a_waiting_scene_has_every_pair_and_result() {
    let folder = tempfile::tempdir().unwrap();
    for (format, compression) in [("ros2", "none"), ("foxglove", "zstd"), ("ros2", "lz4")] {
        let file = format!("{format}-{compression}.mcap");
        let flags = ["--lossless", "--rate", "max", "--frames", "12", "--json", "-o", &file];
        let how = ["--messages", format, "--compression", compression];
        let (said, output) = finished(record(folder.path(), flags.into_iter().chain(how)), 0);
        let summary = json(&output);
        assert_eq!((&summary["pairs"], &summary["results"]), (&12.into(), &12.into()), "{said}");
        assert_eq!((&summary["dropped_by_disk"], &summary["not_matched"]), (&0.into(), &0.into()));
        assert!(said.contains(&format!("{file}: 12 pairs and 12 results in ")) && said.contains(" MB/min"), "{said}");
        let path = folder.path().join(&file);
        assert_eq!(summary["bytes"].as_u64(), Some(path.metadata().unwrap().len()));
        let mut recording = Recording::open(&path).unwrap();
        assert_eq!(recording.damage(), None);
        assert_eq!(pairs(&mut recording).into_iter().map(|(k, _)| k).collect::<Vec<_>>(), (0..12).collect::<Vec<_>>());
        assert_eq!(
            (recording.pairs().len(), recording.len(topic::DEPTH), recording.len(topic::DISPARITY)),
            (12, 12, 0)
        );
        assert_eq!(recording.len(topic::EVENTS), 2, "the source has ended, and so the recording");
        let about = recording.about().unwrap();
        assert_eq!((about.streams.to_string(), about.filled), ("raw,depth".to_owned(), false));
        assert_eq!(about.parameters["num-disparities"], "16");
        assert!(about.calibration.geometry.is_some());
    }
}

#[test]
fn first_pair_has_its_depth_before_the_engine_is_open() {
    let folder = tempfile::tempdir().unwrap();
    let flags = ["--rate", "200", "--frames", "20", "--json", "-o", "first.mcap"];
    let (said, output) = finished(record(folder.path(), flags), 0);
    assert_eq!(json(&output)["pairs"], 20, "{said}");
    let first = |topic| packets(&folder.path().join("first.mcap"), topic)[0].sequence;
    assert_eq!((first(topic::PAIRS), first(topic::RESULTS)), (0, 0));
}

#[test]
fn without_a_matcher_only_pictures_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let flags = ["--streams", "raw", "--rate", "max", "--frames", "5", "--json", "-o", "raw.mcap"];
    let (said, output) = finished(record(folder.path(), flags), 0);
    assert!(!said.contains("computed") && !said.contains(" on cpu"), "{said}");
    assert_eq!((&json(&output)["results"], &json(&output)["engine"]), (&0.into(), &serde_json::Value::Null));
    let flags = ["--streams", "raw", "--rate", "50", "--seconds", "0.5", "--json"];
    let (_, output) = finished(record(folder.path(), flags), 0);
    let pairs = json(&output)["pairs"].as_u64().unwrap();
    assert!((1..=27).contains(&pairs), "{pairs} pairs in half a second at 50/s");
    let name = std::path::PathBuf::from(json(&output)["output"].as_str().unwrap());
    assert!(name.display().to_string().starts_with("stereopsis_2") && folder.path().join(&name).exists());
    assert_eq!(name.extension().unwrap(), "mcap");
}

#[test]
fn impossible_streams_are_refused_with_the_possible_ones() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |flags: &[&str], code: i32, words: &[&str]| {
        let (said, _) = finished(record(folder.path(), flags.iter().copied()), code);
        for word in words {
            assert!(said.contains(word), "{flags:?} does not say '{word}': {said}");
        }
    };
    std::fs::write(folder.path().join("there.mcap"), "mine").unwrap();
    refused(&["-o", "there.mcap"], 1, &["there.mcap exists and is not overwritten; there_2.mcap is free"]);
    assert_eq!(std::fs::read(folder.path().join("there.mcap")).unwrap(), b"mine");
    refused(&["--filled"], 2, &["--fill"]);
    refused(&["-o", "-", "--json"], 2, &["-o"]);
    refused(&["--streams", "raw,colour"], 2, &["'colour'", "rectified"]);
    let texture = image::GrayImage::from_fn(64, 48, |x, y| image::Luma([((x * 37) ^ (y * 91)) as u8]));
    for name in ["left.png", "right.png"] {
        texture.save(folder.path().join(name)).unwrap();
    }
    let files = |more: &[&str]| {
        let args = [&["record", "left.png", "right.png", "--engine", "cpu", "--num-disparities", "16"], more].concat();
        stereopsis(folder.path(), &args)
    };
    let (said, _) = finished(files(&["--streams", "depth"]), 2);
    assert!(said.contains("--calibration") && said.contains("--baseline-m"), "{said}");
    let (said, output) = finished(files(&["--json"]), 0);
    assert!(said.contains("recording disparity instead"), "{said}");
    assert_eq!(json(&output)["pairs"], 1);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 4, "nothing else was made");
}

#[test]
fn a_pipe_takes_it_and_may_be_closed() {
    let folder = tempfile::tempdir().unwrap();
    let flags = ["--streams", "raw", "--rate", "max", "--lossless", "-o", "-"];
    let (_, output) = finished(record(folder.path(), flags.into_iter().chain(["--frames", "9"])), 0);
    std::fs::write(folder.path().join("piped.mcap"), &output.stdout).unwrap();
    let mut recording = Recording::open(&folder.path().join("piped.mcap")).unwrap();
    assert_eq!(recording.damage(), None);
    assert_eq!(pairs(&mut recording).len(), 9);

    let mut child = record(folder.path(), flags).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut some = vec![0; 100_000];
    child.stdout.take().unwrap().read_exact(&mut some).unwrap();
    let start = Instant::now();
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && !said.contains("cannot write") && !said.contains("panicked"), "{said}");
    assert!(start.elapsed() < Duration::from_secs(10), "it ends when nobody reads");
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_it_with_a_whole_file() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = record(folder.path(), ["-o", "file.mcap", "--json"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let path = folder.path().join("file.mcap");
    wait_for_bytes(&path);
    signal(&child, "INT");
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut recording = Recording::open(&path).unwrap();
    assert_eq!(recording.damage(), None);
    assert_eq!(json(&output)["pairs"].as_u64(), Some(pairs(&mut recording).len() as u64));
}

/// However the program ends, a file has every pair that is older than a second.
#[cfg(unix)]
#[test]
fn killed_recorder_loses_at_most_the_last_second() {
    const ROUNDS: usize = 5;
    const AT_ONCE: usize = 10;
    let folder = tempfile::tempdir().unwrap();
    let mut random = fastrand::Rng::with_seed(5);
    for round in 0..ROUNDS {
        let names: Vec<_> = (0..AT_ONCE).map(|k| format!("{round}-{k}.mcap")).collect();
        let start = |name: &String| {
            let flags = ["--streams", "raw", "--rate", "40", "-o", name];
            record(folder.path(), flags).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
        };
        let mut children: Vec<_> = names.iter().map(start).collect();
        for name in &names {
            wait_for_bytes(&folder.path().join(name));
        }
        for (child, name) in children.iter_mut().zip(&names) {
            std::thread::sleep(Duration::from_millis(random.u64(0..300)));
            let now_ns = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos() as u64;
            child.kill().unwrap();
            child.wait().unwrap();
            let mut recording = Recording::open(&folder.path().join(name)).unwrap();
            let pairs = pairs(&mut recording);
            let missing_s = (now_ns - pairs.last().unwrap().1) as f64 / 1e9;
            assert!(missing_s < 1.0 + LATE_S, "{name}: {missing_s} s are missing after {} pairs", pairs.len());
            let numbers: Vec<_> = pairs.iter().map(|&(number, _)| number).collect();
            assert_eq!(numbers, (0..numbers.len() as u64).collect::<Vec<_>>(), "{name}: no gaps");
            for topic in [topic::LEFT_RAW, topic::RIGHT_RAW] {
                assert_eq!(recording.len(topic), numbers.len() as u64, "{name}: whole pairs");
            }
        }
    }
}

/// Tolerance of a late write, s: ten programs and the tests beside them share the cores.
const LATE_S: f64 = 0.5;

/// Waits until a recording has some content.
fn wait_for_bytes(path: &Path) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while path.metadata().map_or(0, |file| file.len()) < 20_000 {
        assert!(Instant::now() < deadline, "nothing is written to {}", path.display());
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[cfg(unix)]
fn signal(child: &Child, name: &str) {
    // not every system has a program of this name; every shell has the command
    let kill = format!("kill -{name} {}", child.id());
    let status = std::process::Command::new("sh").args(["-c", &kill]).status();
    assert!(status.unwrap().success());
}
