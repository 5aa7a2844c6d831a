//! The real V4L2 code, nokhwa's and this project's, against cameras emulated by a small library that is loaded in front of
//! libc.
//!
//! Each test prepares the emulated cameras and runs its other half (`inside_…`) in a child process of this same binary
//! under `LD_PRELOAD`. The library is compiled by `cc`; without `cc` the tests say so and return.
#![cfg(target_os = "linux")]

mod damage;
mod faults;
mod formats;
mod identity;
mod preview;
mod time;
#[path = "../v4l2/mod.rs"]
mod v4l2;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use stereopsis::capture::webcam::{ModeRequest, SideBySide, WebcamPair, cameras};
use stereopsis::capture::{CameraOptions, CaptureError, Next, PairSource, RawPair};
use stereopsis::image::{Image, Luma, Picture};

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

/// Runs the test `inside` of this binary with emulated cameras that show [`scene`].
fn with_cameras(behaviours: &[&str], inside: &str) {
    v4l2::with_dressed_cameras(behaviours, |folder| (0..behaviours.len()).for_each(|i| dress(folder, i)), inside);
}

/// Pictures of camera `i` in every format, its place on USB bus 2 and its stable name.
fn dress(folder: &Path, i: usize) {
    let at = |name: String| folder.join(name);
    for size in SIZES {
        let image = scene(i, size);
        let (width, height) = size;
        let pixels = image.pixels();
        let write = |kind: &str, bytes: Vec<u8>| {
            fs::write(at(format!("{i}.{width}x{height}.{kind}")), bytes).expect("written");
        };
        write("yuyv", pixels.iter().flat_map(|&y| [y, 128]).collect());
        write("nv12", [pixels, &vec![128; pixels.len() / 2]].concat());
        write("grey", pixels.to_vec());
        // ten bits of sixteen
        write("y16", pixels.iter().flat_map(|&y| (u16::from(y) * 4).to_le_bytes()).collect());
        let grey = image::GrayImage::from_raw(width as u32, height as u32, image.into_pixels()).expect("fits");
        let colour = image::DynamicImage::ImageLuma8(grey).to_rgb8();
        let file = fs::File::create(at(format!("{i}.{width}x{height}.jpg"))).expect("created");
        colour.write_with_encoder(image::codecs::jpeg::JpegEncoder::new_with_quality(file, 95)).expect("written");
    }
    let bus = at("sys/devices/usb2".into());
    fs::create_dir_all(bus.join(format!("2-{i}/2-{i}:1.0"))).expect("made");
    fs::write(bus.join(format!("2-{i}/busnum")), "2\n").expect("written");
    fs::write(bus.join(format!("2-{i}/speed")), "480\n").expect("written");
    plug_in(folder, i, i);
}

/// Makes camera `i` node `node`.
fn plug_in(folder: &Path, i: usize, node: usize) {
    let system = folder.join(format!("sys/class/video4linux/video{node}"));
    fs::create_dir_all(&system).expect("made");
    fs::write(system.join("name"), format!("Fake Camera {i}\n")).expect("written");
    // as a metadata node has it, the second one of its camera
    fs::write(system.join("index"), if i == 2 { "1\n" } else { "0\n" }).expect("written");
    let link = |target: String, name: PathBuf| {
        let _ = fs::remove_file(&name);
        symlink(target, name).expect("linked");
    };
    link(format!("../../../devices/usb2/2-{i}/2-{i}:1.0"), system.join("device"));
    let names = folder.join("dev/v4l/by-path");
    fs::create_dir_all(&names).expect("made");
    link(format!("../../video{node}"), names.join(format!("pci-0000:00:14.0-usb-0:{i}:1.0-video-index0")));
    fs::write(folder.join(format!("video{node}")), i.to_string()).expect("written");
}

/// The folder of the emulated cameras, inside.
fn folder() -> PathBuf {
    std::env::var_os("FAKE_V4L2").expect("runs under LD_PRELOAD").into()
}

fn open_pair(left: u32, right: u32) -> Result<WebcamPair, CaptureError> {
    WebcamPair::open(left, right, &ModeRequest::default(), &CameraOptions::default())
}

fn open_one(index: u32) -> Result<SideBySide, CaptureError> {
    SideBySide::open(index, &ModeRequest::default(), &CameraOptions::default())
}

fn luma(picture: &Picture) -> &Image<u8> {
    match &picture.luma {
        Luma::U8(image) => image,
        Luma::U16 { .. } => panic!("8 bits expected"),
    }
}

fn take(source: &mut dyn PairSource, count: usize) -> Vec<RawPair> {
    let mut pairs = Vec::new();
    until(source, |_, pair| {
        pairs.extend(pair);
        pairs.len() >= count
    });
    pairs
}

/// Reads until `done` says so, of a pair or of nothing.
fn until(source: &mut dyn PairSource, mut done: impl FnMut(&dyn PairSource, Option<RawPair>) -> bool) {
    let deadline = Instant::now() + Duration::from_secs(15);
    loop {
        assert!(Instant::now() < deadline, "it does not come: {:?}", source.state());
        let pair = match source.next(Duration::from_millis(50)).expect("runs") {
            Next::Pair(pair) => Some(*pair),
            Next::Waiting => None,
            Next::End => panic!("a camera does not end"),
        };
        if done(source, pair) {
            return;
        }
    }
}

/// Reads until camera `which` of the source is lost; why, and how long after the last pair.
fn until_lost(source: &mut dyn PairSource, which: usize) -> (String, Duration) {
    let mut last_pair = Instant::now();
    let mut lost = None;
    until(source, |source, pair| {
        if pair.is_some() {
            last_pair = Instant::now();
        }
        lost.clone_from(&source.state().cameras[which].lost);
        lost.is_some()
    });
    (lost.expect("is lost"), last_pair.elapsed())
}

#[test]
fn listing_leaves_an_open_camera_alone() {
    with_cameras(&["", ""], "inside_listing_while_open");
}

#[test]
#[ignore = "runs under LD_PRELOAD"]
fn inside_listing_while_open() {
    let before = cameras().expect("lists");
    let request = ModeRequest { size: Some((320, 240)), ..ModeRequest::default() };
    let mut source = WebcamPair::open(0, 1, &request, &CameraOptions::default()).expect("opens");
    assert_eq!(cameras().expect("lists"), before);
    take(&mut source, 3);
    drop(source);
    take(&mut open_one(1).expect("opens after it was closed"), 1);
}
