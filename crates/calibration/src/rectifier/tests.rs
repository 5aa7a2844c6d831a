//! Tests of the rectifier: points of a grid in space are drawn into both raw images by an independent implementation of OpenCV's formula,
//! and must appear in equal rows, at the disparity of their depth.

use super::super::rig::tests::{camera, plain_rig};
use super::*;
use crate::Distortion;
use glam::{DQuat, DVec3, EulerRot};
use stereopsis_base::image::{Image, Luma};

const LENS_LEFT: [f64; 12] =
    [-0.21, 0.06, 0.0012, -0.0009, -0.011, 0.04, -0.012, 0.003, 0.0021, -0.0011, -0.0016, 0.0007];
const LENS_RIGHT: [f64; 12] =
    [-0.18, 0.04, -0.0010, 0.0013, 0.006, 0.05, 0.010, -0.002, -0.0014, 0.0010, 0.0019, -0.0008];

/// Radius of a spot, px: bilinear weights shift the centre of a smaller one, distortion that of a larger one.
const SPOT_PX: f64 = 3.2;
/// Radius of the window in which the centre is searched, px.
const WINDOW_PX: f64 = 5.0;

fn bent_rig() -> StereoRig {
    StereoRig {
        left: camera([512.0, 509.0, 327.3, 236.1], &LENS_LEFT),
        right: camera([506.5, 508.5, 310.8, 245.7], &LENS_RIGHT),
        rotation: DMat3::from_quat(DQuat::from_euler(EulerRot::XYZ, 0.021, -0.034, 0.017)),
        translation_m: DVec3::new(-0.118, 0.004, -0.006),
        ..plain_rig()
    }
}

/// Projects a point by OpenCV's documented model, independent of the code under test.
fn opencv_pixel(camera: &Camera, k: &[f64; 12], point: DVec3) -> DVec2 {
    let (x, y) = (point.x / point.z, point.y / point.z);
    let r2 = x.powi(2) + y.powi(2);
    let (r4, r6) = (r2.powi(2), r2.powi(3));
    let radial = (1.0 + k[0] * r2 + k[1] * r4 + k[4] * r6) / (1.0 + k[5] * r2 + k[6] * r4 + k[7] * r6);
    let x2 = x * radial + 2.0 * k[2] * x * y + k[3] * (r2 + 2.0 * x * x) + k[8] * r2 + k[9] * r4;
    let y2 = y * radial + k[2] * (r2 + 2.0 * y * y) + 2.0 * k[3] * x * y + k[10] * r2 + k[11] * r4;
    DVec2::new(camera.fx * x2 + camera.cx, camera.fy * y2 + camera.cy)
}

fn with_lens(focal_px: f64, distortion: Distortion) -> StereoRig {
    let mut rig = plain_rig();
    for camera in [&mut rig.left, &mut rig.right] {
        *camera = Camera { fx: focal_px, fy: focal_px, distortion, ..*camera };
    }
    rig.rotation = DMat3::from_rotation_y(0.02);
    rig
}

/// Returns the share of the rectified pixels that have a source.
fn filled(rectifier: &Rectifier) -> f64 {
    let (width, height) = rectifier.size();
    let pixels = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
    pixels.flat_map(|(x, y)| rectifier.sources(x, y)).flatten().count() as f64 / (2 * width * height) as f64
}

#[test]
fn a_fisheye_that_folds_behind_itself_is_rectified() {
    // one to one up to 117 degrees, at 1.361 focal lengths; the edge of the image lies at 1.86
    let distortion = Distortion::from_fisheye("D", &[-0.08, 0.0, 0.0, 0.0]).unwrap();
    let rig = with_lens(172.0, distortion);
    assert_eq!(super::super::checks::check(&rig), Ok(()));
    assert_eq!(super::super::checks::doubts(&rig), [""; 0]);
    let rectifier = rig.rectifier(640, 480, 0.0).unwrap();
    assert!(filled(&rectifier) > 0.999, "{}", filled(&rectifier));
    assert!(rectifier.geometry().focal_px > 80.0, "{:?}", rectifier.geometry());
}

