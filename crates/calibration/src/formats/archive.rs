//! The archive of ROS's camera_calibration: a .tar.gz with left.yaml, right.yaml and the calibration pictures.

use super::{File, MAX_TEXT_BYTES, yaml};
use crate::CalibrationError;
use crate::console::foreign;
use crate::files::plain;
use std::io::Read as _;
use std::path::Path;

/// Largest number of bytes read from an archive, packed and unpacked: it also holds the pictures of the pattern.
pub(super) const MAX_BYTES: u64 = 1 << 29;

/// Whether a file may be such an archive, by its first bytes.
pub(super) fn recognizes(path: &Path) -> bool {
    let mut start = [0; MAGIC.len()];
    plain::open(path).and_then(|mut file| file.read_exact(&mut start)).is_ok() && start == MAGIC
}

/// The first bytes of a gzip file.
pub(super) const MAGIC: [u8; 2] = [0x1f, 0x8b];

/// Both files, left one first.
pub(super) fn read(bytes: &[u8]) -> Result<Vec<File>, CalibrationError> {
    let broken = |e: std::io::Error| {
        CalibrationError(format!("it is a .gz that is damaged or no .tar.gz: {e}; take a copy that is whole"))
    };
    let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(bytes).take(MAX_BYTES));
    let (mut found, mut names) = ([None, None], Vec::new());
    // raw entries: the tar reader would load extension names of any length into memory
    for entry in archive.entries().map_err(broken)?.raw(true) {
        let mut entry = entry.map_err(broken)?;
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        let side = ["left.yaml", "right.yaml"].iter().position(|side| name.rsplit('/').next() == Some(side));
        if names.len() < 8 {
            names.push(foreign(&name));
        }
        let Some(side) = side else { continue };
        let mut text = String::new();
        let size = entry.size();
        if size > MAX_TEXT_BYTES as u64 {
            let name = foreign(&name);
            return Err(CalibrationError(format!("{name} has {size} bytes, more than any calibration")));
        }
        entry.read_to_string(&mut text).map_err(broken)?;
        let tree = yaml::parse(&text).map_err(|e| CalibrationError(format!("{}: {e}", foreign(&name))))?;
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
