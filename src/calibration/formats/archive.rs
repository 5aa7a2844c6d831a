//! The archive that ROS's camera_calibration writes: a .tar.gz with left.yaml and right.yaml beside the pictures.

use super::{File, MAX_TEXT_BYTES, yaml};
use crate::calibration::CalibrationError;
use std::io::Read as _;

/// Of an archive, packed or unpacked, more is not read.
pub(super) const MAX_BYTES: usize = 1 << 29;

/// Both files, left one first.
pub(super) fn read(bytes: &[u8]) -> Result<Vec<File>, CalibrationError> {
    let broken = |e: std::io::Error| {
        CalibrationError(format!("it is a .gz that is damaged or no .tar.gz: {e}; take a copy that is whole"))
    };
    let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(bytes).take(MAX_BYTES as u64));
    let (mut found, mut names) = ([None, None], Vec::new());
    for entry in archive.entries().map_err(broken)? {
        let mut entry = entry.map_err(broken)?;
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        let side = ["left.yaml", "right.yaml"].iter().position(|side| name.rsplit('/').next() == Some(side));
        if names.len() < 8 {
            names.push(name.clone());
        }
        let Some(side) = side else { continue };
        let mut text = String::new();
        entry.by_ref().take(MAX_TEXT_BYTES as u64).read_to_string(&mut text).map_err(broken)?;
        let tree = yaml::parse(&text).map_err(|e| CalibrationError(format!("{name}: {e}")))?;
        found[side] = Some(File { name, tree });
        if let [Some(_), Some(_)] = found {
            break;
        }
    }
    let [Some(left), Some(right)] = found else {
        return Err(CalibrationError(format!(
            "it is an archive without left.yaml and right.yaml, as ROS's camera_calibration writes them for two cameras; it \
             has {}",
            if names.is_empty() { "nothing".to_owned() } else { names.join(", ") }
        )));
    };
    Ok(vec![left, right])
}
