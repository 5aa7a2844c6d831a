//! Conversion of a rig to and from two ROS `camera_info` messages, for files and recordings.

use super::formats::yaml_list;
use super::{CalibrationError, Camera, Crop, Distortion, LoadOptions, Projection, SensorPart, StereoRig};
use crate::formats::{WriteError, read_with_pose};
use crate::projection::longer_axis;
use glam::{DMat3, DVec3};
use std::path::PathBuf;
use stereopsis_base::geometry::{Axis, Geometry};

/// Number of coefficients of OpenCV's largest model.
const MAX_COEFFICIENTS: usize = 14;

/// Camera of a rig, as ROS's `camera_info` describes it; matrices row by row, lengths in px and m.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CameraInfo {
    /// Width of the whole sensor's image, px.
    pub width: u32,
    /// Height of the whole sensor's image, px.
    pub height: u32,
    /// Name of the lens model: `plumb_bob`, `rational_polynomial` or `equidistant`; empty for none.
    pub distortion_model: String,
    /// Distortion coefficients.
    pub d: Vec<f64>,
    /// Camera matrix K of the raw image; all 0 if uncalibrated.
    pub k: [f64; 9],
    /// Rotation R to the rectified camera.
    pub r: [f64; 9],
    /// Projection P of the rectified camera; `p[3]` of the right one is `-fx` times the baseline, or `p[7]` is `-fy` times that if it is
    /// below the left one.
    pub p: [f64; 12],
    /// Part of the sensor that the images show.
    pub part: SensorPart,
}

impl CameraInfo {
    /// Returns the left and right camera of a rig for raw images of `width` x `height`, see [`StereoRig::rectifier`].
    ///
    /// # Errors
    /// The rig cannot be rectified at this size, or has coefficients of thin prisms or a tilted sensor, which ROS does not support.
    pub fn of_rig(
        rig: &StereoRig,
        (width, height): (usize, usize),
        crop: impl Into<Crop>,
    ) -> Result<[Self; 2], CalibrationError> {
        let (rig, rectification, _) = rig.at_size(width, height, crop.into())?;
        let (right_width, right_height) = rig.right_size.unwrap_or((width, height));
        let info = |side, camera: &Camera, rotation: DMat3, projection: &Projection, baseline_m: f64| {
            let d = camera.distortion.coefficients();
            let model = match camera.distortion {
                Distortion::Fisheye(_) => "equidistant",
                Distortion::BrownConrady(_) if d.len() <= 8 => camera.distortion.name(),
                Distortion::BrownConrady(_) => return Err(WriteError::RosLens(side)),
            };
            Ok(Self {
                width: if side == "left" { width } else { right_width } as u32,
                height: if side == "left" { height } else { right_height } as u32,
                distortion_model: model.to_owned(),
                d,
                k: matrix_of(camera),
                r: rows(rotation),
                p: projection_of(projection, baseline_m, rectification.axis),
                part: SensorPart::default(),
            })
        };
        let r = &rectification;
        Ok([
            info("left", &rig.left, r.rotation_left, &r.left, 0.0)?,
            info("right", &rig.right, r.rotation_right, &r.right, r.baseline_m)?,
        ])
    }

    /// Returns the left and right camera of rectified images: `k` equals the left part of `p`.
    pub fn of_rectified(geometry: &Geometry, (width, height): (usize, usize)) -> [Self; 2] {
        let &Geometry { focal_px, baseline_m, cx_px, cy_px, axis, .. } = geometry;
        [([cx_px, cy_px], 0.0), (geometry.right_centre_px(), baseline_m)].map(|([cx, cy], baseline_m)| Self {
            width: width as u32,
            height: height as u32,
            distortion_model: "plumb_bob".to_owned(),
            d: vec![0.0; 5],
            k: [focal_px, 0.0, cx, 0.0, focal_px, cy, 0.0, 0.0, 1.0],
            r: rows(DMat3::IDENTITY),
            p: projection_of(&Projection { fx: focal_px, fy: focal_px, cx, cy }, baseline_m, axis),
            part: SensorPart::default(),
        })
    }