#[test]
fn a_lens_that_folds_inside_is_cropped_or_black() {
    // folds at 47 degrees, at 0.66 focal lengths; the edge of the image lies at 0.91
    let distortion = Distortion::from_opencv("D", &[-0.4, 0.06, 0.0, 0.0]).unwrap();
    let rig = with_lens(350.0, distortion);
    let doubts = super::super::checks::doubts(&rig).join(" ");
    assert!(doubts.contains("both cameras' distortion folds") && doubts.contains("is left out"), "{doubts}");
    let cropped = rig.rectifier(640, 480, 0.0).unwrap();
    assert!(filled(&cropped) > 0.995, "{}", filled(&cropped));
    let whole = rig.rectifier(640, 480, 1.0).unwrap();
    assert!((0.4..0.95).contains(&filled(&whole)), "{}", filled(&whole));
    // no place of the raw image appears twice
    let (_, rectification, _) = rig.at_size(640, 480, 1.0.into()).unwrap();
    let limit_deg = 48.0;
    for (x, y) in (0..480).flat_map(|y| (0..640).map(move |x| (x, y))) {
        let ray = rectification.rotation_left.transpose() * rectification.left.ray(x as f64, y as f64);
        let angle_deg = ray.angle_between(DVec3::Z).to_degrees();
        assert!(
            whole.sources(x, y)[0].is_none() || angle_deg < limit_deg,
            "({x}, {y}) is {angle_deg} degrees off the axis"
        );
    }
}

#[test]
fn a_field_of_view_is_shown_with_black_borders() {
    let rig = bent_rig();
    for (fov_deg, share) in [(30.0, 0.9999..=1.0), (60.0, 0.97..=1.0), (120.0, 0.05..=0.5)] {
        let crop = Crop { rectified_fov_deg: Some(fov_deg), ..Crop::default() };
        let rectifier = rig.rectifier(640, 480, crop).unwrap();
        let (_, Rectification { left, .. }, _) = rig.at_size(640, 480, crop).unwrap();
        let shown = (f64::atan((left.cx + 0.5) / left.fx) + f64::atan((639.5 - left.cx) / left.fx)).to_degrees();
        assert!((shown - fov_deg).abs() < 1e-9, "{shown}");
        assert!(share.contains(&filled(&rectifier)), "{fov_deg} degrees: {}", filled(&rectifier));
    }
    // a requested crop replaces the crop of a file
    let mut own = rig.clone();
    own.rectification = Some(Rectification::compute(&rig, 640, 480, 0.5).unwrap());
    let crop = Crop { rectified_fov_deg: Some(45.0), ..Crop::default() };
    let [own, computed] = [&own, &rig].map(|rig| rig.rectifier(640, 480, crop).unwrap().geometry().focal_px);
    assert!((own - computed).abs() < 1e-6, "{own} {computed}");
}

fn spots(size: (usize, usize), places: &[DVec2]) -> Picture {
    let mut sum = Image::filled(size.0, size.1, 0.0f64);
    for place in places {
        let (px, py) = (place.x.round() as isize, place.y.round() as isize);
        for y in (py - 18).max(0)..(py + 19).min(size.1 as isize) {
            for x in (px - 18).max(0)..(px + 19).min(size.0 as isize) {
                let r2 = (DVec2::new(x as f64, y as f64) - *place).length_squared();
                let (x, y) = (x as usize, y as usize);
                sum.set(x, y, sum.at(x, y) + (-r2 / (2.0 * SPOT_PX * SPOT_PX)).exp());
            }
        }
    }
    Picture { luma: Luma::U16 { image: sum.map(|v| (v * 60_000.0).min(65_535.0) as u16), bits: 16 }, rgb: None }
}

/// Returns the centre of the spot near a position.
fn spot_near(picture: &Picture, near: DVec2) -> DVec2 {
    let image = picture.luma.to_u16();
    let mut at = near;
    for _ in 0..8 {
        let (mut sum, mut weight) = (DVec2::ZERO, 0.0);
        let first = (at - 15.0).max(DVec2::ZERO).as_usizevec2();
        for y in first.y..(first.y + 31).min(image.height()) {
            for x in first.x..(first.x + 31).min(image.width()) {
                let place = DVec2::new(x as f64, y as f64);
                let window = (-(place - at).length_squared() / (2.0 * WINDOW_PX * WINDOW_PX)).exp();
                let value = f64::from(image.at(x, y)) * window;
                sum += place * value;
                weight += value;
            }
        }
        // the window pulls the mean back by a fixed share of its distance
        at += (sum / weight - at) * (1.0 + (SPOT_PX / WINDOW_PX).powi(2));
    }
    at
}

