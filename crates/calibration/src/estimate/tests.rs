//! Tests of the estimate: rendered scenes with turned cameras, and real rigs.

use super::*;
use crate::remap::RemapTable;
use crate::rig::tests::plain_rig;
use crate::{FocalLength, KnownDepth, fit_depth, shared_data};
use glam::EulerRot;
use stereopsis_base::geometry::Geometry;
use stereopsis_base::image::Image;
use stereopsis_frame::SceneOptions;
use stereopsis_scene::render;

#[derive(Clone, Copy, Debug, PartialEq)]
struct Angles {
    /// Pitch, about the axis to the right: positive looks up.
    pitch: f64,
    /// Yaw, about the axis down: positive looks to the right.
    yaw: f64,
    /// Roll, about the viewing axis: positive turns the camera clockwise, as seen from behind.
    roll: f64,
}

fn angles(rotation: DMat3) -> Angles {
    let (pitch, yaw, roll) = glam::DQuat::from_mat3(&rotation.transpose()).to_euler(EulerRot::XYZ);
    Angles { pitch: pitch.to_degrees(), yaw: yaw.to_degrees(), roll: roll.to_degrees() }
}

/// Renders the scene as seen by cameras with these angles and this lens, and returns their rig.
fn turned_scene(left: DMat3, right: DMat3, radial: f64, numbers: &[u64]) -> (Vec<(Luma, Luma)>, StereoRig) {
    let options = SceneOptions { noise: 1.0, ..SceneOptions::default() };
    let Geometry { focal_px, baseline_m, cx_px, cy_px, .. } = options.geometry();
    let distortion = crate::Distortion::from_opencv("D", &[radial, 0.0, 0.0, 0.0]).unwrap();
    let camera = Camera { fx: focal_px, fy: focal_px, cx: cx_px, cy: cy_px, skew: 0.0, distortion };
    let seen = |luma: &Luma, to_scene: DMat3| {
        let table = RemapTable::new(640, 480, |x, y| {
            let ray = to_scene * camera.ray(DVec2::new(x as f64, y as f64)).unwrap();
            DVec2::new(focal_px * ray.x / ray.z + cx_px, focal_px * ray.y / ray.z + cy_px)
        });
        table.apply(&luma.clone().into()).luma
    };
    let pair = |&number: &u64| {
        let pair = render(&options, number, false);
        (seen(&pair.left.luma, left), seen(&pair.right.luma, right))
    };
    let rig = StereoRig {
        left: camera,
        right: camera,
        rotation: right.transpose() * left,
        translation_m: right.transpose() * DVec3::new(-baseline_m, 0.0, 0.0),
        ..plain_rig()
    };
    (numbers.iter().map(pair).collect(), rig)
}

fn turn(pitch: f64, yaw: f64, roll: f64) -> DMat3 {
    DMat3::from_rotation_x(pitch.to_radians())
        * DMat3::from_rotation_y(yaw.to_radians())
        * DMat3::from_rotation_z(roll.to_radians())
}

fn borrowed(pairs: &[(Luma, Luma)]) -> Vec<(&Luma, &Luma)> {
    pairs.iter().map(|(left, right)| (left, right)).collect()
}

/// Asserts that points over the whole image, at 0.7 to 5 m, come into one row and have their depth in its interval.
fn assert_rows_agree(found: &StereoRig, truth: &StereoRig) {
    let geometry = found.rectifier(640, 480, 0.0).unwrap().geometry();
    for (x, y, depth_m) in [(60.0, 40.0), (330.0, 250.0), (580.0, 440.0), (90.0, 400.0), (550.0, 70.0)]
        .into_iter()
        .flat_map(|(x, y)| [0.7, 5.0].map(|depth_m| (x, y, depth_m)))
    {
        let left = DVec2::new(x, y);
        let point = truth.left.ray(left).unwrap() * depth_m;
        let right = truth.right.project(truth.rotation * point + truth.translation_m);
        let seen = rectified(found, std::iter::once(&Match { left, right, score: 1.0 })).unwrap().pop().unwrap();
        assert!(seen.row_offset_px().abs() < 0.4, "{} px at {left}, {depth_m} m", seen.row_offset_px());
        let [near_m, far_m] = geometry.depth_interval_m(seen.disparity_px()).unwrap();
        assert!((near_m..far_m).contains(&depth_m), "{depth_m} m at {left} is not in {near_m} to {far_m} m");
    }
}

