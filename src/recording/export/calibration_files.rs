//! `calibration/`: the rig of a recording in the file formats of other tools.

use crate::calibration::{Camera, Distortion, Output, Projection, Rectification, StereoRig, write};
use crate::capture::SourceInfo;
use crate::files::{self, WriteError};
use crate::frame::Geometry;
use crate::rig::Calibrated;
use glam::{DMat3, DVec3};
use std::path::Path;

/// Names and descriptions of the files.
pub(super) const FILES: [(&str, &str); 4] = [
    ("calibration/opencv.yaml", "OpenCV: matrices of both cameras, lengths in metres"),
    ("calibration/left.yaml", "ROS: camera_info of the left camera"),
    ("calibration/right.yaml", "ROS: camera_info of the right camera"),
    ("calibration/calibration.toml", "Stereopsis: everything, exactly; for --calibration"),
];

/// The rig of the exported pictures; for pictures that are recorded rectified, the one of their geometry.
pub(super) fn rig(info: &SourceInfo, calibrated: &Calibrated) -> Option<StereoRig> {
    let of_geometry = || Some(rectified_rig(&calibrated.recipe.geometry(info)?, (info.width, info.height)));
    calibrated.rig.clone().or_else(of_geometry)
}

/// A rig whose cameras take rectified pictures of this geometry.
fn rectified_rig(geometry: &Geometry, size: (usize, usize)) -> StereoRig {
    let Geometry { focal_px, baseline_m, doffs_px, cx_px, cy_px, estimated } = *geometry;
    let [left, right] = [cx_px, cx_px + doffs_px].map(|cx| Projection { fx: focal_px, fy: focal_px, cx, cy: cy_px });
    let [left_camera, right_camera] = [&left, &right].map(|&Projection { fx, fy, cx, cy }| Camera {
        fx,
        fy,
        cx,
        cy,
        distortion: Distortion::default(),
    });
    let translation_m = DVec3::new(-baseline_m, 0.0, 0.0);
    let (rotation_left, rotation_right) = (DMat3::IDENTITY, DMat3::IDENTITY);
    let rectification = Some(Rectification { rotation_left, rotation_right, left, right, baseline_m });
    let rig = StereoRig::new(left_camera, right_camera, DMat3::IDENTITY, translation_m, Some(size));
    StereoRig { rectification, estimated, ..rig }
}

/// Writes the files and returns losses of the formats, in sentences.
///
/// # Errors
/// A file cannot be written.
pub(super) fn write_files(folder: &Path, rig: &StereoRig, alpha: f64) -> Result<Vec<String>, WriteError> {
    let inside = folder.join("calibration");
    files::make_folder(&inside)?;
    let mut warnings = Vec::new();
    for output in [Output::OpenCvYaml, Output::RosFiles, Output::Toml] {
        let files = match write(rig, output, alpha) {
            Ok(files) => files,
            Err(err) => {
                warnings.push(err.to_string());
                continue;
            }
        };
        for (name, bytes) in files {
            let name = match output {
                Output::OpenCvYaml => "opencv.yaml",
                Output::Toml => "calibration.toml",
                _ => name,
            };
            files::write(&inside.join(name), &bytes)?;
        }
    }
    Ok(warnings)
}
