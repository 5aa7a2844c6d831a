//! The real V4L2 code, nokhwa's and this project's, against cameras emulated by a small library that is loaded in front of
//! libc.
//!
//! Each test prepares the emulated cameras and runs its other half (`inside_…`) in a child process of this same binary
//! under `LD_PRELOAD`. The library is compiled by `cc`; without `cc` the tests say so and return.

mod damage;
mod faults;
mod formats;
mod identity;
mod preview;
mod time;

use super::emulated::{SIZES, dress, plug_in};
use std::path::PathBuf;
use std::time::{Duration, Instant};
use stereopsis::cameras::CameraPairs;
use stereopsis::capture::webcam::{ModeRequest, OneCamera, Shown, WebcamPair, cameras};
use stereopsis::capture::{CameraOptions, CaptureError, Next, PairSource, Pixels, RawPair};
use stereopsis::image::{Image, Luma, Picture};

/// What camera 0 (left) and 1 (right) see.
fn scene(camera: usize, (width, height): (usize, usize)) -> Image<u8> {
    Image::new(width, height, super::emulated::scene(camera, (width, height)))
}

/// Runs the test `inside` of this binary with emulated cameras that show [`scene`].
fn with_cameras(behaviours: &[&str], inside: &str) {
    super::emulated::with_dressed_cameras(
        behaviours,
        |folder| (0..behaviours.len()).for_each(|i| dress(folder, i)),
        inside,
    );
}

/// The folder of the emulated cameras, inside.
fn folder() -> PathBuf {
    std::env::var_os("FAKE_V4L2").expect("runs under LD_PRELOAD").into()
}

/// Any mode, without colours, so that these tests need little of the processor.
fn grey() -> ModeRequest {
    ModeRequest { pixels: Pixels::Luma, ..ModeRequest::default() }
}

fn open_pair(left: u32, right: u32) -> Result<WebcamPair, CaptureError> {
    WebcamPair::open(left, right, &grey(), &CameraOptions::default())
}

fn open_one(index: u32) -> Result<OneCamera, CaptureError> {
    OneCamera::open(index, Shown::BothViews, &grey(), &CameraOptions::default())
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
    with_cameras(&["", ""], "webcam::inside_listing_while_open");
}

#[test]
#[ignore = "runs under LD_PRELOAD"]
fn inside_listing_while_open() {
    let before = cameras().expect("lists");
    let request = ModeRequest { size: Some((320, 240)), ..grey() };
    let mut source = WebcamPair::open(0, 1, &request, &CameraOptions::default()).expect("opens");
    assert_eq!(cameras().expect("lists"), before);
    take(&mut source, 3);
    drop(source);
    take(&mut open_one(1).expect("opens after it was closed"), 1);
}

#[test]
fn a_program_iterates_over_pairs() {
    with_cameras(&["", ""], "webcam::inside_a_program_iterates_over_pairs");
}

#[test]
#[ignore = "runs under LD_PRELOAD"]
fn inside_a_program_iterates_over_pairs() {
    let pairs = CameraPairs::open("webcam:0,1", Some((320, 240))).expect("opens");
    assert_eq!(pairs.size(), (320, 240));
    let pairs: Vec<_> = pairs.take(3).collect::<Result<_, _>>().expect("runs");
    assert!(pairs.is_sorted_by(|one, other| one.sequence < other.sequence), "each pair comes once");
    for RawPair { left, right, .. } in &pairs {
        assert!(left.rgb.is_some(), "colours are kept");
        assert!(luma(left) != luma(right), "left and right camera");
    }
    let Err(why) = CameraPairs::open("scene", None) else { panic!("no camera") };
    assert!(why.to_string().starts_with("'scene' is no camera: give webcam:0,1"), "{why}");
    assert!(CameraPairs::open("webcam:7,8", None).is_err());
}
