//! Tests of videos and streams from a small writer, which also dies, stalls and changes its size.
#![cfg(unix)] // the programs are shell scripts

use super::*;
use crate::capture::{Next, RawPair, SourceSpec, Speed};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use stereopsis_base::testing::found;

/// Returns a frame with this brightness in the left half and the next one in the right half.
fn planes((width, height): (usize, usize), value: u8) -> Vec<u8> {
    let row = [vec![value; width / 2], vec![value + 1; width / 2]].concat();
    let luma = row.repeat(height);
    [luma, vec![128; 2 * width.div_ceil(2) * height.div_ceil(2)]].concat()
}

/// Returns a YUV4MPEG2 stream with increasing brightness from `first` on.
fn y4m((width, height): (usize, usize), rate: &str, first: u8, count: u8) -> Vec<u8> {
    let mut bytes = format!("YUV4MPEG2 W{width} H{height} F{rate} Ip C420jpeg\n").into_bytes();
    for k in 0..count {
        bytes.extend(b"FRAME\n");
        bytes.extend(planes((width, height), first + k));
    }
    bytes
}

fn script(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    // another process writes it: other tests' child processes would inherit a file open for writing here, and it could not be executed
    let mut shell = Command::new("sh");
    shell.args(["-c", "cat >\"$0\" && chmod 755 \"$0\""]).arg(&path);
    let mut writer = shell.stdin(Stdio::piped()).spawn().unwrap();
    write!(writer.stdin.take().unwrap(), "#!/bin/sh\n{text}\n").unwrap();
    assert!(writer.wait().unwrap().success());
    path
}

fn pipe(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

fn feed(path: &Path, bytes: Vec<u8>) -> std::thread::JoinHandle<()> {
    let path = path.to_owned();
    let write = move || {
        let mut file = std::fs::OpenOptions::new().write(true).open(path).unwrap();
        let _ = file.write_all(&bytes); // the reader may go
    };
    std::thread::Builder::new().name("writer".into()).spawn(write).unwrap()
}

fn options() -> SourceOptions {
    SourceOptions { speed: Speed::Max, looped: false, ..SourceOptions::default() }
}

fn next(source: &mut dyn PairSource) -> Result<Option<Box<RawPair>>, CaptureError> {
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        match source.next(Duration::from_millis(20))? {
            Next::Pair(pair) => return Ok(Some(pair)),
            Next::End => return Ok(None),
            Next::Waiting => assert!(Instant::now() < deadline, "waited in vain"),
        }
    }
}

fn brightness(pair: &RawPair) -> (u8, u8) {
    let of = |picture: &Picture| picture.luma.to_u8().at(0, 0);
    (of(&pair.left), of(&pair.right))
}

fn rest(source: &mut dyn PairSource) -> Vec<(u8, u8)> {
    std::iter::from_fn(|| next(source).unwrap()).map(|pair| brightness(&pair)).collect()
}

#[test]
fn plays_a_file_to_its_end_and_seeks() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("clip.y4m");
    std::fs::write(&path, y4m((16, 6), "25:1", 10, 9)).unwrap();
    let input = [VideoInput::Y4m(path)];
    let mut source = open(&input, &options()).unwrap();
    let info = source.info();
    assert_eq!((info.width, info.height, info.num_pairs, &*info.name), (8, 6, Some(9), "clip"));
    let all: Vec<_> = (10..19).map(|k| (k, k + 1)).collect();
    assert_eq!(rest(&mut *source), all);

    let mut source = open(&input, &SourceOptions { watched: true, ..options() }).unwrap();
    let transport = source.transport().unwrap();
    transport.pause();
    for place in [6, 2, 8, 0] {
        transport.seek(place);
        let pair = next(&mut *source).unwrap().unwrap();
        assert_eq!((pair.sequence, brightness(&pair).0), (place, 10 + place as u8));
    }
    transport.seek_time(Duration::from_millis(130));
    assert_eq!(next(&mut *source).unwrap().unwrap().sequence, 3, "25 frames a second");
}

