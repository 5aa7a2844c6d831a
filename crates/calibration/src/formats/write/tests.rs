//! The matrices that OpenCV's file gets beside K, D, R and T are those of `cv2.stereoRectify`.

use super::super::{LoadOptions, read, yaml};
use super::*;
use crate::Distortion;
use crate::rig::tests::plain_rig;
use glam::{DMat3, DQuat, DVec3};

fn matrix(text: &str, name: &str) -> Vec<f64> {
    let tree = yaml::parse(text).unwrap();
    tree.get(&[name]).unwrap_or_else(|| panic!("{name} is missing")).matrix(name).unwrap().data
}

fn written(rig: &StereoRig, crop: impl Into<Crop>) -> String {
    String::from_utf8(write(rig, Output::OpenCvYaml, crop).unwrap().remove(0).1).unwrap()
}

#[track_caller]
fn agree(found: &[f64], expected: &[f64], tolerance: f64) {
    let apart = found.iter().zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(found.len() == expected.len() && apart < tolerance, "{apart}: {found:?} {expected:?}");
}

/// A rig with rational lenses of 1280x720, turned by the rotation vector (0.012, -0.021, 0.006).
fn rational_rig() -> StereoRig {
    let camera = |[fx, fy, cx, cy]: [f64; 4], lens: &[f64]| crate::Camera {
        fx,
        fy,
        cx,
        cy,
        skew: 0.0,
        distortion: Distortion::from_opencv("D", lens).unwrap(),
    };
    let left = camera([701.5, 700.75, 652.25, 371.5], &[0.31, 0.12, 0.0004, -0.0003, 0.006, 0.36, 0.18, 0.02]);
    let right = camera([698.25, 699.5, 633.5, 352.75], &[0.29, 0.11, -0.0002, 0.0005, 0.005, 0.35, 0.17, 0.02]);
    let rotation = DMat3::from_quat(DQuat::from_scaled_axis(DVec3::new(0.012, -0.021, 0.006)));
    StereoRig::new(left, right, rotation, DVec3::new(-0.1213, 0.0017, -0.0026), Some((1280, 720)))
}

/// `cv2.stereoRectify(K1, D1, K2, D2, (1280, 720), R, T, flags=cv2.CALIB_ZERO_DISPARITY, alpha=alpha)` of opencv-python 5.0.0 for
/// [`rational_rig`]: R1 and R2, then for each alpha the focal length and the shift of P2.
const R1: [f64; 9] = [
    0.999_802_239_155_363_5,
    -0.019_876_596_889_379_05,
    0.000_635_197_621_520_682_7,
    0.019_880_104_488_687_836,
    0.999_783_768_797_583_9,
    -0.006_098_942_073_688_327,
    -0.000_513_834_058_924_828,
    0.006_110_363_736_839_23,
    0.999_981_199_538_053,
];
const R2: [f64; 9] = [
    0.999_672_235_317_400_3,
    -0.014_010_245_672_219_033,
    0.021_427_434_557_507_154,
    0.013_879_160_304_231_565,
    0.999_884_120_376_719_5,
    0.006_254_176_822_198_944_5,
    -0.021_512_574_108_219_26,
    -0.005_954_732_124_785_833,
    0.999_750_844_120_954,
];
const CENTRE: [f64; 2] = [628.237_503_051_757_8, 362.717_784_881_591_8];
const FOCAL_AND_SHIFT: [(f64, f64, f64); 3] = [
    (0.0, 723.071_846_902_991_9, -87.737_372_241_297_7),
    (0.3, 670.902_901_986_227_3, -81.407_204_417_446_58),
    (1.0, 549.175_363_847_11, -66.636_812_828_460_6),
];
/// Last row of Q: 1 / baseline at its third place.
const Q_BASELINE: f64 = 8.241_320_983_655_402;

#[test]
fn rectification_and_q_are_those_of_opencv() {
    // OpenCV looks at 9 points of each edge, in single precision, and undoes a lens in 5 steps: with 200 steps of
    // cv2.undistortPoints its focal length at alpha 1 is 548.7577 px, as here
    for (alpha, focal, shift) in FOCAL_AND_SHIFT {
        let text = written(&rational_rig(), alpha);
        let tolerance_px = 0.01 + 0.5 * alpha;
        agree(&matrix(&text, "R1"), &R1, 1e-9);
        agree(&matrix(&text, "R2"), &R2, 1e-9);
        let [cx, cy] = CENTRE;
        let left = [focal, 0.0, cx, 0.0, 0.0, focal, cy, 0.0, 0.0, 0.0, 1.0, 0.0];
        agree(&matrix(&text, "P1"), &left, tolerance_px);
        agree(&matrix(&text, "P2"), &[&left[..3], &[shift], &left[4..]].concat(), tolerance_px);
        let q = [[1.0, 0.0, 0.0, -cx], [0.0, 1.0, 0.0, -cy], [0.0, 0.0, 0.0, focal], [0.0, 0.0, Q_BASELINE, 0.0]];
        agree(&matrix(&text, "Q"), &q.concat(), tolerance_px);
        agree(&matrix(&text, "Q")[14..], &[Q_BASELINE, 0.0], 1e-9);
    }
}

#[test]
fn q_turns_a_disparity_into_the_point_that_has_it() {
    let rig = rational_rig();
    let text = written(&rig, 0.0);
    let (q, p1, p2, r1) = (matrix(&text, "Q"), matrix(&text, "P1"), matrix(&text, "P2"), matrix(&text, "R1"));
    let point = DVec3::new(0.31, -0.22, 1.7);
    let common = DMat3::from_cols_slice(&r1).transpose() * point;
    let column = |p: &[f64]| (p[0] * common.x + p[2] * common.z + p[3]) / common.z;
    let row = (p1[5] * common.y + p1[6] * common.z) / common.z;
    let pixel = [column(&p1), row, column(&p1) - column(&p2), 1.0];
    let of_row = |i: usize| (0..4).map(|k| q[4 * i + k] * pixel[k]).sum::<f64>();
    let found = DVec3::new(of_row(0), of_row(1), of_row(2)) / of_row(3);
    assert!((found - common).length() < 1e-9, "{found} {common}");
}

#[test]
fn the_rigs_own_rectification_is_kept_and_one_that_cannot_be_is_left_out() {
    let rig = rational_rig();
    let text = written(&rig, 0.4);
    let back = read(&[("rig.yml".into(), text.clone().into_bytes())], &LoadOptions::default()).unwrap();
    for (crop, is_same) in [(0.0, true), (0.8, false)] {
        assert_eq!(matrix(&written(&back, crop), "P2") == matrix(&text, "P2"), is_same, "alpha {crop}");
    }
    for rig in
        [StereoRig { size: None, ..plain_rig() }, StereoRig { rotation: DMat3::from_rotation_y(1.5), ..plain_rig() }]
    {
        let text = written(&rig, 0.0);
        assert!(text.contains("K1:") && !text.contains("P1:") && !text.contains("Q:"), "{text}");
    }
}
