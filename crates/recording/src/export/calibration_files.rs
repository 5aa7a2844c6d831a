//! Files in `calibration/` of an export: the rig of a recording in the formats of other tools.

use std::path::Path;
use stereopsis_base::files;
use stereopsis_base::files::WriteError;
use stereopsis_calibration::{Crop, Output, StereoRig, write};
use stereopsis_frame::SourceInfo;
use stereopsis_settings::rig::Calibrated;

pub(super) const FILES: [(&str, &str); 4] = [
    ("calibration/opencv.yaml", "OpenCV: matrices of both cameras, lengths in metres"),
    ("calibration/left.yaml", "ROS: camera_info of the left camera"),
    ("calibration/right.yaml", "ROS: camera_info of the right camera"),
    ("calibration/calibration.toml", "Stereopsis: everything, exactly; for --calibration"),
];

/// Returns the rig of the exported images; for recorded rectified images, the rig of their geometry.
pub(super) fn rig(info: &SourceInfo, calibrated: &Calibrated) -> Option<StereoRig> {
    let of_geometry =
        || Some(StereoRig::of_rectified(&calibrated.preparation.geometry(info)?, (info.width, info.height)));
    calibrated.rig.clone().or_else(of_geometry)
}

/// Writes the files, and returns the losses of the formats, in sentences.
pub(super) fn write_files(folder: &Path, rig: &StereoRig, crop: Crop) -> Result<Vec<String>, WriteError> {
    let inside = folder.join("calibration");
    files::make_folder(&inside)?;
    let mut warnings = Vec::new();
    for output in [Output::OpenCvYaml, Output::RosFiles, Output::Toml] {
        let files = match write(rig, output, crop) {
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
