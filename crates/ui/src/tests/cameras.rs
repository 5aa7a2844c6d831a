//! Tests with emulated cameras: chosen by their thumbnails, swapped, lost and found again, kept in a rig file.

use super::harness::{SIZE, Window, gpu, options};
use crate::WindowOptions;
use crate::core::action::Action;
use egui::{Key, Modifiers};
use egui_kittest::kittest::Queryable as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use stereopsis_base::image::{Image, Luma, Picture};
use stereopsis_capture::emulated::with_dressed_cameras;
use stereopsis_frame::decode_camera::PixelFormat;
use stereopsis_frame::{CameraName, SceneOptions, SourceSpec};
use stereopsis_scene::render;
use stereopsis_settings::rig::{CalibrationChoice, RectifyChoice, RigFile};
use stereopsis_settings::settings::{Origin, Word};

const CAMERA: (usize, usize) = (320, 240);

fn views() -> [Image<u8>; 2] {
    let raw = render(&SceneOptions { width: CAMERA.0, height: CAMERA.1, ..SceneOptions::default() }, 0, false);
    [raw.left, raw.right].map(|picture| grey(&picture).clone())
}

fn grey(picture: &Picture) -> &Image<u8> {
    match &picture.luma {
        Luma::U8(image) => image,
        Luma::U16 { .. } => panic!("8 bits expected"),
    }
}

/// Writes crossed images: camera 0 has the scene's right view, camera 1 its left one.
fn write_crossed(folder: &Path) {
    let [left, right] = views();
    write_images(folder, [right, left]);
}

fn write_images(folder: &Path, seen: [Image<u8>; 2]) {
    for (i, image) in seen.into_iter().enumerate() {
        let at = |kind: &str| folder.join(format!("{i}.{}x{}.{kind}", CAMERA.0, CAMERA.1));
        fs::write(at("yuyv"), image.pixels().iter().flat_map(|&y| [y, 128]).collect::<Vec<_>>()).unwrap();
        let grey = image::GrayImage::from_raw(CAMERA.0 as u32, CAMERA.1 as u32, image.into_pixels()).unwrap();
        image::DynamicImage::ImageLuma8(grey).to_rgb8().save(at("jpg")).unwrap();
    }
}

#[test]
fn cameras_are_chosen_swapped_lost_and_found() {
    with_dressed_cameras(&["controls=1", "late=5 controls=1"], write_crossed, "tests::cameras::inside_window");
}

#[test]
#[ignore = "runs under LD_PRELOAD"]
fn inside_window() {
    let Some(gpu) = gpu() else { return };
    let folder = tempfile::tempdir().unwrap();
    let mut options = WindowOptions { folder: folder.path().to_owned(), ..options(SourceSpec::Scene) };
    options.source_options.size = Some(CAMERA);
    let mut window = Window::open(&gpu, options);
    window.harness.key_press(Key::C);
    window.until("two thumbnails", |w| (w.has("camera 0 Fake") && w.has("camera 1 Fake")).then_some(()));
    window.until("the hint", |w| w.has("Click what the left camera sees").then_some(()));
    window.harness.run_steps(5);
    window.click(window.harness.get_by_label_contains("camera 0 Fake").rect());
    window.until("the next hint", |w| w.has("Now click what the right camera sees").then_some(()));
    window.click(window.harness.get_by_label_contains("camera 1 Fake").rect());

    let [left, right] = views();
    shows(&mut window, &right, "camera 0 at the left");
    window.until("what was granted", |w| w.has("YUYV 320x240 at 30/s").then_some(()));
    window.open_list("Size of an image");
    window.until("the size that runs", |w| w.has("automatic: 320×240").then_some(()));
    window.harness.key_press(Key::Escape);
    window.harness.run_steps(3);
    // the message about exchanged cameras may have come by now, with a button of its own
    let button = window.harness.get_all_by_label("Swap left and right").next().expect("the page has one").rect();
    window.click(button);
    shows(&mut window, &left, "camera 1 at the left");
    window.harness.key_press(Key::C);
    window.until("skew", |w| w.read("skew").filter(|skew| (skew + 5.0).abs() < 2.0));
    assert!(!window.has("is lost"));

    // camera 0, the right one, disappears and returns
    let node = PathBuf::from(std::env::var_os("FAKE_V4L2").unwrap()).join("video0");
    fs::remove_file(&node).unwrap();
    window.until("the loss", |w| w.has("camera 0 is lost").then_some(()));
    fs::write(&node, "").unwrap();
    window.until("the return", |w| (!w.has("is lost") && !w.has("camera 0 is gone")).then_some(()));
    let before = window.sequence();
    window.until("new pairs", |w| (w.sequence() > before).then_some(()));

    window.harness.key_press(Key::R);
    window.until("the page", |w| w.has("6 Save").then_some(()));
    window.click(window.harness.get_by_label("Exposure, gain, focus").rect());
    window.until("its controls", |w| w.has("gain of camera 1").then_some(()));
    window.click(window.harness.get_by_label("Equal exposure").rect());
    window.until("what was locked", |w| w.has("are locked alike").then_some(()));
    window.harness.get_by_label("Save rig").scroll_to_me();
    window.harness.run_steps(3);
    window.click(window.harness.get_by_label("Save rig").rect());
    window.until("the message", |w| w.has("rig written").then_some(()));
    let rig = RigFile::read(&folder.path().join("rig.toml")).unwrap();
    let port = |name: &str| CameraName::Port(name.to_owned());
    assert_eq!(rig.source, Some(SourceSpec::WebcamPair(port("1-1:1.0"), port("1-0:1.0"))));
    assert_eq!((rig.size, rig.cameras.equal_exposure), (Some(CAMERA), true));
    assert_ne!(CAMERA, SIZE);
}

