//! Tests of corrections on random rigs: depth comes nearer the truth, and rigs that have not changed stay as they are.

use super::*;
use crate::projection::to_right;
use crate::{Camera, Distortion};

pub(super) const SIZE: (usize, usize) = (640, 480);
const VIEWS: usize = 10;
const JUDGED_M: f64 = 5.0;

/// Random numbers of this test.
pub(super) struct Random(pub(super) fastrand::Rng);

impl Random {
    pub(super) fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.0.f64()
    }

    fn normal(&mut self) -> f64 {
        (-2.0 * (1.0 - self.0.f64()).ln()).sqrt() * (std::f64::consts::TAU * self.0.f64()).cos()
    }
}

/// Returns a calibrated rig: cameras side by side whose poses are off by some degrees, half of them with distortion.
pub(super) fn calibrated(random: &mut Random) -> StereoRig {
    let focal = random.between(350.0, 600.0);
    let k1 = if random.0.bool() { random.between(-0.3, 0.05) } else { 0.0 };
    let mut camera = || {
        let focal = focal * random.between(0.99, 1.01);
        Camera {
            fx: focal,
            fy: focal,
            cx: 319.5 + random.between(-15.0, 15.0),
            cy: 239.5 + random.between(-15.0, 15.0),
            skew: 0.0,
            distortion: Distortion::from_opencv("D", &[k1, 0.0, 0.0, 0.0]).unwrap(),
        }
    };
    let (left, right) = (camera(), camera());
    let mut small = || random.normal() * 0.01;
    let rotation = correction::turn(DVec3::new(small(), small(), small()));
    let baseline_m = random.between(0.06, 0.2);
    let translation_m = rotation * DVec3::new(-baseline_m, random.normal() * 1e-3, random.normal() * 1e-3);
    StereoRig::new(left, right, rotation, translation_m, Some(SIZE))
}

/// Returns the rig after its right camera has turned about its own axes, by a rotation vector in degrees.
pub(super) fn turned(rig: &StereoRig, degrees: DVec3) -> StereoRig {
    let turn = correction::turn(degrees * 1f64.to_radians());
    StereoRig { rotation: turn * rig.rotation, translation_m: turn * rig.translation_m, ..rig.clone() }
}

/// Returns where both cameras show a point of the left one's axes; `None` outside the images.
fn seen(rig: &StereoRig, point: DVec3) -> Option<[DVec2; 2]> {
    let in_right = rig.rotation * point + rig.translation_m;
    if point.z < 0.1 || in_right.z < 0.1 {
        return None;
    }
    let at = [rig.left.project(point), rig.right.project(in_right)];
    let last = DVec2::new(SIZE.0 as f64, SIZE.1 as f64) - 1.0;
    at.iter().all(|at| at.cmpgt(DVec2::ZERO).all() && at.cmplt(last).all()).then_some(at)
}

fn rectified(side: &Sides, [left, right]: [DVec2; 2]) -> Option<[DVec2; 2]> {
    let r = &side.rectification;
    Some([
        r.left.pixel(r.rotation_left * side.rig.left.direction(left)?)?,
        r.right.pixel(r.rotation_right * side.rig.right.direction(right)?)?,
    ])
}

/// Returns rectified matches of one view by a rig that stands as `truth`; one of ten is wrong.
pub(super) fn view(truth: &StereoRig, rectifier: &Rectifier, noise_px: f64, random: &mut Random) -> Vec<Match> {
    let side = Sides::of(rectifier.rig(), rectifier).unwrap();
    let near_m = random.between(0.6, 2.5);
    let far_m = near_m * random.between(2.0, 6.0);
    let mut found = Vec::new();
    while found.len() < 250 {
        let depth_m = 1.0 / random.between(1.0 / far_m, 1.0 / near_m);
        let place = DVec2::new(random.between(-0.95, 0.95), random.between(-0.7, 0.7));
        let Some(at) = seen(truth, (place * depth_m).extend(depth_m)) else { continue };
        let mut noisy = at.map(|at| at + noise_px * DVec2::new(random.normal(), random.normal()));
        if random.0.f64() < 0.1 {
            noisy[1] += DVec2::new(random.between(-30.0, 30.0), random.between(-10.0, 10.0));
        }
        let Some([left, right]) = rectified(&side, noisy) else { continue };
        found.push(Match { left, right, score: 1.0 });
    }
    found
}

