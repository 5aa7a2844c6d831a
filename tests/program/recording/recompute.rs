//! Checks that `recompute` gives the results of `compute`, copies the recorded data, and continues after an interruption.

use super::{finished, packets, record_scene, refused, run, stereopsis};
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};
use stereopsis::inside::PacketStream;
use stereopsis::inside::{Body, Packet, decode, topic};

const SETTINGS: [&str; 6] = ["--num-disparities", "20", "--cost", "census-7x7", "--engine", "cpu"];

fn recompute<'a>(output: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["recompute", "in.mcap", "-o", output], &SETTINGS[..], more].concat()
}

/// Returns everything in the order of writing, without the times of results, which differ from run to run.
fn all(path: &Path) -> Vec<(String, u32, u64, u64, Vec<u8>)> {
    let mut stream = PacketStream::new(fs::File::open(path).unwrap());
    let mut all = Vec::new();
    while let Some(packet) = stream.next_packet().unwrap() {
        let Packet { channel, sequence, log_time_ns, publish_time_ns, data } = packet;
        let data = if channel.topic == topic::RESULTS {
            let Body::Json(mut note) = decode(&channel, &data).unwrap().body else { panic!("no JSON") };
            note["compute_ms"] = 0.into();
            note.to_string().into_bytes()
        } else {
            data
        };
        all.push((channel.topic.clone(), sequence, log_time_ns, publish_time_ns, data));
    }
    all
}

#[test]
fn raw_pictures_are_copied_and_results_are_those_of_compute() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    record_scene(folder.path(), "in.mcap", 3, "raw");
    let said = run(folder.path(), &recompute("out.mcap", &["--streams", "raw,disparity,depth"]));
    assert!(said.contains("3 pairs, 3 results") && said.contains("cpu"), "{said}");
    for name in [topic::LEFT_RAW, topic::RIGHT_RAW, topic::PAIRS] {
        let (old, new) = (packets(&at("in.mcap"), name), packets(&at("out.mcap"), name));
        assert!(!old.is_empty() && old == new, "{name} is the same to the last byte, with its times");
    }
    let (pairs, depths) = (packets(&at("in.mcap"), topic::PAIRS), packets(&at("out.mcap"), topic::DEPTH));
    for (pair, depth) in pairs.iter().zip(&depths) {
        assert_eq!((depth.log_time_ns, depth.sequence), (pair.log_time_ns, pair.sequence));
    }
    run(folder.path(), &["export", "out.mcap", "--to", "files", "--what", "left,right,disp-x256"]);
    for k in 0..3 {
        let [left, right, map] = ["left", "right", "disp_x256"].map(|what| format!("files/{k:06}_{what}.png"));
        run(folder.path(), &[&["compute", &left, &right, "-o", "again.png", "--overwrite"], &SETTINGS[..]].concat());
        assert!(fs::read(at("again.png")).unwrap() == fs::read(at(&map)).unwrap(), "pair {k}");
    }
}

#[test]
fn other_message_format_has_the_same_content() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    record_scene(folder.path(), "in.mcap", 2, "raw");
    run(folder.path(), &recompute("ros.mcap", &[]));
    run(folder.path(), &recompute("fox.mcap", &["--messages", "foxglove", "--compression", "zstd"]));
    for name in [topic::LEFT_RAW, topic::DEPTH] {
        let bodies = |file: &str| {
            let packets = packets(&at(file), name);
            packets.iter().map(|p| decode(&p.channel, &p.data).unwrap().body).collect::<Vec<_>>()
        };
        assert_eq!(bodies("ros.mcap").len(), 2);
        assert_eq!(bodies("ros.mcap"), bodies("fox.mcap"), "{name}");
    }
    assert_eq!(packets(&at("fox.mcap"), topic::LEFT_RAW)[0].channel.message_encoding, "protobuf");
}

