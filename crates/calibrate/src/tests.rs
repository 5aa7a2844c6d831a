//! Calibrations of known rigs from noisy corners and from rendered images.

use super::finding::Finding;
use super::fixture::{BoardRenderer, ImagingConditions, random_pose, random_rig, truth};
use super::judge::judge;
use super::{
    Board, BoardFrame, CalibrationRequest, CalibrationSession, LensKind, Notice, Outcome, PairFiles, Pose, View,
    calibrate, depth_difference, gather, solve, views_of,
};
use fastrand::Rng;
use glam::{DMat3, DVec2, DVec3};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use stereopsis_base::geometry::Axis;
use stereopsis_base::image::Image;
use stereopsis_base::quantile::quantile;
use stereopsis_calibration::StereoRig;
use stereopsis_frame::MaxPixels;
use stereopsis_images::picture_files::list_pairs;

const SIZE: (usize, usize) = (640, 480);
const NOISE_PX: f64 = 0.08;
const PINHOLE: CalibrationRequest = CalibrationRequest { kind: Some(LensKind::Pinhole), kept: None };

fn board() -> Board {
    "charuco:10x7:26mm:19.5mm:DICT_5X5_100".parse().unwrap()
}

fn gauss(rng: &mut Rng) -> f64 {
    (-2.0 * rng.f64().max(1e-12).ln()).sqrt() * (std::f64::consts::TAU * rng.f64()).cos()
}

/// Simulates views at random poses with noisy corners.
fn views(rig: &StereoRig, count: usize, rng: &mut Rng, shot: &ImagingConditions) -> Vec<View> {
    let poses: Vec<Pose> = (0..count).map(|_| random_pose(rig, &board(), rng)).collect();
    views_at(rig, &poses, rng, shot)
}

fn views_at(rig: &StereoRig, poses: &[Pose], rng: &mut Rng, shot: &ImagingConditions) -> Vec<View> {
    let mut view = |(number, pose): (usize, &Pose)| {
        let mut view = View { name: number.to_string(), ..truth(rig, &board(), pose, shot) };
        for corner in view.corners.iter_mut().flatten() {
            corner.at += DVec2::new(gauss(rng), gauss(rng)) * NOISE_PX;
        }
        view
    };
    poses.iter().enumerate().map(&mut view).collect()
}

