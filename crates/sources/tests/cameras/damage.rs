//! Tests of damaged frames: none becomes an image, each is counted by its cause, and a camera that sends only damaged frames is
//! reported.

use super::{SIZES, grey, luma, open_one, open_pair, scene, take, until, until_lost, with_cameras};
use std::time::{Duration, Instant};
use stereopsis_capture::webcam::{ModeRequest, Preview, WebcamPair, cameras};
use stereopsis_frame::decode_camera::{Damaged, PixelFormat};
use stereopsis_frame::{CameraOptions, PairSource, RawPair};

/// Checks that every image is whole.
fn assert_whole(pairs: &[RawPair]) {
    for pair in pairs {
        assert_eq!(luma(&pair.left), &scene(0, SIZES[0]), "left of {}", pair.sequence);
        assert_eq!(luma(&pair.right), &scene(1, SIZES[0]), "right of {}", pair.sequence);
    }
}

fn damaged(source: &dyn PairSource, which: usize) -> Damaged {
    source.state().cameras[which].damaged
}

#[test]
fn counts_half_frames_as_short() {
    with_cameras(&["cut=3", "late=2"], "damage::inside_short");
}

#[test]
#[ignore = "runs under LD_PRELOAD"]
fn inside_short() {
    let mut source = open_pair(0, 1).expect("opens");
    assert_eq!(source.state().cameras[0].mode, "YUYV 640x480 at 30/s");
    assert_whole(&take(&mut source, 12));
    let counted = damaged(&source, 0);
    assert!(counted.short >= 5 && counted.short == counted.total(), "{counted}");
    assert_eq!(damaged(&source, 1), Damaged::default());
    take(&mut source, 12);
    let remarks = source.state().remarks;
    let expected = format!("frames came damaged and were dropped ({} too short); ", damaged(&source, 0).short);
    assert!(remarks[0].starts_with("camera 0: ") && remarks[0].contains(&expected), "{remarks:?}");
}

#[test]
fn drops_frames_that_the_driver_flags() {
    with_cameras(&["flagged=3", "nv12 flagged=4"], "damage::inside_flagged");
}

#[test]
#[ignore = "runs under LD_PRELOAD"]
fn inside_flagged() {
    let mut source = open_pair(0, 1).expect("opens");
    let pairs = take(&mut source, 12);
    assert_whole(&pairs);
    assert!(pairs.iter().all(|pair| pair.sequence % 3 != 2), "each third left frame is flagged");
    for which in 0..2 {
        let counted = damaged(&source, which);
        assert!(counted.flagged >= 3 && counted.flagged == counted.total(), "{which}: {counted}");
    }
    drop(source);
    // a flagged JPEG is dropped although it is complete
    let request = ModeRequest { format: Some(PixelFormat::Mjpeg), ..grey() };
    let mut source = stereopsis_capture::webcam::OneCamera::open(
        0,
        stereopsis_capture::webcam::CameraViews::BothViews,
        &request,
        &CameraOptions::default(),
    )
    .expect("opens");
    take(&mut source, 8);
    let counted = damaged(&source, 0);
    assert!(counted.flagged >= 2 && counted.flagged == counted.total(), "{counted}");
}

#[test]
fn counts_empty_frames_and_reads_overlong_ones() {
    with_cameras(&["empty=4", "overlong=2"], "damage::inside_lengths");
}

#[test]
#[ignore = "runs under LD_PRELOAD"]
fn inside_lengths() {
    let mut source = open_pair(0, 1).expect("opens");
    assert_whole(&take(&mut source, 12));
    assert!(damaged(&source, 0).short >= 3, "{}", damaged(&source, 0));
    assert_eq!(damaged(&source, 1), Damaged::default());
}

#[test]
fn counts_frames_that_the_driver_lost() {
    with_cameras(&["skip=4", ""], "damage::inside_missed");
}

#[test]
#[ignore = "runs under LD_PRELOAD"]
fn inside_missed() {
    let mut source = open_pair(0, 1).expect("opens");
    take(&mut source, 12);
    let cameras = source.state().cameras;
    assert!(cameras[0].missed >= 4 && cameras[0].missed.is_multiple_of(2), "{}", cameras[0].missed);
    assert_eq!((cameras[0].damaged.total(), cameras[1].missed), (0, 0));
}

