//! multical's `calibration.json` (0.4.0, `io/export_calib.py`): intrinsics of each camera, and the pose from common axes to it. These are the
//! axes of the camera `A` where the others' poses are called `B_to_A`. Lengths have the unit of the board.

use super::cameras::pair;
use super::draft::{self, Draft, Posed};
use super::tree::Node;
use super::{FileError, Kind, LoadOptions, ValueFault, model, need};

fn cameras(tree: &Node) -> &[(String, Node)] {
    tree.get(&["cameras"]).map(Node::entries).unwrap_or_default()
}

pub(super) fn recognizes(tree: &Node) -> bool {
    let is_camera =
        |(_, camera): &(String, Node)| ["model", "image_size", "K", "dist"].iter().all(|key| camera.has(key));
    cameras(tree).first().is_some_and(is_camera)
}

/// Reads two cameras, see [`pair`].
pub(super) fn read(tree: &Node, options: &LoadOptions) -> Result<Draft, FileError> {
    let Some(poses) = tree.get(&["camera_poses"]) else { return Err(FileError::Alone) };
    let known: Vec<_> = cameras(tree).iter().map(|camera| (vec![camera.0.clone()], camera)).collect();
    let ([left, right], doubt) = pair(&known, options)?;
    Ok(draft::of_posed(Kind::Multical, [camera(left, poses)?, camera(right, poses)?], doubt, None))
}

fn camera((name, node): &(String, Node), poses: &Node) -> Result<Posed, FileError> {
    let lens = need::matrix(name, node, "dist")?;
    lens.finite()?;
    // cv2.calibrateCamera returns five numbers at least, cv2.fisheye.calibrate four
    let distortion = model::lens(if lens.data.len() == 4 { "fisheye" } else { "" }, &lens.name, &lens.data)?;
    let [width, height] = need::matrix(name, node, "image_size")?.values::<2>(&[(2, 1), (1, 2)])?;
    let to_other = format!("{name}_to_");
    let pose = poses
        .get(&[name])
        .or_else(|| poses.entries().iter().find(|(key, _)| key.starts_with(&to_other)).map(|(_, pose)| pose));
    let pose = pose.ok_or_else(|| ValueFault::Absent.of(format!("camera_poses.{name}")))?;
    let pose = (need::matrix(name, pose, "R")?.rotation()?, need::matrix(name, pose, "T")?.vector()?);
    Ok((need::matrix(name, node, "K")?.camera(distortion)?, Some((width as usize, height as usize)), pose))
}

#[cfg(test)]
mod tests {
    use super::super::draft::tests::{has_relative_pose, poses, relative_pose, rows};
    use super::super::read;
    use super::*;
    use std::path::PathBuf;

    fn rig_of(text: &str, cameras: Option<&str>) -> Result<crate::StereoRig, crate::CalibrationError> {
        let options = LoadOptions { cameras: cameras.map(|text| text.parse().unwrap()), ..LoadOptions::default() };
        read(&[(PathBuf::from("calibration.json"), text.as_bytes().to_vec())], &options)
    }

    fn camera(name: &str, focal_px: f64, lens: &str) -> String {
        format!(
            r#""{name}": {{"model": "standard", "image_size": [640, 480], "K": [[{focal_px}, 0.0, 321.5], [0.0, 611.5, 238.5],
            [0.0, 0.0, 1.0]], "dist": [[{lens}]]}}"#
        )
    }

    fn pose_of(name: &str, (rotation, translation): draft::Pose) -> String {
        format!(r#""{name}": {{"R": {}, "T": {:?}}}"#, rows(rotation), translation.to_array())
    }

    #[test]
    fn poses_to_a_camera_or_to_common_axes_are_read() {
        let [left, right] = poses();
        let lens = "-0.1, 0.02, 0.001, -0.0005, 0.01";
        let cameras = [camera("a", 600.5, lens), camera("b", 602.5, lens), camera("c", 604.5, "0.01, 0.002, 0.0, 0.0")];
        let file = |poses: &[String]| {
            format!(r#"{{"cameras": {{{}}}, "camera_poses": {{{}}}}}"#, cameras.join(", "), poses.join(", "))
        };
        let identity = pose_of("a", (glam::DMat3::IDENTITY, glam::DVec3::ZERO));
        let to_a = file(&[identity, pose_of("b_to_a", relative_pose()), pose_of("c_to_a", left)]);
        let rig = rig_of(&to_a, Some("a,b")).unwrap();
        assert_eq!((rig.kind, rig.size, rig.left.fx, rig.right.fx), (Kind::Multical, Some((640, 480)), 600.5, 602.5));
        assert_eq!(rig.left.distortion.coefficients(), [-0.1, 0.02, 0.001, -0.0005, 0.01]);
        assert!(has_relative_pose(&rig) && rig.doubts.is_empty(), "{}", rig.summary());
        let common = file(&[pose_of("a", left), pose_of("b", right), pose_of("c", left)]);
        let rig = rig_of(&common, None).unwrap();
        assert!(has_relative_pose(&rig) && rig.doubts[0].contains("a is taken as left"), "{:?}", rig.doubts);
        assert_eq!(rig_of(&common, Some("c,b")).unwrap().left.distortion.name(), "fisheye");
        let refusal = rig_of(&common.replace("camera_poses", "other"), None).unwrap_err().to_string();
        assert!(refusal.contains("does not say how the cameras stand to each other"), "{refusal}");
        let refusal = rig_of(&file(&[pose_of("a", left)]), None).unwrap_err().to_string();
        assert!(refusal.contains("camera_poses.b is missing"), "{refusal}");
    }
}