#[test]
fn result_is_the_same_after_any_interruption() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    record_scene(folder.path(), "in.mcap", 8, "raw");
    let plain = ["--compression", "none"];
    run(folder.path(), &recompute("whole.mcap", &plain));
    let (whole, expected) = (fs::read(at("whole.mcap")).unwrap(), all(&at("whole.mcap")));
    for share in [0.0, 0.001, 0.1, 0.33, 0.5, 0.77, 0.95, 1.0] {
        let _ = fs::remove_file(at("out.mcap"));
        fs::write(at("out.mcap.part"), &whole[..(share * whole.len() as f64) as usize]).unwrap();
        let said = run(folder.path(), &recompute("out.mcap", &plain));
        assert!(said.contains("goes on after the") || said.contains("has no complete pair"), "{said}");
        assert!(share < 0.5 || said.contains("of them by a run before"), "{said}");
        assert!(all(&at("out.mcap")) == expected, "stopped after {share}");
        assert!(!at("out.mcap.part").exists());
    }
}

#[test]
fn a_killed_run_goes_on_when_it_is_started_again() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    record_scene(folder.path(), "in.mcap", 60, "raw");
    // as slow as needed on this machine to interrupt the run
    let slow = ["8", "32", "128", "384"].map(|paths| ["--paths", paths, "--threads", "1"]);
    let slow = slow.iter().find(|slow| {
        let mut run = stereopsis(folder.path(), &recompute("out.mcap", &slow[..])).spawn().unwrap();
        let size = || fs::metadata(at("out.mcap.part")).map_or(0, |meta| meta.len());
        let deadline = Instant::now() + Duration::from_mins(1);
        while size() < 100_000 && !at("out.mcap").exists() && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(5));
        }
        run.kill().unwrap();
        run.wait().unwrap();
        fs::remove_file(at("out.mcap")).is_err()
    });
    let slow = slow.expect("no run was slow enough");
    let said = run(folder.path(), &recompute("out.mcap", slow));
    assert!(said.contains("of them by a run before"), "{said}");
    run(folder.path(), &recompute("whole.mcap", slow));
    assert!(all(&at("out.mcap")) == all(&at("whole.mcap")));
}

#[test]
fn dependent_results_are_not_taken_from_the_middle() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    record_scene(folder.path(), "in.mcap", 5, "raw");
    let temporal = ["--temporal", "on"];
    run(folder.path(), &recompute("whole.mcap", &temporal));
    let whole = fs::read(at("whole.mcap")).unwrap();
    fs::write(at("out.mcap.part"), &whole[..2 * whole.len() / 3]).unwrap();
    let said = run(folder.path(), &recompute("out.mcap", &temporal));
    assert!(said.contains("computed from the first pair on"), "{said}");
    assert!(all(&at("out.mcap")) == all(&at("whole.mcap")));
}

#[test]
fn nothing_is_overwritten_and_another_commands_part_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    record_scene(folder.path(), "in.mcap", 2, "raw");
    refused(folder.path(), &recompute("no/such.mcap", &[]), 1, &["such.mcap.part", "does not exist"]);
    refused(folder.path(), &recompute("in.mcap", &[]), 1, &["in.mcap is the recording that is read"]);
    run(folder.path(), &recompute("out.mcap", &[]));
    let before = fs::read(at("out.mcap")).unwrap();
    refused(folder.path(), &recompute("out.mcap", &[]), 1, &["out.mcap exists"]);
    fs::copy(at("out.mcap"), at("new.mcap.part")).unwrap();
    for other in
        [&["--p1", "7"][..], &["--streams", "raw,disparity"], &["--messages", "foxglove"], &["--fill", "--filled"]]
    {
        let words = ["new.mcap.part", "another command", "Delete it"];
        refused(folder.path(), &recompute("new.mcap", other), 1, &words);
    }
    assert_eq!(fs::read(at("out.mcap")).unwrap(), before);
    assert_eq!(fs::read(at("new.mcap.part")).unwrap(), before);
    fs::write(at("text.mcap.part"), "no recording").unwrap();
    refused(folder.path(), &recompute("text.mcap", &[]), 1, &["text.mcap.part", "Delete it"]);
}

