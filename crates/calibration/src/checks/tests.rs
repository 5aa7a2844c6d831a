//! Tests of the checks: each fault is introduced into a valid rig; the error must name its cause and remedy.

use super::super::rig::tests::plain_rig;
use super::*;
use crate::Distortion;
use glam::DVec3;

fn refused(change: impl Fn(&mut StereoRig)) -> String {
    let mut rig = plain_rig();
    change(&mut rig);
    check(&rig).unwrap_err().to_string()
}

fn doubted(change: impl Fn(&mut StereoRig)) -> String {
    let mut rig = plain_rig();
    change(&mut rig);
    assert_eq!(check(&rig), Ok(()));
    doubts(&rig).join("\n")
}

fn says(text: &str, words: &[&str]) {
    for word in words {
        assert!(text.contains(word), "'{word}' is not in: {text}");
    }
}

fn sound_rectification() -> Rectification {
    let plain = Projection { fx: 500.0, fy: 500.0, cx: 319.5, cy: 239.5 };
    Rectification {
        rotation_left: DMat3::IDENTITY,
        rotation_right: DMat3::IDENTITY,
        left: plain,
        right: plain,
        baseline_m: 0.12,
        axis: Axis::Horizontal,
    }
}

#[test]
fn a_sound_rig_has_no_faults() {
    assert_eq!(doubted(|_| {}), "");
    assert_eq!(doubted(|rig| rig.rectification = Some(sound_rectification())), "");
    assert_eq!(doubted(|rig| rig.size = None), "");
}

#[test]
fn swapped_reversed_and_wrongly_placed_cameras() {
    let text = refused(|rig| rig.translation_m.x = 0.12);
    says(&text, &["left of the left one", "calibration-swap", "R transposed"]);
    says(&refused(|rig| rig.translation_m = DVec3::new(-0.02, 0.12, 0.0)), &["above the left one", "calibration-swap"]);
    says(&refused(|rig| rig.translation_m = DVec3::new(-0.02, 0.0, 0.12)), &["in front of the other"]);
    let text = refused(|rig| {
        rig.translation_m.x = 0.12;
        rig.rectification = Some(sound_rectification());
    });
    says(&text, &["T is reversed", "change its sign"]);
    let text = refused(|rig| {
        rig.translation_m.x = 0.12;
        rig.rectification = Some(Rectification { baseline_m: -0.12, ..sound_rectification() });
    });
    says(&text, &["P2 has a positive shift", "calibration-swap"]);
}

#[test]
fn no_numbers_no_baseline_and_no_rotation() {
    says(&refused(|rig| rig.left.cx = f64::NAN), &["left camera holds NaN", "calibrate again"]);
    says(&refused(|rig| rig.right.fx = f64::INFINITY), &["right camera holds inf"]);
    for y in [f64::NAN, 1e308] {
        says(&refused(|rig| rig.translation_m.y = y), &["T", "no lengths"]);
    }
    says(&refused(|rig| rig.translation_m = DVec3::ZERO), &["baseline is 0", "calibrate both together"]);
    for scale in [1.1, 0.0, f64::NAN, -1.0] {
        says(&refused(|rig| rig.rotation *= scale), &["R, the rotation", "is no rotation", "damaged"]);
    }
    says(&refused(|rig| rig.rotation.x_axis *= -1.0), &["is no rotation"]);
}

#[test]
fn absurd_focal_lengths_and_principal_points() {
    says(&refused(|rig| rig.right.fy = 0.0), &["right camera matrix is singular", "not calibrated"]);
    says(&refused(|rig| rig.left.fx = -500.0), &["left camera matrix is singular"]);
    says(&refused(|rig| (rig.left.fx, rig.left.fy) = (0.8, 0.8)), &["0.8", "in px", "640x480"]);
    let text = refused(|rig| {
        rig.size = None;
        (rig.left.fx, rig.left.fy) = (3.6, 3.6);
    });
    says(&text, &["3.6", "not in mm"]);
    says(&refused(|rig| rig.left.cx = 900.0), &["(900, 240)", "outside the image of 640x480", "another size"]);
    says(&doubted(|rig| rig.left.cx = 500.0), &["(500, 240)", "another camera"]);
    says(&doubted(|rig| rig.left.fy = 300.0), &["500 and 300 px", "another mode"]);
    says(&doubted(|rig| (rig.left.fx, rig.left.fy) = (900.0, 900.0)), &["two different lenses", "another camera"]);
    says(&refused(|rig| rig.size = Some((0, 480))), &["0x480", "correct it"]);
}

