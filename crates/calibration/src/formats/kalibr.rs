//! Kalibr's camchain: both cameras in one YAML file, with `T_cn_cnm1`, or with each camera's pose to an IMU. Lengths are in metres.

use super::draft::{self, Draft};
use super::matrix::Matrix;
use super::tree::Node;
use super::{FileError, Kind, ValueFault, WriteError, model, need, yaml_list};
use crate::{BrownConrady, Camera, Distortion, LengthUnit, StereoRig};
use glam::{DMat3, DVec3};
use std::fmt::Write as _;

pub(super) fn recognizes(tree: &Node) -> bool {
    tree.get(&["cam0"]).is_some_and(|cam| cam.has("intrinsics") && cam.has("camera_model"))
}

/// Reads `cam0` as the left camera and `cam1` as the right one.
pub(super) fn read(tree: &Node) -> Result<Draft, FileError> {
    let (Some(cam0), Some(cam1)) = (tree.get(&["cam0"]), tree.get(&["cam1"])) else {
        return Err(FileError::OneOfKalibr);
    };
    let (left, left_size) = camera("cam0", cam0, "distortion_coeffs")?;
    let (right, right_size) = camera("cam1", cam1, "distortion_coeffs")?;
    let mut doubts = Vec::new();
    if tree.has("cam2") {
        doubts.push("the camchain has more than two cameras: cam0 is taken as left, cam1 as right".to_owned());
    }
    let (rotation, translation) = pose(cam0, cam1)?;
    let rig = StereoRig::new(left, right, rotation, translation, Some(left_size)).with_right_size(right_size);
    Ok(Draft { rig: StereoRig { kind: Kind::Kalibr, doubts, ..rig }, unit: Some(LengthUnit::Metre) })
}

/// Reads a camera; `lens` is the key of its coefficients.
pub(super) fn camera(cam: &str, node: &Node, lens: &str) -> Result<(Camera, (usize, usize)), FileError> {
    let word = |key: &str| node.get(&[key]).and_then(Node::word).unwrap_or_default();
    let projection = word("camera_model");
    if projection != "pinhole" {
        return Err(ValueFault::KalibrModel(projection.to_owned()).of(format!("{cam}.camera_model")).into());
    }
    let intrinsics = need::matrix(cam, node, "intrinsics")?;
    let [fx, fy, cx, cy] = intrinsics.values::<4>(&[(4, 1), (1, 4)])?;
    let model = word("distortion_model");
    let lens = if model == "none" {
        Matrix { name: String::new(), shape: None, data: Vec::new() }
    } else {
        need::matrix(cam, node, lens)?
    };
    lens.finite()?;
    let distortion = model::lens(model, &lens.name, &lens.data)?;
    let resolution = need::matrix(cam, node, "resolution")?;
    let [width, height] = resolution.values::<2>(&[(2, 1), (1, 2)])?;
    Ok((Camera { fx, fy, cx, cy, skew: 0.0, distortion }, (width as usize, height as usize)))
}

fn pose(cam0: &Node, cam1: &Node) -> Result<(DMat3, DVec3), FileError> {
    if cam1.has("T_cn_cnm1") {
        return Ok(need::matrix("cam1", cam1, "T_cn_cnm1")?.pose()?);
    }
    let both = |key: &str| cam0.has(key) && cam1.has(key);
    let of = |key: &str| -> Result<_, FileError> {
        Ok([need::matrix("cam0", cam0, key)?.pose()?, need::matrix("cam1", cam1, key)?.pose()?])
    };
    if both("T_cam_imu") {
        Ok(draft::relative(of("T_cam_imu")?.map(draft::inverse)))
    } else if both("T_imu_cam") {
        Ok(draft::relative(of("T_imu_cam")?))
    } else {
        Err(FileError::NoKalibrPose)
    }
}

/// Returns the text of a rig's camchain, with `T_cn_cnm1`. Kalibr has no rectification, so the rig's own is left out.
///
/// # Errors
/// The rig has no image size, or a lens has coefficients that Kalibr's models lack.
pub(super) fn write(rig: &StereoRig) -> Result<String, WriteError> {
    let [Some(left_size), Some(right_size)] = rig.sizes() else {
        return Err(WriteError::NoSize("Kalibr's camchain"));
    };
    let mut text = String::new();
    let sides = [(0, "left", &rig.left, left_size), (1, "right", &rig.right, right_size)];
    for (number, side, camera, (width, height)) in sides {
        let (model, coefficients) = lens_of(side, camera)?;
        let Camera { fx, fy, cx, cy, .. } = *camera;
        let mut line = |args: std::fmt::Arguments| {
            let _ = writeln!(text, "{args}");
        };
        line(format_args!("cam{number}:"));
        if number == 1 {
            line(format_args!("  T_cn_cnm1:"));
            let turned = rig.rotation.transpose();
            for (row, shift) in
                [turned.x_axis, turned.y_axis, turned.z_axis].into_iter().zip(rig.translation_m.to_array())
            {
                line(format_args!("  - {}", yaml_list(&[row.x, row.y, row.z, shift])));
            }
            line(format_args!("  - {}", yaml_list(&[0.0, 0.0, 0.0, 1.0])));
        }
        line(format_args!("  cam_overlaps: [{}]\n  camera_model: pinhole", 1 - number));
        line(format_args!("  distortion_coeffs: {}\n  distortion_model: {model}", yaml_list(&coefficients)));
        line(format_args!("  intrinsics: {}\n  resolution: [{width}, {height}]", yaml_list(&[fx, fy, cx, cy])));
        line(format_args!("  rostopic: /stereo/{side}/image_raw"));
    }
    Ok(text)
}