#[test]
fn exchanged_cameras_are_shown_uncalibrated_until_swapped() {
    with_dressed_cameras(&["", ""], write_crossed, "tests::cameras::inside_exchanged");
}

#[test]
#[ignore = "runs under LD_PRELOAD"]
fn inside_exchanged() {
    let Some(gpu) = gpu() else { return };
    let source = SourceSpec::parse("webcam:0,1").unwrap();
    let calibration = CalibrationChoice { rectify: Some(RectifyChoice::Auto), ..CalibrationChoice::default() };
    let mut options = WindowOptions { calibration, ..options(source.clone()) };
    options.source_options.size = Some(CAMERA);
    let mut window = Window::open(&gpu, options);
    let [left, right] = views();
    shows(&mut window, &right, "the cameras as they come");
    assert_eq!(window.core().source.running, Some(source));
    window.until("why they are not rectified", |w| w.has("shown as they come, not rectified").then_some(()));
    // the message stays while results arrive
    let before = window.sequence();
    window.until("further results", |w| (w.sequence() > before + 30).then_some(()));
    assert!(window.has("shown as they come, not rectified") && window.has("left and right are swapped"));
    assert!(!window.has("the calibration") && !window.has("built-in scene"), "none was given, and none is shown");
    window.click(window.harness.get_by_label("Swap left and right").rect());
    shows(&mut window, &left, "the cameras exchanged");
    window.until("the estimate", |w| {
        let output = w.result()?;
        (output.job.frame.geometry.is_some_and(|geometry| geometry.estimated)).then_some(())
    });
    assert!(!window.has("not rectified"), "its cause is gone");
    assert_eq!(window.core().source.running, Some(SourceSpec::parse("webcam:1,0").unwrap()));
}

fn write_blank(folder: &Path) {
    for i in 0..2 {
        fs::write(folder.join(format!("{i}.{}x{}.yuyv", CAMERA.0, CAMERA.1)), vec![128; 2 * CAMERA.0 * CAMERA.1])
            .unwrap();
    }
}

#[test]
fn failed_rig_estimate_shows_cameras_and_can_be_repeated() {
    with_dressed_cameras(&["", ""], write_blank, "tests::cameras::inside_blank");
}

#[test]
#[ignore = "runs under LD_PRELOAD"]
fn inside_blank() {
    let Some(gpu) = gpu() else { return };
    let source = SourceSpec::parse("webcam:0,1").unwrap();
    let calibration = CalibrationChoice { rectify: Some(RectifyChoice::Auto), ..CalibrationChoice::default() };
    let mut options = WindowOptions { calibration, ..options(source.clone()) };
    options.source_options.size = Some(CAMERA);
    options.source_options.cameras.format = Some(PixelFormat::Yuyv);
    let mut window = Window::open(&gpu, options);
    // a new message moves the buttons
    window.until("what the map tells", |w| w.has("2 messages").then_some(()));
    for _ in 0..2 {
        window.until("the failure with its cause", |w| w.has("too little texture").then_some(()));
        assert_eq!(window.core().source.running.as_ref(), Some(&source));
        window.click(window.harness.get_by_label("Estimate again").rect());
        window.until("the end of the message", |w| (!w.has("too little texture")).then_some(()));
    }
    window.until("the failure again", |w| w.has("too little texture").then_some(()));
    assert!(!window.has("built-in scene"));
}

