//! Tests of faults of cameras: the error texts, and recovery when the cause is gone.

use super::{SIZES, folder, grey, luma, open_one, open_pair, scene, take, until, until_lost, with_cameras};
use std::time::{Duration, Instant};
use stereopsis_capture::emulated::plug_in;
use stereopsis_capture::webcam::{ModeRequest, WebcamPair, cameras};
use stereopsis_frame::decode_camera::PixelFormat;
use stereopsis_frame::{CameraOptions, Next, PairSource};

#[test]
fn explains_why_a_camera_cannot_be_opened() {
    with_cameras(&["", "denied", "busy", "refuse"], "faults::inside_refusals");
}

#[test]
#[ignore = "runs under LD_PRELOAD"]
fn inside_refusals() {
    let refusal = |left, right| open_pair(left, right).expect_err("refused").to_string();
    assert_eq!(refusal(0, 7), "no camera 7: found 0, 1, 2 and 3; see devices");
    assert!(refusal(0, 0).contains("cannot be both left and right"));
    let denied = refusal(0, 1);
    assert!(denied.starts_with("camera 1: permission denied for /dev/video1; add yourself"), "{denied}");
    let busy = refusal(2, 0);
    assert!(busy.starts_with("camera 2 is busy: another program uses it"), "{busy}");
    let refused = refusal(3, 0);
    assert!(refused.starts_with("camera 3: could not stream YUYV 640x480 at 30/s: Invalid argument"), "{refused}");
    assert!(refused.ends_with("try another camera or mode, see devices"), "{refused}");
    let listed = cameras().expect("lists");
    assert_eq!(listed[1].problem.as_ref(), Some(&denied));
    // a refusal leaves the other camera free
    take(&mut open_one(0).expect("opens"), 1);
}

#[test]
fn a_full_bus_falls_back_to_mjpeg() {
    with_cameras(&["", "room=1"], "faults::inside_full_bus");
}

#[test]
#[ignore = "runs under LD_PRELOAD"]
fn inside_full_bus() {
    let full = "camera 1: USB bus 2 (480 Mbit/s), which it shares with camera 0, has no room for its stream; plug it into a \
                port of another bus";
    let mut source = open_pair(0, 1).expect("opens");
    take(&mut source, 2);
    let state = source.state();
    assert_eq!(state.cameras[1].mode, "MJPEG 640x480 at 30/s");
    assert!(state.remarks[0].starts_with(full), "{:?}", state.remarks);
    assert!(state.remarks[0].ends_with("; it runs MJPEG 640x480 at 30/s instead"), "{:?}", state.remarks);
    assert!(state.remarks[1].starts_with("the cameras send YUYV and MJPEG, "), "{:?}", state.remarks);
    drop(source);
    let request = ModeRequest { format: Some(PixelFormat::Yuyv), ..grey() };
    let error = WebcamPair::open(0, 1, &request, &CameraOptions::default()).expect_err("no room").to_string();
    assert!(error.starts_with(full) && error.contains("ask for MJPEG (format mjpeg)"), "{error}");
}

#[test]
fn reports_an_unplugged_camera_while_the_other_continues() {
    with_cameras(&["", "unplug=10"], "faults::inside_unplugged");
}

#[test]
#[ignore = "runs under LD_PRELOAD"]
fn inside_unplugged() {
    let mut source = open_pair(0, 1).expect("opens");
    let (why, after) = until_lost(&mut source, 1);
    assert_eq!(why, "camera 1 is gone; plug it in again");
    assert!(after < Duration::from_secs(1), "{after:?}");
    let waiting = Instant::now();
    assert!(matches!(source.next(Duration::from_millis(200)), Ok(Next::Waiting)), "no pairs of one camera");
    assert!(waiting.elapsed() >= Duration::from_millis(200), "waits without spinning");
    assert_eq!(source.state().cameras[0].lost, None);
    drop(source);
    let again = open_pair(0, 1).expect_err("gone").to_string();
    assert_eq!(again, "no camera 1: found 0; see devices");
    take(&mut open_one(0).expect("the other one opens again"), 1);
}

