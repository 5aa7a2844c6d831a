//! XML of the Digital Image Correlation Engine: `CAMERA 0` and `CAMERA 1` as lists of parameters, which leave out what is 0.
//!
//! Rotation and `TX`, `TY`, `TZ` take a point of the world to the camera (`DICe_CameraSystem.cpp` and `DICe_Camera.cpp` of DICe 5ebcdfa), or those of camera 1 one of camera 0, where `extrinsics_relative_camera_to_camera` is true. The rotation is
//! `rotation_3x3_matrix`, or `Rz(GAMMA) Ry(BETA) Rx(ALPHA)` in degrees. Lengths have the unit of the calibration board.

use super::draft::{self, Draft, Pose};
use super::matrix::Matrix;
use super::tree::{Node, number};
use super::{FileError, Kind, ValueError, ValueFault, need};
use crate::{Camera, Distortion, StereoRig};
use glam::{DMat3, DVec3};

/// Parameters of a lens in OpenCV's order.
const LENS: [&str; 14] = ["K1", "K2", "P1", "P2", "K3", "K4", "K5", "K6", "S1", "S2", "S3", "S4", "T1", "T2"];

pub(super) fn recognizes(tree: &Node) -> bool {
    tree.get(&["xml_file_format"]).and_then(Node::word).is_some_and(|word| word.starts_with("DICe_xml"))
}

/// Reads the first two cameras.
pub(super) fn read(tree: &Node) -> Result<Draft, FileError> {
    let [(left, left_size, left_pose), (right, right_size, right_pose)] =
        [camera("CAMERA 0", tree)?, camera("CAMERA 1", tree)?];
    let is_relative = tree.get(&["extrinsics_relative_camera_to_camera"]).and_then(Node::word) == Some("true");
    let (rotation, translation) =
        if is_relative { right_pose } else { draft::relative([left_pose, right_pose].map(draft::inverse)) };
    let more = tree
        .has("CAMERA 2")
        .then(|| "the file has more than two cameras: CAMERA 0 is taken as left, CAMERA 1 as right".to_owned());
    let rig = StereoRig::new(left, right, rotation, translation, Some(left_size)).with_right_size(right_size);
    Ok(Draft { rig: StereoRig { kind: Kind::Dice, doubts: more.into_iter().collect(), ..rig }, unit: None })
}

fn camera(name: &str, tree: &Node) -> Result<(Camera, (usize, usize), Pose), FileError> {
    let node = need::node("", tree, name)?;
    let or_0 = |key: &str| if node.has(key) { need::number(name, node, key) } else { Ok(0.0) };
    let lens = LENS.map(or_0).into_iter().collect::<Result<Vec<_>, _>>()?;
    let distortion = match node.get(&["LENS_DISTORTION_MODEL"]).and_then(Node::word) {
        None | Some("NO_LENS_DISTORTION") => Distortion::default(),
        Some("OPENCV_LENS_DISTORTION") => Distortion::from_opencv(name, &lens)?,
        Some(other) => return Err(FileError::LensModel(other.to_owned())),
    };
    let camera =
        Camera { fx: or_0("FX")?, fy: or_0("FY")?, cx: or_0("CX")?, cy: or_0("CY")?, skew: or_0("FS")?, distortion };
    let [height, width] = list::<2>(name, node, "IMAGE_HEIGHT_WIDTH")?;
    let rotation = if let Some(rows) = node.get(&["rotation_3x3_matrix"]) {
        let rows = ["ROW 0", "ROW 1", "ROW 2"].map(|row| list::<3>(name, rows, row));
        let data = rows.into_iter().collect::<Result<Vec<_>, _>>()?.concat();
        Matrix { name: format!("{name}.rotation_3x3_matrix"), shape: None, data }.rotation()?
    } else {
        let [alpha, beta, gamma] = [or_0("ALPHA")?, or_0("BETA")?, or_0("GAMMA")?].map(f64::to_radians);
        DMat3::from_rotation_z(gamma) * DMat3::from_rotation_y(beta) * DMat3::from_rotation_x(alpha)
    };
    let translation = DVec3::new(or_0("TX")?, or_0("TY")?, or_0("TZ")?);
    Ok((camera, (width as usize, height as usize), (rotation, translation)))
}

/// Returns the numbers of a text such as `{ 1024, 1224 }`.
fn list<const N: usize>(group: &str, node: &Node, key: &str) -> Result<[f64; N], ValueError> {
    let text = need::node(group, node, key)?.word().unwrap_or_default();
    let words = text.trim_matches(['{', '}', ' ']).split(',');
    let data: Option<Vec<f64>> = words.map(|word| number(word.trim())).collect();
    let name = format!("{group}.{key}");
    let data = data.ok_or_else(|| ValueFault::HoldsWord.of(&name))?;
    Matrix { name, shape: None, data }.values::<N>(const { &[(1, N)] })
}

#[cfg(test)]
mod tests {
    use super::super::{LoadOptions, read};
    use super::*;
    use std::path::PathBuf;