#[test]
fn pairs_two_files_by_number_and_rejects_unequal_ones() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: Vec<u8>| {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        VideoInput::Y4m(path)
    };
    let left = write("l.y4m", y4m((8, 4), "30:1", 10, 4));
    let right = write("r.y4m", y4m((8, 4), "30:1", 50, 3));
    let mut source = open(&[left.clone(), right], &options()).unwrap();
    assert_eq!(rest(&mut *source), [(10, 50), (11, 51), (12, 52)]);
    let remark = &source.state().remarks[0];
    assert!(remark.contains("has 4") && remark.contains("the first 3"), "{remark}");
    let refusal = |right: VideoInput| open(&[left.clone(), right], &options()).err().unwrap().to_string();
    let text = refusal(write("slow.y4m", y4m((8, 4), "25:1", 50, 3)));
    assert!(text.contains("30.00") && text.contains("25.00 frames a second"), "{text}");
    let text = refusal(write("small.y4m", y4m((6, 4), "30:1", 50, 3)));
    assert!(text.contains("8x4") && text.contains("6x4"), "{text}");
    let text = refusal(write("text.y4m", b"hello\n".to_vec()));
    assert!(text.contains("text.y4m") && text.contains("no YUV4MPEG2"), "{text}");
    let odd = write("odd.y4m", y4m((4, 4), "30:1", 5, 1).iter().map(|&b| if b == b'4' { b'5' } else { b }).collect());
    assert!(open(&[odd], &options()).is_err());
}

#[test]
fn pipe_ends_with_its_writer_without_a_truncated_frame() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pipe");
    pipe(&path);
    let mut bytes = y4m((16, 6), "30:1", 10, 5);
    bytes.truncate(bytes.len() - 7);
    let writer = feed(&path, bytes);
    let mut source = open(&[VideoInput::Y4m(path)], &options()).unwrap();
    assert!(!source.info().is_camera && source.transport().is_none());
    assert_eq!(rest(&mut *source), [(10, 11), (11, 12), (12, 13), (13, 14)]);
    writer.join().unwrap();
}

#[test]
fn a_pipe_may_change_its_size() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pipe");
    pipe(&path);
    let writer = feed(&path, [y4m((16, 6), "30:1", 10, 2), y4m((12, 8), "30:1", 40, 1)].concat());
    let mut source = open(&[VideoInput::Y4m(path)], &options()).unwrap();
    let sizes: Vec<_> = std::iter::from_fn(|| next(&mut *source).unwrap()).map(|pair| pair.left.size()).collect();
    assert_eq!(sizes, [(8, 6), (8, 6), (6, 8)]);
    writer.join().unwrap();
}

#[test]
fn pairs_two_pipes_by_number() {
    let folder = tempfile::tempdir().unwrap();
    let paths = ["left", "right"].map(|name| folder.path().join(name));
    for path in &paths {
        pipe(path);
    }
    let writers = [feed(&paths[0], y4m((8, 4), "30:1", 10, 40)), feed(&paths[1], y4m((8, 4), "30:1", 100, 40))];
    let mut source = open(&paths.map(VideoInput::Y4m), &options()).unwrap();
    let all: Vec<_> = (0..40).map(|k| (10 + k, 100 + k)).collect();
    assert_eq!(rest(&mut *source), all);
    for writer in writers {
        writer.join().unwrap();
    }
}

#[test]
fn restarts_a_broken_live_stream_and_kills_its_program() {
    let folder = tempfile::tempdir().unwrap();
    let frames = folder.path().join("frames");
    std::fs::write(&frames, [planes((64, 4), 10), planes((64, 4), 20)].concat()).unwrap();
    let shown = folder.path().join("started");
    let text = format!(
        "echo $$ >>{0}\necho \"$@\" >>{0}\ncat {1}; sleep 0.3\n[ $(wc -l <{0}) -gt 2 ] && exec sleep 1000\necho gone >&2",
        shown.display(),
        frames.display()
    );
    let programs = Programs { rpicam: script(folder.path(), "rpicam-vid", &text), ..Programs::default() };
    let options = SourceOptions { size: Some((64, 4)), rate_hz: Some(25.0), ..options() };
    let mut source = open_with(programs, &[VideoInput::Csi(1)], &options).unwrap();
    assert!(source.info().is_camera);
    for _ in 0..3 {
        next(&mut *source).unwrap().unwrap();
    }
    let remark = found("it is said", || source.state().remarks.first().cloned());
    assert!(remark.contains("csi:1 broke and was begun again 1 time: it ended (gone)"), "{remark}");
    let started = std::fs::read_to_string(&shown).unwrap();
    assert!(
        started.contains("--codec yuv420") && started.contains("--camera 1 --width 64 --height 4 --framerate 25"),
        "{started}"
    );
    drop(source);
    let last = started.lines().rev().nth(1).unwrap().to_owned();
    let is_gone = || {
        !Path::new("/proc").join(&last).join("cmdline").exists()
            || std::fs::read(Path::new("/proc").join(&last).join("cmdline")).unwrap_or_default().is_empty()
    };
    found("the program has ended", || (!cfg!(target_os = "linux") || is_gone()).then_some(()));
}

