//! Tests of formats and modes: exact pixels in every format, requested sizes and rates, turned and side-by-side images.

use super::{SIZES, SLOWLY, assert_recent, grey, luma, other_remarks, scene, take, with_cameras};
use stereopsis_base::image::{Image, Luma};
use stereopsis_capture::webcam::{CameraViews, Mode, ModeRequest, OneCamera, WebcamPair, cameras};
use stereopsis_frame::decode_camera::PixelFormat;
use stereopsis_frame::{CameraOptions, Orientation, PairSource, Pixels, SourceOptions, SourceSpec, ViewOptions};
use stereopsis_sources::open;

fn request(format: PixelFormat, size: (usize, usize)) -> ModeRequest {
    ModeRequest { size: Some(size), format: Some(format), ..grey() }
}

fn open_as(request: &ModeRequest) -> WebcamPair {
    WebcamPair::open(0, 1, request, &CameraOptions::default()).expect("opens")
}

#[test]
fn yuyv_pairs_are_exact() {
    with_cameras(&[SLOWLY, &format!("{SLOWLY} late=8")], "formats::inside_yuyv_pair");
}

#[test]
#[ignore = "runs under LD_PRELOAD"]
fn inside_yuyv_pair() {
    let spec = SourceSpec::parse("webcam:0,1").expect("grammar");
    let mut source = open(&spec, &SourceOptions::default()).expect("opens");
    let info = source.info();
    assert_eq!((info.name.as_str(), info.width, info.height), ("webcam 0,1", 640, 480));
    assert_eq!((info.rate_hz, info.is_camera, info.is_rectified), (Some(30.0), true, false));
    let pairs = take(&mut *source, 12);
    assert_recent(&pairs[11]);
    for pair in &pairs {
        assert_eq!(luma(&pair.left), &scene(0, SIZES[0]));
        assert_eq!(luma(&pair.right), &scene(1, SIZES[0]));
        assert!((pair.skew_s - 0.008).abs() < 0.001, "skew {}", pair.skew_s);
        assert_eq!(pair.left.rgb.as_ref().map(Image::size), Some((640, 480)));
    }
    assert!(pairs.windows(2).all(|w| w[0].sequence < w[1].sequence && w[0].capture_time < w[1].capture_time));
    let state = source.state();
    assert_eq!(other_remarks(&*source), [""; 0]);
    assert_eq!(state.cameras.len(), 2);
    assert_eq!(state.cameras[1].name, "Fake Camera 1");
    assert_eq!(state.cameras[1].mode, "YUYV 640x480 at 30/s");
    assert!(state.cameras.iter().all(|c| (1.0..40.0).contains(&c.rate_hz) && c.lost.is_none()), "{state:?}");
}

#[test]
fn mjpeg_pairs_leave_out_damaged_frames() {
    with_cameras(&["cut=4", "late=3"], "formats::inside_mjpeg_pair");
}

#[test]
#[ignore = "runs under LD_PRELOAD"]
fn inside_mjpeg_pair() {
    let mut source = open_as(&request(PixelFormat::Mjpeg, SIZES[1]));
    let pairs = take(&mut source, 12);
    for pair in &pairs {
        for (i, picture) in [&pair.left, &pair.right].into_iter().enumerate() {
            let seen = scene(i, SIZES[1]);
            let pixels = luma(picture).pixels().iter().zip(seen.pixels());
            let sum: u64 = pixels.map(|(&a, &b)| u64::from(a.abs_diff(b))).sum();
            assert!(sum < 3 * seen.pixels().len() as u64, "{sum}");
            assert_eq!(picture.rgb, None);
        }
    }
    // every fourth left frame is truncated and has no pair
    assert!(pairs.iter().all(|p| p.sequence % 4 != 3), "{:?}", pairs.iter().map(|p| p.sequence).collect::<Vec<_>>());
    assert!(pairs[11].sequence >= 14);
    let damaged = source.state().cameras[0].damaged;
    assert!(damaged.jpeg >= 3 && damaged.jpeg == damaged.total(), "{damaged}");
    take(&mut source, 24);
    let remarks = source.state().remarks;
    assert!(
        remarks[0].starts_with("camera 0: ") && remarks[0].contains("came damaged and were dropped"),
        "{remarks:?}"
    );
}

#[test]
fn nv12_pairs_have_colour() {
    with_cameras(&["nv12", "nv12"], "formats::inside_nv12");
}

#[test]
#[ignore = "runs under LD_PRELOAD"]
fn inside_nv12() {
    let mut source = open_as(&ModeRequest { pixels: Pixels::Color, ..grey() });
    let pair = take(&mut source, 2).pop().expect("two");
    assert_eq!(luma(&pair.right), &scene(1, SIZES[0]));
    let [r, g, b] = pair.right.rgb.expect("asked for").at(100, 100);
    assert!(r == g && g == b, "grey has no colour");
    assert_eq!(source.state().cameras[0].mode, "NV12 640x480 at 30/s");
}

#[test]
fn grey_cameras_are_read() {
    with_cameras(&[&format!("grey {SLOWLY}"), &format!("grey {SLOWLY} late=5")], "formats::inside_grey");
}

#[test]
#[ignore = "runs under LD_PRELOAD"]
fn inside_grey() {
    let mut source = open_as(&ModeRequest { rate_hz: Some(60), size: Some((320, 240)), ..grey() });
    assert_eq!(source.state().cameras[0].mode, "GREY 320x240 at 60/s");
    for pair in take(&mut source, 12) {
        assert_eq!(luma(&pair.left), &scene(0, SIZES[1]));
        assert_eq!(luma(&pair.right), &scene(1, SIZES[1]));
        // only the driver's times are this exact, times of arrival are not
        assert!((pair.skew_s - 0.005).abs() < 0.0005, "skew {}", pair.skew_s);
    }
    assert_eq!(other_remarks(&source), [""; 0]);
}

