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

/// Advice for lensboy.
const LENSBOY: &str = "put fx, fy, cx, cy and distortion_coeffs of both cameras as K1, D1, K2 and D2 into an OpenCV YAML file, with the R and T \
                       that cv2.stereoCalibrate finds for them";

/// Advice for Open3D.
const OPEN3D: &str = "it is by columns, fx 0 0, 0 fy 0, cx cy 1, and has neither lens nor pose: write K1 and K2 by rows, D1, D2, R and T into an \
                      OpenCV YAML file, or calibrate both cameras together";

/// Advice for OpenSfM and OpenDroneMap, whose focal lengths and centres are shares of the image.
const OPENSFM: &str = "with w the larger of width and height, write focal_x w, focal_y w, c_x w + (width - 1) / 2 and c_y w + (height - 1) / 2 of \
                       both cameras as K1 and K2 and k1 k2 p1 p2 k3 as D1 and D2 into an OpenCV YAML file; the pose between the cameras is not in \
                       it: calibrate both together for R and T";

/// Advice for OpenSfM's rig, whose poses take a point of the rig to the camera.
const OPENSFM_RIG: &str = "with A = cv2.Rodrigues(rotation) and a = translation of the left camera, and B and b of the right one, write R = B A^T and \
                           T = b - R a, and from camera_models.json K1, D1, K2 and D2, into an OpenCV YAML file";

/// Advice for Agisoft Metashape, whose lens counts from the middle of the image and has p1 and p2 exchanged.
const METASHAPE: &str = "save the lens of each camera in OpenCV's form (Tools, Camera Calibration, Save), and write it as K1, D1, K2 and D2 with R and \
                         T into an OpenCV YAML file; or calibrate both cameras together with a board";

/// Advice for COLMAP's binary files.
const COLMAP_BINARY: &str = "let `colmap model_converter --input_path FOLDER --output_path FOLDER --output_type TXT` write cameras.txt and rigs.txt, \
                             and their numbers as K1, D1, K2, D2, R and T into an OpenCV YAML file";

/// Advice for Spectacular AI, whose cameras have a pose each.
const SPECTACULAR: &str = "write a Kalibr camchain: cam0 and cam1, each with camera_model: pinhole, intrinsics [focalLengthX, focalLengthY, \
                           principalPointX, principalPointY], resolution, imuToCamera as T_cam_imu, and of the lens kannala-brandt4 \
                           distortion_model: equidistant with the distortionCoefficients as distortion_coeffs";

/// Advice for Project Aria.
const ARIA: &str = "let projectaria_tools make flat images of both cameras (distort_by_calibration to get_linear_camera_calibration), and write that \
                    camera as K1 and K2, and R and T from the left camera to the right one by T_Device_Camera (camera to device), into an OpenCV \
                    YAML file; its lens of 15 numbers is none of OpenCV's";

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
    (&["lensboy-version"], "one camera of lensboy", LENSBOY),
    (&["CameraCalibrations"], "a calibration of Project Aria", ARIA),
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

/// Refuses binary files by their names: COLMAP's have no mark of their own.
pub(super) fn refuse_binary(name: &str, bytes: &[u8]) -> Result<(), FileError> {
    const NAMES: [&str; 5] = ["cameras.bin", "rigs.bin", "frames.bin", "images.bin", "points3D.bin"];
    if bytes.contains(&0) && NAMES.iter().any(|known| name.ends_with(known)) {
        return refuse("a binary file of COLMAP", COLMAP_BINARY);
    }
    Ok(())
}