#[test]
fn both_cameras_return_after_a_loss() {
    with_cameras(&["unplug=10", "unplug=12"], "faults::inside_both_lost");
}

#[test]
#[ignore = "runs under LD_PRELOAD"]
fn inside_both_lost() {
    let mut source = open_pair(0, 1).expect("opens");
    let lost = |source: &dyn PairSource| source.state().cameras.iter().filter(|c| c.lost.is_some()).count();
    until(&mut source, |source, _| lost(source) == 2);
    assert!(matches!(source.next(Duration::from_millis(100)), Ok(Next::Waiting)));
    // with exchanged numbers, the left camera must stay the left one
    plug_in(&folder(), 1, 6);
    plug_in(&folder(), 0, 7);
    let pairs = take(&mut source, 3);
    assert_eq!(luma(&pairs[2].left), &scene(0, SIZES[0]));
    assert_eq!(luma(&pairs[2].right), &scene(1, SIZES[0]));
    assert_eq!(lost(&source), 0);
}

#[test]
fn reports_a_hanging_camera_and_detaches_its_thread() {
    with_cameras(&["stuck=10", ""], "faults::inside_hanging");
}

#[test]
#[ignore = "runs under LD_PRELOAD"]
fn inside_hanging() {
    let mut source = open_pair(0, 1).expect("opens");
    let (why, after) = until_lost(&mut source, 0);
    assert!(why.starts_with("camera 0 has sent no image for 1 s; check its cable"), "{why}");
    assert!(after < Duration::from_secs(3), "{after:?}");
    let stopping = Instant::now();
    drop(source);
    assert!(stopping.elapsed() < Duration::from_secs(1), "{:?}", stopping.elapsed());
    let again = open_pair(0, 1).expect_err("hangs").to_string();
    assert!(again.starts_with("camera 0 is still open in this program"), "{again}");
    take(&mut open_one(1).expect("the other one opens again"), 1);
}

#[test]
fn reopens_a_camera_that_hung_for_a_while() {
    with_cameras(&["hang=10", "stuck=12"], "faults::inside_hung_for_a_while");
}

/// The left camera stops sending; the thread of the right one is blocked in the driver.
#[test]
#[ignore = "runs under LD_PRELOAD"]
fn inside_hung_for_a_while() {
    let mut source = open_pair(0, 1).expect("opens");
    until(&mut source, |source, _| source.state().cameras.iter().all(|c| c.lost.is_some()));
    for i in 0..2 {
        std::fs::write(folder().join(format!("go{i}")), "").expect("written");
    }
    take(&mut source, 3);
    assert!(source.state().cameras.iter().all(|c| c.lost.is_none()), "{:?}", source.state());
}

#[test]
fn reports_a_broken_transfer_and_retries() {
    with_cameras(&["broken=10", ""], "faults::inside_broken");
}

#[test]
#[ignore = "runs under LD_PRELOAD"]
fn inside_broken() {
    let mut source = open_pair(0, 1).expect("opens");
    let (why, _) = until_lost(&mut source, 0);
    assert!(why.starts_with("camera 0: could not read it: ") && why.contains("check its cable"), "{why}");
    let pairs = take(&mut source, 3);
    assert!(pairs[0].sequence >= 10, "numbers go on: {}", pairs[0].sequence);
    assert_eq!(source.state().cameras[0].lost, None);
}

#[test]
fn a_camera_that_never_starts_times_out() {
    with_cameras(&["hang=0", "grey stuck=0"], "faults::inside_dead");
}

#[test]
#[ignore = "runs under LD_PRELOAD"]
fn inside_dead() {
    let opening = Instant::now();
    let other = std::thread::Builder::new().name("other".into());
    let other = other.spawn(|| open_one(1).expect_err("never starts").to_string()).expect("starts");
    let error = open_one(0).expect_err("never starts").to_string();
    assert!(error.starts_with("camera 0 has sent no image for 5 s"), "{error}");
    let other = other.join().expect("ends");
    assert!(other.starts_with("camera 1 has sent no image for 5 s"), "{other}");
    assert!(opening.elapsed() < Duration::from_secs(8));
}
