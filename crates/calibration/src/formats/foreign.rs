//! Recognized but unsupported files of other tools: the error names the tool and a way to convert the file.

use super::tree::Node;
use crate::CalibrationError;

/// Advice for tools that give each camera's pose in the axes of a body.
const POSES_ADVICE: &str = "write a Kalibr camchain: cam0 and cam1, each with camera_model: pinhole, distortion_model (radtan or \
                     equidistant), intrinsics [fx, fy, cx, cy], distortion_coeffs, resolution, and the camera-to-body \
                     matrix as T_imu_cam";

fn refuse(what: &str, way: &str) -> Result<(), CalibrationError> {
    Err(CalibrationError(format!("it is {what}, which is not read; to convert, {way}")))
}

/// Binary files.
pub(super) fn refuse_bytes(bytes: &[u8]) -> Result<(), CalibrationError> {
    let starts = |magic: &[u8]| bytes.starts_with(magic);
    let python =
        "let Python load it and write K1, D1, K2, D2, R and T with cv2.FileStorage('rig.yml', 1).write(name, matrix)";
    if starts(b"\x93NUMPY") {
        refuse("one array of numpy (.npy)", python)
    } else if starts(b"PK\x03\x04") {
        refuse("a ZIP, such as numpy's .npz or a packed calibration", &format!("unpack it; of an .npz {python}"))
    } else if starts(b"\x80\x02") || starts(b"\x80\x03") || starts(b"\x80\x04") || starts(b"\x80\x05") {
        refuse("a pickle of Python", python)
    } else if starts(b"MATLAB 5.0") {
        refuse(
            "a .mat file of MATLAB",
            "use stereoParametersToOpenCV, and write its matrices as K1, D1, K2, D2, R and T into an OpenCV YAML file",
        )
    } else if starts(b"\x89HDF") {
        refuse("an HDF5 file", "write its matrices as K1, D1, K2, D2, R and T into an OpenCV YAML file")
    } else if starts(b"\x89PNG") || starts(b"\xff\xd8\xff") || starts(b"%PDF") {
        refuse("a picture or a PDF", "calibrate with the pictures first, then give the file that was written")
    } else {
        Ok(())
    }
}

/// Texts without a tree structure.
pub(super) fn refuse_text(text: &str) -> Result<(), CalibrationError> {
    let begins = |word: &str| text.lines().any(|line| line.trim_start().starts_with(word));
    if begins("P0:") && begins("P1:") || begins("P_rect_00:") || begins("P_rect_02:") {
        return refuse(
            "a calibration of KITTI",
            "its pictures are rectified already: give --focal-px and --baseline-m (P1[3] / -P1[0]) in place of it",
        );
    }
    let table = |name: &str| text.lines().any(|line| line.trim() == name);
    if table("[source]") || table("[calibration]") && !table("[right_from_left]") {
        return Err(CalibrationError(
            "it is a rig file, which names a calibration beside other things: give it with --rig".to_owned(),
        ));
    }
    if begins("# Camera list with one line of data per camera") {
        return refuse("a cameras.txt of COLMAP", "write K1, D1, K2, D2, R and T into an OpenCV YAML file");
    }
    if text.contains("'lensmodel'") || text.contains("\"lensmodel\"") {
        return refuse("a .cameramodel of mrcal", "use mrcal-to-kalibr, which writes a camchain that is read");
    }
    Ok(())
}

/// YAML and JSON.
pub(super) fn refuse_tree(tree: &Node) -> Result<(), CalibrationError> {
    let has = |key: &str| tree.has(key);
    let camodocal = "put fx, fy, cx, cy and k1, k2, p1, p2 of both cameras into a Kalibr camchain, and body_T_cam0 and \
                     body_T_cam1 as their T_imu_cam";
    if has("model_type") && (has("projection_parameters") || has("mirror_parameters")) {
        refuse("one camera of camodocal", camodocal)
    } else if has("body_T_cam0") || has("num_of_cam") {
        refuse("a configuration of VINS with camodocal's cameras", camodocal)
    } else if has("T_BS") && has("camera_id") {
        refuse("one camera of Kimera", POSES_ADVICE)
    } else if has("T_BS") {
        refuse("one camera of the EuRoC data set (sensor.yaml)", POSES_ADVICE)
    } else if ["Camera.fx", "Camera1.fx", "Camera.type"].into_iter().any(has) {
        refuse(
            "settings of ORB-SLAM",
            "write an OpenCV YAML file: LEFT.K, LEFT.D, LEFT.R and LEFT.P as K1, D1, R1 and P1, those of RIGHT as K2, D2, R2 \
             and P2, with image_width and image_height; without them its pictures are rectified already: give --focal-px \
             and --baseline-m (Camera.bf / Camera.fx)",
        )
    } else if has("cameraData") && (has("boardName") || has("stereoRectificationData")) {
        refuse(
            "a calibration of DepthAI (OAK cameras)",
            "write an OpenCV YAML file: intrinsicMatrix and distortionCoeff of the left and right camera as K1, D1, K2 and D2, \
             rotationMatrix and translation as R and T, and give --calibration-unit cm",
        )
    } else if tree.get(&["value0"]).is_some_and(|value| value.has("T_imu_cam")) {
        refuse(
            "a calibration of basalt",
            "calibrate with Kalibr's pinhole-equi or pinhole-radtan; of basalt's own models only kb4 could be written as a \
             camchain with distortion_model: equidistant",
        )
    } else if has("ncameras") || (has("cameras") && has("label")) {
        refuse("a camera rig of maplab", POSES_ADVICE)
    } else if has("rectified.0.fx") || has("baseline") && has("intrinsic_left") {
        refuse(
            "a calibration of RealSense",
            "its pictures are rectified already: give --focal-px (rectified fx) and --baseline-m in place of it",
        )
    } else {
        Ok(())
    }
}