/// Returns the largest row difference and error of disparity, px, and the number of points, over all points visible in both images.
fn errors(rig: &StereoRig, size: (usize, usize), drawn_by: &StereoRig) -> (f64, f64, usize) {
    let rectifier = rig.rectifier(size.0, size.1, 0.0).unwrap();
    let geometry = rectifier.geometry();
    let rotation_left = Rectification::compute(drawn_by, size.0, size.1, 0.0).unwrap().rotation_left;
    let inside = |p: DVec2, margin: f64| {
        p.cmpge(DVec2::splat(margin)).all() && p.cmple(DVec2::new(size.0 as f64, size.1 as f64) - 1.0 - margin).all()
    };
    let (mut worst_row, mut worst_disparity, mut count) = (0.0f64, 0.0f64, 0);
    for (depth, shift) in [(0.9, 0.0), (1.7, 0.03), (4.0, 0.07)] {
        let mut points = Vec::new();
        for row in -4..=4 {
            for column in -6..=6 {
                let ray = DVec3::new(0.11 * f64::from(column) + shift, 0.11 * f64::from(row) + shift / 2.0, 1.0);
                points.push(ray * (depth + 0.03 * f64::from(column)));
            }
        }
        let left: Vec<_> = points.iter().map(|&p| opencv_pixel(&drawn_by.left, &LENS_LEFT, p)).collect();
        let to_right = |p: DVec3| drawn_by.rotation * p + drawn_by.translation_m;
        let right: Vec<_> = points.iter().map(|&p| opencv_pixel(&drawn_by.right, &LENS_RIGHT, to_right(p))).collect();
        let (rectified_left, rectified_right) = rectifier.apply(&spots(size, &left), &spots(size, &right)).unwrap();
        for ((&point, &left), &right) in points.iter().zip(&left).zip(&right) {
            let common = rotation_left * point;
            let x = geometry.focal_px * common.x / common.z + geometry.cx_px;
            let y = geometry.focal_px * common.y / common.z + geometry.cy_px;
            let disparity = geometry.disparity_px(common.z);
            let (expected_left, expected_right) = (DVec2::new(x, y), DVec2::new(x - disparity, y));
            let visible = inside(left, 18.0) && inside(right, 18.0);
            if !visible || !inside(expected_left, 18.0) || !inside(expected_right, 18.0) {
                continue;
            }
            let found_left = spot_near(&rectified_left, expected_left);
            let found_right = spot_near(&rectified_right, expected_right);
            worst_row = worst_row.max((found_left.y - found_right.y).abs());
            worst_disparity = worst_disparity.max((found_left.x - found_right.x - disparity).abs());
            count += 1;
        }
    }
    (worst_row, worst_disparity, count)
}

#[test]
fn points_come_out_in_equal_rows_at_the_disparity_of_their_depth() {
    let rig = bent_rig();
    let (row, disparity, count) = errors(&rig, (640, 480), &rig);
    assert!(count > 150, "{count} points");
    assert!(row < 0.02, "rows differ by {row} px");
    assert!(disparity < 0.04, "disparity is off by {disparity} px");
}

#[test]
fn an_ignored_lens_is_detected() {
    let mut wrong = bent_rig();
    let Distortion::BrownConrady(lens) = &mut wrong.left.distortion else { panic!("a pinhole") };
    lens.tangential = [0.0; 2];
    let (row, _, _) = errors(&wrong, (640, 480), &bent_rig());
    assert!(row > 0.2, "rows differ by {row} px only");
}

