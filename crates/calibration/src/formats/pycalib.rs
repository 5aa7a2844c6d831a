//! pycalib's calibration (pycalib-simple 2026.7.22.1, `util.save_calib`), JSON or YAML: lists with an entry for each camera. `R` and `t` take
//! a point of the world to the camera (`calib.py`: `R_w2c`). There is no image size, and lengths have the unit of the board.

use super::cameras::pair;
use super::draft::{self, Draft, Posed};
use super::matrix::Matrix;
use super::tree::Node;
use super::{FileError, Kind, LoadOptions, ValueError, ValueFault, model};

fn of_cameras<'a>(tree: &'a Node, key: &str) -> &'a [Node] {
    match tree.get(&[key]) {
        Some(Node::List(all)) => all,
        _ => &[],
    }
}

pub(super) fn recognizes(tree: &Node) -> bool {
    let is_matrix = |node: &Node| matches!(node, Node::List(rows) if matches!(rows.first(), Some(Node::List(_))));
    of_cameras(tree, "K").first().is_some_and(is_matrix) && tree.has("d")
}

/// Reads two cameras by their numbers from 0, see [`pair`].
pub(super) fn read(tree: &Node, options: &LoadOptions) -> Result<Draft, FileError> {
    if !(tree.has("R") && tree.has("t")) {
        return Err(FileError::Alone);
    }
    let known: Vec<_> = (0..of_cameras(tree, "K").len()).map(|i| (vec![i.to_string()], i)).collect();
    let ([&left, &right], doubt) = pair(&known, options)?;
    Ok(draft::of_posed(Kind::Pycalib, [camera(tree, left)?, camera(tree, right)?], doubt, None))
}

fn camera(tree: &Node, i: usize) -> Result<Posed, FileError> {
    let of = |key: &str| -> Result<Matrix, ValueError> {
        let name = format!("{key} of camera {i}");
        let node = of_cameras(tree, key).get(i).ok_or_else(|| ValueFault::Missing.of(name.clone()))?;
        node.matrix(&name).ok_or_else(|| ValueFault::NoList.of(name))
    };
    let lens = of("d")?;
    lens.finite()?;
    let distortion = model::lens("", &lens.name, &lens.data)?;
    Ok((of("K")?.camera(distortion)?, None, (of("R")?.rotation()?, of("t")?.vector()?)))
}

#[cfg(test)]
mod tests {
    use super::super::draft::tests::{has_relative_pose, poses, rows};
    use super::super::read;
    use super::*;
    use std::path::PathBuf;

    fn rig_of(text: &str) -> Result<crate::StereoRig, crate::CalibrationError> {
        read(&[(PathBuf::from("calib.json"), text.as_bytes().to_vec())], &LoadOptions::default())
    }

    #[test]
    fn poses_in_the_world_become_one_between_the_cameras() {
        let [left, right] = poses();
        let matrix = |focal_px: f64| format!("[[{focal_px}, 0.0, 321.5], [0.0, 611.5, 238.5], [0.0, 0.0, 1.0]]");
        let lens = "[-0.1, 0.02, 0.001, -0.0005, 0.01, 0.0, 0.0, 0.0]";
        let column = |v: glam::DVec3| format!("[[{}], [{}], [{}]]", v.x, v.y, v.z);
        let text = format!(
            r#"{{"K": [{}, {}], "d": [{lens}, {lens}], "R": [{}, {}], "t": [{}, {}], "reproj": 0.3}}"#,
            matrix(600.5),
            matrix(602.5),
            rows(left.0),
            rows(right.0),
            column(left.1),
            column(right.1)
        );
        let rig = rig_of(&text).unwrap();
        assert_eq!((rig.kind, rig.size, rig.left.fx, rig.right.fx), (Kind::Pycalib, None, 600.5, 602.5));
        assert_eq!(rig.left.distortion.coefficients()[..5], [-0.1, 0.02, 0.001, -0.0005, 0.01]);
        assert!(has_relative_pose(&rig) && rig.doubts.is_empty(), "{}", rig.summary());
        let refusal = rig_of(&text.replace("\"R\"", "\"r\"")).unwrap_err().to_string();
        assert!(refusal.contains("does not say how the cameras stand to each other"), "{refusal}");
        let refusal = rig_of(&text.replace(&format!("{lens}, {lens}"), lens)).unwrap_err().to_string();
        assert!(refusal.contains("d of camera 1 is missing"), "{refusal}");
    }
}
