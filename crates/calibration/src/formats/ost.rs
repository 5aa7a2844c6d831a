//! ROS's older files: `ost.txt` of camera_calibration with both cameras of a pair, and the `.ini` of camera_calibration_parsers with one.
//! Names have lines of their own, above their numbers.

use super::error::{KeyError, LineFault};
use super::tree::{MAX_KEYS, Node, check_key, number};
use super::{File, FileError};

/// Names of values, with ROS's keys for them.
const VALUES: &[(&str, &str)] = &[
    ("camera matrix", "camera_matrix"),
    ("distortion", "distortion_coefficients"),
    ("rectification", "rectification_matrix"),
    ("projection", "projection_matrix"),
    ("width", "image_width"),
    ("height", "image_height"),
];
/// Names of sections without a camera.
const IMAGE: &str = "image";
const EXTERNALS: &str = "externals";

pub(super) fn recognizes(text: &str) -> bool {
    let has = |wanted: &str| text.lines().any(|line| line.trim() == wanted);
    text.trim_start().starts_with("# oST ") || has("[image]") && has("camera matrix")
}

/// Reads each camera as the tree of a camera_info, named after its section.
pub(super) fn read(text: &str) -> Result<Vec<File>, FileError> {
    let mut cameras: Vec<File> = Vec::new();
    let (mut size, mut section) = (Vec::new(), "");
    // current name and its numbers so far
    let mut value: Option<(&str, Vec<Node>)> = None;
    for (n, line) in text.lines().enumerate() {
        let line = line.trim();
        let error = |fault: LineFault| fault.at(n + 1);
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        let name = line.strip_prefix('[').and_then(|line| line.strip_suffix(']'));
        let key = VALUES.iter().find(|(name, _)| *name == line).map(|(_, key)| *key);
        if name.is_some() || key.is_some() {
            close(value.take(), section, &mut size, &mut cameras).map_err(|err| error(err.into()))?;
        }
        if let Some(name) = name {
            section = name;
            match name {
                IMAGE => size = Vec::new(),
                EXTERNALS => {}
                _ if cameras.len() >= MAX_KEYS => return Err(error(LineFault::TooManyCameras).into()),
                _ => cameras.push(File { name: section.to_owned(), tree: Node::Map(size.clone()) }),
            }
        } else if let Some(key) = key {
            value = Some((key, Vec::new()));
        } else if let (Some((_, numbers)), true) = (&mut value, is_row(line)) {
            numbers.extend(line.split_whitespace().map(|word| Node::Word(word.to_owned())));
        } else if section != EXTERNALS {
            return Err(error(LineFault::NoSectionNorName(line.to_owned())).into());
        }
    }
    close(value, section, &mut size, &mut cameras)?;
    Ok(cameras)
}

fn is_row(line: &str) -> bool {
    line.split_whitespace().all(|word| number(word).is_some())
}

/// Adds a value to the current section.
fn close(
    value: Option<(&str, Vec<Node>)>,
    section: &str,
    size: &mut Vec<(String, Node)>,
    cameras: &mut [File],
) -> Result<(), KeyError> {
    let Some((key, mut numbers)) = value else { return Ok(()) };
    let entries = match section {
        EXTERNALS => return Ok(()),
        IMAGE => size,
        _ => match cameras.last_mut().map(|camera| &mut camera.tree) {
            Some(Node::Map(entries)) => entries,
            _ => return Ok(()),
        },
    };
    check_key(entries, key)?;
    let number = if numbers.len() == 1 { numbers.pop() } else { None };
    entries.push((key.to_owned(), number.unwrap_or(Node::List(numbers))));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::{Kind, LoadOptions, read};
    use std::path::PathBuf;

    fn camera(name: &str, lens: &str, shift: &str) -> String {
        format!(
            "# oST version 5.0 parameters\n\n\n[image]\n\nwidth\n800\n\nheight\n600\n\n[{name}]\n\ncamera matrix\n\
             420.5 0.0 399.5\n0.0 421.5 301.5\n0.0 0.0 1.0\n\ndistortion\n{lens}\n\nrectification\n1 0 0\n0 1 0\n0 0 1\n\n\
             projection\n410.0 0 390.0 {shift}\n0 410.0 300.0 0\n0 0 1 0\n\n"
        )
    }

    fn rig_of(files: &[(&str, String)]) -> Result<crate::StereoRig, crate::CalibrationError> {
        let files: Vec<_> = files.iter().map(|(name, text)| (PathBuf::from(name), text.clone().into_bytes())).collect();
        read(&files, &LoadOptions::default())
    }

    const LENS: &str = "-0.21 0.043 0.0002 -0.0001 0.0";

    #[test]
    fn both_cameras_of_an_ost_are_a_pair() {
        let (left, right) = (camera("rig/left", LENS, "0.0"), camera("rig/right", LENS, "-49.2"));
        let rig = rig_of(&[("ost.txt", left.clone() + &right)]).unwrap();
        assert_eq!((rig.kind, rig.size, rig.left.fy, rig.right.cx), (Kind::Ros, Some((800, 600)), 421.5, 399.5));
        assert!((rig.baseline_m() - 0.12).abs() < 1e-12 && rig.doubts.is_empty(), "{}", rig.summary());
        assert_eq!(rig.left.distortion.coefficients(), [-0.21, 0.043, 0.0002, -0.0001, 0.0]);
        // the names indicate the sides, in any order
        assert_eq!(rig_of(&[("ost.txt", right.clone() + &left)]).unwrap(), rig);
        // one camera for each file
        let ini = |text: &str| text.replace("# oST version 5.0 parameters", "# Camera intrinsics");
        assert_eq!(rig_of(&[("right.ini", ini(&right)), ("left.ini", ini(&left))]).unwrap(), rig);
        let rational = "8.1 4.2 0.0002 -0.0001 0.3 8.3 4.9 0.7";
        let wide = rig_of(&[("ost.txt", camera("left", rational, "0") + &camera("right", rational, "-82"))]).unwrap();
        assert_eq!((wide.left.distortion.name(), wide.baseline_m()), ("rational_polynomial", 0.2));
    }

    #[test]
    fn what_is_missing_or_alone_is_said() {
        let (left, right) = (camera("left", LENS, "0.0"), camera("right", LENS, "-49.2"));
        let one = rig_of(&[("ost.txt", left.clone())]).unwrap_err().to_string();
        assert!(one.contains("one camera") && one.contains("give two: LEFT,RIGHT"), "{one}");
        let cut =
            rig_of(&[("ost.txt", left.clone() + &right.replace("0 410.0 300.0 0\n", ""))]).unwrap_err().to_string();
        assert!(cut.contains("right camera") && cut.contains("projection_matrix is a list of 8 values"), "{cut}");
        let without = right.replace("rectification\n1 0 0\n0 1 0\n0 0 1\n", "");
        let without = rig_of(&[("ost.txt", left.clone() + &without)]).unwrap_err().to_string();
        assert!(without.contains("rectification_matrix is missing"), "{without}");
        let other = rig_of(&[("ost.txt", left.clone() + &right.replace("rectification\n", "rectify\n"))])
            .unwrap_err()
            .to_string();
        assert!(other.contains("rectify is neither"), "{other}");
        let twice = rig_of(&[("ost.txt", left.replace("height\n600", "width\n600"))]).unwrap_err().to_string();
        assert!(twice.contains("image_width is there twice"), "{twice}");
    }
}