/// Returns Kalibr's name of a camera's lens model, with its four coefficients.
fn lens_of(side: &'static str, camera: &Camera) -> Result<(&'static str, [f64; 4]), WriteError> {
    if camera.skew != 0.0 {
        return Err(WriteError::Skew { side, skew: camera.skew });
    }
    let BrownConrady { radial: [k1, k2, more @ ..], tangential: [p1, p2], prism, tilt } = match camera.distortion {
        Distortion::Fisheye(lens) => return Ok(("equidistant", lens.k)),
        Distortion::BrownConrady(lens) => lens,
    };
    let names = ["k3", "k4", "k5", "k6", "s1", "s2", "s3", "s4", "tau_x", "tau_y"];
    match names.iter().zip(more.iter().chain(&prism).chain(&tilt)).find(|(_, value)| **value != 0.0) {
        None => Ok(("radtan", [k1, k2, p1, p2])),
        Some((name, &value)) => Err(WriteError::KalibrLens { side, name, value }),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{LoadOptions, Output, read, write};
    use super::*;
    use crate::rig::tests::plain_rig;

    fn rig_of(distortion: Distortion) -> StereoRig {
        let mut rig = plain_rig();
        rig.left.distortion = distortion;
        rig.rotation = DMat3::from_rotation_y(0.013) * DMat3::from_rotation_x(1e-5);
        rig.translation_m = DVec3::new(-0.12, 3e-5, 0.002);
        rig
    }

    fn written(rig: &StereoRig) -> Result<String, crate::CalibrationError> {
        let files = write(rig, Output::Kalibr, 0.0)?;
        Ok(String::from_utf8(files[0].1.clone()).unwrap())
    }

    #[test]
    fn pinholes_and_fisheyes_come_back() {
        let radtan = Distortion::from_opencv("D1", &[-0.28, 0.074, 2e-4, 1.8e-5]).unwrap();
        let fisheye = Distortion::from_fisheye("D1", &[0.0035, 7e-4, -0.002, 2e-4]).unwrap();
        for (lens, name) in [(radtan, "radtan"), (fisheye, "equidistant")] {
            let rig = rig_of(lens);
            let text = written(&rig).unwrap();
            assert!(text.contains(&format!("distortion_model: {name}\n")), "{text}");
            let files = [("camchain.yaml".into(), text.into_bytes())];
            let back = read(&files, &LoadOptions::default()).unwrap();
            assert_eq!((back.left, back.right, back.size, back.kind), (rig.left, rig.right, rig.size, Kind::Kalibr));
            assert!(back.rotation.abs_diff_eq(rig.rotation, 1e-15) && back.translation_m == rig.translation_m);
        }
    }

    #[test]
    fn what_kalibr_cannot_hold_is_refused() {
        let lens = |k: &[f64]| Distortion::from_opencv("D1", k).unwrap();
        let refusal = written(&rig_of(lens(&[-0.3, 0.1, 0.0, 0.0, -0.02]))).unwrap_err().to_string();
        assert!(refusal.contains("left camera's lens has k3 = -0.02") && refusal.contains("CALIB_FIX_K3"), "{refusal}");
        let refusal = written(&rig_of(lens(&[0.1, 0.1, 0.0, 0.0, 0.0, 0.3, 0.0, 0.0]))).unwrap_err().to_string();
        assert!(refusal.contains("k4 = 0.3"), "{refusal}");
        let refusal = written(&rig_of(lens(&[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1e-3, 0.0, 0.0])))
            .unwrap_err()
            .to_string();
        assert!(refusal.contains("s2 = 0.001"), "{refusal}");
        assert!(written(&rig_of(lens(&[-0.3, 0.1, 0.0, 0.0, 0.0]))).is_ok(), "k3 of exactly 0 is none");
        let refusal = written(&StereoRig { size: None, ..plain_rig() }).unwrap_err().to_string();
        assert!(refusal.contains("size"), "{refusal}");
    }
}
