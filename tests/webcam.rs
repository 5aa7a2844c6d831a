//! nokhwa's real V4L2 code against cameras emulated by a small library that is loaded in front of libc.
//!
//! Each test prepares the emulated cameras and runs its other half (`inside_…`) in a child process of this same binary
//! under `LD_PRELOAD`. The library is compiled here, by `cc`; without `cc` the tests say so and return.
#![cfg(target_os = "linux")]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::{Duration, Instant};
use stereopsis::capture::decode_camera::PixelFormat;
use stereopsis::capture::webcam::{ModeRequest, SideBySide, WebcamPair, cameras};
use stereopsis::capture::{Next, PairSource, SourceOptions, SourceSpec, open};
use stereopsis::frame::{Luma, RawPair};
use stereopsis::image::Image;
use tempfile::TempDir;

const SIZES: [(usize, usize); 2] = [(640, 480), (320, 240)];
const SHIFT: usize = 12;

/// What camera 0 (left) and 1 (right, shifted by [`SHIFT`]) see.
fn scene(camera: usize, (width, height): (usize, usize)) -> Image<u8> {
    Image::from_fn(width, height, |x, y| {
        let (x, y) = ((x + SHIFT * camera) as f32, y as f32);
        let fine = ((x as u32 * 31 + y as u32 * 17) % 13) as f32;
        (110.0 + 50.0 * (x / 9.0).sin() + 40.0 * (y / 7.0 + x / 50.0).cos() + fine) as u8
    })
}

/// The compiled library, or nothing without a compiler.
fn library() -> Option<&'static Path> {
    static LIBRARY: OnceLock<Option<PathBuf>> = OnceLock::new();
    let compile = || {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/v4l2/preload.c");
        let library = Path::new(env!("CARGO_TARGET_TMPDIR")).join("v4l2.so");
        let fresh = library.with_extension(std::process::id().to_string());
        let compiled = Command::new("cc")
            .args(["-shared", "-fPIC", "-O1", "-o"])
            .args([&fresh, &source])
            .arg("-ldl")
            .output()
            .map_err(|e| eprintln!("skipped: no C compiler `cc`: {e}"))
            .ok()?;
        assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
        fs::rename(fresh, &library).expect("renamed");
        Some(library)
    };
    LIBRARY.get_or_init(compile).as_deref()
}

/// Lets a command see emulated cameras, one for each of `behaviours`, as long as the folder is kept.
fn emulate(command: &mut Command, behaviours: &[&str]) -> Option<TempDir> {
    let library = library()?;
    let folder = cameras_folder(behaviours.len());
    command.env("LD_PRELOAD", library).env("FAKE_V4L2", folder.path());
    for (i, behaviour) in behaviours.iter().enumerate() {
        command.env(format!("FAKE_V4L2_{i}"), behaviour);
    }
    Some(folder)
}

/// Runs the test `inside` of this binary with emulated cameras.
fn with_cameras(behaviours: &[&str], inside: &str) {
    let mut child = Command::new(std::env::current_exe().expect("has a path"));
    child.args(["--exact", inside, "--ignored", "--nocapture"]);
    let Some(_folder) = emulate(&mut child, behaviours) else { return };
    let output = child.output().expect("starts");
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.contains("1 passed"), "{inside}: {}\n{text}", output.status);
}