    /// Returns the geometry of rectified images of this size, from `-f T` in the right camera's `p`; `None` without a baseline.
    pub fn rectified_geometry([left, right]: [&Self; 2], image_size: Option<(usize, usize)>) -> Option<Geometry> {
        let axis = longer_axis(right.p[3], right.p[7]);
        let baseline_m = match axis {
            Axis::Horizontal => -right.p[3] / right.p[0],
            Axis::Vertical => -right.p[7] / right.p[5],
        };
        let [of_left, of_right] = [left, right].map(|camera| {
            let [fx, _, cx, _, _, fy, cy, ..] = camera.p;
            let whole = (camera.width as usize, camera.height as usize);
            let (part, _) = camera.part.seen(whole, image_size);
            let projection = Projection { fx, fy, cx, cy };
            part.map_or(projection, |part| part.projection(&projection))
        });
        let (focal_px, doffs_px) = match axis {
            Axis::Horizontal => (of_left.fx, of_right.cx - of_left.cx),
            Axis::Vertical => (of_left.fy, of_right.cy - of_left.cy),
        };
        let geometry = Geometry { axis, ..Geometry::new(focal_px, baseline_m, doffs_px, [of_left.cx, of_left.cy]) };
        let is_sound = left.p.iter().chain(&right.p).all(|v| v.is_finite()) && baseline_m.is_finite();
        (is_sound && focal_px > 0.0 && baseline_m > 0.0).then_some(geometry)
    }

    /// Whether the camera is marked as uncalibrated: all of K is 0.
    pub fn is_uncalibrated(&self) -> bool {
        self.k.iter().all(|v| *v == 0.0)
    }

    /// Checks that the numbers are plausible for a camera.
    ///
    /// # Errors
    /// A number is not finite, a focal length is not above 0, or there are too many coefficients.
    pub fn check_numbers(&self) -> Result<(), CalibrationError> {
        let Self { d, k, r, p, .. } = self;
        if d.len() > MAX_COEFFICIENTS {
            return Err(CalibrationError::Coefficients(d.len()));
        }
        if let Some(wrong) = [&d[..], k, r, p].concat().iter().find(|v| !v.is_finite()) {
            return Err(CalibrationError::NotFinite(*wrong));
        }
        if !self.is_uncalibrated() && (k[0] <= 0.0 || k[4] <= 0.0) {
            return Err(CalibrationError::FocalLengths(k[0], k[4]));
        }
        Ok(())
    }

    /// Returns the rig of a left and a right camera with images of this size; `None` for those that they describe. `known` is the pose of
    /// the left camera in the right one's axes, rotation and translation in m, for cameras whose `p` does not tell it.
    ///
    /// # Errors
    /// The cameras are uncalibrated, or no stereo pair.
    pub fn rig(
        [left, right]: [&Self; 2],
        image_size: Option<(usize, usize)>,
        known: Option<(DMat3, DVec3)>,
    ) -> Result<StereoRig, CalibrationError> {
        let file = |info: &Self, side: &str| (PathBuf::from(format!("{side}.yaml")), info.yaml(side).into_bytes());
        let options = LoadOptions { size: image_size, ..LoadOptions::default() };
        read_with_pose(&[file(left, "left"), file(right, "right")], &options, known)
    }

    /// Returns whether `p` of both cameras have the same shift, and so no baseline.
    pub fn lack_baseline([left, right]: [&Self; 2]) -> bool {
        [3, 7].into_iter().all(|at| (left.p[at] - right.p[at]).abs() < 1e-9)
    }

