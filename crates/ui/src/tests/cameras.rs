//! Cameras in the window, emulated: chosen by their thumbnails, swapped, lost and found again, kept in a rig file.

use super::harness::{SIZE, Window, gpu, options};
use crate::WindowOptions;
use crate::capture::SourceSpec;
use crate::capture::emulated::with_dressed_cameras;
use crate::capture::scene::{SceneOptions, render};
use crate::capture::webcam::CameraName;
use crate::image::{Image, Luma, Picture};
use crate::rig::{CalibrationChoice, RectifyChoice, RigFile};
use egui::Key;
use egui_kittest::kittest::Queryable as _;
use std::fs;
use std::path::{Path, PathBuf};

const CAMERA: (usize, usize) = (320, 240);

fn eyes() -> [Image<u8>; 2] {
    let raw = render(&SceneOptions { width: CAMERA.0, height: CAMERA.1, ..SceneOptions::default() }, 0, false);
    [raw.left, raw.right].map(|picture| grey(&picture).clone())
}

fn grey(picture: &Picture) -> &Image<u8> {
    match &picture.luma {
        Luma::U8(image) => image,
        Luma::U16 { .. } => panic!("8 bits expected"),
    }
}

/// Camera 0 sees what the scene's right eye sees, camera 1 what its left eye sees: as if plugged in crosswise.
fn dress(folder: &Path) {
    for (i, image) in eyes().into_iter().rev().enumerate() {
        let at = |kind: &str| folder.join(format!("{i}.{}x{}.{kind}", CAMERA.0, CAMERA.1));
        fs::write(at("yuyv"), image.pixels().iter().flat_map(|&y| [y, 128]).collect::<Vec<_>>()).unwrap();
        let grey = image::GrayImage::from_raw(CAMERA.0 as u32, CAMERA.1 as u32, image.into_pixels()).unwrap();
        image::DynamicImage::ImageLuma8(grey).to_rgb8().save(at("jpg")).unwrap();
    }
}

#[test]
fn cameras_are_chosen_swapped_lost_and_found() {
    with_dressed_cameras(&["controls=1", "late=5 controls=1"], dress, "tests::cameras::inside_window");
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
    window.harness.get_by_label_contains("camera 0 Fake").click();
    window.until("the next hint", |w| w.has("Now click what the right camera sees").then_some(()));
    window.harness.get_by_label_contains("camera 1 Fake").click();

    let [left, right] = eyes();
    shows(&mut window, &right, "camera 0 at the left");
    window.until("what was granted", |w| w.has("YUYV 320x240 at 30/s").then_some(()));
    window.harness.get_by_label("Swap left and right").click();
    shows(&mut window, &left, "camera 1 at the left");
    window.harness.key_press(Key::C);
    window.until("skew", |w| w.read("skew").filter(|skew| (skew + 5.0).abs() < 2.0));
    assert!(!window.has("is lost"));

    // the right one, camera 0, goes and comes back
    let node = PathBuf::from(std::env::var_os("FAKE_V4L2").unwrap()).join("video0");
    fs::remove_file(&node).unwrap();
    window.until("the loss", |w| w.has("camera 0 is lost").then_some(()));
    fs::write(&node, "").unwrap();
    window.until("the return", |w| (!w.has("is lost") && !w.has("camera 0 is gone")).then_some(()));
    let before = window.sequence();
    window.until("new pairs", |w| (w.sequence() > before).then_some(()));

    window.harness.key_press(Key::R);
    window.until("its controls", |w| w.has("gain of camera 1").then_some(()));
    window.harness.get_by_label("Equal exposure").click();
    window.until("what was locked", |w| w.has("are locked alike").then_some(()));
    window.harness.get_by_label("Save rig").scroll_to_me();
    window.harness.run_steps(3);
    window.harness.get_by_label("Save rig").click();
    window.until("the message", |w| w.has("rig written").then_some(()));
    let rig = RigFile::read(&folder.path().join("rig.toml")).unwrap();
    let port = |name: &str| CameraName::Port(name.to_owned());
    assert_eq!(rig.source, Some(SourceSpec::WebcamPair(port("1-1:1.0"), port("1-0:1.0"))));
    assert_eq!((rig.size, rig.cameras.equal_exposure), (Some(CAMERA), true));
    assert_ne!(CAMERA, SIZE);
}

#[test]
fn exchanged_cameras_are_shown_as_they_come_until_they_are_swapped() {
    with_dressed_cameras(&["", ""], dress, "tests::cameras::inside_exchanged");
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
    let [left, right] = eyes();
    shows(&mut window, &right, "the cameras as they come");
    assert_eq!(window.session.borrow().state.source.running, Some(source));
    window.until("why they are not rectified", |w| w.has("shown as they come, not rectified").then_some(()));
    // it stays while results come
    let before = window.sequence();
    window.until("further results", |w| (w.sequence() > before + 30).then_some(()));
    assert!(window.has("shown as they come, not rectified") && window.has("left and right are swapped"));
    window.harness.get_by_label("Swap left and right").click();
    shows(&mut window, &left, "the cameras exchanged");
    window.until("the estimate", |w| {
        let output = w.result()?;
        (output.job.frame.geometry.is_some_and(|geometry| geometry.estimated)).then_some(())
    });
    assert!(!window.has("not rectified"), "its cause is gone");
    assert_eq!(window.session.borrow().state.source.running, Some(SourceSpec::parse("webcam:1,0").unwrap()));
}

/// Waits until the left picture is this one.
fn shows(window: &mut Window, image: &Image<u8>, what: &str) {
    window.until(what, |w| {
        let raw = &w.result()?.job.frame.raw;
        (grey(&raw.left) == image).then_some(())
    });
}
