//! Tests with every file of the shared collection: its rig or its error; and round trips of written files.

use super::*;
use glam::DQuat;
use stereopsis_base::geometry::{DepthSpread, Geometry, Uncertainty};

fn data() -> Option<PathBuf> {
    let folder = std::env::var_os("STEREOPSIS_DATA").map(PathBuf::from);
    if folder.is_none() {
        eprintln!("skipped: STEREOPSIS_DATA is not set");
    }
    folder
}

fn load_of(files: &[&str], options: &LoadOptions) -> Option<Result<StereoRig, CalibrationError>> {
    let folder = data()?.join("parsers");
    let paths: Vec<_> = files.iter().map(|file| folder.join(file)).collect();
    Some(load(&paths, options))
}

fn hd() -> LoadOptions {
    LoadOptions { size: Some((1280, 720)), ..LoadOptions::default() }
}

/// Valid files, with the kind and the beginning of the summary of their rig.
const READ: &[(&[&str], Kind, &str)] = &[
    (
        &["ros_camera_info/ps4eye_left.yaml", "ros_camera_info/ps4eye_right.yaml"],
        Kind::Ros,
        "640x400 per image, focal 434 px, baseline 0.0786 m (file: 0.0786, read as m), left is left",
    ),
    (
        &["ros_camera_info/sbs1280x960_left.yaml", "ros_camera_info/sbs1280x960_right.yaml"],
        Kind::Ros,
        "1280x960 per image, focal 727 px, baseline 0.0549 m (file: 0.0549, read as m), left is left",
    ),
    (
        &["ros_camera_info/i3dr_st_left.yaml", "ros_camera_info/i3dr_st_right.yaml"],
        Kind::Ros,
        "2448x2048 per image, focal 2352 px, baseline 0.3098 m (file: 0.3098, read as m), left is left",
    ),
    (
        &["ros_camera_info_json/isaac_chessboard0_left.json", "ros_camera_info_json/isaac_chessboard0_right.json"],
        Kind::Ros,
        "1920x1200 per image, focal 831 px, baseline 0.1496 m (file: 0.1496, read as m), left is left",
    ),
    (
        &["kalibr/sbs_camchain.yaml"],
        Kind::Kalibr,
        "1280x960 per image, focal 835 px, baseline 0.0591 m (file: 0.0591, read as m), left is left; but both cameras' \
         distortion folds inside the image, 93 %",
    ),
    (
        &["kalibr/euroc_mav_imucam_chain.yaml"],
        Kind::Kalibr,
        "752x480 per image, focal 459 px, baseline 0.1101 m (file: 0.1101, read as m), left is left",
    ),
    (
        &["kalibr/tum_vi_imucam_chain.yaml"],
        Kind::Kalibr,
        "512x512 per image, focal 191 px, baseline 0.1011 m (file: 0.1011, read as m), left is left",
    ),
    (
        &["kalibr/kaist_vio_imucam_chain.yaml"],
        Kind::Kalibr,
        "640x480 per image, focal 381 px, baseline 0.0500 m (file: 0.0500, read as m), left is left",
    ),
    (
        &["euroc_sensor_yaml/cam0_sensor.yaml", "euroc_sensor_yaml/cam1_sensor.yaml"],
        Kind::Euroc,
        "752x480 per image, focal 459 px, baseline 0.1101 m (file: 0.1101, read as m), left is left",
    ),
    (&["kimera_yaml/d455_LeftCameraParams.yaml", "kimera_yaml/d455_RightCameraParams.yaml"], Kind::Euroc, ""),
    (
        &["opencv_yaml/intrinsics.yml", "opencv_yaml/extrinsics.yml"],
        Kind::OpenCv,
        "no image size in the file, focal 440 px, baseline 3.3430 m (file: 3.3430, read as m), left is left; but the file \
         does not say its unit of length",
    ),
    (
        &["opencv_yaml/aliyasineser_stereo_cam.yml"],
        Kind::OpenCv,
        "no image size in the file, focal 540 px, baseline 0.0604 m (file: 0.0604, read as m), left is left; but both \
         cameras' distortion folds inside the image",
    ),
    (
        &["zed_conf/zed-cam-sn-1010.conf"],
        Kind::Zed,
        "1280x720 per image, focal 701 px, baseline 0.1200 m (file: 120.0, read as mm), left is left",
    ),
    (
        &["middlebury_calib_txt/teddy_calib.txt"],
        Kind::Middlebury,
        "450x375 per image, focal 1500 px, baseline 0.0800 m (file: 80.0, read as mm), left is left",
    ),
    (
        &["middlebury_calib_txt/art_calib.txt"],
        Kind::Middlebury,
        "347x277 per image, focal 935 px, baseline 0.1600 m (file: 160.0, read as mm), left is left",
    ),
    (
        &["orbslam_yaml/EuRoC.yaml"],
        Kind::OpenCv,
        "752x480 per image, focal 435 px, baseline 0.1101 m (file: 0.1101, read as m), left is left",
    ),
    (
        &["depthai_json/oakd_calib.json"],
        Kind::DepthAi,
        "1280x800 per image, focal 808 px, baseline 0.0738 m (file: 7.3808, read as cm), left is left; but both cameras' distortion folds \
         inside the image",
    ),
];