#[test]
fn images_of_half_the_size_use_the_same_calibration() {
    let rig = bent_rig();
    let half = rig.rectifier(320, 240, 0.0).unwrap();
    assert!(half.note().unwrap().contains("640x480") && half.note().unwrap().contains("320x240"));
    let whole = rig.rectifier(640, 480, 0.0).unwrap();
    assert_eq!(whole.note(), None);
    let ratio = whole.geometry().focal_px / half.geometry().focal_px;
    assert!((ratio - 2.0).abs() < 0.02, "{ratio}");
    assert!((whole.geometry().baseline_m - half.geometry().baseline_m).abs() < 1e-12);

    let mut halved = rig.clone();
    let factor = DVec2::splat(0.5);
    (halved.left, halved.right) = (rig.left.scaled(factor), rig.right.scaled(factor));
    let (row, disparity, count) = errors(&rig, (320, 240), &halved);
    assert!(count > 30 && row < 0.03 && disparity < 0.06, "{count} points, {row} px, {disparity} px");
}

#[test]
fn another_shape_is_refused_with_the_numbers() {
    let text = bent_rig().rectifier(640, 360, 0.0).unwrap_err().to_string();
    assert!(text.contains("640x480") && text.contains("640x360") && text.contains("calibration-crop"), "{text}");
    let turned = bent_rig().rectifier(480, 640, 0.0).unwrap_err().to_string();
    assert!(turned.contains("turn them by 90 degrees") && !turned.contains("crop"), "{turned}");
    assert!(bent_rig().rectifier(321, 240, 0.0).is_ok(), "a column of rounding is the same shape");
    assert!(bent_rig().rectifier(1, 1, 0.0).unwrap_err().to_string().contains("1x1"));
}

#[test]
fn without_a_size_the_principal_point_must_fit() {
    let mut rig = bent_rig();
    rig.size = None;
    assert!(rig.rectifier(640, 480, 0.0).unwrap().note().unwrap().contains("no image size"));
    let text = rig.rectifier(320, 240, 0.0).unwrap_err().to_string();
    assert!(text.contains("image_width") && text.contains("656x473"), "{text}");
}

#[test]
fn colour_and_brightness_move_together_and_sizes_are_checked() {
    let rectifier = bent_rig().rectifier(640, 480, 0.0).unwrap();
    let luma = Image::from_fn(640, 480, |x, y| ((x / 8 + y / 8) % 2 * 200) as u8);
    let picture = Picture { rgb: Some(luma.map(|&v| [v; 3])), luma: Luma::U8(luma) };
    let (left, right) = rectifier.apply(&picture, &picture).unwrap();
    for side in [&left, &right] {
        let grey = side.rgb.as_ref().unwrap().map(|rgb| rgb[1]);
        assert_eq!(Luma::U8(grey), side.luma);
    }
    assert_ne!(left, right);
    let small = Picture { luma: Luma::U8(Image::filled(64, 48, 0)), rgb: None };
    let text = rectifier.apply(&picture, &small).unwrap_err().to_string();
    assert!(text.contains("64x48") && text.contains("640x480"), "{text}");
}

#[test]
fn is_shared_between_threads() {
    fn shared<T: Send + Sync>() {}
    shared::<Rectifier>();
}

#[test]
fn a_rectification_of_the_file_can_be_cropped_otherwise() {
    let mut rig = bent_rig();
    let computed = |alpha| Rectification::compute(&bent_rig(), 640, 480, alpha).unwrap();
    rig.rectification = Some(computed(0.4));
    let focal = |alpha| rig.rectifier(640, 480, alpha).unwrap().geometry().focal_px;
    assert!((focal(0.0) - computed(0.4).left.fx).abs() < 1e-9, "the file's own crop");
    assert!((focal(1.0) - computed(1.0).left.fx).abs() < 1e-9);
    let text = rig.rectifier(640, 480, 1.1).unwrap_err().to_string();
    assert!(text.contains("1.1") && text.contains("from 0"), "{text}");
}

/// Returns the largest distance, px, between the source of a rectified right pixel and where the right camera sees that point, and the
/// share of filled pixels.
fn source_error(rig: &StereoRig, sizes: [(usize, usize); 2]) -> (f64, f64) {
    let rectifier = rig.rectifier_of(sizes, Crop::default()).unwrap();
    let (scaled, Rectification { rotation_left, left, .. }, _) = rig.at_sizes(sizes, Crop::default()).unwrap();
    let mut worst = 0.0f64;
    for (x, y) in (60..sizes[0].0).step_by(37).flat_map(|x| (8..sizes[0].1).step_by(29).map(move |y| (x, y))) {
        let (px, z) = (40, rectifier.geometry().depth_m(40.0).unwrap());
        let at_left = rotation_left.transpose() * (left.ray(x as f64, y as f64) * z);
        let expected = scaled.right.project(rig.rotation * at_left + rig.translation_m);
        if let Some(source) = rectifier.sources(x - px, y)[1] {
            worst = worst.max((DVec2::from(source) - expected).length());
        }
    }
    (worst, filled(&rectifier))
}

