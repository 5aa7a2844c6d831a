//! Property tests: random rigs through every writer and reader, and random damage to the written files.

use super::tests::{ALL_OUTPUTS, difference, round_trip};
use super::*;
use crate::{BrownConrady, Camera, Distortion, Fisheye, Rectification};
use fastrand::Rng;
use glam::{DMat3, DQuat, DVec3, EulerRot};

fn between(rng: &mut Rng, low: f64, high: f64) -> f64 {
    low + (high - low) * rng.f64()
}

fn lens(rng: &mut Rng) -> Distortion {
    let mut small = |size: f64| between(rng, -size, size);
    let mild = BrownConrady {
        radial: [small(0.1), small(0.02), small(0.005), 0.0, 0.0, 0.0],
        tangential: [small(0.002), small(0.002)],
        ..BrownConrady::default()
    };
    let rational = BrownConrady { radial: [small(0.1), small(0.02), 0.001, small(0.1), small(0.02), 0.002], ..mild };
    let fisheye = Fisheye { k: [small(0.02), small(0.005), small(0.001), small(0.001)] };
    match rng.u8(0..4) {
        0 => Distortion::default(),
        1 => Distortion::BrownConrady(mild),
        2 => Distortion::BrownConrady(rational),
        _ => Distortion::Fisheye(fisheye),
    }
}

fn random_rig(rng: &mut Rng) -> StereoRig {
    let size = *rng.choice(&[(320, 240), (640, 480), (1280, 720), (1920, 1080)]).unwrap();
    let (width, height) = (size.0 as f64, size.1 as f64);
    let focal = between(rng, 0.6, 1.5) * width;
    let mut camera = || Camera {
        fx: focal * between(rng, 0.97, 1.03),
        fy: focal * between(rng, 0.97, 1.03),
        cx: width * between(rng, 0.45, 0.55),
        cy: height * between(rng, 0.45, 0.55),
        skew: *rng.choice(&[0.0, -0.97, 3.5]).unwrap(),
        distortion: lens(rng),
    };
    let (left, right) = (camera(), camera());
    let angles: [f64; 3] = std::array::from_fn(|_| between(rng, -0.05, 0.05));
    let rotation = DMat3::from_quat(DQuat::from_euler(EulerRot::XYZ, angles[0], angles[1], angles[2]));
    let baseline = between(rng, 0.02, 0.4);
    let translation = DVec3::new(-1.0, between(rng, -0.05, 0.05), between(rng, -0.05, 0.05)) * baseline;
    let mut rig = StereoRig::new(left, right, rotation, translation, Some(size));
    if rng.bool() {
        rig.rectification = Rectification::compute(&rig, size.0, size.1, rng.f64()).ok();
    }
    rig
}

#[test]
fn random_rigs_come_back_from_every_output() {
    let mut rng = Rng::with_seed(11);
    for round in 0..60 {
        let rig = random_rig(&mut rng);
        crate::checks::check(&rig).unwrap_or_else(|e| panic!("round {round}: {e}"));
        for output in ALL_OUTPUTS {
            let back = round_trip(&rig, output);
            let apart = difference(&rig, &back);
            assert!(apart < 1e-9, "round {round}, {output:?}: {apart}");
        }
        let exact = round_trip(&rig, Output::Toml);
        assert_eq!(
            StereoRig { kind: rig.kind, doubts: Vec::new(), ..exact },
            rig,
            "round {round}: our own TOML is exact"
        );
        let swapped = LoadOptions { swapped: true, ..LoadOptions::default() };
        let files = [(PathBuf::from("rig.toml"), write(&rig.swapped(), Output::Toml, 0.0).unwrap().remove(0).1)];
        let apart = difference(&read(&files, &swapped).unwrap(), &rig);
        assert!(apart < 1e-12, "round {round}, exchanged: {apart}");
    }
}