#[test]
fn keeps_sixteen_bits() {
    with_cameras(&["y16", "y16"], "formats::inside_y16");
}

#[test]
#[ignore = "runs under LD_PRELOAD"]
fn inside_y16() {
    let mut source = open_as(&grey());
    let pair = take(&mut source, 2).pop().expect("two");
    let expected = scene(1, SIZES[1]);
    assert_eq!(pair.right.luma, Luma::U16 { image: expected.map(|&v| u16::from(v) * 4), bits: 10 });
    assert_eq!(pair.right.luma.to_u8(), expected);
}

#[test]
fn reads_fractional_rates() {
    with_cameras(&["fraction", "fraction"], "formats::inside_fraction");
}

#[test]
#[ignore = "runs under LD_PRELOAD"]
fn inside_fraction() {
    let mut source = open_as(&grey());
    assert_eq!(source.state().cameras[1].mode, "YUYV 640x480 at 30/s");
    assert_eq!(luma(&take(&mut source, 3)[2].left), &scene(0, SIZES[0]));
}

#[test]
fn finds_the_requested_size_in_a_range() {
    with_cameras(&["stepwise", "stands"], "formats::inside_stepwise");
}

/// The second camera is initially in a mode that cannot be read.
#[test]
#[ignore = "runs under LD_PRELOAD"]
fn inside_stepwise() {
    let listed = cameras().expect("lists");
    let wished = Mode { format: PixelFormat::Yuyv, width: 640, height: 480, rate_hz: 30 };
    assert!(listed[0].modes.contains(&wished), "{:?}", listed[0]);
    let mut source = open_as(&grey());
    assert_eq!(luma(&take(&mut source, 2)[1].right), &scene(1, SIZES[0]));
    assert_eq!(source.state().cameras[0].mode, wished.to_string());
}

#[test]
fn remarks_on_granted_modes_that_differ() {
    with_cameras(&["grants=15", "grants=15"], "formats::inside_granted");
}

#[test]
#[ignore = "runs under LD_PRELOAD"]
fn inside_granted() {
    let mut source = open_as(&ModeRequest { rate_hz: Some(30), ..grey() });
    take(&mut source, 4);
    let state = source.state();
    assert_eq!(state.cameras[0].mode, "YUYV 640x480 at 15/s");
    assert_eq!(
        state.remarks[0],
        "camera 0 was told to send YUYV 640x480 at 30/s, and its driver grants YUYV 640x480 at 15/s"
    );
    drop(source);
    let source = open_as(&ModeRequest { size: Some((1000, 700)), rate_hz: Some(15), ..grey() });
    assert_eq!(source.state().remarks[1], "camera 1 has no 1000x700 per image; it runs YUYV 640x480 at 15/s");
}

#[test]
fn splits_side_by_side_images() {
    with_cameras(&[""], "formats::inside_side_by_side");
}

#[test]
#[ignore = "runs under LD_PRELOAD"]
fn inside_side_by_side() {
    let request = ModeRequest { size: Some((320, 480)), ..grey() };
    let whole = scene(0, SIZES[0]);
    let mut source = OneCamera::open(0, CameraViews::BothViews, &request, &CameraOptions::default()).expect("opens");
    assert_eq!((source.info().width, source.info().height), (320, 480));
    for pair in take(&mut source, 5) {
        assert!(pair.skew_s.abs() < f64::EPSILON);
        for (start, picture) in [(0, &pair.left), (320, &pair.right)] {
            assert_eq!(luma(picture), &Image::from_fn(320, 480, |x, y| whole.at(start + x, y)));
        }
    }
    drop(source);

    let mut options = CameraOptions { swapped_halves: true, ..CameraOptions::default() };
    let mut swapped = OneCamera::open(0, CameraViews::BothViews, &request, &options).expect("opens");
    assert_eq!(luma(&take(&mut swapped, 1)[0].left), &Image::from_fn(320, 480, |x, y| whole.at(320 + x, y)));
    drop(swapped);

    // turning the whole image exchanges left and right
    options = CameraOptions::default();
    options.views[0].orientation = Orientation::HalfTurn;
    let mut turned = OneCamera::open(0, CameraViews::BothViews, &request, &options).expect("opens");
    assert_eq!(luma(&take(&mut turned, 1)[0].left), &Image::from_fn(320, 480, |x, y| whole.at(639 - x, 479 - y)));
}

#[test]
fn turns_each_side_by_its_orientation() {
    with_cameras(&["", ""], "formats::inside_orientation");
}

#[test]
#[ignore = "runs under LD_PRELOAD"]
fn inside_orientation() {
    let eye = |orientation| ViewOptions { orientation, ..ViewOptions::default() };
    let options =
        CameraOptions { views: [eye(Orientation::HalfTurn), eye(Orientation::FlipX)], ..CameraOptions::default() };
    let mut source = WebcamPair::open(0, 1, &grey(), &options).expect("opens");
    let pair = take(&mut source, 1).pop().expect("one");
    let (left, right) = (scene(0, SIZES[0]), scene(1, SIZES[0]));
    assert_eq!(luma(&pair.left), &Image::from_fn(640, 480, |x, y| left.at(639 - x, 479 - y)));
    assert_eq!(luma(&pair.right), &Image::from_fn(640, 480, |x, y| right.at(639 - x, y)));
}