#[test]
fn a_damaged_recording_is_computed_as_far_as_it_goes() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    record_scene(folder.path(), "whole.mcap", 6, "raw");
    let whole = fs::read(at("whole.mcap")).unwrap();
    fs::write(at("in.mcap"), &whole[..whole.len() / 2]).unwrap();
    let said = run(folder.path(), &recompute("out.mcap", &[]));
    let results = packets(&at("out.mcap"), topic::RESULTS).len();
    assert!((1..6).contains(&results), "{results} results: {said}");
    assert_eq!(results, packets(&at("out.mcap"), topic::PAIRS).len());
    assert!(said.contains("is not whole: it was not finished"), "what is missing is said: {said}");
}

#[test]
fn help_says_what_becomes_of_an_interrupted_run() {
    let folder = tempfile::tempdir().unwrap();
    for (args, words) in [
        (["recompute", "--help"], &["OUT.mcap.part", "--streams", "--preset", "--calibration", "--filled"][..]),
        (["export", "--help"], &["--to <DIR>", "depth-mm", "calibration", "--every"]),
    ] {
        let (_, output) = finished(stereopsis(folder.path(), &args), 0);
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(words.iter().all(|word| text.contains(word)), "{text}");
    }
}

#[test]
fn depth_beyond_millimetres_is_named_and_kept_as_floats() {
    let folder = tempfile::tempdir().unwrap();
    record_scene(folder.path(), "in.mcap", 2, "raw");
    let far = ["--streams", "raw,depth", "--focal-px", "60000", "--baseline-m", "1.2"];
    let said = run(folder.path(), &recompute("mm.mcap", &far));
    let lost = "100 % of the pixels with depth lie beyond 65.535 m and are 0";
    assert!(said.contains(lost) && said.contains("--depth-format 32FC1"), "{said}");
    let said = run(folder.path(), &["export", "mm.mcap", "--to", "mm"]);
    assert!(said.contains(lost) && said.contains("--depth-format 32FC1"), "{said}");
    let said = run(folder.path(), &recompute("m.mcap", &[&far[..], &["--depth-format", "32FC1"]].concat()));
    assert!(!said.contains("beyond"), "{said}");
    let said = run(folder.path(), &["export", "m.mcap", "--to", "m"]);
    assert!(said.contains(lost) && said.contains("those of 32 bits have them"), "{said}");
    let file = fs::File::open(folder.path().join("m/000001_depth_m.tiff")).unwrap();
    let decoded = tiff::decoder::Decoder::new(file).unwrap().read_image().unwrap();
    let tiff::decoder::DecodingResult::F32(z) = decoded else { panic!("no floats") };
    let there: Vec<f32> = z.iter().copied().filter(|z| z.is_finite()).collect();
    assert!(there.len() > z.len() / 2 && there.iter().all(|&z| z > 3000.0), "60000 * 1.2 / 20 px and more");
}

#[test]
fn compressed_depth_is_exported_to_the_last_bit() {
    let folder = tempfile::tempdir().unwrap();
    record_scene(folder.path(), "in.mcap", 2, "raw");
    let depth_of = |format: &str| {
        let (name, to) = (format!("{format}.mcap"), format!("of-{format}"));
        let more = ["--streams", "raw,depth", "--depth-format", format];
        run(folder.path(), &recompute(&name, &more));
        run(folder.path(), &["export", &name, "--to", &to, "--what", "depth-mm,ply"]);
        let has_plain = !packets(&folder.path().join(&name), topic::DEPTH).is_empty();
        (
            has_plain,
            ["depth_mm.png", "cloud.ply"]
                .map(|what| fs::read(folder.path().join(format!("{to}/000001_{what}"))).unwrap()),
        )
    };
    let (has_plain, plain) = depth_of("16UC1");
    assert!(has_plain);
    for format in ["png", "rvl"] {
        assert_eq!(depth_of(format), (false, plain.clone()), "{format}");
    }
    let more = ["--messages", "foxglove", "--depth-format", "rvl"];
    refused(folder.path(), &recompute("f.mcap", &more), 2, &["--messages ros2"]);
}