/// Returns files of every kind: names and bytes.
fn seeds(rng: &mut Rng) -> Vec<Vec<(PathBuf, Vec<u8>)>> {
    let rig = random_rig(rng);
    let files = |output| -> Vec<_> {
        write(&rig, output, 0.0).unwrap().into_iter().map(|(name, bytes)| (PathBuf::from(name), bytes)).collect()
    };
    let mut all: Vec<Vec<(PathBuf, Vec<u8>)>> = ALL_OUTPUTS.map(files).into();
    let text = |name: &str, text: &str| vec![(PathBuf::from(name), text.as_bytes().to_vec())];
    all.push(text("camchain.yaml", CAMCHAIN));
    all.push(text("zed.conf", ZED));
    all.push(text("calib.txt", CALIB));
    all.push(text("kitti.txt", KITTI));
    all.push(text("K.txt", "700 0 320 0 700 240 0 0 1\n0.12\n"));
    all.push(text("ost.txt", OST));
    all.push(text("cameras.toml", TABLES));
    all.push(text("oak.json", OAK));
    all.push(text("stereo.json", MATLAB));
    all.push(text("rs.txt", REALSENSE));
    all.push(text("rig.json", r#"{ "K1": [[500, 0, 320], [0, 500, 240], [0, 0, 1]], "D1": [0, 0, 0, 0] }"#));
    all
}

const CAMCHAIN: &str = "cam0:\n  camera_model: pinhole\n  distortion_coeffs: [0.01, 0.0, 0.0, 0.0]\n  distortion_model: radtan\n  \
                        intrinsics: [460.0, 458.0, 367.0, 248.0]\n  resolution: [752, 480]\ncam1:\n  T_cn_cnm1:\n  - [1.0, 0.0, 0.0, \
                        -0.11]\n  - [0.0, 1.0, 0.0, 0.0]\n  - [0.0, 0.0, 1.0, 0.0]\n  - [0.0, 0.0, 0.0, 1.0]\n  camera_model: \
                        pinhole\n  distortion_coeffs: [0.01, 0.0, 0.0, 0.0]\n  distortion_model: equidistant\n  intrinsics: [457.0, \
                        456.0, 380.0, 255.0]\n  resolution: [752, 480]\n";
const ZED: &str = "[LEFT_CAM_HD]\nfx=700\nfy=700\ncx=660\ncy=370\nk1=-0.17\nk2=0.02\n[RIGHT_CAM_HD]\nfx=699\nfy=699\ncx=640\n\
                   cy=374\nk1=-0.17\nk2=0.02\n[STEREO]\nBaseline=120\nTY=0\nTZ=0\nCV_HD=0.006\nRX_HD=0.006\nRZ_HD=-0.001\n";
const CALIB: &str = "cam0=[1500 0 199; 0 1500 187; 0 0 1]\ncam1=[1500 0 251; 0 1500 187; 0 0 1]\ndoffs=52\nbaseline=80\n\
                     width=450\nheight=375\n";

const KITTI: &str = "P2: 700 0 600 45 0 700 170 0 0 0 1 0\nP3: 700 0 600 -330 0 700 170 0 0 0 1 0\nS_rect_02: 1240 370\n\
                     R_02: 1 0 0 0 1 0 0 0 1\nT_02: 0.064 0 0\nR_03: 1 0 0 0 1 0 0 0 1\nT_03: -0.471 0 0\n";
const OST: &str = "[image]\nwidth\n640\nheight\n480\n[a/left]\ncamera matrix\n500 0 320\n0 500 240\n0 0 1\ndistortion\n0.1 0 0 0 0\n\
                   rectification\n1 0 0\n0 1 0\n0 0 1\nprojection\n500 0 320 0\n0 500 240 0\n0 0 1 0\n[a/right]\ncamera \
                   matrix\n500 0 320\n0 500 240\n0 0 1\ndistortion\n0.1 0 0 0 0\nrectification\n1 0 0\n0 1 0\n0 0 1\n\
                   projection\n500 0 320 -30\n0 500 240 0\n0 0 1 0\n";
const TABLES: &str = "[cam_0]\nsize = [640, 480]\nmatrix = [[500.0, 0.0, 320.0], [0.0, 500.0, 240.0], [0.0, 0.0, 1.0]]\ndistortions \
                      = [0.1, 0.0, 0.0, 0.0, 0.0]\nrotation = [0.0, 0.0, 0.0]\ntranslation = [0.0, 0.0, 0.0]\n[cam_1]\nsize = \
                      [640, 480]\nmatrix = [[500.0, 0.0, 320.0], [0.0, 500.0, 240.0], [0.0, 0.0, 1.0]]\ndistortions = [0.1, 0.0, \
                      0.0, 0.0, 0.0]\nrotation = [0.0, 0.01, 0.0]\ntranslation = [-0.1, 0.0, 0.0]\n";
const OAK: &str = r#"{"boardName": "a", "cameraData": [[1, {"cameraType": 0, "distortionCoeff": [0.1, 0, 0, 0], "width": 1280,
    "height": 800, "intrinsicMatrix": [[800, 0, 640], [0, 800, 400], [0, 0, 1]], "extrinsics": {"toCameraSocket": 2,
    "rotationMatrix": [[1, 0, 0], [0, 1, 0], [0, 0, 1]], "translation": {"x": -7.5, "y": 0, "z": 0}}}], [2, {"cameraType": 0,
    "distortionCoeff": [0.1, 0, 0, 0], "width": 1280, "height": 800, "intrinsicMatrix": [[800, 0, 640], [0, 800, 400],
    [0, 0, 1]]}]], "stereoRectificationData": {"leftCameraSocket": 1, "rightCameraSocket": 2}}"#;