/// Rejected files, with words of their errors.
const REFUSED: &[(&[&str], &[&str])] = &[
    (&["ros_camera_info/ps4eye_left.yaml"], &["one camera", "give two: LEFT,RIGHT"]),
    (
        &["ros_camera_info/ps4eye_default.yaml", "ros_camera_info/ps4eye_right.yaml"],
        &["left camera", "ps4eye_default.yaml", "uncalibrated", "K is all 0"],
    ),
    (
        &["ros_camera_info/ps4eye_left.yaml", "ros_camera_info/sbs1280x960_right.yaml"],
        &["640x400", "1280x960", "no pair"],
    ),
    (&["ros_camera_info/ps4eye_left.yaml", "ros_camera_info/ps4eye_left.yaml"], &["uncalibrated as a pair", "twice"]),
    (
        &["kalibr/sbs_left_kalibr.yaml", "kalibr/sbs_right_kalibr.yaml"],
        &["uncalibrated as a pair", "Tx", "calibrate both together"],
    ),
    (&["kalibr/rs_d455_imucam_chain.yaml"], &["Kalibr", "one camera", "kalibr_calibrate_cameras"]),
    (&["opencv_yaml/intrinsics.yml"], &["rotation R between the cameras is missing", "both files"]),
    (&["opencv_yaml/extrinsics.yml"], &["left camera matrix is missing", "both files"]),
    (
        &["opencv_yaml/aliyasineser_left_cam.yml", "opencv_yaml/aliyasineser_right_cam.yml"],
        &["how the cameras stand to each other, by R and T", "calibrate both together"],
    ),
    (&["euroc_sensor_yaml/cam0_sensor.yaml"], &["EuRoC", "cam0/sensor.yaml,cam1/sensor.yaml"]),
    (&["camodocal_yaml/d435i_left.yaml", "camodocal_yaml/d435i_right.yaml"], &["camodocal", "Kalibr camchain"]),
    (&["camodocal_yaml/d435i_stereo_imu_config.yaml"], &["VINS", "Kalibr camchain"]),
    (&["basalt_json/euroc_ds_calib.json"], &["basalt", "pinhole-equi"]),
    (&["numpy/stereopi_disp_to_depth_mat.npy"], &["numpy", "cv2.FileStorage"]),
];

