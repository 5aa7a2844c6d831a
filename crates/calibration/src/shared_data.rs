//! Test rigs with their images, from the folder in `STEREOPSIS_DATA`; tests that need them skip without it.

use super::rig::tests::plain_rig;
use super::{Camera, Distortion, LoadOptions, StereoRig, load};
use glam::{DMat3, DVec3};
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use stereopsis_base::image::Luma;
use stereopsis_frame::{MaxPixels, RawPair};
use stereopsis_images::decode::read_picture;

/// Returns the folder; `None`, with a printed reason, if a test is skipped.
pub(super) fn folder() -> Option<PathBuf> {
    let folder = std::env::var_os("STEREOPSIS_DATA").map(PathBuf::from);
    if folder.is_none() {
        eprintln!("skipped: STEREOPSIS_DATA names no folder with test data");
    }
    folder
}

/// Reads the left and right images of two folders, in the order of their names.
pub(super) fn pairs(left: &Path, right: &Path) -> Vec<RawPair> {
    let listed = |folder: &Path| {
        let entries = std::fs::read_dir(folder).unwrap_or_else(|err| panic!("{}: {err}", folder.display()));
        let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
        paths.retain(|path| path.extension().is_some_and(|e| e == "png" || e == "jpg"));
        paths.sort();
        paths
    };
    let (left, right) = (listed(left), listed(right));
    assert_eq!(left.len(), right.len());
    let pair = |(left, right): (&PathBuf, &PathBuf)| {
        RawPair::new(
            left.file_stem().unwrap().to_string_lossy().into_owned(),
            0,
            SystemTime::UNIX_EPOCH,
            read_picture(left, false, MaxPixels::default()).unwrap(),
            read_picture(right, false, MaxPixels::default()).unwrap(),
        )
    };
    left.iter().zip(&right).map(pair).collect()
}

pub(super) fn lumas(pairs: &[RawPair]) -> Vec<(&Luma, &Luma)> {
    pairs.iter().map(|pair| (&pair.left.luma, &pair.right.luma)).collect()
}

/// Reads the EuRoC sequence: its pairs, and the rig from its two sensor files.
pub(super) fn euroc(data: &Path) -> (Vec<RawPair>, StereoRig) {
    let folder = data.join("sequence/euroc_raw");
    let files = ["cam0_sensor.yaml", "cam1_sensor.yaml"].map(|name| folder.join(name));
    let rig = load(&files, &LoadOptions::default()).unwrap();
    (pairs(&folder.join("cam0"), &folder.join("cam1")), rig)
}

/// Reads a set of board images and its reference calibration; `unit_m` is the length of its unit.
pub(super) fn boards(data: &Path, name: &str, unit_m: f64) -> (Vec<RawPair>, StereoRig) {
    let folder = data.join("calib").join(name);
    let meta: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(folder.join("meta.json")).unwrap()).unwrap();
    let reference = &meta["reference_calibration"];
    let flat = |value: &serde_json::Value| -> Vec<f64> {
        let each = |v: &serde_json::Value| v.as_f64().map_or_else(|| v.as_array().unwrap().clone(), |v| vec![v.into()]);
        value.as_array().unwrap().iter().flat_map(each).map(|v| v.as_f64().unwrap()).collect()
    };
    let camera = |k: &str, d: &str| {
        let k = flat(&reference[k]);
        let distortion = Distortion::from_opencv(d, &flat(&reference[d])).unwrap();
        Camera { fx: k[0], fy: k[4], cx: k[2], cy: k[5], skew: 0.0, distortion }
    };
    let size = |key: &str| meta[key].as_u64().unwrap() as usize;
    let rig = StereoRig {
        left: camera("K1", "D1"),
        right: camera("K2", "D2"),
        rotation: DMat3::from_cols_slice(&flat(&reference["R"])).transpose(),
        translation_m: DVec3::from_slice(&flat(&reference["T"])) * unit_m,
        size: Some((size("width"), size("height"))),
        ..plain_rig()
    };
    (pairs(&folder.join("left"), &folder.join("right")), rig)
}
