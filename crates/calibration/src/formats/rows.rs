//! Matrices as text: a name with a colon, then a row on each line, as in the `.dat` files of python_stereo_camera_calibrate with a camera
//! (`intrinsic:`, `distortion:`) and its pose to the first one (`R:`, `T:`). A file with twelve numbers alone, as numpy's `savetxt` writes them,
//! is the projection of a rectified camera.

use super::FileError;
use super::error::LineFault;
use super::tree::{Node, check_key, number};

/// Returns a name that is alone on a line.
fn name(line: &str) -> Option<&str> {
    let name = line.strip_suffix(':')?.trim();
    (!name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == ' ')).then_some(name)
}

fn row(line: &str) -> Option<Node> {
    let words: Vec<_> = line.split_whitespace().collect();
    let is_row = !words.is_empty() && words.iter().all(|word| number(word).is_some());
    is_row.then(|| Node::List(words.into_iter().map(|word| Node::Word(word.to_owned())).collect()))
}

/// Returns the three rows of a text that is a projection alone: `f 0 cx tx`, `0 f cy ty`, `0 0 1 0`.
fn projection(text: &str) -> Option<Vec<Node>> {
    let rows: Vec<Node> = text.lines().filter(|line| !line.trim().is_empty()).map(row).collect::<Option<_>>()?;
    let numbers: Vec<Vec<f64>> = rows.iter().filter_map(|row| Some(row.matrix("")?.data)).collect();
    let [first, second, third] = numbers.as_slice() else { return None };
    (first.len() == 4 && second.len() == 4 && third.as_slice() == [0.0, 0.0, 1.0, 0.0]).then_some(rows)
}

pub(super) fn recognizes(text: &str) -> bool {
    if projection(text).is_some() {
        return true;
    }
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.next().is_some_and(|line| name(line).is_some()) && lines.next().is_some_and(|line| row(line).is_some())
}

/// Reads the matrices of a file; `file` is its name.
///
/// # Errors
/// A line is neither a name nor a row, or the pose is in the axes of the world.
pub(super) fn read(file: &str, text: &str) -> Result<Node, FileError> {
    if let Some(rows) = projection(text) {
        return Ok(Node::Map(vec![("P".to_owned(), Node::List(rows))]));
    }
    if file.contains("world_to_camera") {
        return Err(FileError::PoseInWorld);
    }
    let mut matrices: Vec<(String, Node)> = Vec::new();
    for (n, line) in text.lines().map(str::trim).enumerate().filter(|(_, line)| !line.is_empty()) {
        if let Some(name) = name(line) {
            check_key(&matrices, name).map_err(|err| LineFault::Key(err).at(n + 1))?;
            matrices.push((name.to_owned(), Node::List(Vec::new())));
        } else if let (Some(row), Some((_, Node::List(rows)))) = (row(line), matrices.last_mut()) {
            rows.push(row);
        } else {
            return Err(LineFault::NoName(line.to_owned()).at(n + 1).into());
        }
    }
    Ok(Node::Map(matrices))
}

#[cfg(test)]
mod tests {
    use super::super::{Kind, LoadOptions, read};
    use std::path::PathBuf;

    fn camera(fx: f64) -> String {
        format!(
            "intrinsic:\n{fx} 0.0 321.5 \n0.0 611.5 238.5 \n0.0 0.0 1.0 \ndistortion:\n0.07 -0.03 -0.002 -0.001 0.01 \n"
        )
    }

    const POSE: &str = "R:\n1.0 0.0 0.0 \n0.0 1.0 0.0 \n0.0 0.0 1.0 \nT:\n-0.066 \n0.001 \n-0.002 \n";

    fn rig_of(pose: &str, text: &str) -> Result<crate::StereoRig, crate::CalibrationError> {
        let file = |name: &str, text: String| (PathBuf::from(name), text.into_bytes());
        let files = [
            file("camera0_intrinsics.dat", camera(610.5)),
            file("camera1_intrinsics.dat", camera(615.5)),
            file(pose, text.to_owned()),
        ];
        read(&files, &LoadOptions::default())
    }

    #[test]
    fn two_cameras_and_their_pose_are_a_rig() {
        let rig = rig_of("camera1_rot_trans.dat", POSE).unwrap();
        assert_eq!((rig.kind, rig.left.fx, rig.right.fx, rig.right.cy), (Kind::OpenCv, 610.5, 615.5, 238.5));
        assert_eq!(rig.left.distortion.coefficients(), [0.07, -0.03, -0.002, -0.001, 0.01]);
        assert_eq!(rig.translation_m, glam::DVec3::new(-0.066, 0.001, -0.002));
    }

    #[test]
    fn two_projections_alone_are_a_rectified_rig() {
        let file = |name: &str, shift: &str| {
            (PathBuf::from(name), format!("600.5 0 320.5 {shift}\n0 601.5 240.5 0\n0 0 1 0\n").into_bytes())
        };
        let rig_of = |files: &[_]| read(files, &LoadOptions::default());
        let (left, right) = (file("calib_left.txt", "0.0e+00"), file("calib_right.txt", "-36030.0"));
        let rig = rig_of(&[right, left.clone()]).unwrap();
        assert_eq!(
            (rig.kind, rig.left.fx, rig.right.fy, rig.unit.to_string()),
            (Kind::OpenCv, 600.5, 601.5, "mm".to_owned())
        );
        assert!((rig.baseline_m() - 0.06).abs() < 1e-12 && rig.rectification.is_some(), "{}", rig.summary());
        assert!(rig.doubts[0].contains("the images are taken to be rectified already"), "{:?}", rig.doubts);
        let one = rig_of(&[left]).unwrap_err().to_string();
        assert!(one.contains("camera matrix is missing"), "{one}");
    }

    #[test]
    fn rejects_poses_to_the_first_camera_or_the_world() {
        let refusal =
            rig_of("camera0_rot_trans.dat", &POSE.replace("-0.066", "0").replace("0.001", "0").replace("-0.002", "0"));
        assert!(refusal.unwrap_err().to_string().contains("the baseline is 0"));
        let refusal = rig_of("world_to_camera1_rot_trans.dat", POSE).unwrap_err().to_string();
        assert!(refusal.contains("pose of one camera in the world"), "{refusal}");
        let cut = rig_of("camera1_rot_trans.dat", &POSE.replace("0.0 1.0 0.0", "O.O 1.0 0.0")).unwrap_err().to_string();
        assert!(cut.contains("line 3: O.O 1.0 0.0 is neither"), "{cut}");
    }
}