#[test]
fn missing_cameras_are_named_until_they_open() {
    let hide = |folder: &Path| {
        write_crossed(folder);
        fs::remove_file(folder.join("video1")).unwrap();
    };
    with_dressed_cameras(&["", ""], hide, "tests::cameras::inside_absent");
}

#[test]
#[ignore = "runs under LD_PRELOAD"]
fn inside_absent() {
    let Some(gpu) = gpu() else { return };
    let source = SourceSpec::parse("webcam:1,0").unwrap();
    let mut options = options(source.clone());
    options.source_options.size = Some(CAMERA);
    let mut window = Window::open(&gpu, options);
    let words = "This is the built-in scene: webcam:1,0 cannot be opened.";
    window.until("what is shown", |w| w.has(words).then_some(()));
    window.until("why", |w| w.has("the built-in scene is shown instead").then_some(()));
    // an opened page is no remedy yet, so the message stays
    window.click(window.harness.get_all_by_label("Cameras …").last().expect("in the message").rect());
    window.harness.run_steps(3);
    assert!(window.core().is_open(Action::Cameras) && window.has("the built-in scene is shown instead"));
    window.click(window.harness.get_all_by_label("Dismiss").last().expect("of the message").rect());
    window.harness.key_press(Key::R);
    window.until("the rig's page", |w| w.has("1 Cameras: webcam:1,0 cannot be opened").then_some(()));
    assert!(!window.has("2 Rows") && window.has(words), "nothing of the scene beside the cameras' name");
    fs::write(PathBuf::from(std::env::var_os("FAKE_V4L2").unwrap()).join("video1"), "").unwrap();
    let button = window.harness.get_all_by_label("Open again").next().expect("beside the words").rect();
    window.click(button);
    shows(&mut window, &views()[0], "the cameras");
    assert!(!window.has("built-in scene") && window.has("2 Rows"));
}

/// Writes the scene's views with the right one 3 px too low, as two uncalibrated cameras in the right order.
fn write_misaligned(folder: &Path) {
    let misaligned = SceneOptions { width: CAMERA.0, height: CAMERA.1, vertical_px: 3.0, ..SceneOptions::default() };
    let raw = render(&misaligned, 0, false);
    write_images(folder, [&raw.left, &raw.right].map(|picture| grey(picture).clone()));
}

fn cover(camera: usize, covers: bool) {
    let file = PathBuf::from(std::env::var_os("FAKE_V4L2").unwrap()).join(format!("cover{camera}"));
    if covers { fs::write(file, "").unwrap() } else { fs::remove_file(file).unwrap() }
}

#[test]
fn uncalibrated_cameras_give_depth_after_two_clicks_and_a_hand() {
    with_dressed_cameras(&["", ""], write_misaligned, "tests::cameras::inside_first_depth");
}

