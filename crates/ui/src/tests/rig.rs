//! Rig in the window: calibration without a board, depth from two known distances, and the rig file.

use super::harness::{Window, gpu, options, pair_of};
use crate::WindowOptions;
use crate::core::command::Command;
use egui::accesskit::Role;
use egui::{Key, Modifiers};
use egui_kittest::kittest::Queryable as _;
use stereopsis_base::geometry::Geometry;
use stereopsis_base::image::{Image, Luma};
use stereopsis_calibration::{FocalLength, StereoRig, toml_of};
use stereopsis_frame::{SceneOptions, SourceOptions, SourceSpec};
use stereopsis_images::write_picture;
use stereopsis_settings::rig::{CalibrationChoice, RectifyChoice, RigFile};

/// Returns options of the scene with the right camera 3 px too low, large enough for matches.
fn misaligned() -> WindowOptions {
    let mut options = options(SourceSpec::Scene);
    options.source_options.size = Some((320, 240));
    options.source_options.scene.vertical_px = 3.0;
    options
}

#[test]
fn two_distances_make_metres_of_disparities() {
    let Some(gpu) = gpu() else { return };
    let folder = tempfile::tempdir().unwrap();
    let options = WindowOptions {
        folder: folder.path().to_owned(),
        source_options: SourceOptions { size: Some((320, 240)), ..options(SourceSpec::Scene).source_options },
        ..options(SourceSpec::Scene)
    };
    let mut window = Window::open(&gpu, options);
    window.harness.key_press(Key::Space);
    window.harness.run_steps(2);
    window.harness.key_press(Key::R);
    window.until("the rig's window", |w| w.has("Fit depth").then_some(()));
    // the typed distances are half of those of the scene's rig, so the baseline is halved too
    for (name, place) in [("near", (0.56, 0.72)), ("far", (0.28, 0.35))] {
        let (at, metres) = window.rest_until_read("left view", place, "depth");
        window.click_at(at);
        window.core_mut().rig.known[usize::from(name == "far")].metres = f64::from(metres) / 2.0;
        window.press(&format!("Take {name}"));
        window.click_at(at); // a second click releases the pixel
    }
    let before = window.result().unwrap().job.frame.geometry.unwrap();
    window.press("Fit depth");
    let after = window.until("the fitted depth", |w| {
        w.result().and_then(|output| output.job.frame.geometry).filter(|geometry| geometry.estimated)
    });
    assert!((after.depth_m(10.0).unwrap() / before.depth_m(10.0).unwrap() - 0.5).abs() < 0.05, "{before:?} {after:?}");
    assert!(window.has("estimated"));
    window.harness.get_by_label("Save rig").scroll_to_me();
    window.harness.run_steps(3);
    window.click(window.harness.get_by_label("Save rig").rect());
    window.until("the message", |w| w.has("rig written").then_some(()));
    let rig = RigFile::read(&folder.path().join("rig.toml")).unwrap();
    assert!(rig.calibration.depth_fit.is_some());
}

#[test]
fn the_range_of_verged_cameras_is_found_once_unless_one_was_said() {
    let Some(gpu) = gpu() else { return };
    let folder = tempfile::tempdir().unwrap();
    let mut random = fastrand::Rng::with_seed(3);
    let texture: Vec<u8> = (0..240 * 120).map(|_| random.u8(..)).collect();
    // what is seen has disparities of -20 and -10 px, infinity one of -80
    for (side, shift) in [("left", 0), ("right", 1)] {
        let view = Image::from_fn(160, 120, |x, y| {
            let disparity_px = if y < 60 { -20 } else { -10 };
            texture[y * 240 + (x as i32 + 40 + shift * disparity_px) as usize]
        });
        write_picture(&folder.path().join(format!("{side}.png")), &Luma::U8(view).into()).unwrap();
    }
    let [left, right] = ["left.png", "right.png"].map(|name| folder.path().join(name));
    for is_said in [false, true] {
        let source = SourceSpec::Files { left: left.clone(), right: right.clone(), truth: None };
        let mut options = options(source);
        options.words.retain(|word| is_said || word.name != "num-disparities");
        options.calibration.set_focal(Some(FocalLength::Px(200.0)));
        (options.calibration.baseline_m, options.calibration.doffs_px) = (Some(0.1), 80.0);
        let mut window = Window::open(&gpu, options);
        if is_said {
            window.harness.run_steps(5);
            assert_eq!(window.core().matching.params.min_disparity, 0);
            window.execute(Command::Action(crate::core::Action::FitRange));
        }
        window.until("the range", |w| w.has("the search goes from -").then_some(()));
        let disparities = window.core().matching.params.disparities();
        assert!(*disparities.start() < -20 && *disparities.end() > -10, "{disparities:?}");
    }
}

