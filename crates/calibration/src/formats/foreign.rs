//! Files of other tools that are recognised but unsupported: the error names the tool and a way to convert the file.

use super::FileError;
use super::tree::{Node, number};

/// Advice for tools that give each camera's pose in the axes of a body.
const POSES_ADVICE: &str = "write a Kalibr camchain: cam0 and cam1, each with camera_model: pinhole, distortion_model (radtan or \
                     equidistant), intrinsics [fx, fy, cx, cy], distortion_coeffs, resolution, and the camera-to-body \
                     matrix as T_imu_cam";

/// Advice for tools with complete files in their own form.
const TO_OPENCV: &str = "write K1, D1, K2, D2, R and T into an OpenCV YAML file";

/// Keys that occur only in files of these tools.
const TOOLS: &[(&[&str], &str)] = &[
    (&["frames", "fl_x"], "a transforms.json of NeRF tools"),
    (&["frames", "camera_angle_x"], "a transforms.json of NeRF tools"),
    (&["sfm_data_version"], "an sfm_data.json of OpenMVG"),
    (&["CalibrationInformation"], "a calibration of an Azure Kinect"),
    (&["fx_left", "fx_right"], "a camera rig of VIAME"),
    (&["baseline", "intrinsic_left"], "a calibration of RealSense"),
];

fn refuse(what: &'static str, advice: &'static str) -> Result<(), FileError> {
    Err(FileError::OtherTool { what, advice })
}

pub(super) fn refuse_bytes(bytes: &[u8]) -> Result<(), FileError> {
    const PYTHON: &str =
        "let Python load it and write K1, D1, K2, D2, R and T with cv2.FileStorage('rig.yml', 1).write(name, matrix)";
    let starts = |magic: &[u8]| bytes.starts_with(magic);
    if starts(b"\x93NUMPY") {
        refuse("one array of numpy (.npy)", PYTHON)
    } else if starts(b"PK\x03\x04") {
        refuse(
            "a ZIP, such as numpy's .npz or a packed calibration",
            "unpack it; of an .npz let Python load it and write K1, D1, K2, D2, R and T with cv2.FileStorage('rig.yml', \
             1).write(name, matrix)",
        )
    } else if starts(b"\x80\x02") || starts(b"\x80\x03") || starts(b"\x80\x04") || starts(b"\x80\x05") {
        refuse("a pickle of Python", PYTHON)
    } else if starts(b"MATLAB 5.0") {
        refuse(
            "a .mat file of MATLAB",
            "use stereoParametersToOpenCV, and write its matrices as K1, D1, K2, D2, R and T into an OpenCV YAML file",
        )
    } else if starts(b"\x89HDF") {
        refuse("an HDF5 file", "write its matrices as K1, D1, K2, D2, R and T into an OpenCV YAML file")
    } else if starts(b"\x89PNG") || starts(b"\xff\xd8\xff") || starts(b"%PDF") {
        refuse("an image or a PDF", "calibrate with the images first, then give the file that was written")
    } else {
        Ok(())
    }
}

pub(super) fn refuse_text(text: &str) -> Result<(), FileError> {
    let begins = |word: &str| text.lines().any(|line| line.trim_start().starts_with(word));
    if is_dso(text) {
        return Err(FileError::Dso);
    }
    let table = |name: &str| text.lines().any(|line| line.trim() == name);
    if table("[source]") || table("[calibration]") && !table("[right_from_left]") {
        return Err(FileError::RigFile);
    }
    if begins("# Camera list with one line of data per camera") {
        return refuse("a cameras.txt of COLMAP", TO_OPENCV);
    }
    if begins("fc_left") || begins("fc =") && text.contains("cc =") {
        return refuse("one of Bouguet's Camera Calibration Toolbox", TO_OPENCV);
    }
    if text.contains("'lensmodel'") || text.contains("\"lensmodel\"") {
        return refuse("a .cameramodel of mrcal", "use mrcal-to-kalibr, which writes a camchain that is read");
    }
    Ok(())
}

pub(super) fn refuse_tree(tree: &Node) -> Result<(), FileError> {
    let has = |key: &str| tree.has(key);
    let camodocal = "put fx, fy, cx, cy and k1, k2, p1, p2 of both cameras into a Kalibr camchain, and body_T_cam0 and \
                     body_T_cam1 as their T_imu_cam";
    if has("model_type") && (has("projection_parameters") || has("mirror_parameters")) {
        refuse("one camera of camodocal", camodocal)
    } else if has("body_T_cam0") || has("num_of_cam") {
        refuse("a configuration of VINS with camodocal's cameras", camodocal)
    } else if ["Camera.fx", "Camera1.fx", "Camera.type"].into_iter().any(has) {
        Err(FileError::OrbSlam)
    } else if tree.get(&["value0"]).is_some_and(|value| value.has("T_imu_cam")) {
        refuse(
            "a calibration of basalt",
            "calibrate with Kalibr's pinhole-equi or pinhole-radtan; of basalt's own models only kb4 could be written as a \
             camchain with distortion_model: equidistant",
        )
    } else if has("ncameras") || (has("cameras") && has("label")) {
        refuse("a camera rig of maplab", POSES_ADVICE)
    } else if let Some((_, tool)) = TOOLS.iter().find(|(keys, _)| keys.iter().all(|key| has(key))) {
        refuse(tool, TO_OPENCV)
    } else {
        Ok(())
    }
}

/// Whether a text is a camera file of DSO: parameters, image size, treatment of the images, output size, and for stereo a baseline.
fn is_dso(text: &str) -> bool {
    const MODELS: [&str; 5] = ["Pinhole", "RadTan", "EquiDistant", "KannalaBrandt", "FOV"];
    let lines: Vec<Vec<&str>> = text.lines().take(16).map(|line| line.split_whitespace().collect()).collect();
    let lines: Vec<_> = lines.into_iter().filter(|words| !words.is_empty()).collect();
    let [camera, size, what, ..] = lines.as_slice() else { return false };
    let numbers = |words: &[&str]| words.iter().all(|word| number(word).is_some());
    let camera = match camera.split_first() {
        Some((first, rest)) if MODELS.contains(first) => rest,
        _ => camera,
    };
    let is_way = matches!(what.as_slice(), ["crop" | "full" | "none"]) || what.len() == 5 && numbers(what);
    matches!(camera.len(), 5 | 8) && numbers(camera) && size.len() == 2 && numbers(size) && is_way
}