#[test]
fn estimates_turned_cameras_and_aligns_rows() {
    let (pairs, truth) = turned_scene(turn(0.0, 0.8, -1.1), turn(1.5, -1.2, 0.7), -0.08, &[2, 40, 70]);
    let found = estimate_rig(&borrowed(&pairs), FocalLength::Px(576.0), 0.065, Axis::Horizontal).unwrap();
    assert!(found.row_offset_before.median_abs_px > 8.0, "{}", found.row_offset_before);
    assert!(found.row_offset_after.median_px.abs() < 0.05, "{}", found.row_offset_after);
    assert!(found.row_offset_after.median_abs_px < 0.12, "{}", found.row_offset_after);
    assert_rows_agree(&found.rig, &truth);
    assert!(found.rig.estimated && (found.rig.baseline_m() - 0.065).abs() < 1e-12);
}

#[test]
fn estimates_cameras_one_above_the_other() {
    // clockwise turned images belong to a rig turned clockwise, whose left camera is the upper one
    let (pairs, _) = turned_scene(turn(0.0, 0.8, -1.1), turn(1.5, -1.2, 0.7), -0.08, &[2, 40, 70]);
    let upright: Vec<_> =
        pairs.iter().map(|(left, right)| (left.turned(QuarterTurn::Right), right.turned(QuarterTurn::Right))).collect();
    let found = estimate_rig(&borrowed(&upright), FocalLength::Px(576.0), 0.065, Axis::Vertical).unwrap();
    assert_eq!((found.rig.axis(), found.rig.size), (Axis::Vertical, Some((480, 640))));
    let beside = estimate_rig(&borrowed(&upright), FocalLength::Px(576.0), 0.065, Axis::Horizontal).unwrap_err();
    assert!(beside.to_string().contains("(vertical)"), "{beside}");
    let rectifier = found.rig.rectifier(480, 640, 0.0).unwrap();
    let (left, right) = &upright[0];
    let (left, right) = rectifier.apply(&left.clone().into(), &right.clone().into()).unwrap();
    let [left, right] = [left, right].map(|picture| picture.luma.turned(QuarterTurn::Left));
    let columns = row_offset_of(&matches(&left, &right), 640, 480).unwrap();
    assert!(columns.median_px.abs() < 0.1 && columns.median_abs_px < 0.2, "{columns}");
    let wide = estimate_rig(&borrowed(&upright), FocalLength::FovDeg(45.0), 0.065, Axis::Vertical).unwrap();
    assert!((wide.rig.left.fx / FocalLength::FovDeg(45.0).px(480) - 1.0).abs() < 0.1, "{}", wide.rig.left.fx);
}

#[test]
fn a_wrong_field_of_view_still_aligns_rows() {
    let (pairs, _) = turned_scene(turn(0.0, 0.8, -1.1), turn(1.5, -1.2, 0.7), 0.0, &[2, 40, 70]);
    let found = estimate_rig(&borrowed(&pairs), FocalLength::FovDeg(70.0), 0.065, Axis::Horizontal).unwrap();
    assert!(found.row_offset_after.median_abs_px < 0.15, "{}", found.row_offset_after);
}

/// Returns the place of a point in an image with the distortion of an equidistant fisheye, in focal lengths.
fn in_fisheye(point: DVec3) -> DVec2 {
    point.truncate().normalize() * point.angle_between(DVec3::Z)
}

fn in_pinhole(point: DVec3) -> DVec2 {
    point.truncate() / point.z
}

/// Returns matches of points at 1 to 8 m in the images of two cameras.
fn matches_in(project: fn(DVec3) -> DVec2, focal_px: f64, size: (usize, usize)) -> Vec<Match> {
    let mut rng = fastrand::Rng::with_seed(5);
    let center = DVec2::new(size.0 as f64 - 1.0, size.1 as f64 - 1.0) / 2.0;
    let seen = |point: DVec3| center + focal_px * project(point);
    let last = DVec2::new(size.0 as f64, size.1 as f64) - 1.0;
    let mut found = Vec::new();
    while found.len() < 600 {
        let place = DVec2::new(rng.f64(), rng.f64()) * last - center;
        let angle = place.length() / focal_px;
        let ray = (place.normalize() * angle.sin()).extend(angle.cos());
        let point = ray * (1.0 + 7.0 * rng.f64());
        let left = seen(turn(0.0, 0.5, -0.6) * point);
        let right = seen(turn(0.8, -0.4, 0.5) * (point - DVec3::X * 0.065));
        let noise = DVec2::new(rng.f64() - 0.5, rng.f64() - 0.5) * 0.3;
        let is_inside = |at: DVec2| at.cmpge(DVec2::ZERO).all() && at.cmple(last).all();
        if is_inside(left) && is_inside(right) {
            found.push(Match { left: left + noise, right, score: 1.0 });
        }
    }
    found
}