#[test]
fn two_distances_that_contradict_the_lens_are_refused() {
    let Some(gpu) = gpu() else { return };
    let mut options = options(SourceSpec::Scene);
    options.source_options.size = Some((320, 240));
    options.calibration.fov_deg = Some(60.0);
    options.calibration.baseline_m = Some(0.065);
    let mut window = Window::open(&gpu, options);
    let before = window.result().unwrap().job.frame.geometry;
    let mut core = window.core_mut();
    // a third of the depths that the lens implies
    let geometry = before.unwrap();
    for (known, px) in core.rig.known.iter_mut().zip([24.0, 8.0]) {
        (known.disparity_px, known.metres) = (Some(px), geometry.depth_m(px).unwrap() / 3.0);
    }
    drop(core);
    window.harness.key_press(Key::R);
    window.until("the rig's page", |w| w.is_enabled("Fit depth").then_some(()));
    window.harness.get_by_label("Fit depth").scroll_to_me();
    window.harness.run_steps(3);
    window.click(window.harness.get_by_label("Fit depth").rect());
    window.until("the refusal", |w| w.has("these distances imply a field of view of").then_some(()));
    assert!(window.has("you said 60°"));
    assert_eq!(window.core().rig.choice.depth_fit, None);
    window.harness.run_steps(10);
    assert_eq!(window.result().unwrap().job.frame.geometry, before, "depth stays");
}

#[test]
fn misaligned_cameras_are_rectified_from_their_images() {
    let Some(gpu) = gpu() else { return };
    let mut window = Window::open(&gpu, misaligned());
    window.until("the warning", |w| w.has("bad").then_some(()));
    window.harness.key_press(Key::R);
    window.until("the rig's window", |w| w.has("Estimate from the images").then_some(()));
    window.click(window.harness.get_by_label("Estimate from the images").rect());
    window.until("straight rows", |w| w.has("good").then_some(()));
    let estimated = window.result().and_then(|output| output.job.frame.geometry).is_some_and(|g| g.estimated);
    assert!(estimated && window.has("depth is an estimate"));
    assert_eq!(window.core().rig.choice.rectify(), RectifyChoice::Auto);
}