/// What `stereopsis devices` prints.
fn listing(behaviours: &[&str]) -> Option<String> {
    let mut program = Command::new(env!("CARGO_BIN_EXE_stereopsis"));
    let _folder = emulate(program.arg("devices"), behaviours)?;
    let output = program.output().expect("starts");
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn cameras_folder(count: usize) -> TempDir {
    let folder = tempfile::tempdir().expect("temporary folder");
    let at = |name: String| folder.path().join(name);
    for i in 0..count {
        fs::write(at(format!("video{i}")), "").expect("written");
        let system = at(format!("sys/class/video4linux/video{i}"));
        fs::create_dir_all(&system).expect("made");
        fs::write(system.join("name"), format!("Fake Camera {i}\n")).expect("written");
        // as a metadata node has it, the second one of its camera
        fs::write(system.join("index"), if i == 2 { "1\n" } else { "0\n" }).expect("written");
        symlink(format!("../../../1-{i}:1.0"), system.join("device")).expect("linked");
        for size in SIZES {
            let image = scene(i, size);
            let yuyv: Vec<u8> = image.pixels().iter().flat_map(|&y| [y, 128]).collect();
            let (width, height) = size;
            fs::write(at(format!("{i}.{width}x{height}.yuyv")), yuyv).expect("written");
            let grey = image::GrayImage::from_raw(width as u32, height as u32, image.into_pixels()).expect("fits");
            let colour = image::DynamicImage::ImageLuma8(grey).to_rgb8();
            let file = fs::File::create(at(format!("{i}.{width}x{height}.jpg"))).expect("created");
            colour.write_with_encoder(image::codecs::jpeg::JpegEncoder::new_with_quality(file, 95)).expect("written");
        }
    }
    folder
}

fn luma(picture: &stereopsis::frame::Picture) -> &Image<u8> {
    match &picture.luma {
        Luma::U8(image) => image,
        Luma::U16 { .. } => panic!("8 bits expected"),
    }
}

fn take(source: &mut dyn PairSource, count: usize) -> Vec<RawPair> {
    let deadline = Instant::now() + Duration::from_secs(10);
    let mut pairs = Vec::new();
    while pairs.len() < count {
        assert!(Instant::now() < deadline, "only {} pairs", pairs.len());
        match source.next(Duration::from_millis(50)).expect("runs") {
            Next::Pair(pair) => pairs.push(*pair),
            Next::Waiting => {}
            Next::End => panic!("a camera does not end"),
        }
    }
    pairs
}

/// Reads until the source is lost; its last words and how long that took.
fn until_lost(source: &mut dyn PairSource) -> (String, Duration) {
    let mut last_pair = Instant::now();
    loop {
        match source.next(Duration::from_millis(50)) {
            Ok(Next::Pair(_)) => last_pair = Instant::now(),
            Ok(_) => assert!(last_pair.elapsed() < Duration::from_secs(10), "not noticed"),
            Err(error) => return (error.to_string(), last_pair.elapsed()),
        }
    }
}

fn mean_difference(a: &Image<u8>, b: &Image<u8>) -> f64 {
    assert_eq!(a.size(), b.size());
    let sum: u64 = a.pixels().iter().zip(b.pixels()).map(|(&a, &b)| u64::from(a.abs_diff(b))).sum();
    sum as f64 / a.pixels().len() as f64
}

#[test]
fn devices_lists_cameras_and_modes() {
    let Some(text) = listing(&["", "denied", "metadata"]) else { return };
    let expected = "camera 0: Fake Camera 0, port 1-0:1.0\n  YUYV  320x240 at 30/s, 640x480 at 15 30/s\n  \
                    MJPEG 320x240 at 30/s, 640x480 at 30/s\ncamera 1: Fake Camera 1, port 1-1:1.0\n  \
                    not usable now: camera 1: permission denied";
    assert!(text.starts_with(expected) && !text.contains("camera 2"), "{text}");
}

#[test]
fn no_camera_is_no_error() {
    let Some(text) = listing(&[]) else { return };
    assert!(text.starts_with("no cameras found: check "), "{text}");
    with_cameras(&[], "inside_nothing");
}

#[test]
#[ignore = "runs under LD_PRELOAD"]
fn inside_nothing() {
    let error = SideBySide::open(0, &ModeRequest::default()).expect_err("missing").to_string();
    assert_eq!(error, "no camera 0: no camera was found; see `stereopsis devices`");
}

#[test]
fn yuyv_pair_is_what_the_cameras_saw() {
    with_cameras(&["", "late=8"], "inside_yuyv_pair");
}

#[test]
#[ignore = "runs under LD_PRELOAD"]
fn inside_yuyv_pair() {
    let spec = SourceSpec::parse("webcam:0,1").expect("grammar");
    let mut source = open(&spec, &SourceOptions { color: true, ..SourceOptions::default() }).expect("opens");
    let info = source.info();
    assert_eq!((info.name.as_str(), info.width, info.height), ("webcam 0,1", 640, 480));
    assert_eq!((info.rate_hz, info.is_camera, info.is_rectified), (Some(30.0), true, false));
    let pairs = take(&mut *source, 12);
    let age = pairs[11].capture_time.elapsed().expect("not in the future");
    assert!(age < Duration::from_millis(500), "{age:?} old");
    for pair in &pairs {
        assert_eq!(luma(&pair.left), &scene(0, SIZES[0]));
        assert_eq!(luma(&pair.right), &scene(1, SIZES[0]));
        assert!((pair.skew_s - 0.008).abs() < 0.001, "skew {}", pair.skew_s);
        assert_eq!(pair.left.rgb.as_ref().map(Image::size), Some((640, 480)));
    }
    assert!(pairs.windows(2).all(|w| w[0].sequence < w[1].sequence && w[0].capture_time < w[1].capture_time));
}

#[test]
fn mjpeg_pair_comes_without_the_damaged_frames() {
    with_cameras(&["cut=4", "late=3"], "inside_mjpeg_pair");
}

#[test]
#[ignore = "runs under LD_PRELOAD"]
fn inside_mjpeg_pair() {
    let request = ModeRequest { size: Some((320, 240)), format: Some(PixelFormat::Mjpeg), ..ModeRequest::default() };
    let mut source = WebcamPair::open(0, 1, &request).expect("opens");
    let pairs = take(&mut source, 12);
    for pair in &pairs {
        for (i, picture) in [&pair.left, &pair.right].into_iter().enumerate() {
            let difference = mean_difference(luma(picture), &scene(i, SIZES[1]));
            assert!(difference < 3.0, "{difference}");
            assert_eq!(picture.rgb, None);
        }
    }
    // each fourth left frame came cut in half and has no pair
    assert!(pairs.iter().all(|p| p.sequence % 4 != 3), "{:?}", pairs.iter().map(|p| p.sequence).collect::<Vec<_>>());
    assert!(pairs[11].sequence >= 14);
}

#[test]
fn side_by_side_is_cut_in_the_middle() {
    with_cameras(&[""], "inside_side_by_side");
}

#[test]
#[ignore = "runs under LD_PRELOAD"]
fn inside_side_by_side() {
    let request = ModeRequest { size: Some((320, 480)), ..ModeRequest::default() };
    let mut source = SideBySide::open(0, &request).expect("opens");
    assert_eq!((source.info().width, source.info().height), (320, 480));
    let whole = scene(0, SIZES[0]);
    for pair in take(&mut source, 5) {
        assert!(pair.skew_s.abs() < f64::EPSILON);
        for (start, picture) in [(0, &pair.left), (320, &pair.right)] {
            assert_eq!(luma(picture), &Image::from_fn(320, 480, |x, y| whole.at(start + x, y)));
        }
    }
}

#[test]
fn listing_leaves_an_open_camera_alone() {
    with_cameras(&["", ""], "inside_listing_while_open");
}

#[test]
#[ignore = "runs under LD_PRELOAD"]
fn inside_listing_while_open() {
    let before = cameras().expect("lists");
    let request = ModeRequest { size: Some((320, 240)), format: Some(PixelFormat::Mjpeg), ..ModeRequest::default() };
    let mut source = WebcamPair::open(0, 1, &request).expect("opens");
    assert_eq!(cameras().expect("lists"), before);
    take(&mut source, 3);
    drop(source);
    take(&mut SideBySide::open(1, &ModeRequest::default()).expect("opens after it was closed"), 1);
}

#[test]
fn what_cannot_be_opened_says_why() {
    with_cameras(&["", "denied", "busy"], "inside_refusals");
}

#[test]
#[ignore = "runs under LD_PRELOAD"]
fn inside_refusals() {
    let refusal =
        |left, right| WebcamPair::open(left, right, &ModeRequest::default()).expect_err("refused").to_string();
    assert_eq!(refusal(0, 7), "no camera 7: found 0, 1 and 2; see `stereopsis devices`");
    assert!(refusal(0, 0).contains("cannot be both eyes"));
    let denied = refusal(0, 1);
    assert!(denied.starts_with("camera 1: permission denied for /dev/video1; add yourself"), "{denied}");
    let busy = refusal(2, 0);
    assert!(busy.starts_with("camera 2 is busy: another program uses it"), "{busy}");
    let listed = cameras().expect("lists");
    assert_eq!(listed[1].problem.as_ref(), Some(&denied));
    // a refusal leaves the other camera free
    take(&mut SideBySide::open(0, &ModeRequest::default()).expect("opens"), 1);
}

#[test]
fn an_unplugged_camera_is_noticed() {
    with_cameras(&["", "unplug=10"], "inside_unplugged");
}

#[test]
#[ignore = "runs under LD_PRELOAD"]
fn inside_unplugged() {
    let mut source = WebcamPair::open(0, 1, &ModeRequest::default()).expect("opens");
    let (error, after) = until_lost(&mut source);
    assert_eq!(error, "camera 1 is gone; plug it in again");
    assert!(after < Duration::from_secs(1), "{after:?}");
    drop(source);
    let again = WebcamPair::open(0, 1, &ModeRequest::default()).expect_err("gone").to_string();
    assert_eq!(again, "no camera 1: found 0; see `stereopsis devices`");
    take(&mut SideBySide::open(0, &ModeRequest::default()).expect("the other one opens again"), 1);
}

#[test]
fn a_hanging_camera_is_noticed_and_left_behind() {
    with_cameras(&["hang=10", ""], "inside_hanging");
}

#[test]
#[ignore = "runs under LD_PRELOAD"]
fn inside_hanging() {
    let mut source = WebcamPair::open(0, 1, &ModeRequest::default()).expect("opens");
    let (error, after) = until_lost(&mut source);
    assert!(error.starts_with("camera 0 has sent no picture for 2 s"), "{error}");
    assert!(after < Duration::from_secs(3), "{after:?}");
    let stopping = Instant::now();
    drop(source);
    assert!(stopping.elapsed() < Duration::from_secs(1), "{:?}", stopping.elapsed());
    let again = WebcamPair::open(0, 1, &ModeRequest::default()).expect_err("hangs").to_string();
    assert!(again.starts_with("camera 0 is still open in this program"), "{again}");
    take(&mut SideBySide::open(1, &ModeRequest::default()).expect("the other one opens again"), 1);
}

#[test]
fn a_camera_that_never_starts_does_not_hold_up_for_ever() {
    with_cameras(&["hang=0"], "inside_dead");
}

#[test]
#[ignore = "runs under LD_PRELOAD"]
fn inside_dead() {
    let opening = Instant::now();
    let error = SideBySide::open(0, &ModeRequest::default()).expect_err("never starts").to_string();
    assert!(error.starts_with("camera 0 has sent no picture for 5 s"), "{error}");
    assert!(opening.elapsed() < Duration::from_secs(6));
}