#[test]
fn pairs_two_live_streams_by_arrival_with_a_remark() {
    let folder = tempfile::tempdir().unwrap();
    let frame = folder.path().join("frame");
    std::fs::write(&frame, planes((64, 4), 10)).unwrap();
    let text = format!("while cat {}; do sleep 0.05; done", frame.display());
    let programs = Programs { rpicam: script(folder.path(), "rpicam-vid", &text), ..Programs::default() };
    let options = SourceOptions { size: Some((64, 4)), rate_hz: Some(20.0), ..options() };
    let mut source = open_with(programs, &[VideoInput::Csi(0), VideoInput::Csi(1)], &options).unwrap();
    assert_eq!((source.info().width, source.info().rate_hz), (64, Some(20.0)));
    for _ in 0..5 {
        assert_eq!(brightness(&next(&mut *source).unwrap().unwrap()), (10, 10));
    }
    let state = source.state();
    assert!(state.skew.is_none() && state.remarks.iter().any(|remark| remark.contains("not known")), "{state:?}");
}

#[test]
fn errors_have_advice_and_no_password() {
    let folder = tempfile::tempdir().unwrap();
    let address = |programs: Programs| {
        let Ok(SourceSpec::Video(inputs)) = SourceSpec::parse("rtsp://admin:geheim@10.0.0.5/x") else {
            panic!("a video")
        };
        open_with(programs, &inputs, &options()).err().unwrap().to_string()
    };
    let text = address(Programs { ffmpeg: "/nowhere/ffmpeg".into(), ..Programs::default() });
    assert!(text.contains("rtsp://***@10.0.0.5/x") && text.contains("sudo apt install ffmpeg"), "{text}");
    let ffmpeg = script(folder.path(), "ffmpeg", "echo \"401 Unauthorized: $@\" >&2; sleep 0.1; exit 1");
    let text = address(Programs { ffmpeg, ..Programs::default() });
    assert!(text.contains("401 Unauthorized") && !text.contains("geheim"), "{text}");
    let text = open(&[VideoInput::Csi(0)], &SourceOptions { size: Some((100, 40)), ..options() }).err().unwrap();
    assert!(text.to_string().contains("multiple of 64"), "{text}");
    let missing = open_with(
        Programs { ffprobe: "/nowhere/ffprobe".into(), ..Programs::default() },
        &[VideoInput::File(folder.path().join("clip.mp4"))],
        &options(),
    );
    assert!(missing.err().unwrap().to_string().contains("brew install ffmpeg"));
}

#[test]
#[ignore = "needs ffmpeg, which the nightly tests install"]
fn ffmpeg_plays_and_seeks_a_video() {
    let folder = tempfile::tempdir().unwrap();
    let (raw, clip) = (folder.path().join("raw.y4m"), folder.path().join("clip.mkv"));
    std::fs::write(&raw, y4m((64, 32), "30:1", 10, 90)).unwrap();
    let made = Command::new("ffmpeg")
        .args(["-v", "error", "-i"])
        .arg(&raw)
        .args(["-c:v", "ffv1"])
        .arg(&clip)
        .status()
        .unwrap();
    assert!(made.success());
    let mut source = open(&[VideoInput::File(clip.clone())], &options()).unwrap();
    let all: Vec<_> = (10..100).map(|k| (k, k + 1)).collect();
    assert_eq!(rest(&mut *source), all);
    assert_eq!(source.state().remarks, Vec::<String>::new());
    let mut source = open(&[VideoInput::File(clip)], &SourceOptions { watched: true, ..options() }).unwrap();
    let transport = source.transport().unwrap();
    transport.pause();
    for place in [80, 3, 70, 89, 0] {
        transport.seek(place);
        let pair = next(&mut *source).unwrap().unwrap();
        assert_eq!((pair.sequence, brightness(&pair).0), (place, 10 + place as u8));
    }
}
