//! MATLAB's `stereoParameters` as JSON: `jsonencode` of the object, or of its `toStruct`. Points are rows in MATLAB, so its
//! `IntrinsicMatrix` and `RotationOfCamera2` are transposed (`K` and `PoseCamera2.R` are not); its pixels count from 1; the unit
//! is `WorldUnits`.

use super::draft::{Draft, Pose};
use super::matrix::Matrix;
use super::tree::Node;
use super::{FileError, Kind, ValueError, ValueFault, need};
use crate::{Camera, Distortion, LengthUnit, StereoRig};
use stereopsis_base::console::foreign;

const UNITS: &[(&str, LengthUnit)] = &[
    ("mm", LengthUnit::Millimetre),
    ("millimeters", LengthUnit::Millimetre),
    ("millimetres", LengthUnit::Millimetre),
    ("cm", LengthUnit::Centimetre),
    ("centimeters", LengthUnit::Centimetre),
    ("centimetres", LengthUnit::Centimetre),
    ("m", LengthUnit::Metre),
    ("meters", LengthUnit::Metre),
    ("metres", LengthUnit::Metre),
    ("in", LengthUnit::Metres(0.0254)),
    ("inches", LengthUnit::Metres(0.0254)),
];

/// Returns the parameters, at the top or below the name of the variable.
fn parameters(tree: &Node) -> Option<&Node> {
    let is = |node: &&Node| node.has("CameraParameters1") && node.has("CameraParameters2");
    std::iter::once(tree).chain(tree.entries().iter().map(|(_, node)| node)).find(is)
}

pub(super) fn recognizes(tree: &Node) -> bool {
    parameters(tree).is_some()
}

pub(super) fn read(tree: &Node) -> Result<Draft, FileError> {
    let tree = parameters(tree).unwrap_or(tree);
    let [left, right] = ["CameraParameters1", "CameraParameters2"].map(|name| camera(name, tree));
    let ((left, left_size), (right, right_size)) = (left?, right?);
    let size = left_size.or(right_size);
    let (rotation, translation) = pose(tree)?;
    let (unit, doubt) = unit(tree);
    let rig = StereoRig {
        right_size: right_size.filter(|_| right_size != size),
        ..StereoRig::new(left, right, rotation, translation, size)
    };
    let doubts = doubt.into_iter().collect();
    Ok(Draft { rig: StereoRig { kind: Kind::Matlab, doubts, ..rig }, unit })
}

/// Returns the pose of the left camera in the axes of the right one.
fn pose(tree: &Node) -> Result<Pose, ValueError> {
    if let Some(pose) = tree.get(&["PoseCamera2"]) {
        let rotation = need::matrix("PoseCamera2", pose, "R")?.rotation()?;
        return Ok((rotation, need::matrix("PoseCamera2", pose, "Translation")?.vector()?));
    }
    let rotation = need::matrix("", tree, "RotationOfCamera2")?.rotation()?.transpose();
    Ok((rotation, need::matrix("", tree, "TranslationOfCamera2")?.vector()?))
}

/// Returns the unit of lengths, or a doubt if its word is unknown.
fn unit(tree: &Node) -> (Option<LengthUnit>, Option<String>) {
    let Some(word) = tree.get(&["WorldUnits"]).and_then(Node::word) else { return (None, None) };
    let known = UNITS.iter().find(|(name, _)| name.eq_ignore_ascii_case(word)).map(|(_, unit)| *unit);
    let doubt =
        known.is_none().then(|| format!("its WorldUnits are {}, which is no unit that is known", foreign(word)));
    (known, doubt)
}

fn camera(name: &str, tree: &Node) -> Result<(Camera, Option<(usize, usize)>), FileError> {
    let node = need::node("", tree, name)?;
    let matrix = intrinsics(name, node)?;
    let radial = need::matrix(name, node, "RadialDistortion")?;
    radial.finite()?;
    let [p1, p2] = match node.get(&["TangentialDistortion"]) {
        Some(_) => need::matrix(name, node, "TangentialDistortion")?.values::<2>(PAIR)?,
        None => [0.0; 2],
    };
    let (&[k1, k2] | &[k1, k2, _]) = radial.data.as_slice() else {
        return Err(ValueFault::RadialCount(radial.data.len()).of(radial.name).into());
    };
    let k3 = radial.data.get(2).copied().unwrap_or_default();
    let distortion = Distortion::from_opencv(name, &[k1, k2, p1, p2, k3])?;
    let size = match node.get(&["ImageSize"]).and_then(|node| node.matrix("ImageSize")) {
        // empty if unknown
        Some(size) if !size.data.is_empty() => {
            let [height, width] = size.values::<2>(PAIR)?;
            Some((width as usize, height as usize))
        }
        _ => None,
    };
    let camera = matrix.camera(distortion)?;
    Ok((Camera { cx: camera.cx - 1.0, cy: camera.cy - 1.0, ..camera }, size))
}

const PAIR: &[(usize, usize)] = &[(1, 2), (2, 1)];