#[test]
fn scale_is_assumed_until_two_distances_define_it() {
    let Some(gpu) = gpu() else { return };
    let mut window = Window::open(&gpu, misaligned());
    window.harness.key_press(Key::R);
    window.until("the rig's window", |w| w.has("Estimate from the images").then_some(()));
    window.click(window.harness.get_by_label("Estimate from the images").rect());
    let is_assumed = |w: &Window| w.has("4 Scale: a field of view of the lens of 60° and a baseline of 0.06 m assumed");
    window.until("what is assumed", |w| is_assumed(w).then_some(()));
    let mark = |w: &Window| w.core().depth_mark();
    window.until("the mark", |w| (mark(w) == Some("estimated, scale assumed")).then_some(()));
    // four fifths of the depths for 60 degrees mean a shorter focal length
    let geometry = window.until("depth", |w| w.result()?.job.frame.geometry.filter(|geometry| geometry.estimated));
    for (known, px) in window.core_mut().rig.known.iter_mut().zip([24.0, 8.0]) {
        (known.disparity_px, known.metres) = (Some(px), 0.8 * geometry.depth_m(px).unwrap());
    }
    window.harness.run_steps(3);
    window.press("Fit depth");
    window.until("the fit", |w| w.has("by known distances").then_some(()));
    let fitted = window.core().rig.choice.depth_fit.unwrap().applied(geometry);
    for px in [24.0, 8.0] {
        let ratio = fitted.depth_m(px).unwrap() / geometry.depth_m(px).unwrap();
        assert!((ratio - 0.8).abs() < 0.02, "{px} px: {ratio}");
    }
    let width_per_m = |geometry: &Geometry| {
        let [near_m, far_m] = geometry.depth_interval_m(12.0).unwrap();
        1.0 / near_m - 1.0 / far_m
    };
    assert!(width_per_m(&fitted) < 0.5 * width_per_m(&geometry), "{fitted:?}");
    assert!(window.has("; a thing shown at 2 m lies between "));
    window.until("the mark", |w| (mark(w) == Some("estimated")).then_some(()));
    assert!(!window.has("assumed"));
    window.harness.run_steps(3);
    window.harness.key_press_modifiers(Modifiers::COMMAND, Key::Z);
    window.until("the assumption again", |w| is_assumed(w).then_some(()));

    // a typed baseline scales the estimate and keeps it
    let note = window.core().rig.note.clone();
    let choice = CalibrationChoice { baseline_m: Some(0.12), ..window.core().rig.choice.clone() };
    window.execute(Command::Calibrate(Box::new(choice)));
    let scaled = window
        .until("twice the baseline", |w| w.result()?.job.frame.geometry.filter(|geometry| geometry.baseline_m > 0.1));
    assert!((scaled.baseline_m - 0.12).abs() < 1e-6 && (scaled.focal_px - geometry.focal_px).abs() < 1e-6);
    assert_eq!(window.core().rig.note, note);
}

#[test]
fn differing_rows_get_an_estimate_offer_and_no_depth() {
    let Some(gpu) = gpu() else { return };
    let folder = tempfile::tempdir().unwrap();
    let scene = SceneOptions { width: 320, height: 240, vertical_px: 3.0, ..SceneOptions::default() };
    let mut options = options(pair_of(folder.path(), &scene));
    options.source_options.size = None;
    let mut window = Window::open(&gpu, options);
    window.until("the rows", |w| w.has("bad").then_some(()));
    let at = window.place("depth view", (0.5, 0.5));
    window.click_at(at);
    window.until("the offer", |w| w.has("The images are not rectified either").then_some(()));
    assert!(!window.has("Show depth"));
    window.click(window.harness.get_by_label("Estimate from the images").rect());
    window.until("depth", |w| w.result()?.job.frame.geometry.filter(|geometry| geometry.estimated));
    window.until("its image", |w| (!w.has("No depth")).then_some(()));
}

#[test]
fn an_estimate_is_there_again_at_the_next_start() {
    let Some(gpu) = gpu() else { return };
    let folder = tempfile::tempdir().unwrap();
    let saved = Some(folder.path().join("window.toml"));
    let misaligned = || WindowOptions { saved_state: saved.clone(), ..misaligned() };
    let mut window = Window::open(&gpu, misaligned());
    window.harness.key_press(Key::R);
    window.until("the rig's window", |w| w.has("Estimate from the images").then_some(()));
    window.click(window.harness.get_by_label("Estimate from the images").rect());
    window.until("the estimate", |w| {
        w.result().and_then(|output| output.job.frame.geometry).filter(|geometry| geometry.estimated)
    });
    window.core_mut().save();
    drop(window);
    let options = WindowOptions { source: None, ..misaligned() };
    let options = WindowOptions { source_options: WindowOptions::default().source_options, ..options };
    let window = Window::open(&gpu, options);
    let core = window.core();
    let [calibration] = &core.rig.choice.files[..] else { panic!("one file") };
    let name = calibration.file_name().unwrap().to_string_lossy();
    assert!(calibration.parent() == Some(folder.path()) && name.starts_with("last-rig-calibration-"), "{name}");
    assert!(calibration.exists());
}

