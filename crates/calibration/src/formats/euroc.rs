//! The EuRoC data set's `sensor.yaml` and Kimera's camera files: a YAML file for each camera, with its pose in the axes of a body. Lengths
//! are in metres.

use super::draft::{self, Draft};
use super::tree::Node;
use super::{File, FileError, Kind, kalibr, need};
use crate::{LengthUnit, StereoRig};

pub(super) fn recognizes(tree: &Node) -> bool {
    tree.has("T_BS") && tree.has("intrinsics")
}

/// Reads two cameras, the left one first.
pub(super) fn read(files: &[File]) -> Result<Draft, FileError> {
    let [left, right] = files else {
        return Err(FileError::OneOfEuroc);
    };
    let camera = |file: &File| kalibr::camera(&file.name, &file.tree, "distortion_coefficients");
    let pose = |file: &File| need::matrix(&file.name, &file.tree, "T_BS")?.pose();
    let ((left_camera, left_size), (right_camera, right_size)) = (camera(left)?, camera(right)?);
    let (rotation, translation) = draft::relative([pose(left)?, pose(right)?]);
    let rig = StereoRig::new(left_camera, right_camera, rotation, translation, Some(left_size));
    let rig = rig.with_right_size(right_size);
    Ok(Draft { rig: StereoRig { kind: Kind::Euroc, ..rig }, unit: Some(LengthUnit::Metre) })
}

#[cfg(test)]
mod tests {
    use super::super::{LoadOptions, read};
    use glam::{DMat3, DVec3};
    use std::path::PathBuf;

    /// Returns a camera at a place of a body whose x axis points down in the images.
    fn camera(x_m: f64, y_m: f64, size: &str) -> (PathBuf, Vec<u8>) {
        let text = format!(
            "%YAML:1.0\nsensor_type: camera\nT_BS:\n  cols: 4\n  rows: 4\n  data: [0.0, -1.0, 0.0, {x_m},\n         1.0, 0.0, 0.0, {y_m},\n         \
             0.0, 0.0, 1.0, 0.02,\n         0.0, 0.0, 0.0, 1.0]\nrate_hz: 20\nresolution: {size}\ncamera_model: pinhole\n\
             intrinsics: [458.6, 457.3, 367.2, 248.4] #fu, fv, cu, cv\ndistortion_model: radial-tangential\n\
             distortion_coefficients: [-0.28, 0.07, 0.0002, 1.7e-05]\n"
        );
        (PathBuf::from(format!("cam{}/sensor.yaml", y_m * 10.0)), text.into_bytes())
    }

    #[test]
    fn two_cameras_and_their_poses_in_a_body_are_a_rig() {
        let rig = |files: &[_]| read(files, &LoadOptions::default());
        let found = rig(&[camera(0.3, 0.0, "[752, 480]"), camera(0.3, 0.11, "[752, 480]")]).unwrap();
        assert!((found.translation_m - DVec3::new(-0.11, 0.0, 0.0)).length() < 1e-12, "{}", found.translation_m);
        assert!(found.rotation.abs_diff_eq(DMat3::IDENTITY, 1e-12));
        assert_eq!((found.left.fy, found.right.distortion.coefficients()[0]), (457.3, -0.28));
        assert_eq!((found.size, found.kind.word()), (Some((752, 480)), "EuRoC"));
        let one = rig(&[camera(0.3, 0.0, "[752, 480]")]).unwrap_err().to_string();
        assert!(one.contains("cam0/sensor.yaml,cam1/sensor.yaml"), "{one}");
        let swapped = rig(&[camera(0.3, 0.11, "[752, 480]"), camera(0.3, 0.0, "[752, 480]")]).unwrap_err().to_string();
        assert!(swapped.contains("to the left of the left one"), "{swapped}");
        let sizes = rig(&[camera(0.3, 0.0, "[752, 480]"), camera(0.3, 0.11, "[640, 480]")]).unwrap();
        assert_eq!((sizes.size, sizes.right_size), (Some((752, 480)), Some((640, 480))));
    }
}