    fn rig_of(text: &str) -> Result<StereoRig, crate::CalibrationError> {
        read(&[(PathBuf::from("cal.xml"), text.as_bytes().to_vec())], &LoadOptions::default())
    }

    fn list(name: &str, numbers: &[(&str, f64)], more: &str) -> String {
        let number =
            |(name, value): &(&str, f64)| format!("<Parameter name=\"{name}\" type=\"double\" value=\"{value}\"/>");
        let numbers = numbers.iter().map(number).collect::<Vec<_>>().concat();
        format!(
            "<ParameterList name=\"{name}\"><Parameter name=\"CX\" type=\"double\" value=\"611.5\"/><Parameter name=\"CY\" \
             type=\"double\" value=\"507.5\"/><Parameter name=\"FX\" type=\"double\" value=\"2402.5\"/><Parameter name=\"FY\" \
             type=\"double\" value=\"2404.5\"/><Parameter name=\"IMAGE_HEIGHT_WIDTH\" type=\"string\" value=\"{{ 1024, 1224 }}\" \
             />{numbers}{more}</ParameterList>"
        )
    }

    fn file(is_relative: bool, cameras: &[String]) -> String {
        format!(
            "<?xml version=\"1.0\"?>\n<ParameterList>\n<!-- a comment -->\n<Parameter name=\"xml_file_format\" type=\"string\" \
             value=\"DICe_xml_camera_system_file\"/><Parameter name=\"extrinsics_relative_camera_to_camera\" type=\"bool\" \
             value=\"{is_relative}\"/>{}</ParameterList>",
            cameras.concat()
        )
    }

    const OPENCV: &str = "<Parameter name=\"LENS_DISTORTION_MODEL\" type=\"string\" value=\"OPENCV_LENS_DISTORTION\"/>";

    #[test]
    fn poses_are_of_the_world_or_of_the_first_camera() {
        let lens = [("K1", -0.11), ("K2", 0.3), ("P2", -0.0007), ("T1", 0.01)];
        let turned = [("BETA", -15.0), ("TX", -131.0), ("TY", 0.5), ("TZ", 17.0)];
        let [left, right] = [list("CAMERA 0", &lens, OPENCV), list("CAMERA 1", &turned, "")];
        let rig = rig_of(&file(true, &[left, right.clone()])).unwrap();
        assert_eq!((rig.kind, rig.size, rig.left.fy), (Kind::Dice, Some((1224, 1024)), 2404.5));
        assert_eq!(rig.left.distortion.coefficients()[..5], [-0.11, 0.3, 0.0, -0.0007, 0.0]);
        assert_eq!(rig.left.distortion.coefficients()[12..], [0.01, 0.0]);
        assert!(rig.rotation.abs_diff_eq(DMat3::from_rotation_y(-15f64.to_radians()), 1e-12));
        assert!((rig.translation_m - DVec3::new(-0.131, 0.0005, 0.017)).length() < 1e-12, "{}", rig.summary());
        // both cameras turned about the board by 7.5 degrees
        let of_world = |name: &str, sign: f64| {
            let (sin, cos) = (sign * 7.5f64).to_radians().sin_cos();
            let row = |i: usize, [x, y, z]: [f64; 3]| {
                format!("<Parameter name=\"ROW {i}\" type=\"string\" value=\"{{ {x}, {y}, {z} }}\"/>")
            };
            let rows = [row(0, [cos, 0.0, sin]), row(1, [0.0, 1.0, 0.0]), row(2, [-sin, 0.0, cos])].concat();
            let rows = format!("<ParameterList name=\"rotation_3x3_matrix\">{rows}</ParameterList>");
            list(name, &[("TZ", 500.0)], &rows)
        };
        let rig = rig_of(&file(false, &[of_world("CAMERA 0", -1.0), of_world("CAMERA 1", 1.0)])).unwrap();
        assert!(rig.rotation.abs_diff_eq(DMat3::from_rotation_y(15f64.to_radians()), 1e-9), "{}", rig.rotation);
        assert!((rig.baseline_m() - 2.0 * 0.5 * 7.5f64.to_radians().sin()).abs() < 1e-9, "{}", rig.summary());
    }

    #[test]
    fn what_is_missing_or_of_another_lens_is_named() {
        let two = [list("CAMERA 0", &[], ""), list("CAMERA 1", &[("TX", -131.0)], "")];
        let vic = file(true, &two).replacen(
            "\"FX\"",
            "\"LENS_DISTORTION_MODEL\" type=\"string\" value=\"K1R1_K2R2_K3R3\"/><Parameter name=\"FX\"",
            1,
        );
        assert!(rig_of(&vic).unwrap_err().to_string().contains("lens model K1R1_K2R2_K3R3"));
        assert!(rig_of(&file(true, &two[..1])).unwrap_err().to_string().contains("CAMERA 1 is missing"));
        let without = file(true, &two).replace("IMAGE_HEIGHT_WIDTH", "SIZE");
        assert!(rig_of(&without).unwrap_err().to_string().contains("CAMERA 0.IMAGE_HEIGHT_WIDTH is missing"));
    }
}