#[test]
#[ignore = "runs under LD_PRELOAD"]
fn inside_first_depth() {
    let Some(gpu) = gpu() else { return };
    let mut options = WindowOptions { words: Vec::new(), ..options(SourceSpec::Scene) };
    options.words = vec![Word { name: "engine".into(), text: "cpu".into(), origin: Origin::Flag }];
    options.source_options.size = Some(CAMERA);
    let mut window = Window::open(&gpu, options);
    let before = window.params();
    window.click(window.harness.get_by_label("Two webcams, rig …").rect());
    window.until("two thumbnails", |w| (w.has("camera 0 Fake") && w.has("camera 1 Fake")).then_some(()));
    window.until("the first step", |w| w.has("1 Cameras: this is the built-in scene").then_some(()));
    assert!(window.harness.query_by_label("Check with a hand").is_none(), "nothing is chosen yet");
    window.harness.run_steps(5);
    window.click(window.harness.get_by_label_contains("camera 1 Fake").rect());
    window.until("the next hint", |w| w.has("Now click what the right camera sees").then_some(()));
    window.click(window.harness.get_by_label_contains("camera 0 Fake").rect());

    // sides are exchanged, as a hand before the left lens reveals
    window.until("the doubt", |w| w.has("1 Cameras: left and right look exchanged").then_some(()));
    window.click(window.harness.get_by_label("Check with a hand").rect());
    window.until("what to do", |w| w.has("Cover the left lens with a hand").then_some(()));
    cover(0, true);
    window.until("the swap", |w| w.has("left and right are swapped now").then_some(()));
    cover(0, false);
    let port = |name: &str| CameraName::Port(name.to_owned());
    let right_order = SourceSpec::WebcamPair(port("1-0:1.0"), port("1-1:1.0"));
    window.until("the right order", |w| (w.core().source.spec == right_order).then_some(()));
    window.until("the step", |w| w.has("camera 0 left, camera 1 right: checked with a hand").then_some(()));

    // automatic steps: rows, range and colours
    window.until("the estimate", |w| w.result()?.job.frame.geometry.filter(|geometry| geometry.estimated));
    window.until("the range", |w| (w.params().num_disparities != before.num_disparities).then_some(()));
    // they are fitted once more to the new range
    let fitted =
        window.until("the colours", |w| w.core().view.depth_range_m.filter(|_| w.core().awaited.outdated.is_none()));
    window.until("what is assumed", |w| {
        w.has("4 Scale: a field of view of the lens of 60° and a baseline of 0.06 m assumed").then_some(())
    });
    assert!(window.core().depth_mark() == Some("estimated, scale assumed"));
    window.until("the range in metres", |w| w.has("% measured").then_some(()));
    window.harness.run_steps(5);

    // undo and redo cover all of it
    window.harness.key_press_modifiers(Modifiers::COMMAND, Key::Z);
    window.until("the range before", |w| (w.params().num_disparities == before.num_disparities).then_some(()));
    window.harness.run_steps(3);
    window.harness.key_press_modifiers(Modifiers::COMMAND, Key::Z);
    window.until("no estimate", |w| (w.result()?.job.frame.geometry.is_none()).then_some(()));
    let end = Instant::now() + Duration::from_secs(3);
    window.until("a while", |_| (Instant::now() > end).then_some(()));
    assert!(window.core().rig.choice.is_unset(), "it does not begin again");
    for _ in 0..2 {
        window.harness.key_press_modifiers(Modifiers::COMMAND | Modifiers::SHIFT, Key::Z);
        window.harness.run_steps(3);
    }
    window.until("the estimate again", |w| w.result()?.job.frame.geometry.filter(|geometry| geometry.estimated));
    assert_eq!(window.core().view.depth_range_m, Some(fitted));
    assert_ne!(window.params().num_disparities, before.num_disparities);

    // sides are right
    window.click(window.harness.get_by_label("Check with a hand").rect());
    window.until("what to do", |w| w.has("Cover the left lens with a hand").then_some(()));
    cover(0, true);
    window.until("the answer", |w| w.has("left is left").then_some(()));
    assert_eq!(window.core().source.spec, right_order);
}

#[test]
fn a_camera_that_comes_back_brings_no_false_diagnosis() {
    with_dressed_cameras(&["", ""], write_crossed, "tests::cameras::inside_back_again");
}

#[test]
#[ignore = "runs under LD_PRELOAD"]
fn inside_back_again() {
    let Some(gpu) = gpu() else { return };
    let mut options = options(SourceSpec::parse("webcam:0,1").unwrap());
    options.source_options.size = Some(CAMERA);
    let mut window = Window::open(&gpu, options);
    window.until("that they are exchanged", |w| w.has("look exchanged").then_some(()));
    window.harness.key_press(Key::R);
    window.until("the page", |w| w.has("Estimate from the images").then_some(()));
    window.press("Estimate from the images");
    window.until("the refusal", |w| w.has("left and right are swapped").then_some(()));
    window.harness.key_press(Key::X);
    let [left, _] = views();
    shows(&mut window, &left, "the cameras exchanged");
    let is_said = |w: &Window| w.has("look exchanged") || w.has("exchanged?") || w.has("are swapped");
    assert!(!is_said(&window), "their pairs were of another opening");
    let node = PathBuf::from(std::env::var_os("FAKE_V4L2").unwrap()).join("video0");
    fs::remove_file(&node).unwrap();
    window.until("the loss", |w| w.has("camera 0 lost").then_some(()));
    assert!(!is_said(&window));
    fs::write(&node, "").unwrap();
    window.until("the return", |w| (!w.has("camera 0 lost") && !w.has("camera 0 is gone")).then_some(()));
    let end = Instant::now() + Duration::from_secs(4);
    window.until("a while", |w| {
        assert!(!is_said(w), "after the return");
        (Instant::now() > end).then_some(())
    });
}

fn shows(window: &mut Window, image: &Image<u8>, what: &str) {
    window.until(what, |w| {
        let raw = &w.result()?.job.frame.raw;
        (grey(&raw.left) == image).then_some(())
    });
}
