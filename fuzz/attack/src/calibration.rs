//! Attacks on calibration files, whose rigs must be read back unchanged after they were written.

use std::io::Write as _;
use std::path::PathBuf;
use stereopsis_calibration::{LoadOptions, Output, read, write};

/// Attacks ROS's archive with the bytes as compressed file and as tar.
pub(crate) fn archive(input: &[u8]) {
    check(&[("calibrationdata.tar.gz", input)]);
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::none());
    gzip.write_all(input).expect("memory");
    check(&[("calibrationdata.tar.gz", &gzip.finish().expect("memory"))]);
}

pub(crate) fn kalibr(input: &[u8]) {
    check(&[("camchain.yaml", input)]);
}

pub(crate) fn middlebury(input: &[u8]) {
    check(&[("calib.txt", input)]);
}

/// Attacks OpenCV's XML after its first line.
pub(crate) fn opencv_xml(input: &[u8]) {
    check(&[("rig.xml", &[&b"<?xml version=\"1.0\"?>\n"[..], input].concat())]);
}

/// Attacks OpenCV's YAML and JSON, and other YAML recognised by its keys.
pub(crate) fn opencv_yaml(input: &[u8]) {
    check(&[("rig.yml", input)]);
}

/// Attacks ROS's camera_info of two cameras, separated by a zero byte or identical.
pub(crate) fn ros(input: &[u8]) {
    let (left, right) = match input.iter().position(|&byte| byte == 0) {
        Some(at) => (&input[..at], &input[at + 1..]),
        None => (input, input),
    };
    check(&[("left.yaml", left), ("right.yaml", right)]);
}

/// Attacks the program's own TOML after its first line.
pub(crate) fn toml(input: &[u8]) {
    check(&[("rig.toml", &[&b"format = \"stereopsis-rig-1\"\n"[..], input].concat())]);
}

/// Attacks a ZED's factory file after its first line.
pub(crate) fn zed(input: &[u8]) {
    check(&[("zed.conf", &[&b"[LEFT_CAM_HD]\n"[..], input].concat())]);
}

/// Reads files, writes a valid rig in every format, and reads each back.
fn check(files: &[(&str, &[u8])]) {
    let files: Vec<_> = files.iter().map(|(name, bytes)| (PathBuf::from(name), bytes.to_vec())).collect();
    let Ok(rig) = read(&files, &LoadOptions { size: Some((1280, 720)), ..LoadOptions::default() }) else { return };
    assert!(rig.baseline_m() > 0.0 && !rig.summary().is_empty());
    for output in
        [Output::Toml, Output::OpenCvYaml, Output::OpenCvXml, Output::RosFiles, Output::RosArchive, Output::Kalibr]
    {
        // ROS and Kalibr cannot represent some rigs; their rounding may make others implausible
        let Ok(written) = write(&rig, output, 0.0) else { continue };
        let written: Vec<_> = written.into_iter().map(|(name, bytes)| (PathBuf::from(name), bytes)).collect();
        let back = read(&written, &LoadOptions::default());
        if !matches!(output, Output::RosFiles | Output::RosArchive | Output::Kalibr) {
            let back = back.unwrap_or_else(|e| panic!("{output:?} does not come back: {e}"));
            assert_eq!((back.size, back.left, back.right), (rig.size, rig.left, rig.right));
        }
    }
}