#[test]
fn files_as_found_are_read_or_refused_by_name() {
    for (files, kind, begins) in READ {
        let Some(rig) = load_of(files, &hd()) else { return };
        let rig = rig.unwrap();
        assert_eq!(rig.kind, *kind, "{files:?}");
        assert!(rig.summary().starts_with(begins), "{files:?}: {}", rig.summary());
        let doubts_wanted = begins.matches("; but ").count().max(usize::from(files[0].contains("extrinsics")));
        assert_eq!(rig.doubts.len(), doubts_wanted, "{files:?}: {:?}", rig.doubts);
    }
    for (files, words) in REFUSED {
        let Some(rig) = load_of(files, &hd()) else { return };
        let text = rig.unwrap_err().to_string();
        for word in words.iter().chain(files.iter()) {
            assert!(text.contains(word), "{files:?}: '{word}' is not in: {text}");
        }
    }
}

#[test]
fn no_file_of_the_collection_is_left_out() {
    let Some(data) = data() else { return };
    let index = std::fs::read_to_string(data.join("parsers/index.json")).unwrap();
    let index: serde_json::Value = serde_json::from_str(&index).unwrap();
    let tried: Vec<&str> = READ
        .iter()
        .flat_map(|(files, ..)| *files)
        .chain(REFUSED.iter().flat_map(|(files, _)| *files))
        .copied()
        .collect();
    for entry in index.as_array().unwrap() {
        let file = entry["file"].as_str().unwrap();
        assert!(tried.contains(&file), "{file} is in no table");
    }
}

/// Returns the largest difference between the numbers of two rigs, each in its own unit.
pub(super) fn difference(a: &StereoRig, b: &StereoRig) -> f64 {
    let numbers = |rig: &StereoRig| {
        let mut all = Vec::new();
        for camera in [&rig.left, &rig.right] {
            all.extend([camera.fx, camera.fy, camera.cx, camera.cy, camera.skew]);
            all.extend(camera.distortion.coefficients());
        }
        all.extend(rig.rotation.to_cols_array());
        all.extend(rig.translation_m.to_array());
        all
    };
    let (a_numbers, b_numbers) = (numbers(a), numbers(b));
    assert_eq!((a_numbers.len(), a.size), (b_numbers.len(), b.size));
    a_numbers.iter().zip(&b_numbers).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max)
}

pub(super) fn round_trip(rig: &StereoRig, output: Output) -> StereoRig {
    let files: Vec<_> =
        write(rig, output, 0.0).unwrap().into_iter().map(|(name, bytes)| (PathBuf::from(name), bytes)).collect();
    read(&files, &LoadOptions::default()).unwrap_or_else(|e| panic!("{output:?}: {e}"))
}

pub(super) const ALL_OUTPUTS: [Output; 5] =
    [Output::Toml, Output::OpenCvYaml, Output::OpenCvXml, Output::RosFiles, Output::RosArchive];

#[test]
fn every_file_comes_back_from_every_output() {
    for (files, ..) in READ {
        let Some(rig) = load_of(files, &hd()) else { return };
        let rig = rig.unwrap();
        let rig = match rig.size {
            Some(_) => rig,
            None => rig.with_size((700, 520)).unwrap(),
        };
        for output in ALL_OUTPUTS {
            let back = round_trip(&rig, output);
            let apart = difference(&rig, &back);
            assert!(apart < 1e-9, "{files:?} by {output:?}: {apart}");
            if let Some(own) = &rig.rectification {
                let apart = (own.baseline_m - back.baseline_m()).abs();
                assert!(apart < 1e-9 && own.left == back.rectification.unwrap().left, "{files:?} by {output:?}");
            }
        }
        let back = round_trip(&rig, Output::Toml);
        let same = StereoRig { kind: rig.kind, unit: rig.unit, doubts: rig.doubts.clone(), ..back };
        assert_eq!(same, rig, "our own TOML is exact");
    }
}