/// Gathers views of scenes by a rig that stands as `truth` and is rectified by `rectifier`.
pub(super) fn gathered(truth: &StereoRig, rectifier: &Rectifier, random: &mut Random) -> DriftGatherer {
    let mut gatherer = DriftGatherer::default();
    let noise_px = random.between(0.15, 0.3);
    for _ in 0..VIEWS {
        let found = view(truth, rectifier, noise_px, random);
        assert!(gatherer.add(rectifier, &found, SIZE, &RowField::default()).unwrap());
    }
    gatherer
}

/// Returns the ratios of depth to its truth that a rig shows all over the image, at [`JUDGED_M`].
pub(super) fn ratios(taken: &StereoRig, truth: &StereoRig) -> Vec<f64> {
    let rectifier = taken.rectifier(SIZE.0, SIZE.1, 0.0).unwrap();
    let side = Sides::of(taken, &rectifier).unwrap();
    let geometry = rectifier.geometry();
    let places = (-4..=4).flat_map(|y| (-4..=4).map(move |x| DVec2::new(f64::from(x) * 0.16, f64::from(y) * 0.12)));
    let ratio = |place: DVec2| {
        let point = (place * JUDGED_M).extend(JUDGED_M);
        let [left, right] = rectified(&side, seen(truth, point)?)?;
        let disparity_px = (left - right).dot(to_right(geometry.axis).truncate());
        let depth_m = geometry.depth_m(disparity_px).unwrap_or(f64::INFINITY);
        Some(depth_m / (side.rectification.rotation_left * point).z)
    };
    places.filter_map(ratio).collect()
}

pub(super) fn error(taken: &StereoRig, truth: &StereoRig) -> f64 {
    quantile(&mut ratios(taken, truth).iter().map(|ratio| (ratio - 1.0).abs()).collect::<Vec<_>>(), 0.5)
}

/// Judgement of one rig: errors of depth before and after, and what was found.
fn judged(seed: u64, axis: Option<DVec3>) -> (f64, f64, Drift, StereoRig, StereoRig) {
    let mut random = Random(fastrand::Rng::with_seed(seed));
    let rig = calibrated(&mut random);
    let degrees = random.between(0.05, 0.5) * if random.0.bool() { 1.0 } else { -1.0 };
    let truth = axis.map_or_else(|| rig.clone(), |axis| turned(&rig, axis * degrees));
    let rectifier = rig.rectifier(SIZE.0, SIZE.1, 0.0).unwrap();
    let drift = gathered(&truth, &rectifier, &mut random).drift().unwrap();
    let after = if drift.is_offered { rig.corrected(&drift.correction).unwrap() } else { rig.clone() };
    (error(&rig, &truth), error(&after, &truth), drift, rig, after)
}

/// Judges this many rigs turned about each axis, and as many that have not turned.
fn assert_nearer(of_each: u64, misses: usize) {
    let mut missed = Vec::new();
    for (n, axis) in [DVec3::X, DVec3::Y, DVec3::Z].into_iter().enumerate() {
        for seed in 0..of_each {
            let (before, after, drift, ..) = judged(1000 * n as u64 + seed, Some(axis));
            assert!(after <= before + 0.01, "{axis} {seed}: {before} became {after}: {drift:?}");
            if after >= before {
                missed.push((axis, seed, before, after));
            }
        }
    }
    assert!(missed.len() <= misses, "not nearer: {missed:?}");
    for seed in 0..of_each {
        let (.., drift, rig, after) = judged(5000 + seed, None);
        let changed = ratios(&after, &rig).into_iter().map(|ratio| (ratio - 1.0).abs()).fold(0.0, f64::max);
        assert!(changed < 0.01, "{seed}: depth has changed by {changed}: {drift:?}");
    }
}

#[test]
fn turned_rigs_come_nearer_and_others_stay() {
    assert_nearer(3, 0);
}

#[test]
#[ignore = "a minute; tools/nightly.sh runs it"]
fn eighty_turned_and_unturned_rigs() {
    assert_nearer(20, 3);
}