#[test]
fn a_field_of_view_includes_distortion() {
    let size = (640, 480);
    for fov_deg in [60.0f64, 90.0, 113.0] {
        let focal_px = 320.0 / (fov_deg.to_radians() / 2.0);
        let model = Model::new(size, FocalLength::FovDeg(fov_deg));
        let fit = fit::fit(&model, &matches_in(in_fisheye, focal_px, size));
        let found = model.focal_px(&fit.parameters) / focal_px;
        let pinhole = FocalLength::FovDeg(fov_deg).px(640) / focal_px;
        assert!(
            (found - 1.0).abs() < 0.06,
            "{fov_deg} degrees: {found:.3} of the truth, a pinhole would be {pinhole:.3}"
        );
    }
}

#[test]
fn a_lens_that_is_known_well_is_kept_and_two_that_differ_are_each_used() {
    let found = matches_in(in_pinhole, 500.0, (640, 480));
    let focal_px = |lens: LensGuess| {
        let rig = of_matches((640, 480), lens, 0.065, &found).unwrap().rig;
        [rig.left.fx, rig.right.fx]
    };
    let [left_px, right_px] = focal_px(LensGuess::written([500.0; 2]));
    assert!((left_px / 500.0 - 1.0).abs() < 0.04 && (right_px / left_px - 1.0).abs() < 0.01, "{left_px} {right_px}");
    // the ratio shows in the images, whatever they say
    let [left_px, right_px] = focal_px(LensGuess::written([480.0, 520.0]));
    assert!((right_px / left_px - 1.0).abs() < 0.01, "{left_px} {right_px}");
    let width_of = |lens: LensGuess| {
        let spread = of_matches((640, 480), lens, 0.065, &found).unwrap().rig.spread.unwrap();
        spread.deviation[1]
    };
    let typed = LensGuess::from(FocalLength::Px(500.0));
    assert!(width_of(LensGuess::written([500.0; 2])) < width_of(typed), "the scale is known better");
}

#[test]
fn refused_estimates_name_the_reason() {
    let (pairs, _) = turned_scene(turn(0.0, 0.5, 0.0), turn(0.5, 0.0, 0.5), 0.0, &[2, 40]);
    let refused = |pairs: &[(&Luma, &Luma)]| {
        estimate_rig(pairs, FocalLength::Px(576.0), 0.065, Axis::Horizontal).unwrap_err().to_string()
    };
    let swapped: Vec<_> = pairs.iter().map(|(left, right)| (right, left)).collect();
    assert!(refused(&swapped).contains("left and right are swapped"), "{}", refused(&swapped));

    let flat = Luma::U8(Image::filled(640, 480, 80));
    assert!(refused(&[(&flat, &flat)]).contains("too little texture"));
    let dark = Luma::U8(Image::filled(640, 480, 12));
    assert!(refused(&[(&flat, &dark)]).contains("dark, mean 12 of 255"), "{}", refused(&[(&flat, &dark)]));
    let elsewhere = render(&SceneOptions { seed: 9, ..SceneOptions::default() }, 50, false).left.luma;
    let upside_down = elsewhere.to_u8().pixels().iter().rev().copied().collect();
    let elsewhere = Luma::U8(Image::new(640, 480, upside_down));
    assert!(refused(&[(&pairs[0].0, &elsewhere)]).contains("little in common"));

    let wall = pairs[0].0.to_u8();
    let moved = Luma::U8(Image::from_fn(640, 480, |x, y| wall.at_clamped(x as isize + 12, y as isize)));
    assert!(refused(&[(&pairs[0].0, &moved)]).contains("about the same distance"));

    let small = Luma::U8(Image::filled(320, 240, 80));
    assert!(refused(&[(&flat, &small)]).contains("different sizes"));
    assert!(refused(&[]).contains("no pair"));
}

/// Accuracy of an estimate on a real rig with a known calibration.
#[derive(Debug)]
struct Accuracy {
    /// Median absolute row offset of the raw images, and of points rectified by the estimate and by the truth, px.
    rows: [f64; 3],
    /// Median error of depth, before and after two known distances, %.
    depth: [f64; 2],
    /// Share of the matches whose true depth lies in its interval.
    inside: f64,
}

