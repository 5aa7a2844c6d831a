//! Tests of the matrices in OpenCV's files beside K, D, R and T: they equal those of `cv2.stereoRectify`.

use super::super::{LoadOptions, read, yaml};
use super::*;
use crate::rig::tests::{camera, plain_rig};
use glam::{DMat3, DQuat, DVec3};
use stereopsis_base::geometry::Axis;

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

/// Returns a rig with rational lenses of 1280x720, turned by the rotation vector (0.012, -0.021, 0.006).
fn rational_rig() -> StereoRig {
    let left = camera([701.5, 700.75, 652.25, 371.5], &[0.31, 0.12, 0.0004, -0.0003, 0.006, 0.36, 0.18, 0.02]);
    let right = camera([698.25, 699.5, 633.5, 352.75], &[0.29, 0.11, -0.0002, 0.0005, 0.005, 0.35, 0.17, 0.02]);
    let rotation = DMat3::from_quat(DQuat::from_scaled_axis(DVec3::new(0.012, -0.021, 0.006)));
    StereoRig::new(left, right, rotation, DVec3::new(-0.1213, 0.0017, -0.0026), Some((1280, 720)))
}

fn vertical_rig() -> StereoRig {
    StereoRig { translation_m: DVec3::new(0.0017, -0.1213, -0.0026), ..rational_rig() }
}

/// Result of `cv2.stereoRectify(K1, D1, K2, D2, (1280, 720), R, T, flags=cv2.CALIB_ZERO_DISPARITY, alpha=alpha)` of opencv-python 5.0.0.
struct OpenCvResult {
    r1: [f64; 9],
    r2: [f64; 9],
    centre: [f64; 2],
    /// Focal length and shift of P2 for each alpha.
    focal_and_shift: [(f64, f64, f64); 3],
    /// Index of the shift in P2.
    shift_at: usize,
    /// Error of OpenCV's inscribed rectangle, which it finds from 9 points of an edge, px of the focal length.
    missed_px: f64,
}

/// Third element of the last row of Q, 1 / baseline.
const Q_BASELINE: f64 = 8.241_320_983_655_402;

const SIDE_BY_SIDE: OpenCvResult = OpenCvResult {
    r1: [
        0.999_802_239_155_363_5,
        -0.019_876_596_889_379_05,
        0.000_635_197_621_520_682_7,
        0.019_880_104_488_687_836,
        0.999_783_768_797_583_9,
        -0.006_098_942_073_688_327,
        -0.000_513_834_058_924_828,
        0.006_110_363_736_839_23,
        0.999_981_199_538_053,
    ],
    r2: [
        0.999_672_235_317_400_3,
        -0.014_010_245_672_219_033,
        0.021_427_434_557_507_154,
        0.013_879_160_304_231_565,
        0.999_884_120_376_719_5,
        0.006_254_176_822_198_944_5,
        -0.021_512_574_108_219_26,
        -0.005_954_732_124_785_833,
        0.999_750_844_120_954,
    ],
    centre: [628.237_503_051_757_8, 362.717_784_881_591_8],
    focal_and_shift: [
        (0.0, 723.071_846_902_991_9, -87.737_372_241_297_7),
        (0.3, 670.902_901_986_227_3, -81.407_204_417_446_58),
        (1.0, 549.175_363_847_11, -66.636_812_828_460_6),
    ],
    shift_at: 3,
    missed_px: 0.0,
};

const ONE_ABOVE_THE_OTHER: OpenCvResult = OpenCvResult {
    r1: [
        0.999_914_865_768_993_1,
        0.007_785_801_022_335_411_5,
        -0.010_471_032_261_291_26,
        -0.007_684_743_047_890_239,
        0.999_923_840_189_765_3,
        0.009_657_046_362_133_083,
        0.010_545_422_630_900_32,
        -0.009_575_757_024_543_066,
        0.999_898_544_322_844_1,
    ],
    r2: [
        0.999_848_199_464_862_8,
        0.013_784_284_873_400_965,
        0.010_656_993_825_699_007,
        -0.014_010_245_672_214_946,
        0.999_672_235_317_400_3,
        0.021_427_434_557_505_07,
        -0.010_358_138_977_453_45,
        -0.021_573_488_963_097_954,
        0.999_713_605_754_609_5,
    ],
    centre: [644.503_158_569_335_9, 348.091_476_440_429_7],
    focal_and_shift: [
        (0.0, 721.123_191_259_274_9, -87.500_922_811_942_66),
        (0.3, 674.406_297_605_071, -81.832_305_639_179_32),
        (1.0, 565.400_212_411_929, -68.605_532_236_064_9),
    ],
    shift_at: 7,
    missed_px: 0.1,
};

