//! Tests of the real V4L2 code with cameras that a small library in front of libc emulates. Each test prepares the cameras and runs its
//! second half (`inside_…`) in a child process of this binary under `LD_PRELOAD`. `cc` compiles the library; without `cc` the tests
//! print a note and return.

#![cfg(target_os = "linux")]
#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "tests say why they are skipped, and fail by panicking")]

mod controls;
mod damage;
mod faults;
mod formats;
mod identity;
mod preview;
mod time;

use std::path::PathBuf;
use std::time::{Duration, Instant};
use stereopsis_base::image::{Image, Luma, Picture};
use stereopsis_capture::emulated::{SIZES, dress};
use stereopsis_capture::webcam::{CameraViews, ModeRequest, OneCamera, WebcamPair, cameras};
use stereopsis_frame::{CameraOptions, CaptureError, Next, PairSource, Pixels, RawPair};

/// Returns the image of camera 0 (left) or 1 (right).
fn scene(camera: usize, (width, height): (usize, usize)) -> Image<u8> {
    Image::new(width, height, stereopsis_capture::emulated::scene(camera, (width, height)))
}

/// Runs the test `inside` of this binary with emulated cameras that show [`scene`].
fn with_cameras(behaviours: &[&str], inside: &str) {
    stereopsis_capture::emulated::with_dressed_cameras(
        behaviours,
        |folder| (0..behaviours.len()).for_each(|i| dress(folder, i)),
        inside,
    );
}

/// Returns the folder of the emulated cameras, in the child process.
fn folder() -> PathBuf {
    std::env::var_os("FAKE_V4L2").expect("runs under LD_PRELOAD").into()
}

/// Behaviour of cameras that send a sixth of their images. At 30 a second a busy machine misses some, and their neighbours become pairs.
const SLOWLY: &str = "slow=6";

/// Returns a request for any mode without colours, which takes less processor time.
fn grey() -> ModeRequest {
    ModeRequest { pixels: Pixels::Luma, ..ModeRequest::default() }
}

fn open_pair(left: u32, right: u32) -> Result<WebcamPair, CaptureError> {
    WebcamPair::open(left, right, &grey(), &CameraOptions::default())
}

fn open_one(index: u32) -> Result<OneCamera, CaptureError> {
    OneCamera::open(index, CameraViews::BothViews, &grey(), &CameraOptions::default())
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

/// Reads until `done` returns true.
fn until(source: &mut dyn PairSource, mut done: impl FnMut(&dyn PairSource, Option<RawPair>) -> bool) {
    let deadline = Instant::now() + Duration::from_mins(1);
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

/// Returns the remarks of cameras that send [`SLOWLY`] but the one on that.
fn other_remarks(source: &dyn PairSource) -> Vec<String> {
    let mut remarks = source.state().remarks;
    remarks.retain(|remark| !remark.starts_with("the cameras send "));
    remarks
}

/// Checks that a pair is not of another clock, or of images that have waited; a busy machine delays threads by up to a second.
fn assert_recent(pair: &RawPair) {
    let age = pair.capture_time.elapsed().expect("not in the future");
    assert!(age < Duration::from_secs(5), "{age:?} old");
}

/// Reads until camera `which` of the source is lost; returns the reason, and the time after the last pair.
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
    let request = ModeRequest { size: Some((320, 240)), ..grey() };
    let mut source = WebcamPair::open(0, 1, &request, &CameraOptions::default()).expect("opens");
    assert_eq!(cameras().expect("lists"), before);
    take(&mut source, 3);
    drop(source);
    take(&mut open_one(1).expect("opens after it was closed"), 1);
}