#[test]
fn spread_of_an_estimate_survives_a_round_trip() {
    let spread = DepthSpread {
        mean: [-0.01, 0.1],
        deviation: [0.03, 0.15],
        correlation: -0.4,
        rest: 0.002,
        farthest: 0.02,
        middle: 0.05,
    };
    let geometry = Geometry { estimated: true, spread: Some(spread), ..Geometry::centred(500.0, 0.1, 0.0, (64, 48)) };
    let rig = StereoRig::of_rectified(&geometry, (64, 48));
    let back = round_trip(&rig, Output::Toml);
    let rectified = back.rectifier(64, 48, 0.0).unwrap().geometry();
    assert_eq!((back.spread, rectified.spread), (Some(spread), Some(spread)));
    for (told, wrong) in [("correlation = -0.4", "correlation = -1.4"), ("rest = 0.002", "rest = inf")] {
        let text = super::toml_of(&rig).replace(told, wrong);
        assert!(refusal("wrong.toml", &text).contains("depth_spread"), "{wrong}");
    }
}

#[test]
fn uncertainty_survives_a_round_trip() {
    let geometry = Geometry::centred(500.0, 0.1, 0.0, (64, 48));
    let told = Uncertainty { focal_percent: 0.15, baseline_percent: 0.25 };
    let rig = StereoRig { uncertainty: Some(told), ..StereoRig::of_rectified(&geometry, (64, 48)) };
    let back = round_trip(&rig, Output::Toml);
    assert_eq!(back.uncertainty, Some(told));
    assert_eq!(back.rectifier(64, 48, 0.0).unwrap().geometry().uncertainty, Some(told));
    assert_eq!(round_trip(&StereoRig { uncertainty: None, ..rig.clone() }, Output::Toml).uncertainty, None);
    for wrong in ["nan", "-1.0", "101.0"] {
        let text = super::toml_of(&rig).replace("focal_percent = 0.15", &format!("focal_percent = {wrong}"));
        assert!(refusal("wrong.toml", &text).contains("uncertainty"), "{wrong}");
    }
}

#[test]
fn one_rig_in_two_kinds_agrees() {
    // two calibrations of one rig with different lens models
    let ros = ["ros_camera_info/sbs1280x960_left.yaml", "ros_camera_info/sbs1280x960_right.yaml"];
    let Some(ros) = load_of(&ros, &LoadOptions::default()) else { return };
    let (ros, kalibr) =
        (ros.unwrap(), load_of(&["kalibr/sbs_camchain.yaml"], &LoadOptions::default()).unwrap().unwrap());
    assert!((ros.left.fx / kalibr.left.fx - 1.0).abs() < 0.01);
    assert!(
        (ros.baseline_m() / kalibr.baseline_m() - 1.0).abs() < 0.08,
        "{} {}",
        ros.baseline_m(),
        kalibr.baseline_m()
    );
    let between =
        DQuat::from_mat3(&(ros.rotation * kalibr.rotation.transpose())).to_scaled_axis().length().to_degrees();
    assert!(between < 0.6, "{between} degrees");
    let directions = ros.translation_m.normalize().dot(kalibr.translation_m.normalize());
    assert!(directions > 0.995, "{directions}");
}

#[test]
fn kalibrs_poses_are_those_of_the_data_set() {
    let Some(data) = data() else { return };
    let chain = load_of(&["kalibr/euroc_mav_imucam_chain.yaml"], &LoadOptions::default()).unwrap().unwrap();
    let sensors = ["cam0_sensor.yaml", "cam1_sensor.yaml"].map(|name| data.join("sequence/euroc_raw").join(name));
    let own = load(&sensors, &LoadOptions::default()).unwrap();
    assert!(
        (chain.translation_m - own.translation_m).length() < 1e-9 && chain.rotation.abs_diff_eq(own.rotation, 1e-9)
    );
    assert_eq!((chain.left, chain.right, chain.size), (own.left, own.right, own.size));
    assert!((chain.baseline_m() - 0.110_08).abs() < 1e-5);
    // T_cn_cnm1 and T_cam_imu of one file agree
    let kaist = data.join("parsers/kalibr/kaist_vio_imucam_chain.yaml");
    let text = std::fs::read_to_string(kaist).unwrap();
    let direct = read(&[("chain.yaml".into(), text.clone().into_bytes())], &LoadOptions::default()).unwrap();
    let without = text.replace("T_cn_cnm1", "T_unused");
    let by_imu = read(&[("chain.yaml".into(), without.into_bytes())], &LoadOptions::default()).unwrap();
    assert!(difference(&direct, &by_imu) < 1e-3, "{}", difference(&direct, &by_imu));
}