fn judge(name: &str, pairs: &[stereopsis_frame::RawPair], truth: &StereoRig, focal_error: f64) -> Accuracy {
    let lumas = shared_data::lumas(pairs);
    let (width, height) = truth.size.unwrap();
    let estimate =
        estimate_rig(&lumas, FocalLength::Px(truth.left.fx * focal_error), truth.baseline_m(), Axis::Horizontal)
            .unwrap();
    let own = estimate.rig.rectifier(width, height, 0.0).unwrap().geometry();
    let exact = truth.rectifier(width, height, 0.0).unwrap().geometry();
    let found: Vec<Match> = lumas.iter().flat_map(|(left, right)| matches(left, right)).collect();
    let (mut rows, mut points) = ([Vec::new(), Vec::new(), Vec::new()], Vec::new());
    for found in &found {
        let by = |rig| rectified(rig, std::iter::once(found)).unwrap().pop();
        let (Some(by_truth), Some(by_estimate)) = (by(truth), by(&estimate.rig)) else { continue };
        // a match that contradicts the calibration is wrong
        let Some(depth_m) = exact.depth_m(by_truth.disparity_px()).filter(|_| by_truth.row_offset_px().abs() < 1.5)
        else {
            continue;
        };
        for (rows, found) in rows.iter_mut().zip([found, &by_estimate, &by_truth]) {
            rows.push(found.row_offset_px().abs());
        }
        points.push(KnownDepth { disparity_px: by_estimate.disparity_px(), depth_m });
    }
    points.sort_by(|a, b| a.depth_m.total_cmp(&b.depth_m));
    // two known points: the middle of the nearest and of the farthest fifth
    let clicked = |share: f64| {
        let at = (points.len() as f64 * share) as usize;
        let mut around: Vec<_> = points[at - 10..at + 10].iter().map(|p| p.disparity_px).collect();
        KnownDepth { disparity_px: quantile(&mut around, 0.5), depth_m: points[at].depth_m }
    };
    let corrected = fit_depth(&own, &[clicked(0.1), clicked(0.9)]).unwrap();
    let depth = [own, corrected].map(|geometry| {
        let error = |p: &KnownDepth| geometry.depth_m(p.disparity_px).map_or(1.0, |z| (z / p.depth_m - 1.0).abs());
        100.0 * quantile(&mut points.iter().map(error).collect::<Vec<_>>(), 0.5)
    });
    let is_inside = |p: &&KnownDepth| {
        let [near_m, far_m] = own.depth_interval_m(p.disparity_px).unwrap();
        (near_m..far_m).contains(&p.depth_m)
    };
    let inside = points.iter().filter(is_inside).count() as f64 / points.len() as f64;
    let judged = Accuracy { rows: rows.map(|mut rows| quantile(&mut rows, 0.5)), depth, inside };
    eprintln!(
        "{name}, focal length x {focal_error}: {} of {} matches, rows {:.2?} px, depth {:.1?} % between {:.2} and {:.2} m, \
         turned {:.2?}, in truth {:.2?}",
        estimate.matches,
        found.len(),
        judged.rows,
        judged.depth,
        clicked(0.1).depth_m,
        clicked(0.9).depth_m,
        angles(estimate.rig.rotation),
        angles(truth.rotation)
    );
    judged
}

#[test]
fn real_rigs_are_estimated_almost_as_well_as_calibrated() {
    let Some(data) = shared_data::folder() else { return };
    for (name, (pairs, truth), rows, depth) in [
        ("euroc", shared_data::euroc(&data), 0.15, 7.0),
        ("webcams", shared_data::boards(&data, "webcam_640x360", 1.0), 0.3, 3.0),
        ("stereopi", shared_data::boards(&data, "stereopi_320x240", 0.01), 0.15, 3.0),
        ("charuco", shared_data::boards(&data, "charuco_1280x800", 1.0), 0.7, 8.0),
        ("chessboard", shared_data::boards(&data, "opencv_chessboard", 0.025), 0.3, 3.0),
    ] {
        // a field of view that is a fifth too large changes depth, but hardly the rows
        let focal_error = if name == "webcams" { 1.2 } else { 1.0 };
        let judged = judge(name, &pairs[..pairs.len().min(8)], &truth, focal_error);
        assert!(judged.rows[1] < rows && judged.depth[1] < depth && judged.inside > 0.75, "{name}: {judged:?}");
    }
}