fn said(findings: &[Finding]) -> String {
    findings.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

fn refusals(views: &[View]) -> String {
    said(&calibrate(&board(), views, SIZE, &PINHOLE).unwrap().refusals)
}

/// Returns good views, from which refused ones are derived.
fn good() -> (StereoRig, Vec<View>) {
    let rig = random_rig(3);
    let mut rng = Rng::with_seed(7);
    let views = views(&rig, 16, &mut rng, &ImagingConditions::default());
    (rig, views)
}

#[test]
fn depth_errors_stay_near_their_prediction() {
    let (mut held, mut errors, mut predicted) = (0, Vec::new(), Vec::new());
    for seed in 0..10 {
        let mut rng = Rng::with_seed(seed);
        let rig = random_rig(seed);
        let count = 8 + rng.usize(0..10);
        let views = views(&rig, count, &mut rng, &ImagingConditions::default());
        let found = solve(&board(), &views, SIZE, LensKind::Pinhole, None).unwrap();
        let told = judge(&board(), &found, SIZE).unwrap();
        for depth in &told.depth[..2] {
            let error = 100.0 * depth_difference(&found.rig, &rig, SIZE, depth.distance_m);
            held += usize::from(error <= depth.calibration_percent);
            errors.push(error);
            predicted.push(depth.calibration_percent);
        }
    }
    errors.sort_by(f64::total_cmp);
    predicted.sort_by(f64::total_cmp);
    let (error, prediction) = (errors[errors.len() / 2], predicted[errors.len() / 2]);
    assert!(held >= 18, "{held} of 20 errors are within their prediction");
    assert!(prediction <= 4.0 * error, "median prediction {prediction:.3} %, median error {error:.3} %");
}

#[test]
fn a_good_set_is_taken_and_finds_the_rig() {
    let (rig, views) = good();
    let outcome = calibrate(&board(), &views, SIZE, &CalibrationRequest::default()).unwrap();
    assert!(outcome.refusals.is_empty(), "{outcome}");
    assert_eq!(outcome.solution.kind, LensKind::Pinhole, "{outcome}");
    assert!(
        (outcome.solution.rig.left.fx / rig.left.fx - 1.0).abs() < 0.005
            && (outcome.solution.sigma_px / NOISE_PX - 1.0).abs() < 0.2
    );
    assert!((outcome.solution.rig.baseline_m() / rig.baseline_m() - 1.0).abs() < 0.005, "{outcome}");
    let text = outcome.to_string();
    assert!(text.contains("good enough for") && text.contains("stand or fall with the 26.0 mm"), "{text}");
    assert!(outcome.to_json()["judgement"]["left_out_rows_px"].as_f64().unwrap() < 0.3);
}

#[test]
fn stacked_cameras_are_solved_only_with_the_upper_one_first() {
    let beside = random_rig(3);
    let DVec3 { x, y, z } = beside.translation_m;
    let rig = StereoRig { translation_m: DVec3::new(y, x, z), ..beside };
    let views = views(&rig, 16, &mut Rng::with_seed(7), &ImagingConditions::default());
    let outcome = calibrate(&board(), &views, SIZE, &CalibrationRequest::default()).unwrap();
    assert!(outcome.refusals.is_empty(), "{outcome}");
    let found = &outcome.solution.rig;
    assert_eq!(found.axis(), Axis::Vertical, "{outcome}");
    assert!((found.baseline_m() / rig.baseline_m() - 1.0).abs() < 0.005, "{outcome}");
    let told = outcome.judgement.as_ref().unwrap();
    let error = 100.0 * depth_difference(found, &rig, SIZE, 1.0);
    assert!(error < told.depth[0].calibration_percent && told.left_out_rows_px < 0.3, "{error} {outcome}");

    let lower_first: Vec<View> = views
        .into_iter()
        .map(|view| {
            let [upper, lower] = view.corners;
            View { corners: [lower, upper], ..view }
        })
        .collect();
    assert!(
        refusals(&lower_first).contains("the right camera stands above the left one"),
        "{}",
        refusals(&lower_first)
    );
}

#[test]
fn too_few_views_are_refused() {
    let (_, views) = good();
    assert!(refusals(&views[..6]).contains("only 6 views show the board to both cameras; 8 are the least"));
    let error = calibrate(&board(), &views[..2], SIZE, &PINHOLE).unwrap_err().to_string();
    assert!(error.contains("sees the board in 2 views; at least 3"), "{error}");
}

#[test]
fn a_board_that_is_never_tilted_is_refused() {
    let (rig, _) = good();
    let mut rng = Rng::with_seed(1);
    let poses: Vec<Pose> = (0..20)
        .map(|i| {
            let place = DVec3::new(0.06 * f64::from(i % 5 - 2), 0.05 * f64::from(i / 5 - 2), 0.5 + 0.02 * f64::from(i));
            Pose { rotation: DMat3::IDENTITY, translation_m: place - DVec3::new(0.104, 0.065, 0.0) }
        })
        .collect();
    let text = refusals(&views_at(&rig, &poses, &mut rng, &ImagingConditions::default()));
    assert!(text.contains("without tilt a longer focal length looks like a larger distance"), "{text}");
}

#[test]
fn squares_that_are_not_square_are_found() {
    let (rig, _) = good();
    let mut rng = Rng::with_seed(2);
    let stretched = ImagingConditions { print_scale: DVec2::new(1.0, 1.02), ..ImagingConditions::default() };
    let text = refusals(&views(&rig, 20, &mut rng, &stretched));
    assert!(text.contains("higher than they are wide: the printer scaled"), "{text}");
    // equal scale in both directions cannot be observed
    let larger = ImagingConditions { print_scale: DVec2::splat(1.02), ..ImagingConditions::default() };
    let outcome = calibrate(&board(), &views(&rig, 20, &mut rng, &larger), SIZE, &PINHOLE).unwrap();
    assert!(!outcome.refusals.iter().any(|reason| matches!(reason, Finding::Squares(_))), "{outcome}");
    assert!((outcome.solution.rig.baseline_m() * 1.02 / rig.baseline_m() - 1.0).abs() < 0.01);
}

#[test]
fn cameras_in_the_wrong_order_or_upside_down_are_refused() {
    let (_, mut views) = good();
    for view in &mut views {
        view.corners.swap(0, 1);
    }
    let text = refusals(&views);
    assert!(text.contains("left and right are exchanged"), "{text}");
    for corner in views.iter_mut().flat_map(|view| &mut view.corners[0]) {
        corner.at = DVec2::new(639.0, 479.0) - corner.at;
    }
    let text = refusals(&views);
    assert!(text.contains("upside down"), "{text}");
}

#[test]
fn pictures_of_different_moments_are_refused() {
    let (rig, _) = good();
    let mut rng = Rng::with_seed(4);
    let poses: Vec<Pose> = (0..16).map(|_| random_pose(&rig, &board(), &mut rng)).collect();
    let mut views = Vec::new();
    for pose in &poses {
        let speed = DVec3::new(gauss(&mut rng), gauss(&mut rng), 0.0) * 0.1;
        let moving = ImagingConditions { shift_m_s: speed, skew_s: 0.03, ..ImagingConditions::default() };
        views.extend(views_at(&rig, std::slice::from_ref(pose), &mut rng, &moving));
    }
    for (number, view) in views.iter_mut().enumerate() {
        view.name = number.to_string();
    }
    let text = refusals(&views);
    assert!(text.contains("not of the same moment") || text.contains("rows differ"), "{text}");
    // a single pair of another moment is split, and does no harm
    let (rig, mut mostly) = good();
    mostly[5] = View { name: "5".to_owned(), ..views[0].clone() };
    let shifted: Vec<_> =
        mostly[5].corners[1].iter().map(|c| super::Corner { at: c.at + DVec2::new(0.0, 9.0), ..*c }).collect();
    mostly[5].corners[1] = shifted;
    let outcome = calibrate(&board(), &mostly, SIZE, &PINHOLE).unwrap();
    let split: Vec<_> =
        outcome.solution.views.iter().filter(|fit| fit.is_split).map(|fit| fit.view.name.as_str()).collect();
    assert_eq!(split, ["5", "5"], "{outcome}");
    assert!(
        (outcome.solution.rig.baseline_m() / rig.baseline_m() - 1.0).abs() < 0.005 && outcome.refusals.is_empty(),
        "{outcome}"
    );
}

#[test]
fn a_small_board_in_the_middle_is_refused() {
    let (rig, _) = good();
    let mut rng = Rng::with_seed(5);
    let poses: Vec<Pose> = (0..12)
        .map(|i| {
            let rotation = DMat3::from_axis_angle(DVec2::from_angle(f64::from(i)).extend(0.0), 0.5);
            Pose { rotation, translation_m: DVec3::new(0.0, 0.0, 2.2) - rotation * DVec3::new(0.104, 0.065, 0.0) }
        })
        .collect();
    let text = refusals(&views_at(&rig, &poses, &mut rng, &ImagingConditions::default()));
    assert!(
        text.contains("hold it nearer, or print a larger one") && text.contains("no corner was seen near"),
        "{text}"
    );
}

#[test]
fn one_view_suffices_with_kept_cameras() {
    let (mut rig, _) = good();
    let kept = Some([rig.left, rig.right]);
    rig.rotation = DMat3::from_rotation_y(0.02) * rig.rotation;
    let mut rng = Rng::with_seed(6);
    let one = views(&rig, 1, &mut rng, &ImagingConditions::default());
    let outcome = calibrate(&board(), &one, SIZE, &CalibrationRequest { kind: None, kept }).unwrap();
    assert!(outcome.refusals.is_empty(), "{outcome}");
    let turn = outcome.solution.rig.rotation * rig.rotation.transpose();
    assert!(glam::DQuat::from_mat3(&turn).to_scaled_axis().length() < 0.002, "{turn}");
    assert_eq!(outcome.solution.rig.left, rig.left);
}

fn write_pair(folder: &Path, name: &str, pictures: &[Image<u8>; 2]) {
    for (side, picture) in ["left", "right"].iter().zip(pictures) {
        let (width, height) = (picture.width() as u32, picture.height() as u32);
        let grey = image::GrayImage::from_raw(width, height, picture.pixels().to_vec()).unwrap();
        grey.save(folder.join(format!("{side}{name}.png"))).unwrap();
    }
}

fn pairs_in(folder: &Path) -> Vec<PairFiles> {
    let pairs = list_pairs(folder).unwrap().pairs;
    pairs.into_iter().map(|pair| PairFiles::of(pair, false, MaxPixels::default())).collect()
}

/// Calibrates from rendered images of a board, and returns the true rig too.
fn of_pictures(board: &Board, seed: u64, count: u64) -> (Outcome, StereoRig) {
    let rig = random_rig(seed);
    let (studio, mut rng) = (BoardRenderer::new(&rig), Rng::with_seed(seed + 1000));
    let folder = tempfile::tempdir().unwrap();
    for number in 0..count {
        let pose = random_pose(&rig, board, &mut rng);
        let pictures = studio.pair(board, &pose, &ImagingConditions::usual(1000 * seed + number));
        write_pair(folder.path(), &format!("{number:03}"), &pictures);
    }
    let gathered = gather(board, pairs_in(folder.path()), &|_| {}).unwrap();
    (calibrate(board, &views_of(&gathered.taken), SIZE, &PINHOLE).unwrap(), rig)
}

/// Calibrates from rendered images without boards at the lower rim, with corner errors.
fn without_a_rim(error_px: f64) -> Outcome {
    let size = (1280, 960);
    let rig = random_rig(3).rescaled(size).unwrap();
    let (studio, mut rng) = (BoardRenderer::new(&rig), Rng::with_seed(17));
    let folder = tempfile::tempdir().unwrap();
    let is_above = |view: &View| {
        view.corners.iter().all(|seen| seen.len() >= 12 && seen.iter().all(|corner| corner.at.y < 0.63 * size.1 as f64))
    };
    for number in 0..12 {
        let shot = ImagingConditions::usual(number);
        let pose = std::iter::repeat_with(|| random_pose(&rig, &board(), &mut rng))
            .find(|pose| is_above(&truth(&rig, &board(), pose, &shot)))
            .unwrap();
        write_pair(folder.path(), &format!("{number:03}"), &studio.pair(&board(), &pose, &shot));
    }
    let mut views = views_of(&gather(&board(), pairs_in(folder.path()), &|_| {}).unwrap().taken);
    for corner in views.iter_mut().flat_map(|view| &mut view.corners).flatten() {
        corner.at += DVec2::new(gauss(&mut rng), gauss(&mut rng)) * error_px;
    }
    calibrate(&board(), &views, size, &PINHOLE).unwrap()
}

#[test]
fn uncovered_rim_is_a_doubt_with_exact_depth_or_a_refusal() {
    let unseen = "no corner was seen near the lower border of the left image";
    let outcome = without_a_rim(0.0);
    assert!(outcome.refusals.is_empty() && outcome.doubts[0].to_string().contains(unseen), "{outcome}");
    assert!(!outcome.suffices(), "a live calibration goes on until the rim is seen");
    let text = outcome.to_string();
    assert!(text.contains("within 1 %, with 2 doubts") && text.contains(&format!("doubt      {unseen}")), "{text}");
    let told = outcome.to_json();
    assert!(told["is_good"] == true && told["doubts"][0].as_str().unwrap().contains(unseen), "{told}");
    let outcome = without_a_rim(1.5);
    assert!(said(&outcome.refusals).contains(unseen) && outcome.doubts.is_empty(), "{outcome}");
}

#[test]
fn depth_from_rendered_images_is_as_exact_as_predicted() {
    // 100 rigs take minutes
    let rigs = std::env::var("CALIBRATION_RIGS").map_or(5, |count| count.parse().unwrap());
    let (mut held, mut all, mut refused) = (0, 0, 0);
    let (mut errors, mut predicted) = (Vec::new(), Vec::new());
    for seed in 0..rigs {
        let (outcome, rig) = of_pictures(&board(), seed, 10 + seed % 8);
        let (told, found) = (outcome.judgement.as_ref().unwrap(), &outcome.solution.rig);
        let percent = |found: f64, truth: f64| 100.0 * (found / truth - 1.0).abs();
        let mut pairs = vec![
            (percent(found.left.fx, rig.left.fx), told.focal_percent),
            (percent(found.baseline_m(), rig.baseline_m()), told.baseline_percent),
        ];
        for depth in told.depth.iter().filter(|depth| depth.calibration_percent.is_finite()) {
            let error = 100.0 * depth_difference(found, &rig, SIZE, depth.distance_m);
            pairs.push((error, depth.calibration_percent));
            errors.push(error);
            predicted.push(depth.calibration_percent);
        }
        held += pairs.iter().filter(|(error, bound)| error <= bound).count();
        all += pairs.len();
        refused += usize::from(!outcome.refusals.is_empty());
        assert!(told.left_out_rows_px < 0.25, "rig {seed}: {outcome}");
    }
    let (error, prediction) = (quantile(&mut errors, 0.5), quantile(&mut predicted, 0.5));
    eprintln!(
        "{held} of {all} held, {refused} of {rigs} refused; median error {error:.3} %, predicted {prediction:.3} %"
    );
    assert!(held * 100 >= all * 95 - 100, "{held} of {all} errors are within their prediction");
    assert!(prediction <= 4.0 * error, "median prediction {prediction:.3} %, median error {error:.3} %");
}

#[test]
fn an_april_grid_gives_the_rig_too() {
    let (outcome, rig) = of_pictures(&"aprilgrid:6x5:30mm:9mm".parse().unwrap(), 2, 14);
    assert!(outcome.refusals.is_empty(), "{outcome}");
    let (found, told) = (&outcome.solution.rig, outcome.judgement.as_ref().unwrap());
    let baseline = 100.0 * (found.baseline_m() / rig.baseline_m() - 1.0).abs();
    assert!(baseline < 0.3 && baseline <= told.baseline_percent, "{baseline} %: {outcome}");
    assert!(told.left_out_rows_px < 0.1 && (told.board_size - 1.0).abs() < 0.003, "{outcome}");
    assert!(outcome.to_string().contains("30.0 mm that were typed for the side of a tag"), "{outcome}");
}

#[test]
fn a_wrong_description_is_found_out() {
    let rig = random_rig(11);
    let printed: Board = "chessboard:8x5:30mm".parse().unwrap();
    let pose = random_pose(&rig, &printed, &mut Rng::with_seed(1));
    let folder = tempfile::tempdir().unwrap();
    write_pair(folder.path(), "0", &BoardRenderer::new(&rig).pair(&printed, &pose, &ImagingConditions::usual(1)));
    let named: Board = "chessboard:9x6:25mm".parse().unwrap();
    let error = gather(&named, pairs_in(folder.path()), &|_| {}).unwrap_err().to_string();
    assert!(error.contains("8x5 inner corners seen, 9x6 named"), "{error}");
}

fn small_pair() -> (Board, [Image<u8>; 2]) {
    let board: Board = "chessboard:5x4:40mm".parse().unwrap();
    let rig = random_rig(11).rescaled((160, 120)).unwrap();
    let pose = random_pose(&rig, &board, &mut Rng::with_seed(1));
    (board, BoardRenderer::new(&rig).pair(&board, &pose, &ImagingConditions::default()))
}

#[test]
fn hundreds_of_pairs_need_memory_for_a_few_images() {
    let folder = tempfile::tempdir().unwrap();
    let (board, pictures) = small_pair();
    write_pair(folder.path(), "", &pictures);
    let blank = [0, 1].map(|_| Image::filled(160, 120, 90));
    write_pair(folder.path(), "x", &blank);
    for number in 0..300 {
        for side in ["left", "right"] {
            let from =
                folder.path().join(if number % 50 == 0 { format!("{side}.png") } else { format!("{side}x.png") });
            std::fs::hard_link(from, folder.path().join(format!("{side}{number}.png"))).unwrap();
        }
    }
    let (seen, most) = (parking_lot::Mutex::new(Vec::new()), AtomicUsize::new(0));
    let gathered = gather(&board, pairs_in(folder.path()), &|picture| {
        let mut seen = seen.lock();
        seen.push(Arc::downgrade(picture));
        most.fetch_max(seen.iter().filter(|picture| picture.strong_count() > 0).count(), Ordering::Relaxed);
    });
    let taken = gathered.unwrap().taken;
    assert!(seen.lock().len() >= 604, "{} images of 302 pairs", seen.lock().len());
    assert_eq!(taken.len(), 7);
    let most = most.into_inner();
    assert!(most <= 8 * rayon::current_num_threads().max(2) && most < 200, "{most} images at once");
    assert!(seen.lock().iter().all(|picture| picture.strong_count() == 0), "views hold images");
    assert_eq!(taken[0].pictures.size().unwrap(), (160, 120));
}

#[test]
fn a_pair_that_cannot_be_used_costs_that_pair_and_a_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let (board, pictures) = small_pair();
    for number in 0..9 {
        write_pair(folder.path(), &number.to_string(), &pictures);
    }
    let whole = std::fs::read(at("left0.png")).unwrap();
    std::fs::write(at("left0.png"), "no image").unwrap();
    std::fs::write(at("right3.png"), "").unwrap();
    std::fs::write(at("left5.png"), &whole[..whole.len() / 2]).unwrap();
    write_pair(folder.path(), "7", &[0, 1].map(|_| Image::filled(64, 48, 90)));
    let gathered = gather(&board, pairs_in(folder.path()), &|_| {}).unwrap();
    let names: Vec<&str> = gathered.taken.iter().map(|taken| taken.view.name.as_str()).collect();
    assert_eq!(names, ["left1", "left2", "left4", "left6", "left8"]);
    let said = gathered.left_out.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
    for words in [
        "left0.png: it is no PNG",
        "right3.png: the file is empty",
        "left5.png",
        "left7.png: it has 64x48 px instead of 160x120",
    ] {
        assert!(said.contains(words), "no '{words}': {said}");
    }
    assert_eq!(gathered.left_out.len(), 4);
    for number in 0..9 {
        std::fs::write(at(&format!("right{number}.png")), "").unwrap();
    }
    let why = gather(&board, pairs_in(folder.path()), &|_| {}).unwrap_err().to_string();
    assert!(why.starts_with("no pair of images can be read: cannot read ") && why.contains("0.png"), "{why}");
}

