//! Opens hostile files like a user: they may not take all memory, hang, control the terminal, or lose data silently.

use std::path::Path;
use std::process::{Command, Output};

/// Memory limit of the program, KiB.
const MEMORY: u64 = 3 << 20;

/// Runs the program with little memory, without a display, in `folder`.
fn stereopsis(folder: &Path, args: &[&str]) -> Output {
    limited(folder, MEMORY, args)
}

/// Runs the program with a memory limit in KiB.
fn limited(folder: &Path, memory: u64, args: &[&str]) -> Output {
    let limited = format!("ulimit -v {memory}; exec \"$0\" \"$@\"");
    let mut command = Command::new("sh");
    command.args(["-c", &limited, env!("CARGO_BIN_EXE_stereopsis")]).args(args);
    super::start::in_folder(folder, command).output().unwrap()
}

/// Fails unless the program ends by itself with an error that contains this text.
fn refused(folder: &Path, args: &[&str], says: &str) {
    refused_within(folder, MEMORY, args, says);
}

fn refused_within(folder: &Path, memory: u64, args: &[&str], says: &str) {
    let output = limited(folder, memory, args);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{args:?}: {:?} {said}", output.status);
    assert!(said.contains(says), "{args:?} does not say '{says}': {said}");
    assert!(!said.contains("panicked") && !said.contains('\u{1b}'), "{said}");
}

fn text(text: &str) -> Vec<u8> {
    [&(text.len() as u32).to_le_bytes()[..], text.as_bytes()].concat()
}

fn record(opcode: u8, body: &[u8]) -> Vec<u8> {
    [&[opcode][..], &(body.len() as u64).to_le_bytes(), body].concat()
}

/// Returns a recording of one chunk.
fn recording(records: &[u8]) -> Vec<u8> {
    let packed = zstd::encode_all(records, 3).unwrap();
    let size = (records.len() as u64).to_le_bytes();
    let head = [&[0; 16][..], &size, &[0; 4], &text("zstd"), &(packed.len() as u64).to_le_bytes()].concat();
    [mcap::MAGIC, &record(6, &[head, packed].concat())].concat()
}

fn topics(data: &[u8], count: u16) -> Vec<u8> {
    let kind = [&[1, 0][..], &text("sensor_msgs/msg/Image"), &text("ros2msg"), &text("")].concat();
    let kind = [&kind[..kind.len() - 4], &(data.len() as u32).to_le_bytes(), data].concat();
    let mut records = record(3, &kind);
    for id in 1..=count {
        let body = [&id.to_le_bytes()[..], &[1, 0], &text(&format!("/{id}")), &text("cdr"), &[0; 4]].concat();
        records.extend(record(4, &body));
    }
    records
}

#[test]
fn small_recordings_do_not_take_all_memory() {
    let folder = tempfile::tempdir().unwrap();
    let empty = record(5, &[&[1, 0][..], &[0; 20]].concat()).repeat(6_000_000);
    for (bytes, largest, says) in [
        (recording(&topics(&vec![0; 50 << 20], 8_000)), 60_000, "no images"),
        (recording(&topics(&[], 60_000)), 300_000, "more than 8192 topics"),
        (recording(&[topics(&[], 1), empty].concat()), 60_000, "more than 4194304 pairs"),
    ] {
        assert!(bytes.len() < largest, "{}", bytes.len());
        std::fs::write(folder.path().join("a.mcap"), bytes).unwrap();
        refused(folder.path(), &["compute", "a.mcap", "-o", "out", "--topic", "/1", "--engine", "cpu"], says);
    }
}

#[test]
fn named_pipes_and_sparse_files_are_refused_everywhere() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["pipe", "pipe.mcap"] {
        assert!(Command::new("mkfifo").arg(folder.path().join(name)).status().unwrap().success());
    }
    for name in ["holes", "holes.mcap"] {
        std::fs::File::create(folder.path().join(name)).unwrap().set_len(200 << 30).unwrap();
    }
    image::GrayImage::new(40, 30).save(folder.path().join("a.png")).unwrap();
    for (name, says) in [("pipe", "it is a pipe"), ("/dev/zero", "it is a device"), ("holes", "holes")] {
        for args in [
            &["compute", name, name, "-o", "out.png"][..],
            &["compute", "a.png", "a.png", "-o", "out.png", "--calibration", name],
            &["compute", "a.png", "a.png", "-o", "out.png", "--settings", name],
            &["compute", "a.png", "a.png", "-o", "out.png", "--rig", name],
            &["calibration", "show", name],
        ] {
            refused(folder.path(), args, says);
        }
    }
    for command in ["compute", "recompute"] {
        refused(folder.path(), &[command, "pipe.mcap", "-o", "out.mcap"], "it is a pipe");
        refused(folder.path(), &[command, "holes.mcap", "-o", "out.mcap"], "it is no MCAP file");
    }
}

#[test]
fn files_left_out_of_a_folder_are_reported_and_counted() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["left1.png", "right1.png", "left2.png", "right3\u{1b}[2J.png"] {
        image::GrayImage::from_fn(40, 30, |x, y| image::Luma([(x * y) as u8])).save(folder.path().join(name)).unwrap();
    }
    let args = ["compute", ".", "-o", "out", "--num-disparities", "8", "--engine", "cpu", "--json"];
    let output = stereopsis(folder.path(), &args);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    let about: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let expected = "2 images have no partner and are left out: left2.png, right3\\u{1b}[2J.png";
    assert!(about["remarks"][0].as_str().unwrap().contains(expected), "{about}");
    assert!(said.contains(expected) && said.matches("no partner").count() == 1, "{said}");
}

#[test]
fn demands_beyond_the_memory_are_refused_early() {
    const LITTLE: u64 = 900_000;
    let folder = tempfile::tempdir().unwrap();
    image::GrayImage::from_fn(1600, 1200, |x, y| image::Luma([(x * y) as u8]))
        .save(folder.path().join("a.pgm"))
        .unwrap();
    for engine in ["cpu", "auto"] {
        for preset in ["best", "accurate", "ernst2008", "fang2012-aw"] {
            let args = ["compute", "a.pgm", "a.pgm", "-o", "out.pfm", "--num-disparities", "512", "--preset", preset];
            let args = [&args[..], &["--engine", engine]].concat();
            let needs = "1600x1200 with 512 disparities needs ";
            refused_within(folder.path(), LITTLE, &args, needs);
            refused_within(folder.path(), LITTLE, &args, "of memory, and the limit of addresses (ulimit -v) leaves ");
        }
    }
    assert!(!folder.path().join("out.pfm").exists());
    // a sparse file is a black image
    let path = folder.path().join("large.ppm");
    std::fs::write(&path, "P6 12000 12000 255\n").unwrap();
    let head = path.metadata().unwrap().len();
    std::fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(head + 3 * 12_000 * 12_000).unwrap();
    let args = ["compute", "large.ppm", "large.ppm", "-o", "out.pfm", "--engine", "cpu", "--num-disparities", "16"];
    refused_within(folder.path(), LITTLE, &args, "cannot use large.ppm: its 12000x12000 px take ");
}