    /// Returns the text of the file that ROS's calibrator writes for this camera.
    pub fn yaml(&self, side: &str) -> String {
        let matrix = |name: &str, rows: usize, data: &[f64]| {
            let columns = data.len() / rows;
            format!("{name}:\n  rows: {rows}\n  cols: {columns}\n  data: {}\n", yaml_list(data))
        };
        let Self { width, height, distortion_model, part, .. } = self;
        let SensorPart { offset: [x, y], size: [columns, rows], binning: [across, down] } = part;
        let part = (*part != SensorPart::default()).then(|| {
            format!(
                "binning_x: {across}\nbinning_y: {down}\nroi:\n  x_offset: {x}\n  y_offset: {y}\n  height: {rows}\n  width: {columns}\n"
            )
        });
        [
            format!("image_width: {width}\nimage_height: {height}\ncamera_name: stereo/{side}\n"),
            matrix("camera_matrix", 3, &self.k),
            format!("distortion_model: {distortion_model}\n"),
            matrix("distortion_coefficients", 1, &self.d),
            matrix("rectification_matrix", 3, &self.r),
            matrix("projection_matrix", 3, &self.p),
            part.unwrap_or_default(),
        ]
        .concat()
    }
}

pub(super) fn rows(matrix: DMat3) -> [f64; 9] {
    matrix.transpose().to_cols_array()
}

pub(super) fn matrix_of(camera: &Camera) -> [f64; 9] {
    let Camera { fx, fy, cx, cy, skew, .. } = *camera;
    [fx, skew, cx, 0.0, fy, cy, 0.0, 0.0, 1.0]
}

/// Returns the 3x4 projection of a camera at `baseline` to the right, or below.
pub(super) fn projection_of(camera: &Projection, baseline: f64, axis: Axis) -> [f64; 12] {
    let Projection { fx, fy, cx, cy } = *camera;
    let (x, y) = match axis {
        Axis::Horizontal => (0.0 - fx * baseline, 0.0),
        Axis::Vertical => (0.0, 0.0 - fy * baseline),
    };
    [fx, 0.0, cx, x, 0.0, fy, cy, y, 0.0, 0.0, 1.0, 0.0]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rig::tests::plain_rig;

    #[test]
    fn a_rig_survives_its_two_cameras() {
        let rig = plain_rig();
        let [left, right] = CameraInfo::of_rig(&rig, (640, 480), 0.0).unwrap();
        assert_eq!((left.k[0], left.p[3]), (500.0, 0.0));
        assert!((right.p[3] + right.p[0] * 0.12).abs() < 1e-9 && !left.is_uncalibrated());
        let back = CameraInfo::rig([&left, &right], None, None).unwrap();
        assert_eq!((back.left, back.right, back.size), (rig.left, rig.right, rig.size));
        assert!((back.baseline_m() - 0.12).abs() < 1e-12);
    }

    #[test]
    fn rectified_cameras_have_one_matrix_for_both() {
        let geometry = Geometry::new(400.0, 0.1, 7.0, [99.5, 49.5]);
        let [left, right] = CameraInfo::of_rectified(&geometry, (200, 100));
        assert_eq!((left.k[2], right.k[2], right.p[2]), (99.5, 106.5, 106.5));
        assert_eq!((right.p[3], right.d.len(), left.width), (-40.0, 5, 200));
    }

    #[test]
    fn cameras_without_a_baseline_take_the_known_pose() {
        let [left, mut right] = CameraInfo::of_rig(&plain_rig(), (640, 480), 0.0).unwrap();
        right.p[3] = left.p[3];
        assert!(CameraInfo::lack_baseline([&left, &right]) && CameraInfo::rig([&left, &right], None, None).is_err());
        let pose = (DMat3::from_rotation_y(0.02), DVec3::new(-0.05, 0.001, 0.0));
        let rig = CameraInfo::rig([&left, &right], None, Some(pose)).unwrap();
        assert_eq!((rig.rotation, rig.translation_m, rig.rectification), (pose.0, pose.1, None));
        assert_eq!(rig.left, plain_rig().left);
    }

    #[test]
    fn pyyaml_reads_numbers_as_numbers() {
        assert_eq!(yaml_list(&[1e-5, -1.25e-7, 0.5, 3.0, 1e21]), "[1.0e-5, -1.25e-7, 0.5, 3.0, 1.0e+21]");
    }
}