#[test]
fn rectification_and_q_are_those_of_opencv() {
    for (rig, OpenCvResult { r1, r2, centre: [cx, cy], focal_and_shift, shift_at, missed_px }) in
        [(rational_rig(), SIDE_BY_SIDE), (vertical_rig(), ONE_ABOVE_THE_OTHER)]
    {
        // OpenCV takes 9 points of each edge, in single precision, and undistorts in 5 steps: with 200 steps of
        // cv2.undistortPoints its focal length at alpha 1 is 548.7577 px for cameras side by side, as here
        for (alpha, focal, shift) in focal_and_shift {
            let text = written(&rig, alpha);
            let tolerance_px = 0.015 + missed_px + 0.5 * alpha;
            agree(&matrix(&text, "R1"), &r1, 1e-9);
            agree(&matrix(&text, "R2"), &r2, 1e-9);
            let mut projection = [focal, 0.0, cx, 0.0, 0.0, focal, cy, 0.0, 0.0, 0.0, 1.0, 0.0];
            agree(&matrix(&text, "P1"), &projection, tolerance_px);
            projection[shift_at] = shift;
            agree(&matrix(&text, "P2"), &projection, tolerance_px);
            let q = [[1.0, 0.0, 0.0, -cx], [0.0, 1.0, 0.0, -cy], [0.0, 0.0, 0.0, focal], [0.0, 0.0, Q_BASELINE, 0.0]];
            agree(&matrix(&text, "Q"), &q.concat(), tolerance_px);
            agree(&matrix(&text, "Q")[14..], &[Q_BASELINE, 0.0], 1e-9);
        }
    }
}

#[test]
fn vertical_rigs_survive_every_kind_of_file() {
    let rig = vertical_rig();
    assert!(rig.summary().contains("the upper one is the left one"), "{}", rig.summary());
    for output in [Output::Toml, Output::OpenCvYaml, Output::OpenCvXml, Output::RosArchive, Output::Kalibr] {
        let plain =
            StereoRig { left: plain_rig().left, right: plain_rig().left, size: Some((640, 480)), ..rig.clone() };
        let rig = if output == Output::Kalibr { &plain } else { &rig };
        let files = write(rig, output, 0.0).unwrap();
        let extension = match output {
            Output::Toml => "toml",
            Output::OpenCvXml => "xml",
            Output::RosArchive => "tar.gz",
            _ => "yaml",
        };
        let files: Vec<_> = files.into_iter().map(|(_, bytes)| (format!("rig.{extension}").into(), bytes)).collect();
        let back = read(&files, &LoadOptions::default()).unwrap();
        assert_eq!(back.axis(), Axis::Vertical, "{output:?}");
        let apart = (back.translation_m - rig.translation_m).length();
        assert!(apart < 1e-9, "{output:?}: {} {}", back.translation_m, rig.translation_m);
        let (width, height) = rig.size.unwrap();
        let [geometry, expected] = [&back, rig].map(|rig| rig.rectifier(width, height, 0.0).unwrap().geometry());
        assert!((geometry.focal_px - expected.focal_px).abs() < 1e-6 && geometry.axis == Axis::Vertical, "{output:?}");
        assert!((geometry.cy_px - expected.cy_px).abs() < 1e-6 && geometry.doffs_px.abs() < 1e-9, "{output:?}");
    }
}

#[test]
fn q_turns_a_disparity_into_the_point_that_has_it() {
    q_gives_back_the_point(&rational_rig(), 0);
    q_gives_back_the_point(&vertical_rig(), 1);
}

// `along` is the row of the projections with the shift
#[track_caller]
fn q_gives_back_the_point(rig: &StereoRig, along: usize) {
    let text = written(rig, 0.0);
    let (q, p1, p2, r1) = (matrix(&text, "Q"), matrix(&text, "P1"), matrix(&text, "P2"), matrix(&text, "R1"));
    let point = DVec3::new(0.31, -0.22, 1.7);
    let common = DMat3::from_cols_slice(&r1).transpose() * point;
    let at = |p: &[f64], row: usize| {
        let row = &p[4 * row..][..4];
        (row[0] * common.x + row[1] * common.y + row[2] * common.z + row[3]) / common.z
    };
    let pixel = [at(&p1, 0), at(&p1, 1), at(&p1, along) - at(&p2, along), 1.0];
    let of_row = |i: usize| (0..4).map(|k| q[4 * i + k] * pixel[k]).sum::<f64>();
    let found = DVec3::new(of_row(0), of_row(1), of_row(2)) / of_row(3);
    assert!((found - common).length() < 1e-9, "{found} {common}");
}

#[test]
fn writes_the_own_rectification_or_none() {
    let rig = rational_rig();
    let text = written(&rig, 0.4);
    let back = read(&[("rig.yml".into(), text.clone().into_bytes())], &LoadOptions::default()).unwrap();
    for (crop, is_same) in [(0.0, true), (0.8, false)] {
        assert_eq!(matrix(&written(&back, crop), "P2") == matrix(&text, "P2"), is_same, "alpha {crop}");
    }
    for rig in
        [StereoRig { size: None, ..plain_rig() }, StereoRig { rotation: DMat3::from_rotation_y(2.8), ..plain_rig() }]
    {
        let text = written(&rig, 0.0);
        assert!(text.contains("K1:") && !text.contains("P1:") && !text.contains("Q:"), "{text}");
    }
}
