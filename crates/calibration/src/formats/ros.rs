//! ROS's camera_info, one file for each camera: K, D, R and P, as YAML of camera_calibration_parsers, as YAML or JSON of the message, or
//! both YAML files in the archive that camera_calibration writes. Lengths are in metres.

use super::draft::{self, Draft, Pose};
use super::matrix::Matrix;
use super::names::{self, Side};
use super::tree::Node;
use super::{File, FileError, Kind, ValueError, ValueFault, model};
use crate::checks::fisheye_doubt;
use crate::{Camera, LengthUnit, Projection, SensorPart, StereoRig};
use glam::{DMat3, DVec2};

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
    /// Size of the sensor's images.
    whole: (usize, usize),
    /// Size of the images in use.
    size: (usize, usize),
    rotation: DMat3,
    projection: (Projection, [f64; 2]),
    /// First column and row of the sensor that the images show.
    region_corner: DVec2,
    doubts: Vec<String>,
}

/// Reads the files of both cameras; names indicate the left one, otherwise it is the first. `image_size` is that of the images in use.
/// `known` is the pose from the left to the right camera, where the files do not tell it.
pub(super) fn read(
    files: &[File],
    image_size: Option<(usize, usize)>,
    known: Option<Pose>,
) -> Result<Draft, FileError> {
    let [first, second] = files else {
        return Err(FileError::CountOfRos(files.len()));
    };
    let backwards = names::side_of(&first.stem()) == Side::Right && names::side_of(&second.stem()) == Side::Left;
    let (left, right) = if backwards { (second, first) } else { (first, second) };
    let [left, right] = [("left", left), ("right", right)].map(|(side, file)| {
        info(&file.tree, image_size).map_err(|cause| FileError::Camera {
            side,
            file: file.name.clone().into(),
            cause: Box::new(cause),
        })
    });
    let (left, right) = (left?, right?);
    if left.whole != right.whole {
        return Err(FileError::NoPairOfSizes([left.whole, right.whole]));
    }
    let shift = |info: &Info| DVec2::from(info.projection.1);
    let (pose, rectification) = if (shift(&left) - shift(&right)).length() >= 1e-9 {
        let rotations = [left.rotation, right.rotation];
        let rectification = draft::rectification([left.projection, right.projection], rotations);
        // regions that begin in different rows, or images of two sizes, need another rectification than that of the whole sensors
        let is_of_images = left.size == right.size && left.region_corner == right.region_corner;
        (draft::pose(&rectification), is_of_images.then_some(rectification))
    } else {
        (known.ok_or(FileError::SameShift)?, None)
    };
    let (rotation, translation) = pose;
    let mut doubts = left.doubts;
    doubts.extend(right.doubts.into_iter().filter(|doubt| !doubts.contains(doubt)).collect::<Vec<_>>());
    let rig = StereoRig {
        kind: Kind::Ros,
        rectification,
        doubts,
        ..StereoRig::new(left.camera, right.camera, rotation, translation, Some(left.size))
    };
    Ok(Draft { rig: rig.with_right_size(right.size), unit: Some(LengthUnit::Metre) })
}

fn info(tree: &Node, image_size: Option<(usize, usize)>) -> Result<Info, FileError> {
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
    let size = (number(WIDTH)?, number(HEIGHT)?);
    let unnamed = (lens.data.len() == 4 && model.is_empty()).then(|| fisheye_doubt(&lens.name, &camera, Some(size)));
    let (part, doubt) = sensor_part(tree).seen(size, image_size);
    let doubts = doubt.into_iter().chain(unnamed.flatten()).chain(p.skew_doubt()).collect();
    let (projection, shift) = p.projection()?;
    let Some(part) = part else {
        let projection = (projection, shift);
        return Ok(Info { camera, whole: size, size, rotation, projection, region_corner: DVec2::ZERO, doubts });
    };
    Ok(Info {
        camera: part.camera(&camera),
        whole: size,
        size: part.size,
        rotation,
        projection: (part.projection(&projection), (DVec2::from(shift) * part.factor).into()),
        region_corner: part.corner,
        doubts,
    })
}

fn sensor_part(tree: &Node) -> SensorPart {
    let number = |node: Option<&Node>, key: &str| {
        let number = node.and_then(|node| node.get(&[key])).and_then(Node::number);
        number.filter(|n| (0.0..=65_536.0).contains(n)).map_or(0, |n| n as u32)
    };
    let roi = tree.get(&["roi"]);
    SensorPart {
        offset: ["x_offset", "y_offset"].map(|key| number(roi, key)),
        size: ["width", "height"].map(|key| number(roi, key)),
        binning: ["binning_x", "binning_y"].map(|key| number(Some(tree), key)),
    }
}

fn need(tree: &Node, keys: &[&str]) -> Result<Matrix, ValueError> {
    let found = keys.iter().find_map(|key| tree.get(&[key]).map(|node| (key, node)));
    let (key, node) = found.ok_or_else(|| ValueFault::MissingOfRos.of(keys[0]))?;
    node.matrix(key).ok_or_else(|| ValueFault::NoList.of(*key))
}
