//! Argoverse's `vehicle_calibration_info.json` and `vehicle_calibration_stereo_info.json`: intrinsics of each camera, and its pose in the
//! vehicle. `vehicle_SE3_camera_`, a quaternion w x y z and a translation in metres, takes a point of the camera to the vehicle, and
//! `distortion_coefficients_` are k1 k2 k3 (argoverse-api, commit f886ac5, `argoverse/utils/calibration.py`). The file has no image size.

use super::cameras::pair;
use super::draft::{self, Draft, Pose};
use super::tree::Node;
use super::{FileError, Kind, LoadOptions, need};
use crate::{Camera, Distortion, LengthUnit, StereoRig};
use glam::{DMat3, DQuat};

pub(super) fn recognizes(tree: &Node) -> bool {
    matches!(tree.get(&["camera_data_"]), Some(Node::List(_)))
}

type Named<'a> = (Vec<String>, (&'a str, &'a Node));

/// Reads the cameras named by the options, else the rectified ones of the stereo pair, else the pair as it is.
pub(super) fn read(tree: &Node, options: &LoadOptions) -> Result<Draft, FileError> {
    let all = match tree.get(&["camera_data_"]) {
        Some(Node::List(all)) => all.as_slice(),
        _ => &[],
    };
    let mut known: Vec<Named> = Vec::new();
    for camera in all {
        let key = camera.get(&["key"]).and_then(Node::word).unwrap_or_default();
        let name = key.strip_prefix("image_raw_").unwrap_or(key);
        known.push((vec![name.to_owned()], (name, need::node(name, camera, "value")?)));
    }
    if options.cameras.is_none() {
        let is_rectified = |(_, (name, _)): &Named| name.starts_with("stereo_") && name.ends_with("_rect");
        let has_rectified = known.iter().any(is_rectified);
        known.retain(|camera| if has_rectified { is_rectified(camera) } else { camera.1.0.starts_with("stereo_") });
    }
    let ([left, right], doubt) = pair(&known, options)?;
    let [(left, left_pose), (right, right_pose)] = [camera(left)?, camera(right)?];
    let (rotation, translation) = draft::relative([left_pose, right_pose]);
    let rig = StereoRig::new(left, right, rotation, translation, None);
    let doubts = doubt.into_iter().collect();
    Ok(Draft { rig: StereoRig { kind: Kind::Argoverse, doubts, ..rig }, unit: Some(LengthUnit::Metre) })
}

fn camera(&(name, node): &(&str, &Node)) -> Result<(Camera, Pose), FileError> {
    let of = |key: &str| need::number(name, node, key);
    let lens = need::matrix(name, node, "distortion_coefficients_")?;
    let [k1, k2, k3] = lens.values::<3>(&[(1, 3), (3, 1)])?;
    let camera = Camera {
        fx: of("focal_length_x_px_")?,
        fy: of("focal_length_y_px_")?,
        cx: of("focal_center_x_px_")?,
        cy: of("focal_center_y_px_")?,
        skew: of("skew_")?,
        distortion: Distortion::from_opencv(&lens.name, &[k1, k2, 0.0, 0.0, k3])?,
    };
    let pose = need::node(name, node, "vehicle_SE3_camera_")?;
    let rotation = need::node(name, pose, "rotation")?;
    let [w, x, y, z] = need::matrix(name, rotation, "coefficients")?.values::<4>(&[(1, 4), (4, 1)])?;
    let rotation = DMat3::from_quat(DQuat::from_xyzw(x, y, z, w).normalize());
    Ok((camera, (rotation, need::matrix(name, pose, "translation")?.vector()?)))
}

#[cfg(test)]
mod tests {
    use super::super::read;
    use super::*;
    use glam::DVec3;
    use std::path::PathBuf;

    fn rig_of(cameras: &[String], chosen: Option<&str>) -> Result<StereoRig, crate::CalibrationError> {
        let options = LoadOptions { cameras: chosen.map(|text| text.parse().unwrap()), ..LoadOptions::default() };
        let text = format!(r#"{{"camera_data_": [{}], "vehicle_SE3_up_lidar_": {{}}}}"#, cameras.join(", "));
        read(&[(PathBuf::from("vehicle.json"), text.into_bytes())], &options)
    }

    /// A camera of a vehicle whose x axis points forward and whose y axis points to the left.
    fn camera(name: &str, focal_px: f64, left_m: f64) -> String {
        format!(
            r#"{{"key": "image_raw_{name}", "value": {{"focal_length_x_px_": {focal_px}, "focal_length_y_px_": {focal_px}, "focal_center_x_px_":
            1231.5, "focal_center_y_px_": 1029.5, "skew_": 0, "distortion_coefficients_": [-0.17, 0.12, -0.03], "vehicle_SE3_camera_":
            {{"rotation": {{"coefficients": [0.5, -0.5, 0.5, -0.5]}}, "translation": [1.62, {left_m}, 1.39]}}}}}}"#
        )
    }

    #[test]
    fn poses_in_the_vehicle_become_one_between_the_cameras() {
        let raw = [camera("ring_front_left", 1390.5, 0.2), camera("stereo_front_left", 3690.5, 0.148)];
        let raw = [&raw[..], &[camera("stereo_front_right", 3691.5, -0.151)]].concat();
        let rig = rig_of(&raw, None).unwrap();
        assert_eq!((rig.kind, rig.size, rig.left.fx, rig.right.fx), (Kind::Argoverse, None, 3690.5, 3691.5));
        assert_eq!(rig.left.distortion.coefficients(), [-0.17, 0.12, 0.0, 0.0, -0.03]);
        assert!((rig.translation_m - DVec3::new(-0.299, 0.0, 0.0)).length() < 1e-12, "{}", rig.translation_m);
        assert!(rig.rotation.abs_diff_eq(DMat3::IDENTITY, 1e-12) && rig.doubts.is_empty(), "{:?}", rig.doubts);
        let rectified =
            [camera("stereo_front_left_rect", 3660.5, 0.148), camera("stereo_front_right_rect", 3660.5, -0.151)];
        let both = [&raw[..], &rectified].concat();
        assert_eq!((rig_of(&both, None).unwrap().left.fx, raw.len()), (3660.5, 3));
        let chosen = rig_of(&both, Some("ring_front_left,stereo_front_right")).unwrap();
        assert!((chosen.baseline_m() - 0.351).abs() < 1e-12);
        let refusal = rig_of(&raw[..1], None).unwrap_err().to_string();
        assert!(refusal.contains("it has 0 of none"), "{refusal}");
    }
}