#[test]
fn reads_rows_with_padding() {
    with_cameras(&["padded", "nv12 padded"], "damage::inside_padded");
}

#[test]
#[ignore = "runs under LD_PRELOAD"]
fn inside_padded() {
    let mut source = open_pair(0, 1).expect("opens");
    assert_whole(&take(&mut source, 3));
}

#[test]
fn refuses_a_driver_that_sets_another_size() {
    with_cameras(&["other-size", ""], "damage::inside_other_size");
}

#[test]
#[ignore = "runs under LD_PRELOAD"]
fn inside_other_size() {
    let error = open_pair(0, 1).expect_err("refused").to_string();
    assert!(
        error.starts_with("camera 0: could not stream YUYV 640x480 at 30/s: the driver sets YUYV 320x240"),
        "{error}"
    );
}

#[test]
fn reports_a_camera_with_only_damaged_frames() {
    with_cameras(&["cut=1", "grey flagged=1", "flagged=1 whole=12", ""], "damage::inside_only_damaged");
}

#[test]
#[ignore = "runs under LD_PRELOAD"]
fn inside_only_damaged() {
    let refused = std::thread::Builder::new().name("short".into());
    let refused = refused.spawn(|| open_one(0).expect_err("nothing whole").to_string()).expect("starts");
    let preview = Preview::open(1);
    // a camera that was intact before counts as lost until an intact frame arrives
    let mut source = open_pair(2, 3).expect("opens");
    let (why, after) = until_lost(&mut source, 0);
    assert!(why.starts_with("camera 2 has sent nothing but damaged frames for 1 s ("), "{why}");
    assert!(why.contains(" flagged by the driver); try another cable or port"), "{why}");
    assert!(after < Duration::from_secs(3), "{after:?}");
    let watched = Instant::now();
    until(&mut source, |source, _| {
        let lost = source.state().cameras[0].lost.clone().expect("is not taken for a good one");
        assert!(!lost.contains("no image"), "{lost}");
        watched.elapsed() > Duration::from_secs(2)
    });
    let refused = refused.join().expect("ends");
    assert!(refused.starts_with("camera 0: could not stream ") && refused.contains(" too short)"), "{refused}");
    assert!(refused.contains("for 1 s every frame came damaged ("), "{refused}");
    let problem = preview.problem().expect("no image");
    assert!(problem.starts_with("camera 1 has sent nothing but damaged frames for 3 s ("), "{problem}");
    assert!(preview.latest().is_none());
}

#[test]
fn survives_strange_names_and_numbers_of_a_driver() {
    with_cameras(&["badnames newer stamp-wild", "endless"], "damage::inside_strange");
}

#[test]
#[ignore = "runs under LD_PRELOAD"]
fn inside_strange() {
    // nokhwa panics at this name in /dev
    std::fs::write(super::folder().join("video_left"), "").expect("written");
    let asking = Instant::now();
    let listed = cameras().expect("lists");
    assert!(asking.elapsed() < Duration::from_secs(3), "{:?}", asking.elapsed());
    assert_eq!(listed.iter().map(|camera| camera.index).collect::<Vec<_>>(), [0, 1]);
    assert_eq!(listed[0].name, "Fake Camera 0");
    for camera in &listed {
        assert_eq!(camera.problem, None);
        assert!(camera.modes.iter().any(|mode| mode.size() == SIZES[0]), "{:?}", camera.modes);
        assert!(camera.modes.iter().all(|mode| (1..=16_384).contains(&mode.width)), "{:?}", camera.modes);
    }
    assert_whole(&take(&mut open_pair(0, 1).expect("opens"), 3));
}

#[test]
fn reports_a_driver_that_fails_at_every_buffer() {
    with_cameras(&["faulty", "astray", ""], "damage::inside_faulty");
}

#[test]
#[ignore = "runs under LD_PRELOAD"]
fn inside_faulty() {
    for (camera, words) in [(0, "Input/output error"), (1, "the driver fills buffer 1000, which it never gave")] {
        let error = WebcamPair::open(camera, 2, &grey(), &CameraOptions::default());
        let error = error.expect_err("cannot be read").to_string();
        assert!(
            error.starts_with(&format!("camera {camera}: could not stream YUYV")) && error.contains(words),
            "{error}"
        );
    }
    take(&mut open_one(2).expect("the other one is free"), 1);
}