/// Refuses XML of tools whose lens model is not known.
pub(super) fn refuse_xml(text: &str) -> Result<(), FileError> {
    let has = |word: &str| text.contains(word);
    if has("<calibration>") && has("<projection>") {
        return refuse("the lens of one camera of Agisoft Metashape", METASHAPE);
    }
    if has("<document") && has("<chunk") && has("<sensor ") {
        return refuse("the cameras of Agisoft Metashape", METASHAPE);
    }
    if has("<camera_model") && has("calibu_") {
        return refuse(
            "a rig of vicalib (Calibu)",
            "write the params of both cameras as K1, D1, K2 and D2, and R and T from the left camera to the right one by T_wc (camera to common \
             axes), into an OpenCV YAML file; of the lens models k1 k2 k3 and none are OpenCV's, kb4 is its fisheye",
        );
    }
    if has("<camera") && has("<orientation>") {
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
    if let Some(found) = data_set(text) {
        return Err(found);
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
    } else if tree.get(&["format"]).and_then(Node::word).is_some_and(|word| word.starts_with("application/opf")) {
        refuse(
            "a file of the Open Photogrammetry Format",
            "write of both cameras focal_length_px and principal_point_px as K1 and K2, radial_distortion k1 k2 k3 and tangential_distortion p1 p2 as \
             D1 and D2 in OpenCV's order k1 k2 p1 p2 k3, and R and T, into an OpenCV YAML file; or calibrate both cameras together with a board",
        )
    } else if is_open3d(tree) || tree.get(&["intrinsic"]).is_some_and(is_open3d) {
        refuse("one camera of Open3D", OPEN3D)
    } else if any_entry(tree, &["projection_type", "focal"]) || any_entry(tree, &["projection_type", "focal_x"]) {
        refuse("the cameras of OpenDroneMap or OpenSfM", OPENSFM)
    } else if any_entry(tree, &["rotation", "translation", "camera"]) {
        refuse("a rig of OpenSfM, without lenses", OPENSFM_RIG)
    } else if any_item(tree.get(&["cameras"]), "imuToCamera") {
        refuse("a calibration of Spectacular AI", SPECTACULAR)
    } else if has("ncameras") || (has("cameras") && has("label")) {
        refuse("a camera rig of maplab", POSES_ADVICE)
    } else if let Some((_, tool, advice)) = TOOLS.iter().find(|(keys, ..)| keys.iter().all(|key| has(key))) {
        refuse(tool, advice)
    } else {
        Ok(())
    }
}

fn any_entry(tree: &Node, keys: &[&str]) -> bool {
    tree.entries().iter().any(|(_, node)| keys.iter().all(|key| node.has(key)))
}

fn any_item(list: Option<&Node>, key: &str) -> bool {
    matches!(list, Some(Node::List(items)) if items.iter().any(|item| item.has(key)))
}

/// Whether a tree is a pinhole camera of Open3D: nine numbers in one list, by columns.
fn is_open3d(tree: &Node) -> bool {
    let columns =
        tree.get(&["intrinsic_matrix"]).and_then(|node| node.matrix("")).filter(|matrix| matrix.shape.is_none());
    tree.has("width")
        && tree.has("height")
        && columns.is_some_and(|matrix| matches!(matrix.data[..], [_, _, below, _, _, _, cx, cy, _] if below == 0.0 && cx > 1.0 && cy > 1.0))
}

/// Returns the refusal of a file of a data set whose images are rectified and whose baseline is known from elsewhere.
fn data_set(text: &str) -> Option<FileError> {
    let rows: Vec<Vec<&str>> =
        text.lines().map(|line| line.split_whitespace().collect()).filter(|row: &Vec<_>| !row.is_empty()).collect();
    let pose = |row: &[&str], side: &str| {
        row.len() == 17 && row[0] == side && row[1..].iter().all(|word| number(word).is_some())
    };
    let of = |what, lens, lens_from, baseline_from| Some(FileError::DataSet { what, lens, lens_from, baseline_from });
    let first = rows.first().map(Vec::as_slice);
    if matches!(first, Some(["Frame", _]))
        && rows.iter().any(|row| pose(row, "L"))
        && rows.iter().any(|row| pose(row, "R"))
    {
        of(
            "a camera_data.txt of the Scene Flow data sets (Mayer et al., CVPR 2016)",
            "focal-px",
            "1050, and 450 for the scenes 15mm_focallength of Driving",
            "1, in the units of their renderer",
        )
    } else if matches!(first, Some(["frame", "cameraID", "K[0,0]", ..])) {
        of("an intrinsic.txt of Virtual KITTI 2 (Cabon et al., 2020)", "focal-px", "K[0,0], 725.0087", "0.532725")
    } else if text.contains("\"sensor.camera.") {
        of(
            "a list of the sensors of CARLA",
            "fov-deg",
            "the fov of the camera, which is the horizontal one",
            "how far apart y of both cameras is, where they look the same way",
        )
    } else if !rows.is_empty()
        && rows.iter().all(|row| row.len() == 4 && row.iter().all(|word| number(word).is_some_and(|n| n > 10.0)))
    {
        of(
            "lines of fx fy cx cy, as the intrinsics.txt of Spring (Mehl et al., CVPR 2023)",
            "focal-px",
            "the first number of the image's line",
            "0.065 for Spring",
        )
    } else {
        None
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
