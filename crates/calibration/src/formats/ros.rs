//! ROS's camera_info, one file for each camera: K, D, R and P, as YAML of camera_calibration_parsers, as YAML or JSON of the message, or
//! both YAML files in the archive that camera_calibration writes. Lengths are in metres.

use super::draft::{self, Draft};
use super::matrix::Matrix;
use super::names::{self, Side};
use super::tree::Node;
use super::{File, FileError, Kind, ValueError, ValueFault, model};
use crate::checks::fisheye_doubt;
use crate::{Camera, LengthUnit, Projection, StereoRig};
use glam::DMat3;

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
pub(super) fn read(files: &[File]) -> Result<Draft, FileError> {
    let [first, second] = files else {
        return Err(FileError::CountOfRos(files.len()));
    };
    let backwards = names::side_of(&first.stem()) == Side::Right && names::side_of(&second.stem()) == Side::Left;
    let (left, right) = if backwards { (second, first) } else { (first, second) };
    let [left, right] = [("left", left), ("right", right)].map(|(side, file)| {
        info(&file.tree).map_err(|cause| FileError::Camera {
            side,
            file: file.name.clone().into(),
            cause: Box::new(cause),
        })
    });
    let (left, right) = (left?, right?);
    if left.size != right.size {
        return Err(FileError::NoPairOfSizes([left.size, right.size]));
    }
    let shift = |info: &Info| glam::DVec2::from(info.projection.1);
    if (shift(&left) - shift(&right)).length() < 1e-9 {
        return Err(FileError::SameShift);
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

fn info(tree: &Node) -> Result<Info, FileError> {
    let k = need(tree, K)?;
    if k.data.iter().all(|v| *v == 0.0) {
        return Err(FileError::Uncalibrated);
    }
    let lens = need(tree, D)?;
    lens.finite()?;
    let model = tree.get(MODEL).and_then(Node::word).unwrap_or_default();
    let camera = k.camera(model::lens(model, &lens.name, &lens.data)?)?;
    let rotation = need(tree, R)?.rotation()?;
    let p = need(tree, P)?;
    if p.data.iter().all(|v| *v == 0.0) {
        return Err(FileError::NoProjection);
    }
    let number = |keys: &[&str]| {
        let number = tree.get(keys).and_then(Node::number).filter(|n| (1.0..=65_536.0).contains(n));
        number.map(|n| n as usize).ok_or_else(|| ValueFault::NoSize.of(keys[0]))
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

fn need(tree: &Node, keys: &[&str]) -> Result<Matrix, ValueError> {
    let found = keys.iter().find_map(|key| tree.get(&[key]).map(|node| (key, node)));
    let (key, node) = found.ok_or_else(|| ValueFault::MissingOfRos.of(keys[0]))?;
    node.matrix(key).ok_or_else(|| ValueFault::NoList.of(*key))
}