/// Returns a camera's matrix in OpenCV's order.
fn intrinsics(name: &str, node: &Node) -> Result<Matrix, ValueError> {
    if node.has("K") {
        return need::matrix(name, node, "K");
    }
    if node.has("IntrinsicMatrix") {
        let matrix = need::matrix(name, node, "IntrinsicMatrix")?;
        let [fx, right, above, skew, fy, beside, cx, cy, one] = matrix.values::<9>(&[(3, 3)])?;
        if above != 0.0 || beside != 0.0 {
            return Err(ValueFault::NotTransposed.of(matrix.name));
        }
        return Ok(Matrix { data: vec![fx, skew, cx, right, fy, cy, above, beside, one], ..matrix });
    }
    let [fx, fy] = need::matrix(name, node, "FocalLength")?.values::<2>(PAIR)?;
    let [cx, cy] = need::matrix(name, node, "PrincipalPoint")?.values::<2>(PAIR)?;
    let skew = if node.has("Skew") { need::number(name, node, "Skew")? } else { 0.0 };
    let data = vec![fx, skew, cx, 0.0, fy, cy, 0.0, 0.0, 1.0];
    Ok(Matrix { name: format!("{name}.FocalLength"), shape: None, data })
}

#[cfg(test)]
mod tests {
    use super::super::{LoadOptions, read};
    use super::*;
    use glam::{DMat3, DVec3};
    use std::path::PathBuf;

    fn rig_of(text: &str) -> Result<StereoRig, crate::CalibrationError> {
        read(&[(PathBuf::from("stereo.json"), text.as_bytes().to_vec())], &LoadOptions::default())
    }

    fn json(intrinsics: &str, pose: &str, units: &str) -> String {
        let camera = format!(
            r#"{{"RadialDistortion": [-0.11, 0.02, 0.004], "TangentialDistortion": [0.001, -0.0002], "ImageSize": [720, 1280],
            {intrinsics}, "WorldUnits": "{units}"}}"#
        );
        format!(r#"{{"CameraParameters1": {camera}, "CameraParameters2": {camera}, {pose}, "WorldUnits": "{units}"}}"#)
    }

    const K: &str = r#""IntrinsicMatrix": [[900.5, 0, 0], [0, 901.5, 0], [641.5, 361.5, 1]]"#;
    const POSE: &str = r#""RotationOfCamera2": [[0.9998000066665778, 0, -0.01999866669333308], [0, 1, 0],
        [0.01999866669333308, 0, 0.9998000066665778]], "TranslationOfCamera2": [-65.5, 0.25, -0.5]"#;

    #[test]
    fn rows_become_columns_and_pixels_count_from_0() {
        let rig = rig_of(&json(K, POSE, "millimeters")).unwrap();
        assert_eq!((rig.kind, rig.size, rig.unit), (Kind::Matlab, Some((1280, 720)), LengthUnit::Millimetre));
        assert_eq!((rig.left.fx, rig.left.fy, rig.right.cx, rig.right.cy), (900.5, 901.5, 640.5, 360.5));
        assert_eq!(rig.left.distortion.coefficients(), [-0.11, 0.02, 0.001, -0.0002, 0.004]);
        assert!((rig.translation_m - DVec3::new(-0.0655, 0.00025, -0.0005)).length() < 1e-15 && rig.doubts.is_empty());
        assert!(rig.rotation.abs_diff_eq(DMat3::from_rotation_y(0.02), 1e-12), "{}", rig.rotation);
        // newer releases: K and the pose as in OpenCV, below the name of the variable
        let pose = r#""PoseCamera2": {"Dimensionality": 3, "Translation": [-65.5, 0.25, -0.5], "R":
            [[0.9998000066665778, 0, 0.01999866669333308], [0, 1, 0], [-0.01999866669333308, 0, 0.9998000066665778]]}"#;
        for intrinsics in [
            r#""K": [[900.5, 0, 641.5], [0, 901.5, 361.5], [0, 0, 1]]"#,
            r#""FocalLength": [900.5, 901.5], "PrincipalPoint": [641.5, 361.5]"#,
        ] {
            let text = format!(r#"{{"stereoParams": {}}}"#, json(intrinsics, pose, "mm"));
            assert_eq!(rig_of(&text).unwrap(), rig);
        }
        assert!((rig_of(&json(K, POSE, "cm")).unwrap().baseline_m() - 0.655).abs() < 1e-3);
    }

    #[test]
    fn what_is_changed_or_unknown_is_said() {
        let transposed = r#""IntrinsicMatrix": [[900.5, 0, 641.5], [0, 901.5, 361.5], [0, 0, 1]]"#;
        assert!(rig_of(&json(transposed, POSE, "mm")).unwrap_err().to_string().contains("changed on its way"));
        let rig = rig_of(&json(K, POSE, "squares")).unwrap();
        assert!(rig.doubts.iter().any(|doubt| doubt.contains("WorldUnits are squares")), "{:?}", rig.doubts);
        let without = json(K, POSE, "mm").replace("TranslationOfCamera2", "Translation");
        assert!(rig_of(&without).unwrap_err().to_string().contains("TranslationOfCamera2 is missing"));
        let one = json(K, POSE, "mm").replace("[-0.11, 0.02, 0.004]", "[-0.11]");
        assert!(rig_of(&one).unwrap_err().to_string().contains("has 1 values, expected 2 or 3"));
    }
}