#[test]
fn images_of_two_sizes_become_one() {
    let rig = bent_rig();
    let right = rig.right.scaled(DVec2::new(2.0, 1.5));
    let rig = StereoRig { right, ..rig }.with_right_size((1280, 720));
    let rectifier = rig.rectifier(640, 480, 0.0).unwrap();
    assert_eq!((rectifier.size(), rectifier.raw_sizes()), ((640, 480), [(640, 480), (1280, 720)]));
    for sizes in [[(640, 480), (1280, 720)], [(320, 240), (1280, 720)], [(640, 480), (640, 360)]] {
        let (error, filled) = source_error(&rig, sizes);
        assert!(error < 0.02 && filled > 0.999, "{sizes:?}: {error} px, {filled}");
    }
    let text = rig.rectifier_of([(640, 480), (640, 480)], Crop::default()).unwrap_err().to_string();
    assert!(text.contains("1280x720") && text.contains("these are 640x480"), "{text}");
    let swapped = rig.swapped();
    assert_eq!((swapped.size, swapped.right_size), (Some((1280, 720)), Some((640, 480))));
    let back = crate::read(&[("a.toml".into(), crate::toml_of(&rig).into_bytes())], &crate::LoadOptions::default());
    assert_eq!(back.unwrap().sizes(), rig.sizes());
    let alike = bent_rig();
    let ([left, other], [same, as_before]) =
        ([&rig, &alike].map(|rig| rig.rectifier(640, 480, 0.0).unwrap().geometry()).map(|g| [g.focal_px, g.cx_px]))
            .into();
    assert!((left - same).abs() < 1e-9 && (other - as_before).abs() < 1e-9, "the same cameras");
}

#[test]
fn cameras_turned_by_quarters_are_rectified() {
    let upright = bent_rig();
    for turns in 1..4 {
        let (mut right, mut size) = (upright.right, (640, 480));
        for _ in turns..4 {
            right = right.turned(size.0);
            size = (size.1, size.0);
        }
        let rotation = quarters(turns) * upright.rotation;
        let translation_m = quarters(turns) * upright.translation_m;
        let rig = StereoRig { right, rotation, translation_m, ..upright.clone() }.with_right_size(size);
        assert_eq!(rig.quarter_turns().rem_euclid(4), turns);
        let (error, filled) = source_error(&rig, [(640, 480), size]);
        assert!(error < 0.02 && filled > 0.999, "{turns} quarters: {error} px, {filled}");
        let [turned, plain] = [&rig, &upright].map(|rig| rig.rectifier(640, 480, 0.0).unwrap().geometry());
        assert!((turned.focal_px - plain.focal_px).abs() < 1e-6 && turned.axis == plain.axis, "{turned:?}");
    }
}

#[test]
fn pairs_of_other_cameras_or_sizes_get_their_own_rectifier() {
    let rectifier = bent_rig().rectifier(640, 480, 0.0).unwrap();
    let half = rectifier.for_others(None, [(320, 240); 2]).unwrap();
    assert_eq!(half.size(), (320, 240));
    assert!(Arc::ptr_eq(&half, &rectifier.for_others(None, [(320, 240); 2]).unwrap()), "it is kept");
    let mut zoomed = bent_rig();
    (zoomed.left, zoomed.right) =
        [zoomed.left, zoomed.right].map(|camera| Camera { fx: 1.5 * camera.fx, fy: 1.5 * camera.fy, ..camera }).into();
    let of_zoom = rectifier.for_others(Some(&crate::toml_of(&zoomed)), [(640, 480); 2]).unwrap();
    assert_eq!(of_zoom.geometry(), zoomed.rectifier(640, 480, 0.0).unwrap().geometry());
    assert!(rectifier.for_others(None, [(640, 360); 2]).is_err());
}