#[test]
fn the_lens_of_an_estimate_is_named_in_any_of_three_ways() {
    let Some(gpu) = gpu() else { return };
    let mut options = misaligned();
    options.calibration.rectify = Some(RectifyChoice::Auto);
    options.calibration.focal_px = Some(288.0);
    options.calibration.baseline_m = Some(0.065);
    let mut window = Window::open(&gpu, options);
    window.harness.key_press(Key::R);
    window.until("the rig's window", |w| w.has("Estimate again").then_some(()));
    assert!(window.harness.query_by_role_and_label(Role::SpinButton, "focal length").is_some());
    window.choose("Lens by", (Role::Button, "focal length, mm"));
    let focal = |w: &Window| w.core().rig.choice.focal();
    let named = window.until("the lens in mm", |w| focal(w).filter(|focal| matches!(focal, FocalLength::Lens { .. })));
    assert!((named.px(320) - 288.0).abs() < 1e-9, "the same lens: {named:?}");
    window.until("its second number", |w| w.has("sensor width").then_some(()));
}

/// Writes pairs of walls at one distance each, whose right camera looks too high, and the file of a rig that does not know it.
fn turned_rig(folder: &std::path::Path) -> std::path::PathBuf {
    let wave = |x: f64, y: f64, n: f64| {
        let soft = ((0.31 + 0.01 * n) * x + n).sin() * (0.27 * y + 0.05 * x).cos() + (0.11 * x - 0.19 * y).sin();
        128.0 + 38.0 * (soft + 0.6 * ((0.73 - 0.02 * n) * x + 0.41 * y).sin() * (0.07 * y + n).cos())
    };
    let pairs = folder.join("pairs");
    std::fs::create_dir(&pairs).unwrap();
    for number in 0..6 {
        let n = f64::from(number);
        let view = |dx: f64, dy: f64| {
            image::GrayImage::from_fn(320, 240, |x, y| {
                image::Luma([wave(f64::from(x) + dx, f64::from(y) + dy, n).round() as u8])
            })
        };
        view(0.0, 0.0).save(pairs.join(format!("left{number}.png"))).unwrap();
        view(6.0 + 4.0 * n, -2.0).save(pairs.join(format!("right{number}.png"))).unwrap();
    }
    let geometry = Geometry::centred(250.0, 0.06, 0.0, (320, 240));
    let rig = folder.join("calibration.toml");
    std::fs::write(&rig, toml_of(&StereoRig::of_rectified(&geometry, (320, 240)))).unwrap();
    rig
}

#[test]
fn a_rig_that_has_turned_is_corrected_frozen_and_undone() {
    let Some(gpu) = gpu() else { return };
    let folder = tempfile::tempdir().unwrap();
    let calibration = CalibrationChoice { files: vec![turned_rig(folder.path())], ..CalibrationChoice::default() };
    let options = options(SourceSpec::Folder(folder.path().join("pairs")));
    let mut window = Window::open(&gpu, WindowOptions { folder: folder.path().to_owned(), calibration, ..options });
    window.harness.key_press(Key::R);
    let mut shown = 1;
    window.until("the offer", |w| {
        let views = w.core().status().health.drift.as_ref().map_or(0, |drift| drift.views);
        if views == shown {
            w.core().live().step(1);
            shown += 1;
        }
        w.has("Apply").then_some(())
    });
    assert!(window.has("expected error of depth") && !window.has("Undo"));
    let as_calibrated = window.core().rig.rig.clone().unwrap();
    window.press("Apply");
    window.until("the correction", |w| w.has("the rig stands as corrected on").then_some(()));
    let corrected = window.core().rig.rig.clone().unwrap();
    assert!(corrected.as_calibrated() == &as_calibrated && !window.has("Freeze"));
    window.press("Save rig");
    window.until("the message", |w| w.has("rig written").then_some(()));
    window.press("Undo");
    window.until("the rig as calibrated", |w| (w.core().rig.rig.as_ref() == Some(&as_calibrated)).then_some(()));
    let kept = RigFile::read(&folder.path().join("rig.toml")).unwrap();
    assert!(kept.calibration.correction.is_some_and(|correction| correction.right_deg[0].abs() > 0.3));

    window.press("Keep it calibrated by itself");
    window.until("the correction by itself", |w| w.has("Freeze").then_some(()));
    window.press("Freeze");
    window.until("the end", |w| (!w.core().rig.choice.self_calibrate).then_some(()));
    assert!(window.core().rig.choice.correction.is_some());
}