#[test]
fn views_are_taken_when_they_are_still_and_new() {
    let rig = random_rig(11);
    let (studio, mut rng) = (BoardRenderer::new(&rig), Rng::with_seed(3));
    let mut session = CalibrationSession::new(&board(), PINHOLE).unwrap();
    let mut time_s = 0.0;
    let mut look = |session: &mut CalibrationSession, pose: &Pose, take: bool| {
        time_s += 0.1;
        let [left, right] = studio.pair(&board(), pose, &ImagingConditions::usual((time_s * 10.0) as u64));
        session.look(&BoardFrame { pictures: [&left, &right], time_s, skew_s: 0.0 }, take)
    };
    let pose = random_pose(&rig, &board(), &mut rng);
    let away = Pose { translation_m: DVec3::new(0.0, 9.0, 1.0), ..pose };
    assert_eq!(look(&mut session, &away, false), Notice::NoBoard);
    // the first image has no motion, and a moved board is not still
    assert_eq!(look(&mut session, &pose, false), Notice::Moving(0.0));
    let moved = Pose { translation_m: pose.translation_m + DVec3::X * 0.01, ..pose };
    assert!(matches!(look(&mut session, &moved, false), Notice::Moving(px) if px > 1.0));
    assert_eq!(look(&mut session, &moved, false), Notice::Ready);
    assert_eq!(look(&mut session, &moved, false), Notice::Taken(1));
    assert_eq!(look(&mut session, &moved, false), Notice::Known);
    // taken on request nevertheless
    assert_eq!(look(&mut session, &moved, true), Notice::Taken(2));
    session.delete(0);
    assert_eq!((session.taken().len(), session.taken()[0].view.name.as_str()), (1, "002"));
    assert!(session.ghost().is_some() && session.work().is_none());
}