#[test]
fn a_zed_file_depends_on_the_image_size() {
    let zed = |size| load_of(&["zed_conf/zed-cam-sn-1010.conf"], &LoadOptions { size, ..LoadOptions::default() });
    let Some(without) = zed(None) else { return };
    let text = without.unwrap_err().to_string();
    assert!(text.contains("2K 2208x1242") && text.contains("VGA 672x376") && text.contains("size"), "{text}");
    let focal = |width, height| zed(Some((width, height))).unwrap().map(|rig| (rig.size.unwrap().0, rig.left.fx));
    assert_eq!(focal(2208, 1242).unwrap(), (2208, 1401.79));
    assert_eq!(focal(672, 376).unwrap(), (672, 350.4475));
    // for the same aspect ratio at another size, the next larger mode is taken and scaled later
    assert_eq!(focal(640, 360).unwrap(), (1280, 700.895));
    assert!(focal(640, 480).unwrap_err().to_string().contains("none of the shape of images of 640x480"));
    // converging cameras: a point straight ahead of the left one appears to the right of the right one's axis
    let rig = zed(Some((1280, 720))).unwrap().unwrap();
    assert!((rig.rotation.z_axis.x - 0.006_799).abs() < 1e-5 && (rig.translation_m.x + 0.12).abs() < 1e-12);
}

#[test]
fn a_folder_an_archive_and_either_order_of_ros_files_are_the_same_rig() {
    let files = ["ros_camera_info/i3dr_st_left.yaml", "ros_camera_info/i3dr_st_right.yaml"];
    let Some(rig) = load_of(&files, &LoadOptions::default()) else { return };
    let rig = rig.unwrap();
    assert_eq!(load_of(&[files[1], files[0]], &LoadOptions::default()).unwrap().unwrap(), rig);
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in write(&rig, Output::RosFiles, 0.0).unwrap() {
        std::fs::write(folder.path().join(name), bytes).unwrap();
    }
    let archive = folder.path().join("calibrationdata.tar.gz");
    std::fs::write(&archive, &write(&rig, Output::RosArchive, 0.0).unwrap()[0].1).unwrap();
    for path in [folder.path().to_owned(), archive] {
        assert!(difference(&load(&[path], &LoadOptions::default()).unwrap(), &rig) < 1e-12);
    }
    let empty = tempfile::tempdir().unwrap();
    let text = load(&[empty.path().to_owned()], &LoadOptions::default()).unwrap_err().to_string();
    assert!(text.contains("a folder without left.yaml and right.yaml"), "{text}");
}

#[test]
fn an_oak_is_turned_as_its_file_says() {
    let Some(rig) = load_of(&["depthai_json/oakd_calib.json"], &LoadOptions::default()) else { return };
    let turned = crate::Rectification::compute(&rig.unwrap(), 1280, 800, 0.0).unwrap();
    // rectifiedRotationLeft and rectifiedRotationRight of the file, which DepthAI computes from the same poses
    let left = [0.999_936_16, -0.011_187_66, 0.001_569_34, 0.011_186_03, 0.999_936_88, 0.001_040_55];
    let right = [0.999_502_78, -0.031_313_21, -0.003_698_25, 0.031_309_38, 0.999_509_16, -0.001_089_79];
    for (found, said) in [(turned.rotation_left, left), (turned.rotation_right, right)] {
        let rows = found.transpose().to_cols_array();
        let apart = rows.iter().zip(said).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(apart < 1e-3, "{apart}: {found}");
    }
}

