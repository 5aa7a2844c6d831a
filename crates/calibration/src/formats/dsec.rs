//! `cam_to_cam.yaml` of the DSEC data set (dsec.ifi.uzh.ch, Data Format): event cameras 0 (left) and 3 (right), cameras of frames 1 (left) and 2
//! (right). `T_10` takes a point of camera 0 to camera 1, `R_rect1` turns it to the rectified `camRect1`, and `camera_matrix` is fx fy cx cy.
//! Lengths are in metres.

use super::cameras::pair;
use super::draft::{self, Draft, Pose, Posed};
use super::tree::Node;
use super::{FileError, Kind, LoadOptions, model, need};
use crate::{Camera, Distortion, LengthUnit};
use glam::{DMat3, DVec3};

pub(super) fn recognizes(tree: &Node) -> bool {
    tree.get(&["extrinsics"]).is_some_and(|poses| poses.has("T_10") && poses.has("R_rect0"))
}

/// Reads the cameras named by the options (`0,3` are rectified, `cam0,cam3` are not), else the rectified ones of the frames.
pub(super) fn read(tree: &Node, options: &LoadOptions) -> Result<Draft, FileError> {
    let rectified = [1, 2, 0, 3].map(|i| (vec![format!("camRect{i}"), i.to_string()], (i, true)));
    let raw = [1, 2, 0, 3].map(|i| (vec![format!("cam{i}")], (i, false)));
    let known = [rectified, raw].concat();
    let ([left, right], doubt) = pair(&known, options)?;
    let cameras = [camera(tree, left)?, camera(tree, right)?];
    Ok(draft::of_posed(Kind::Dsec, cameras, doubt, Some(LengthUnit::Metre)))
}

fn camera(tree: &Node, &(number, is_rectified): &(usize, bool)) -> Result<Posed, FileError> {
    let name = format!("{}{number}", if is_rectified { "camRect" } else { "cam" });
    let node = need::node("intrinsics", need::node("", tree, "intrinsics")?, &name)?;
    let [fx, fy, cx, cy] = need::matrix(&name, node, "camera_matrix")?.values::<4>(&[(4, 1), (1, 4)])?;
    let [width, height] = need::matrix(&name, node, "resolution")?.values::<2>(&[(2, 1), (1, 2)])?;
    let distortion = if is_rectified {
        Distortion::default()
    } else {
        let lens = need::matrix(&name, node, "distortion_coeffs")?;
        lens.finite()?;
        let model = node.get(&["distortion_model"]).and_then(Node::word).unwrap_or_default();
        model::lens(model, &lens.name, &lens.data)?
    };
    let pose = pose(need::node("", tree, "extrinsics")?, number, is_rectified)?;
    Ok((Camera { fx, fy, cx, cy, skew: 0.0, distortion }, Some((width as usize, height as usize)), pose))
}

/// Returns the pose from camera 0 to another one.
fn pose(poses: &Node, number: usize, is_rectified: bool) -> Result<Pose, FileError> {
    let (mut rotation, mut translation) = (DMat3::IDENTITY, DVec3::ZERO);
    for i in 1..=number {
        let (turn, shift) = need::matrix("extrinsics", poses, &format!("T_{i}{}", i - 1))?.pose()?;
        (rotation, translation) = (turn * rotation, turn * translation + shift);
    }
    if is_rectified {
        let turn = need::matrix("extrinsics", poses, &format!("R_rect{number}"))?.rotation()?;
        (rotation, translation) = (turn * rotation, turn * translation);
    }
    Ok((rotation, translation))
}

#[cfg(test)]
mod tests {
    use super::super::draft::tests::{has_relative_pose, poses, relative_pose, rows};
    use super::super::read;
    use super::*;
    use std::path::PathBuf;

    fn rig_of(text: &str, cameras: Option<&str>) -> Result<crate::StereoRig, crate::CalibrationError> {
        let options = LoadOptions { cameras: cameras.map(|text| text.parse().unwrap()), ..LoadOptions::default() };
        read(&[(PathBuf::from("cam_to_cam.yaml"), text.as_bytes().to_vec())], &options)
    }

    fn file() -> String {
        let pose = |(rotation, translation): Pose| {
            let row = |i: usize| {
                format!("[{}, {}, {}, {}]", rotation.row(i).x, rotation.row(i).y, rotation.row(i).z, translation[i])
            };
            format!("[{}, {}, {}, [0.0, 0.0, 0.0, 1.0]]", row(0), row(1), row(2))
        };
        // the rectified x axis of both cameras is the line from camera 1 to camera 2
        let (rotation, translation) = relative_pose();
        let x = (rotation.transpose() * -translation).normalize();
        let y = DVec3::Z.cross(x).normalize();
        let rect1 = DMat3::from_cols(x, y, x.cross(y)).transpose();
        let rect2 = rect1 * rotation.transpose();
        let camera = |i: usize, focal_px: f64| {
            format!(
                "  cam{i}:\n    camera_matrix: [{focal_px}, 611.5, 321.5, 238.5]\n    camera_model: pinhole\n    distortion_coeffs: [-0.1, 0.02, \
                 0.001, -0.0005]\n    distortion_model: radtan\n    resolution: [640, 480]\n  camRect{i}:\n    camera_matrix: [580.5, 580.5, \
                 320.5, 240.5]\n    camera_model: pinhole\n    resolution: [640, 480]\n"
            )
        };
        let cameras: String = (0..4).map(|i| camera(i, 600.5 + i as f64)).collect();
        format!(
            "extrinsics:\n  R_rect0: {one}\n  R_rect1: {}\n  R_rect2: {}\n  R_rect3: {one}\n  T_10: {}\n  T_21: {}\n  T_32: {}\nintrinsics:\n{cameras}",
            rows(rect1),
            rows(rect2),
            pose(poses()[0]),
            pose((rotation, translation)),
            pose(poses()[0]),
            one = rows(DMat3::IDENTITY),
        )
    }

    #[test]
    fn chained_poses_and_rectifications_are_read() {
        let rig = rig_of(&file(), Some("cam1,cam2")).unwrap();
        assert_eq!((rig.kind, rig.size, rig.left.fx, rig.right.fx), (Kind::Dsec, Some((640, 480)), 601.5, 602.5));
        assert_eq!(rig.left.distortion.coefficients(), [-0.1, 0.02, 0.001, -0.0005, 0.0]);
        assert!(has_relative_pose(&rig) && rig.doubts.is_empty(), "{}", rig.summary());
        let rig = rig_of(&file(), None).unwrap();
        assert!(rig.rotation.abs_diff_eq(DMat3::IDENTITY, 1e-9), "{}", rig.rotation);
        assert!((rig.translation_m + DVec3::X * relative_pose().1.length()).length() < 1e-9, "{}", rig.translation_m);
        assert_eq!((rig.left.fx, rig.right.cx, rig.left.distortion), (580.5, 320.5, Distortion::default()));
        assert!(rig.doubts[0].contains("camRect1 is taken as left and camRect2 as right"), "{:?}", rig.doubts);
        let refusal = rig_of(&file().replace("T_32", "T_x"), Some("0,3")).unwrap_err().to_string();
        assert!(refusal.contains("extrinsics.T_32 is missing"), "{refusal}");
    }
}
