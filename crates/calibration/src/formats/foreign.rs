//! Files of other tools that are recognised but unsupported: the error names the tool and a way to convert the file.

use super::FileError;
use super::tree::{Node, number};

/// Advice for tools that give each camera's pose in the axes of a body.
const POSES_ADVICE: &str = "write a Kalibr camchain: cam0 and cam1, each with camera_model: pinhole, distortion_model (radtan or \
                     equidistant), intrinsics [fx, fy, cx, cy], distortion_coeffs, resolution, and the camera-to-body \
                     matrix as T_imu_cam";

/// Advice for tools with complete files in their own form.
const TO_OPENCV: &str = "write K1, D1, K2, D2, R and T into an OpenCV YAML file";

/// Advice for pycamcalib, whose files hold one thing each.
const PYCAMCALIB: &str = "write an OpenCV YAML file: of each camera f and c as K1 and K2 ([f1, s, c1, 0, f2, c2, 0, 0, 1]), and its k1 k2 p1 p2 \
                          k3 as D1 and D2; of the matrix H of the pair the upper left 3x3 as R and the last column as T";

/// Advice for COLMAP, whose cameras and rigs are two files.
const COLMAP: &str = "write an OpenCV YAML file: the numbers of cameras.txt as K1, D1, K2 and D2, and the pose of the second camera in rigs.txt \
                      (sensor_from_rig, its quaternion w first, where the first camera is the reference) as R and T";

/// Keys that occur only in files of these tools.
const TOOLS: &[(&[&str], &str, &str)] = &[
    (&["frames", "fl_x"], "a transforms.json of NeRF tools", TO_OPENCV),
    (&["frames", "camera_angle_x"], "a transforms.json of NeRF tools", TO_OPENCV),
    (&["sfm_data_version"], "an sfm_data.json of OpenMVG", TO_OPENCV),
    (&["CalibrationInformation"], "a calibration of an Azure Kinect", TO_OPENCV),
    (&["fx_left", "fx_right"], "a camera rig of VIAME", TO_OPENCV),
    (&["baseline", "intrinsic_left"], "a calibration of RealSense", TO_OPENCV),
    (&["radial_dist_coeffs", "tangential_dist_coeffs"], "one camera of pycamcalib", PYCAMCALIB),
    (&["H", "info", "units"], "a pose between two cameras of pycamcalib", PYCAMCALIB),
    (
        &["left_rect", "right_rect"],
        "a calibration of raw and rectified cameras (left, right, left_rect, right_rect)",
        "write P of left_rect and right_rect as P1 and P2 into an OpenCV YAML file, and give it with the rectified images",
    ),
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
    } else if starts(b"MATLAB 5.0") || starts(b"MATLAB 7.3") {
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

/// Refuses XML of tools whose lens model is not known.
pub(super) fn refuse_xml(text: &str) -> Result<(), FileError> {
    if text.contains("<camera") && text.contains("<orientation>") {
        return refuse(
            "a calibration or project of VIC-3D, whose lens model is its own",
            "calibrate both cameras with a chessboard or a ChArUco board",
        );
    }
    Ok(())
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
        return refuse("a cameras.txt of COLMAP", COLMAP);
    }
    if begins("# Rig calib list with one line of data per calib") {
        return refuse("a rigs.txt of COLMAP", COLMAP);
    }
    if text.contains("\"cameras\"") && text.contains("\"ref_sensor\"") {
        return refuse("a rig_config.json of COLMAP", COLMAP);
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
    } else if !has("LEFT.K") && ["Camera.fx", "Camera1.fx", "Camera.type"].into_iter().any(has) {
        Err(FileError::OrbSlam)
    } else if tree.get(&["value0"]).is_some_and(|value| value.has("T_imu_cam")) {
        refuse(
            "a calibration of basalt",
            "calibrate with Kalibr's pinhole-equi or pinhole-radtan; of basalt's own models only kb4 could be written as a \
             camchain with distortion_model: equidistant",
        )
    } else if has("ncameras") || (has("cameras") && has("label")) {
        refuse("a camera rig of maplab", POSES_ADVICE)
    } else if let Some((_, tool, advice)) = TOOLS.iter().find(|(keys, ..)| keys.iter().all(|key| has(key))) {
        refuse(tool, advice)
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
