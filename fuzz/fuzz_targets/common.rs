//! What every target asks of a file: an answer without a panic, and that what is read can be written and read again.

use std::path::PathBuf;
use stereopsis::calibration::{LoadOptions, Output, read, write};

/// Reads files; a rig that comes out goes through every writer and back.
pub fn check(files: &[(&str, &[u8])]) {
    let files: Vec<_> = files.iter().map(|(name, bytes)| (PathBuf::from(name), bytes.to_vec())).collect();
    let Ok(rig) = read(&files, &LoadOptions { size: Some((1280, 720)), ..LoadOptions::default() }) else { return };
    assert!(rig.baseline_m() > 0.0 && !rig.summary().is_empty());
    for output in [Output::Toml, Output::OpenCvYaml, Output::OpenCvXml, Output::RosFiles, Output::RosArchive] {
        // some rigs cannot be written for ROS; what is written for it may look too far apart to be sensible
        let Ok(written) = write(&rig, output, 0.0) else { continue };
        let written: Vec<_> = written.into_iter().map(|(name, bytes)| (PathBuf::from(name), bytes)).collect();
        let back = read(&written, &LoadOptions::default());
        if !matches!(output, Output::RosFiles | Output::RosArchive) {
            let back = back.unwrap_or_else(|e| panic!("{output:?} does not come back: {e}"));
            assert_eq!((back.size, back.left, back.right), (rig.size, rig.left, rig.right));
        }
    }
}
