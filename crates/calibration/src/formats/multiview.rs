//! OpenCV 5's calibration of many cameras, as its `samples/python/multiview_calibration.py` (commit 053a9a1) writes the results of
//! `cv2.calibrateMultiview`: stacks with an entry for each camera. `Rodrigues(rvecs[i])` and `Ts[i]` take a point of camera 0 to camera i.
//! Lengths have the unit of the board.

use super::cameras::{listed, pair};
use super::draft::{self, Draft, Posed};
use super::matrix::Matrix;
use super::tree::Node;
use super::{FileError, Kind, LoadOptions, ValueError, model, need};

pub(super) fn recognizes(tree: &Node) -> bool {
    ["Ks", "distortions", "rvecs", "Ts"].into_iter().all(|key| tree.has(key))
}

/// Reads two cameras, see [`pair`].
pub(super) fn read(tree: &Node, options: &LoadOptions) -> Result<Draft, FileError> {
    let count = need::matrix("", tree, "Ks")?.data.len() / 9;
    let ids = tree.get(&["cam_ids"]).and_then(Node::word).unwrap_or_default();
    let ids: Vec<_> = ids.split(',').map(|id| id.trim().to_owned()).collect();
    let known: Vec<_> = (0..count)
        .map(|i| (ids.get(i).filter(|id| !id.is_empty()).cloned().into_iter().chain([i.to_string()]).collect(), i))
        .collect();
    if count < 2 {
        return Err(FileError::CameraCount { count, known: listed(&known) });
    }
    let ([&left, &right], doubt) = pair(&known, options)?;
    let cameras = [camera(tree, left, count)?, camera(tree, right, count)?];
    Ok(draft::of_posed(Kind::Multiview, cameras, doubt, None))
}

fn camera(tree: &Node, i: usize, count: usize) -> Result<Posed, FileError> {
    let of = |key: &str| -> Result<Matrix, ValueError> {
        let Matrix { name, data, .. } = need::matrix("", tree, key)?;
        let share = data.len() / count;
        Ok(Matrix {
            name: format!("{name} of camera {i}"),
            shape: None,
            data: data[i * share..(i + 1) * share].to_vec(),
        })
    };
    let is_fisheye = tree.has("is_fisheye") && of("is_fisheye")?.data.iter().any(|&is| is != 0.0);
    let mut lens = of("distortions")?;
    lens.finite()?;
    if is_fisheye {
        lens.data.truncate(4); // the stack is as wide as its longest entry
    }
    let distortion = model::lens(if is_fisheye { "fisheye" } else { "" }, &lens.name, &lens.data)?;
    let [width, height] = of("image_sizes")?.values::<2>(&[(1, 2)])?;
    let pose = (of("rvecs")?.rotation()?, of("Ts")?.vector()?);
    Ok((of("Ks")?.camera(distortion)?, Some((width as usize, height as usize)), pose))
}

#[cfg(test)]
mod tests {
    use super::super::read;
    use super::*;
    use crate::StereoRig;
    use glam::{DMat3, DVec3};
    use std::path::PathBuf;

    fn rig_of(text: &str, cameras: Option<&str>) -> Result<StereoRig, crate::CalibrationError> {
        let options = LoadOptions { cameras: cameras.map(|text| text.parse().unwrap()), ..LoadOptions::default() };
        read(&[(PathBuf::from("multiview.yaml"), text.as_bytes().to_vec())], &options)
    }

    /// Three cameras at 0, 0.06 and 0.15 m; the second is turned by 0.02 rad.
    fn three(ids: &str, fisheyes: &str) -> String {
        format!(
            "%YAML 1.2\n---\nrvecs: !!opencv-matrix\n   rows: 3\n   cols: 3\n   dt: d\n   data: [ 0., 0., 0., 0., 0.02, 0., 0., 0., 0. ]\n\
             distortions: !!opencv-matrix\n   rows: 3\n   cols: 1\n   dt: \"5d\"\n   data: [ -0.1, 0.02, 0.001, -0.0005, 0., -0.11, 0.03, 0., 0.,\n      \
             0., 0.01, 0.002, 0., 0., 0. ]\nKs: !!opencv-matrix\n   rows: 3\n   cols: 3\n   dt: \"3d\"\n   data: [ 600., 0., 320.5, 0., 601., 241., \
             0., 0., 1., 602., 0., 322.,\n      0., 603., 239., 0., 0., 1., 604., 0., 323., 0., 605., 238., 0., 0., 1. ]\nTs: !!opencv-nd-matrix\n   \
             sizes: [ 3, 3, 1 ]\n   dt: d\n   data: [ 0., 0., 0., -0.06, 0.0005, 0.0003, -0.15, 0., 0. ]\nis_fisheye: !!opencv-nd-matrix\n   \
             sizes: [ 3 ]\n   dt: i\n   data: [ {fisheyes} ]\nimage_sizes: !!opencv-matrix\n   rows: 3\n   cols: 2\n   dt: i\n   data: [ 640, 480, 640, \
             480, 640, 480 ]\ncam_ids: \"{ids}\"\n"
        )
    }

    #[test]
    fn two_cameras_are_taken_by_their_names_or_the_users_choice() {
        let rig = rig_of(&three("left,right,middle", "0, 0, 0"), None).unwrap();
        assert_eq!((rig.kind, rig.size, rig.left.cx, rig.right.fy), (Kind::Multiview, Some((640, 480)), 320.5, 603.0));
        assert_eq!(rig.left.distortion.coefficients(), [-0.1, 0.02, 0.001, -0.0005, 0.0]);
        assert!((rig.translation_m - DVec3::new(-0.06, 0.0005, 0.0003)).length() < 1e-15 && rig.doubts.is_empty());
        assert!(rig.rotation.abs_diff_eq(DMat3::from_rotation_y(0.02), 1e-12), "{}", rig.rotation);
        let rig = rig_of(&three("a,b,c", "0, 0, 0"), None).unwrap();
        assert!(rig.doubts[0].contains("it has the cameras a, b and c: a is taken as left and b"), "{:?}", rig.doubts);
        let rig = rig_of(&three("", "0, 0, 1"), Some("0,2")).unwrap();
        assert!((rig.baseline_m() - 0.15).abs() < 1e-12, "{}", rig.summary());
        assert_eq!((rig.right.fx, rig.right.distortion.coefficients()), (604.0, vec![0.01, 0.002, 0.0, 0.0]));
    }

    #[test]
    fn stacks_that_are_torn_are_refused() {
        let torn = three("a,b,c", "0, 0, 0").replace("-0.15, 0., 0. ]", "-0.15 ]");
        let refusal = rig_of(&torn, None).unwrap_err().to_string();
        assert!(refusal.contains("Ts of camera 0 is a list of 2 values, expected 3x1"), "{refusal}");
        let refusal = rig_of("Ks: [1]\ndistortions: [1]\nrvecs: [1]\nTs: [1]\n", None).unwrap_err().to_string();
        assert!(refusal.contains("a rig has two cameras, and it has 0"), "{refusal}");
    }
}