#[test]
fn distortion_that_folds() {
    let bend = |k: &[f64]| Distortion::from_opencv("D", k).unwrap();
    // the edge is at 0.64, the corner at 0.8: r (1 - k r²) turns at sqrt(1 / 3k)
    let text = refused(|rig| rig.left.distortion = bend(&[-1.5, 0.0, 0.0, 0.0]));
    says(&text, &["left camera's distortion folds inside the image", "calibrate again"]);
    let text = doubted(|rig| rig.right.distortion = bend(&[-0.35, 0.0, 0.0, 0.0]));
    says(&text, &["right camera's distortion folds", "corner", "all corners"]);
    assert_eq!(doubted(|rig| rig.right.distortion = bend(&[-0.2, 0.0, 0.0, 0.0])), "");
}

#[test]
fn matrices_of_another_mode() {
    let of_1280x720 = |rig: &mut StereoRig, focal_px: f64| {
        for camera in [&mut rig.left, &mut rig.right] {
            (camera.fx, camera.fy, camera.cx, camera.cy) = (focal_px, focal_px, 638.0, 361.0);
        }
    };
    let text = doubted(|rig| of_1280x720(rig, 900.0));
    says(&text, &["K looks like one of 1280x720 images, the calibration says 640x480", "image_width"]);
    assert!(!text.contains("far from the middle"), "{text}");
    // even where the rig is rejected, the size is named first
    let text = refused(|rig| {
        of_1280x720(rig, 900.0);
        rig.left.cx = 661.0;
    });
    says(&text, &["K looks like one of 1280x720", "as it is, the left camera's principal point (661, 361)"]);
    let text = refused(|rig| {
        rig.size = Some((1280, 720));
        rig.left.distortion = Distortion::from_opencv("D", &[-0.35, 0.0, 0.0, 0.0]).unwrap();
    });
    says(&text, &["K looks like one of 640x480 images, the calibration says 1280x720", "folds inside the image"]);
}

#[test]
fn rectifications_that_contradict() {
    let with = |change: fn(&mut Rectification)| {
        move |rig: &mut StereoRig| {
            let mut rectification = sound_rectification();
            change(&mut rectification);
            rig.rectification = Some(rectification);
        }
    };
    says(&refused(with(|r| r.baseline_m = 0.2)), &["0.1200 and 0.2000 m", "two calibrations"]);
    says(&refused(with(|r| r.rotation_left = DMat3::from_rotation_y(0.1))), &["R contradicts R1 and R2 by 5.7"]);
    says(&refused(with(|r| r.rotation_left *= 2.0)), &["R1 or R2", "no rotations"]);
    says(&refused(with(|r| r.left.fx = 0.0)), &["P1 or P2", "singular"]);
    says(&refused(with(|r| r.right.cy = 250.0)), &["P1 and P2", "do not belong together", "one calibration"]);
    says(&refused(with(|r| r.right.fx = 510.0)), &["do not belong together"]);
    let half = doubted(with(|r| {
        r.left = Projection { fx: 250.0, fy: 250.0, cx: 159.5, cy: 119.5 };
        r.right = r.left;
    }));
    says(&half, &["contradicts the image size 640x480", "(160, 120)", "another size"]);
}

#[test]
fn cameras_that_look_apart_are_doubted() {
    let text = doubted(|rig| rig.rotation = DMat3::from_rotation_y(0.5));
    says(&text, &["turned by 29 degrees"]);
}
