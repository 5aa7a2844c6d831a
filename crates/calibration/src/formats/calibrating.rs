//! YAML of the Python package calibrating (`Stereo.dump`, version 0.8.7): both cameras, and `R` and `t` of `cv2.stereoCalibrate`, which take
//! a point of camera 1 to camera 2. Lengths have the unit of the board.

use super::draft::Draft;
use super::tree::Node;
use super::{FileError, Kind, need};
use crate::{Camera, Distortion, StereoRig};

pub(super) fn recognizes(tree: &Node) -> bool {
    let is_camera = |key: &str| tree.get(&[key]).is_some_and(|node| node.has("fx") && node.has("xy"));
    is_camera("cam1") && is_camera("cam2")
}

pub(super) fn read(tree: &Node) -> Result<Draft, FileError> {
    let [(left, left_size), (right, right_size)] = [camera("cam1", tree)?, camera("cam2", tree)?];
    let (rotation, translation) = (need::matrix("", tree, "R")?.rotation()?, need::matrix("", tree, "t")?.vector()?);
    let rig = StereoRig::new(left, right, rotation, translation, Some(left_size)).with_right_size(right_size);
    Ok(Draft { rig: StereoRig { kind: Kind::Calibrating, ..rig }, unit: None })
}

fn camera(name: &str, tree: &Node) -> Result<(Camera, (usize, usize)), FileError> {
    let node = need::node("", tree, name)?;
    let of = |key: &str| need::number(name, node, key);
    let lens = need::matrix(name, node, "D")?;
    lens.finite()?;
    let distortion = Distortion::from_opencv(&lens.name, &lens.data)?;
    let [width, height] = need::matrix(name, node, "xy")?.values::<2>(&[(1, 2), (2, 1)])?;
    let camera = Camera { fx: of("fx")?, fy: of("fy")?, cx: of("cx")?, cy: of("cy")?, skew: 0.0, distortion };
    Ok((camera, (width as usize, height as usize)))
}

#[cfg(test)]
mod tests {
    use super::super::{LoadOptions, read};
    use super::*;
    use glam::DVec3;
    use std::path::PathBuf;

    #[test]
    fn both_cameras_and_their_pose_are_read() {
        let rig_of =
            |text: &str| read(&[(PathBuf::from("stereo.yaml"), text.as_bytes().to_vec())], &LoadOptions::default());
        let camera = |name: &str, cx: f64| {
            format!(
                "{name}:\n  D:\n  - - -0.11\n    - 0.03\n    - 0.001\n    - -0.0005\n    - 0.002\n  cx: {cx}\n  cy: 241.5\n  fx: 601.5\n  \
                 fy: 602.5\n  name: a\n  xy:\n  - 640\n  - 480\n"
            )
        };
        let text = format!(
            "R:\n- - 1.0\n  - 0.0\n  - 0.0\n- - 0.0\n  - 1.0\n  - 0.0\n- - 0.0\n  - 0.0\n  - 1.0\n_calibrating_version: 0.8.7\n{}{}retval: \
             0.2\nt:\n- - -0.0655\n- - 0.0005\n- - 0.0003\n",
            camera("cam1", 320.5),
            camera("cam2", 322.5)
        );
        let rig = rig_of(&text).unwrap();
        assert_eq!((rig.kind, rig.size, rig.right.cx), (Kind::Calibrating, Some((640, 480)), 322.5));
        assert_eq!(rig.left.distortion.coefficients(), [-0.11, 0.03, 0.001, -0.0005, 0.002]);
        assert_eq!((rig.translation_m, rig.doubts.len()), (DVec3::new(-0.0655, 0.0005, 0.0003), 0));
        let refusal = rig_of(&text.replacen("fy:", "f:", 1)).unwrap_err().to_string();
        assert!(refusal.contains("cam1.fy is missing"), "{refusal}");
    }
}