const MATLAB: &str = r#"{"CameraParameters1": {"K": [[800, 0, 640], [0, 800, 400], [0, 0, 1]], "RadialDistortion": [0.1, 0]},
    "CameraParameters2": {"K": [[800, 0, 640], [0, 800, 400], [0, 0, 1]], "RadialDistortion": [0.1, 0]}, "RotationOfCamera2":
    [[1, 0, 0], [0, 1, 0], [0, 0, 1]], "TranslationOfCamera2": [-60, 0, 0], "WorldUnits": "mm"}"#;
const REALSENSE: &str = "Intrinsic of \"Infrared 1\" / 1280x720 / {Y8}\nWidth: 1280\nHeight: 720\nPPX: 640\nPPY: 360\nFx: 640\nFy: \
                         640\nCoeffs: 0 0 0 0 0\n\nIntrinsic of \"Infrared 2\" / 1280x720 / {Y8}\nWidth: 1280\nHeight: 720\n\
                         PPX: 640\nPPY: 360\nFx: 640\nFy: 640\nCoeffs: 0 0 0 0 0\n\nExtrinsic from \"Infrared 1\" To \
                         \"Infrared 2\" :\nTranslation Vector: -0.05 0 0\n";

#[test]
fn seed_files_are_valid() {
    let options = LoadOptions { size: Some((1280, 720)), ..LoadOptions::default() };
    let sound = seeds(&mut Rng::with_seed(1)).iter().filter(|files| read(files, &options).is_ok()).count();
    assert_eq!(sound, 15, "all but the JSON, which has one camera");
}

fn damage(bytes: &mut Vec<u8>, rng: &mut Rng) {
    if bytes.is_empty() {
        return;
    }
    let at = rng.usize(0..bytes.len());
    let lines = |bytes: &[u8]| bytes.split_inclusive(|&b| b == b'\n').map(<[u8]>::to_vec).collect::<Vec<_>>();
    match rng.u8(0..7) {
        0 => bytes.truncate(at),
        1 => bytes[at] = rng.u8(..),
        2 => {
            let other = rng.usize(0..bytes.len());
            bytes.swap(at, other);
        }
        3 => {
            let mut all = lines(bytes);
            let line = rng.usize(0..all.len());
            all.insert(rng.usize(0..=all.len()), all[line].clone());
            *bytes = all.concat();
        }
        4 => {
            let mut all = lines(bytes);
            all.remove(rng.usize(0..all.len()));
            *bytes = all.concat();
        }
        5 => {
            let words: &[&[u8]] = &[
                b".nan", b"1e999", b"-1", b"[[[[", b"{", b": ", b"- - - ", b"\t", b"<a>", b"&x ", b"*x ", b"0", b"\"",
                b"!!t ",
            ];
            let word = rng.choice(words).unwrap();
            bytes.splice(at..at, word.iter().copied());
        }
        _ => {
            let end = (at + rng.usize(1..200)).min(bytes.len());
            let copy = bytes[at..end].to_vec();
            bytes.splice(at..at, copy);
        }
    }
}

fn damaged_files_are_answered(seed: u64, rounds: usize) {
    let mut rng = Rng::with_seed(seed);
    let options = LoadOptions { size: Some((1280, 720)), ..LoadOptions::default() };
    let (mut read_well, mut refused) = (0, 0);
    for round in 0..rounds {
        for mut files in seeds(&mut rng) {
            for _ in 0..rng.usize(1..4) {
                let file = rng.usize(0..files.len());
                damage(&mut files[file].1, &mut rng);
            }
            let start = std::time::Instant::now();
            let answer = read(&files, &options);
            // takes milliseconds; generous for a busy machine
            assert!(start.elapsed() < std::time::Duration::from_secs(20), "round {round}");
            match answer {
                Ok(rig) => {
                    read_well += 1;
                    let all = [rig.baseline_m(), rig.focal_px(), rig.left.cx, rig.right.cy, rig.rotation.determinant()];
                    assert!(all.iter().all(|v| v.is_finite()) && rig.baseline_m() > 0.0, "round {round}: {rig:?}");
                }
                Err(e) => {
                    refused += 1;
                    assert!(e.to_string().len() > 40, "round {round}: {e}");
                }
            }
        }
    }
    assert!(read_well > rounds / 4 && refused > rounds, "{read_well} read, {refused} refused");
}

#[test]
fn damaged_files_never_panic() {
    damaged_files_are_answered(5, 250);
}
