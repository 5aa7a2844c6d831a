//! Kalibr's camchain: both cameras in one YAML file, with `T_cn_cnm1`, or with each camera's pose to an IMU. Lengths are in
//! metres.

use super::matrix::Matrix;
use super::tree::Node;
use super::{Kind, draft::Draft, model};
use crate::calibration::{CalibrationError, Camera, LengthUnit, StereoRig};
use crate::console::foreign;
use glam::{DMat3, DVec3};

/// Whether a tree is a camchain.
pub(super) fn recognizes(tree: &Node) -> bool {
    tree.get(&["cam0"]).is_some_and(|cam| cam.has("intrinsics") && cam.has("camera_model"))
}

/// Reads `cam0` as the left camera and `cam1` as the right one.
pub(super) fn read(tree: &Node) -> Result<Draft, CalibrationError> {
    let (Some(cam0), Some(cam1)) = (tree.get(&["cam0"]), tree.get(&["cam1"])) else {
        return Err(CalibrationError(
            "this camchain of Kalibr has one camera, cam0; calibrate both together (kalibr_calibrate_cameras with two topics \
             and two models)"
                .to_owned(),
        ));
    };
    let (left, left_size) = camera("cam0", cam0)?;
    let (right, right_size) = camera("cam1", cam1)?;
    if left_size != right_size {
        return Err(CalibrationError(format!(
            "cam0 is calibrated for {}x{}, cam1 for {}x{}: calibrate both in one mode",
            left_size.0, left_size.1, right_size.0, right_size.1
        )));
    }
    let mut doubts = Vec::new();
    if tree.has("cam2") {
        doubts.push("the camchain has more than two cameras: cam0 is taken as left, cam1 as right".to_owned());
    }
    let (rotation, translation) = pose(cam0, cam1)?;
    let rig = StereoRig::new(left, right, rotation, translation, Some(left_size));
    Ok(Draft { rig: StereoRig { kind: Kind::Kalibr, doubts, ..rig }, unit: Some(LengthUnit::Metre) })
}

fn need(cam: &str, node: &Node, key: &str) -> Result<Matrix, CalibrationError> {
    let name = format!("{cam}.{key}");
    let value = node.get(&[key]).ok_or_else(|| CalibrationError(format!("{name} is missing")))?;
    value.matrix(&name).ok_or_else(|| CalibrationError(format!("{name} is no list of numbers; the file is damaged")))
}

fn camera(cam: &str, node: &Node) -> Result<(Camera, (usize, usize)), CalibrationError> {
    let word = |key: &str| node.get(&[key]).and_then(Node::word).unwrap_or_default();
    let projection = word("camera_model");
    if projection != "pinhole" {
        return Err(CalibrationError(format!(
            "{cam}.camera_model is {}, which is not supported; calibrate again with pinhole-radtan or pinhole-equi",
            foreign(projection)
        )));
    }
    let intrinsics = need(cam, node, "intrinsics")?;
    let [fx, fy, cx, cy] = intrinsics.values::<4>(&[(4, 1), (1, 4)])?;
    let model = word("distortion_model");
    let lens = if model == "none" {
        Matrix { name: String::new(), shape: None, data: Vec::new() }
    } else {
        need(cam, node, "distortion_coeffs")?
    };
    lens.finite()?;
    let distortion = model::lens(model, &lens.name, &lens.data)?;
    let resolution = need(cam, node, "resolution")?;
    let [width, height] = resolution.values::<2>(&[(2, 1), (1, 2)])?;
    Ok((Camera { fx, fy, cx, cy, distortion }, (width as usize, height as usize)))
}

/// Transformation from cam0 to cam1.
fn pose(cam0: &Node, cam1: &Node) -> Result<(DMat3, DVec3), CalibrationError> {
    if cam1.has("T_cn_cnm1") {
        return need("cam1", cam1, "T_cn_cnm1")?.pose();
    }
    let both = |key: &str| cam0.has(key) && cam1.has(key);
    let of = |key: &str| -> Result<_, CalibrationError> {
        Ok((need("cam0", cam0, key)?.pose()?, need("cam1", cam1, key)?.pose()?))
    };
    if both("T_cam_imu") {
        // both from the IMU to the camera
        let ((r0, t0), (r1, t1)) = of("T_cam_imu")?;
        let rotation = r1 * r0.transpose();
        Ok((rotation, t1 - rotation * t0))
    } else if both("T_imu_cam") {
        // both from the camera to the IMU
        let ((r0, t0), (r1, t1)) = of("T_imu_cam")?;
        Ok((r1.transpose() * r0, r1.transpose() * (t0 - t1)))
    } else {
        Err(CalibrationError(
            "the camchain does not say how the cameras stand to each other: looked for cam1.T_cn_cnm1, or T_cam_imu or \
             T_imu_cam of both; take the camchain that Kalibr wrote last"
                .to_owned(),
        ))
    }
}