fn refusal(name: &str, text: &str) -> String {
    let files = [(PathBuf::from(name), text.as_bytes().to_vec())];
    read(&files, &LoadOptions::default()).unwrap_err().to_string()
}

#[test]
fn unknown_texts_get_advice_without_a_line_of_yaml() {
    for text in
        ["focal 640\nbaseline 0.06\nwidth 1280 height\n", "[camera]\nf = 640\nf: 2\n", "1 0 0 2\n", "K\n1 0 3\n"]
    {
        let refusal = refusal("camera.txt", text);
        assert!(refusal.contains("of no kind that is known; looked for a calibration of OpenCV"), "{refusal}");
        assert!(refusal.contains("to convert, write K1, D1, K2, D2, R, T") && !refusal.contains("line "), "{refusal}");
    }
    // a syntax error in YAML has its line
    let broken = refusal("a.yml", "%YAML:1.0\n---\nK1: [1, 2\nD1: }\n");
    assert!(broken.contains("as YAML or JSON: line 4"), "{broken}");
    let other = refusal("a.json", r#"{"gain": 3, "exposure": 4}"#);
    assert!(other.contains("to convert, write K1"), "{other}");
}

#[test]
fn doffs_of_middlebury_follows_from_its_cameras() {
    let text =
        "cam0=[500 0 320; 0 500 240; 0 0 1]\ncam1=[500 0 350; 0 500 240; 0 0 1]\nbaseline=60\nwidth=640\nheight=480\n";
    let rig_of = |text: &str| read(&[("calib.txt".into(), text.as_bytes().to_vec())], &LoadOptions::default());
    let rig = rig_of(text).unwrap();
    let Geometry { focal_px, baseline_m, doffs_px, .. } = rig.rectifier(640, 480, 0.0).unwrap().geometry();
    assert_eq!((focal_px, baseline_m, doffs_px), (500.0, 0.06, 30.0));
    assert_eq!(rig_of(&format!("{text}doffs=30\n")).unwrap(), rig);
    assert!(rig_of(&format!("{text}doffs=20\n")).unwrap_err().to_string().contains("of two scenes or two sizes"));
}

/// Texts of other tools, with words of their refusals.
const OTHER_TOOLS: &[(&str, &[&str])] = &[
    ("640.5 641.5 320 240 0\n640 480\ncrop\n512 384\n0.21\n", &["DSO", "focal-px", "baseline-m", "Camera.bf / 1000"]),
    ("Pinhole 0.5 0.6 0.5 0.5 0\n640 480\nfull\n512 384\n", &["DSO", "focal-px", "below 1", "baseline"]),
    ("% a\nfc_left = [ 800 ; 801 ];\nom = [ 0 ; 0 ; 0 ];\n", &["Bouguet", "K1", "OpenCV YAML", "convert"]),
    ("Camera1.fx: 500\nCamera2.fx: 500\n", &["ORB-SLAM without LEFT.K", "T_LEFT_RIGHT", "focal-px", "baseline-m"]),
    (
        "# Rig calib list with one line of data per calib:\n1 2 CAMERA 1\n",
        &["rigs.txt of COLMAP", "sensor_from_rig", "R and T"],
    ),
    (r#"[{"cameras": [{"ref_sensor": true}]}]"#, &["rig_config.json of COLMAP", "cameras.txt"]),
    (r#"{"f": [1, 2], "radial_dist_coeffs": [0], "tangential_dist_coeffs": [0]}"#, &["pycamcalib", "K1 and K2"]),
    (r#"{"H": [[1]], "info": [], "units": "mm"}"#, &["pycamcalib", "last column as T"]),
    ("left_rect:\n  P: [1]\nright_rect:\n  P: [1]\n", &["left_rect", "as P1 and P2"]),
    (
        "<!DOCTYPE vpml>\n<project><camera id=\"0\">1<orientation>2</orientation></camera></project>",
        &["VIC-3D", "ChArUco"],
    ),
    // the forms of lensboy 4.0.3, Open3D 0.20.0, OpenDroneMap, OpenSfM (doc/source/rig.rst), Metashape 2, pyopf 1.4.1, Calibu
    (r#"{"type": "opencv", "lensboy-version": "4.0.3", "fx": 600.5}"#, &["one camera of lensboy", "K1, D1, K2 and D2"]),
    (
        r#"{"height": 480, "intrinsic_matrix": [600.5, 0.0, 0.0, 0.0, 601.5, 0.0, 320.5, 240.5, 1.0], "width": 640}"#,
        &["one camera of Open3D", "by columns"],
    ),
    (
        r#"{"class_name": "PinholeCameraParameters", "intrinsic": {"height": 480, "intrinsic_matrix": [600, 0, 0, 0, 601, 0, 320, 240, 1],
           "width": 640}}"#,
        &["one camera of Open3D"],
    ),
    (r#"{"a 640 480": {"projection_type": "brown", "focal_x": 0.9}}"#, &["OpenDroneMap or OpenSfM", "focal_x w"]),
    (r#"{"a": {"rotation": [0, 0, 0], "translation": [0, 0, 0], "camera": "a"}}"#, &["rig of OpenSfM", "R = B A^T"]),
    (
        "<?xml version=\"1.0\"?>\n<calibration>\n<projection>frame</projection><f>600</f></calibration>",
        &["lens of one camera of Agisoft Metashape", "in OpenCV's form"],
    ),
    (
        "<document version=\"2.0.0\"><chunk><sensors><sensor id=\"0\"/></sensors><camera><orientation>1</orientation></camera></chunk>\
         </document>",
        &["cameras of Agisoft Metashape", "calibrate both cameras together"],
    ),
    (
        r#"{"format": "application/opf-calibrated-cameras+json", "sensors": []}"#,
        &["Open Photogrammetry Format", "k1 k2 k3"],
    ),
    (
        "<rig><camera><camera_model index=\"0\" type=\"calibu_fu_fv_u0_v0_k1_k2_k3\"/></camera></rig>",
        &["vicalib", "T_wc (camera to common"],
    ),
    (r#"{"cameras": [{"focalLengthX": 300, "imuToCamera": [[1]]}]}"#, &["Spectacular AI", "T_cam_imu"]),
    (r#"{"CameraCalibrations": [{"Label": "camera-slam-left"}]}"#, &["Project Aria", "get_linear_camera_calibration"]),
    // the data sets' forms
    (
        "Frame 6\nL 1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1\nR 1 0 0 1 0 1 0 0 0 0 1 0 0 0 0 1\n\n",
        &["Scene Flow", "rectified already", "focal-px (1050, and 450", "baseline-m (1,"],
    ),
    (
        "frame cameraID K[0,0] K[1,1] K[0,2] K[1,2]\n0 0 725.0087 725.0087 620.5 187\n",
        &["Virtual KITTI 2", "focal-px (K[0,0], 725.0087)", "baseline-m (0.532725)"],
    ),
    ("1000.5 1000.5 640 360\n1000.5 1000.5 640 360\n", &["intrinsics.txt of Spring", "baseline-m (0.065 for Spring)"]),
    (
        r#"[{"type": "sensor.camera.rgb", "id": "left", "fov": 56}]"#,
        &["CARLA", "fov-deg (the fov", "baseline-m (how far"],
    ),
    ("<a><b/><b/></a>", &["XML of another tool (<a>)"]),
    ("MATLAB 7.3 MAT-file, Platform: unix", &[".mat file of MATLAB", "stereoParametersToOpenCV"]),
    (r#"{"fl_x": 500, "frames": []}"#, &["NeRF", "K1", "OpenCV YAML", "convert"]),
    (r#"{"fx_left": 500, "fx_right": 500, "T": [1, 2, 3]}"#, &["VIAME", "K1", "OpenCV YAML", "convert"]),
];

#[test]
fn files_of_other_tools_are_refused_by_name_with_the_way() {
    for (text, words) in OTHER_TOOLS {
        let refusal = refusal("camera", text);
        assert!(words.iter().all(|word| refusal.contains(word)), "{words:?}: {refusal}");
    }
    // COLMAP's binary files have no mark, so their names tell them: 1 rig, its number 1
    let binary = [1u64.to_le_bytes(), [1, 0, 0, 0, 0xcd, 0, 0, 0]].concat();
    let refused = |name: &str| {
        let files = [(PathBuf::from(name), binary.clone())];
        read(&files, &LoadOptions::default()).unwrap_err().to_string()
    };
    assert!(
        refused("sparse/0/rigs.bin")
            .contains("binary file of COLMAP, which is not read; to convert, let `colmap model_converter")
    );
    assert!(refused("rig.dat").contains("it is no text; looked for"));
}

#[test]
fn cameras_are_chosen_of_files_that_have_a_choice_alone() {
    let options = LoadOptions { cameras: Some("0,1".parse().unwrap()), ..LoadOptions::default() };
    let files = [(PathBuf::from("K.txt"), b"700 0 320 0 700 240 0 0 1 0.1".to_vec())];
    let text = read(&files, &options).unwrap_err().to_string();
    assert!(text.contains("leave calibration-cameras 0,1 out"), "{text}");
    for wrong in ["2", "2,2", "2,", ",3", "1,2,3"] {
        assert!(wrong.parse::<Cameras>().is_err(), "{wrong}");
    }
}

/// Returns a camera_info as written by older drivers and for fisheyes.
fn camera_info(model: &str, lens: &str, shift: f64) -> Vec<u8> {
    format!(
        "image_width: 1280\nimage_height: 960\ncamera_name: csi\ncamera_matrix:\n  rows: 3\n  cols: 3\n  data: [410.5, 0, 641.5, 0, \
         411.5, 478.5, 0, 0, 1]\n{model}distortion_coefficients:\n  rows: 1\n  cols: {}\n  data: [{lens}]\nrectification_matrix:\n  \
         rows: 3\n  cols: 3\n  data: [1, 0, 0, 0, 1, 0, 0, 0, 1]\nprojection_matrix:\n  rows: 3\n  cols: 4\n  data: [400, 0, 640, \
         {shift}, 0, 400, 480, 0, 0, 0, 1, 0]\n",
        lens.split(',').count()
    )
    .into_bytes()
}

#[test]
fn camera_infos_name_their_lens_in_two_ways_or_not() {
    let rig_of = |model: &str, lens: &str| {
        let files = [("right.yaml", -34.0), ("left.yaml", 0.0)]
            .map(|(name, shift)| (PathBuf::from(name), camera_info(model, lens, shift)));
        read(&files, &LoadOptions::default()).unwrap()
    };
    let fisheye = "0.05, -0.012, 0.004, -0.001";
    let rig = rig_of("camera_model: fisheye\n", fisheye);
    assert_eq!((rig.kind, rig.left.distortion.name(), rig.size), (Kind::Ros, "fisheye", Some((1280, 960))));
    assert!((rig.baseline_m() - 0.085).abs() < 1e-12 && rig.doubts.is_empty(), "{}", rig.summary());
    let named = rig_of("camera_model: pinhole\ndistortion_model: equidistant\n", fisheye);
    assert_eq!(named.left, rig.left, "distortion_model wins");
    let plain = rig_of("", "-0.28, 0.06, 0.0001, -0.0002, 0.0");
    assert_eq!((plain.left.distortion.name(), plain.doubts.len()), ("plumb_bob", 0));
    let unsure = rig_of("", fisheye);
    assert!(unsure.doubts.len() == 1 && unsure.doubts[0].contains("look like a fisheye's"), "{:?}", unsure.doubts);
}
