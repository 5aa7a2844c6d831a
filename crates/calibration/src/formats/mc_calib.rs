//! MC-Calib's `calibrated_cameras_data.yml` (README of commit 05919d9): `camera_pose_matrix` is the pose of a camera in the axes of camera 0,
//! so it takes a point of the camera to them. Lengths have the unit of the board.

use super::cameras::pair;
use super::draft::{self, Draft, Posed};
use super::tree::Node;
use super::{FileError, Kind, LoadOptions, model, need};

pub(super) fn recognizes(tree: &Node) -> bool {
    tree.has("nb_camera") && tree.get(&["camera_0"]).is_some_and(|camera| camera.has("camera_pose_matrix"))
}

/// Reads two cameras by their keys or numbers, see [`pair`].
pub(super) fn read(tree: &Node, options: &LoadOptions) -> Result<Draft, FileError> {
    let named = |camera: &&(String, Node)| camera.1.has("camera_matrix");
    let names = |key: &str| [Some(key.to_owned()), key.strip_prefix("camera_").map(str::to_owned)];
    let known = tree.entries().iter().filter(named);
    let known: Vec<_> = known.map(|camera| (names(&camera.0).into_iter().flatten().collect(), camera)).collect();
    let ([left, right], doubt) = pair(&known, options)?;
    // cameras that never saw a board together are of several groups, each with axes of its own
    if left.1.get(&["camera_group"]) != right.1.get(&["camera_group"]) {
        return Err(FileError::Alone);
    }
    Ok(draft::of_posed(Kind::McCalib, [camera(left)?, camera(right)?], doubt, None))
}

fn camera((name, node): &(String, Node)) -> Result<Posed, FileError> {
    let number = |key: &str| need::number(name, node, key);
    let lens = need::matrix(name, node, "distortion_vector")?;
    lens.finite()?;
    let distortion = match number("distortion_type")? {
        0.0 => model::lens("", &lens.name, &lens.data)?,
        1.0 => model::lens("fisheye", &lens.name, &lens.data)?,
        other => return Err(FileError::LensModel(format!("distortion_type {other} of MC-Calib"))),
    };
    let size = (number("img_width")? as usize, number("img_height")? as usize);
    let pose = draft::inverse(need::matrix(name, node, "camera_pose_matrix")?.pose()?);
    Ok((need::matrix(name, node, "camera_matrix")?.camera(distortion)?, Some(size), pose))
}

#[cfg(test)]
mod tests {
    use super::super::draft::tests::{has_relative_pose, poses};
    use super::super::read;
    use super::*;
    use std::path::PathBuf;

    fn rig_of(text: &str) -> Result<crate::StereoRig, crate::CalibrationError> {
        read(&[(PathBuf::from("calibrated_cameras_data.yml"), text.as_bytes().to_vec())], &LoadOptions::default())
    }

    fn camera(i: usize, focal_px: f64, kind: u8, pose: draft::Pose) -> String {
        let (rotation, translation) = draft::inverse(pose);
        let data: Vec<_> =
            (0..3).flat_map(|i| [rotation.row(i).to_array().to_vec(), vec![translation[i]]].concat()).collect();
        let matrix = |rows: usize, cols: usize, data: &str| {
            format!("!!opencv-matrix\n      rows: {rows}\n      cols: {cols}\n      dt: d\n      data: [ {data} ]\n")
        };
        let (lens, count) =
            if kind == 0 { ("-0.1, 0.02, 0.001, -0.0005, 0.01", 5) } else { ("0.01, 0.002, 0.0, 0.0", 4) };
        format!(
            "camera_{i}:\n   camera_matrix: {}   distortion_vector: {}   distortion_type: {kind}\n   camera_group: 0\n   img_width: 640\n   \
             img_height: 480\n   camera_pose_matrix: {}",
            matrix(3, 3, &format!("{focal_px}, 0., 321.5, 0., 611.5, 238.5, 0., 0., 1.")),
            matrix(1, count, lens),
            matrix(4, 4, &format!("{}, 0., 0., 0., 1.", format!("{data:?}").trim_matches(['[', ']'])))
        )
    }

    #[test]
    fn poses_in_the_axes_of_camera_0_become_one_between_the_cameras() {
        let [left, right] = poses();
        let text = |kind: u8| {
            format!("%YAML:1.0\n---\nnb_camera: 2\n{}{}", camera(0, 600.5, 0, left), camera(1, 602.5, kind, right))
        };
        let rig = rig_of(&text(0)).unwrap();
        assert_eq!((rig.kind, rig.size, rig.left.fx, rig.right.fx), (Kind::McCalib, Some((640, 480)), 600.5, 602.5));
        assert_eq!(rig.left.distortion.coefficients(), [-0.1, 0.02, 0.001, -0.0005, 0.01]);
        assert!(has_relative_pose(&rig) && rig.doubts.is_empty(), "{}", rig.summary());
        assert_eq!(rig_of(&text(1)).unwrap().right.distortion.name(), "fisheye");
        let refusal = rig_of(&text(2)).unwrap_err().to_string();
        assert!(refusal.contains("distortion_type 2 of MC-Calib is not supported"), "{refusal}");
        let groups = text(0).replacen("camera_group: 0", "camera_group: 1", 1);
        let refusal = rig_of(&groups).unwrap_err().to_string();
        assert!(refusal.contains("does not say how the cameras stand to each other"), "{refusal}");
    }
}
