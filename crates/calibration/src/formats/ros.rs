//! ROS's camera_info, one file for each camera: K, D, R and P, as YAML of camera_calibration_parsers, as YAML or JSON of the message, or
//! both YAML files in the archive that camera_calibration writes. Lengths are in metres.

use super::draft::{self, Draft};
use super::matrix::Matrix;
use super::names::{self, Side};
use super::tree::Node;
use super::{File, Kind, model};
use crate::checks::fisheye_doubt;
use crate::{CalibrationError, Camera, LengthUnit, Projection, StereoRig};
use glam::DMat3;
use std::path::Path;
use stereopsis_base::console;

const K: &[&str] = &["camera_matrix", "K", "k"];
const D: &[&str] = &["distortion_coefficients", "D", "d"];
const R: &[&str] = &["rectification_matrix", "R", "r"];
const P: &[&str] = &["projection_matrix", "P", "p"];
const WIDTH: &[&str] = &["image_width", "width"];
const HEIGHT: &[&str] = &["image_height", "height"];
/// Keys of the lens model; files of older drivers have the second one, or none.
const MODEL: &[&str] = &["distortion_model", "camera_model"];

pub(super) fn recognizes(tree: &Node) -> bool {
    let has = |keys| tree.get(keys).is_some();
    let is_whole = has(P) && has(R) && has(WIDTH) && has(HEIGHT);
    has(K) && has(D) && (is_whole || has(MODEL) && (has(P) || has(R)))
}

struct Info {
    camera: Camera,
    size: (usize, usize),
    rotation: DMat3,
    projection: (Projection, [f64; 2]),
    doubts: Vec<String>,
}

/// Reads the files of both cameras; names indicate the left one, otherwise it is the first.
pub(super) fn read(files: &[File]) -> Result<Draft, CalibrationError> {
    let [first, second] = files else {
        return Err(CalibrationError(format!(
            "a camera_info of ROS holds one camera, and {} of them cannot be a pair; give two: LEFT,RIGHT",
            files.len()
        )));
    };
    let backwards = names::side_of(&first.stem()) == Side::Right && names::side_of(&second.stem()) == Side::Left;
    let (left, right) = if backwards { (second, first) } else { (first, second) };
    let [left, right] = [("left", left), ("right", right)].map(|(side, file)| {
        info(&file.tree)
            .map_err(|e| CalibrationError(format!("the {side} camera ({}): {e}", console::path(Path::new(&file.name)))))
    });
    let (left, right) = (left?, right?);
    if left.size != right.size {
        return Err(CalibrationError(format!(
            "the left camera is calibrated for {}x{}, the right one for {}x{}: they are no pair; calibrate both in one mode",
            left.size.0, left.size.1, right.size.0, right.size.1
        )));
    }
    let shift = |info: &Info| glam::DVec2::from(info.projection.1);
    if (shift(&left) - shift(&right)).length() < 1e-9 {
        return Err(CalibrationError(
            "uncalibrated as a pair: the projection matrices P of both cameras have the same shift Tx, so the baseline is \
             not there; either each camera was calibrated alone (calibrate both together, as cameracalibrator.py does with \
             left and right), or one camera's file was given twice"
                .to_owned(),
        ));
    }
    let rotations = [left.rotation, right.rotation];
    let rectification = draft::rectification([left.projection, right.projection], rotations);
    let (rotation, translation) = draft::pose(&rectification);
    let rig = StereoRig {
        kind: Kind::Ros,
        rectification: Some(rectification),
        doubts: [left.doubts, right.doubts].concat(),
        ..StereoRig::new(left.camera, right.camera, rotation, translation, Some(left.size))
    };
    Ok(Draft { rig, unit: Some(LengthUnit::Metre) })
}

fn info(tree: &Node) -> Result<Info, CalibrationError> {
    let k = need(tree, K)?;
    if k.data.iter().all(|v| *v == 0.0) {
        return Err(CalibrationError(
            "uncalibrated: its camera matrix K is all 0, as ROS says that there is no calibration; calibrate it"
                .to_owned(),
        ));
    }
    let lens = need(tree, D)?;
    lens.finite()?;
    let model = tree.get(MODEL).and_then(Node::word).unwrap_or_default();
    let camera = k.camera(model::lens(model, &lens.name, &lens.data)?)?;
    let rotation = need(tree, R)?.rotation()?;
    let p = need(tree, P)?;
    if p.data.iter().all(|v| *v == 0.0) {
        return Err(CalibrationError(
            "uncalibrated: its projection matrix P is all 0; calibrate both cameras together".to_owned(),
        ));
    }
    let number = |keys: &[&str]| {
        let number = tree.get(keys).and_then(Node::number).filter(|n| (1.0..=65_536.0).contains(n));
        number.map(|n| n as usize).ok_or_else(|| CalibrationError(format!("{} is missing or no size", keys[0])))
    };
    let binned = |key: &str| tree.get(&[key]).and_then(Node::number).is_some_and(|n| n > 1.0);
    let roi = tree.get(&["roi"]);
    let cut = ["x_offset", "y_offset"]
        .iter()
        .any(|key| roi.and_then(|roi| roi.get(&[key])).and_then(Node::number).is_some_and(|n| n != 0.0));
    let size = (number(WIDTH)?, number(HEIGHT)?);
    let unnamed = (lens.data.len() == 4 && model.is_empty()).then(|| fisheye_doubt(&lens.name, &camera, Some(size)));
    let binned = (binned("binning_x") || binned("binning_y") || cut).then(|| {
        "the camera_info speaks of binning or of a region: the calibration is taken to be for the whole, unbinned image"
            .to_owned()
    });
    let doubts = binned.into_iter().chain(unnamed.flatten()).chain(p.skew_doubt()).collect();
    Ok(Info { camera, size, rotation, projection: p.projection()?, doubts })
}

fn need(tree: &Node, keys: &[&str]) -> Result<Matrix, CalibrationError> {
    let found = keys.iter().find_map(|key| tree.get(&[key]).map(|node| (key, node)));
    let (key, node) =
        found.ok_or_else(|| CalibrationError(format!("{} is missing; looked for K, D, R and P", keys[0])))?;
    node.matrix(key).ok_or_else(|| CalibrationError(format!("{key} is no list of numbers; the file is damaged")))
}
