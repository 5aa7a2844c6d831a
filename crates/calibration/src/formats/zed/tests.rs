//! Tests with files of ZED cameras as the factory and ZED's calibration tool write them.

use super::super::{LoadOptions, read};
use crate::{Distortion, StereoRig};
use glam::{DVec2, DVec3};

fn file(word: &str, size: (usize, usize), in_sections: &str, more: &str) -> String {
    let (cx, cy) = (size.0 / 2, size.1 / 2);
    let camera = |side: &str, fx: usize| {
        format!("[{side}_CAM_{word}]\nfx = {fx}.5\nfy = {fx}.25\ncx = {cx}.75\ncy = {cy}.5\n{in_sections}\n")
    };
    let focal = size.0 / 2;
    format!(
        "{}{}{more}[STEREO]\nBaseline = 63.2\nTY = 0.17\nTZ = -0.41\nCV_{word} = 0.003\nRX_{word} = -0.001\nRZ_{word} = 0.0005\n",
        camera("LEFT", focal),
        camera("RIGHT", focal + 3)
    )
}

fn load(text: &str, size: (usize, usize)) -> Result<StereoRig, crate::CalibrationError> {
    let options = LoadOptions { size: Some(size), ..LoadOptions::default() };
    read(&[("SN1.conf".into(), text.as_bytes().to_vec())], &options)
}

#[test]
fn the_lens_for_all_sizes_is_used() {
    let rational = "k1 = 0.9\nk2 = 0.3\np1 = 0.0003\np2 = -0.0002\nk3 = 0.02\nk4 = 1.2\nk5 = 0.5\nk6 = 0.06\n";
    let plain = "k1 = -0.27\nk2 = 0.1\np1 = -0.0002\np2 = 0.0001\nk3 = -0.015\nk4 = 0\nk5 = 0\nk6 = 0\n";
    let more = format!("[LEFT_DISTO]\n{rational}\n[RIGHT_DISTO]\n{plain}\n");
    let rig = load(&file("FHD1200", (1920, 1200), "", &more), (1920, 1200)).unwrap();
    let lens = |numbers: &[f64]| Distortion::from_opencv("D", numbers).unwrap();
    assert_eq!(rig.left.distortion, lens(&[0.9, 0.3, 0.0003, -0.0002, 0.02, 1.2, 0.5, 0.06]));
    assert_eq!(rig.right.distortion, lens(&[-0.27, 0.1, -0.0002, 0.0001, -0.015]));
    assert_eq!(rig.right.distortion.name(), "plumb_bob");
    assert_eq!(rig.doubts, [""; 0]);
    // factory files also have a simpler lens in the section of each size
    let both = load(&file("FHD1200", (1920, 1200), "k1 = -0.05\nk2 = 0.01\n", &more), (1920, 1200)).unwrap();
    assert_eq!((both.left, both.right), (rig.left, rig.right));
    // without a lens for all sizes, the lens of the section is used
    let old = load(&file("HD", (1280, 720), "k1 = -0.17\nk2 = 0.02\n", ""), (1280, 720)).unwrap();
    assert_eq!(old.left.distortion, lens(&[-0.17, 0.02, 0.0, 0.0]));
}

#[test]
fn a_file_without_a_lens_is_doubted() {
    let right = "[RIGHT_DISTO]\nk1 = -0.1\n";
    let doubts = |more: &str| load(&file("SVGA", (960, 600), "", more), (960, 600)).unwrap().doubts;
    assert_eq!(doubts("").len(), 2);
    let text = doubts(right).join("; ");
    assert!(text.contains("no distortion of the left camera (k1, k2, … in [LEFT_CAM_SVGA] or [LEFT_DISTO])"), "{text}");
    assert!(!text.contains("right camera"), "{text}");
}

#[test]
fn a_fisheye_is_told_by_k3_and_k4_without_p1_and_p2() {
    let fisheye = Distortion::from_fisheye("D", &[-0.03, -0.002, 0.004, -0.001]).unwrap();
    let four = "k1 = -0.03\nk2 = -0.002\nk3 = 0.004\nk4 = -0.001\n";
    let padded = format!("{four}k5 = 0\nk6 = 0\np1 = 0\np2 = 0\n");
    for lens in [four, padded.as_str()] {
        let more = format!("[LEFT_DISTO]\n{lens}[RIGHT_DISTO]\n{lens}");
        for text in [file("4k", (3840, 2160), "", &more), file("4k", (3840, 2160), lens, "")] {
            assert_eq!(load(&text, (3840, 2160)).unwrap().right.distortion, fisheye, "{lens}");
        }
    }
}

#[test]
fn sizes_of_4k_cameras_are_known_and_others_are_named() {
    let lens = "k1 = -0.2\nk2 = 0.05\n";
    for (word, size) in [("4k", (3840, 2160)), ("QHDPLUS", (3200, 1800))] {
        assert_eq!(load(&file(word, size, lens, ""), size).unwrap().size, Some(size), "{word}");
    }
    let refusal = load(&file("6K", (6000, 4000), lens, ""), (6000, 4000)).unwrap_err().to_string();
    assert!(refusal.contains("its sections LEFT_CAM_6K, RIGHT_CAM_6K, STEREO are of none"), "{refusal}");
    assert!(refusal.contains("4K, QHDPLUS, 2K"), "{refusal}");
}

#[test]
fn ty_and_tz_have_the_signs_of_opencvs_t() {
    // zed-opencv-calibration, saveCalibZED: Baseline = -T.x, TY = T.y, TZ = T.z of cv::stereoCalibrate
    let rig = load(&file("FHD1200", (1920, 1200), "k1 = -0.2\n", ""), (1920, 1200)).unwrap();
    assert!(rig.translation_m.abs_diff_eq(DVec3::new(-0.0632, 0.00017, -0.00041), 1e-12), "{}", rig.translation_m);
    // a point 0.5 m ahead, by hand: R X + T, then the right camera's focal length
    let point = rig.rotation * DVec3::new(0.0, 0.0, 0.5) + rig.translation_m;
    let row = rig.right.project(point).y;
    let expected = 963.25 * (0.001 * 0.5 + 0.00017) / (0.5 - 0.00041) + 600.5;
    assert!((row - expected).abs() < 0.02, "{row} {expected}");
    assert!((rig.left.project(DVec3::Z) - DVec2::new(960.75, 600.5)).length() < 1e-9);
}
