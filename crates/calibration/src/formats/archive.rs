//! Compressed files: the archive of ROS's camera_calibration, a .tar.gz with left.yaml, right.yaml and images; and single texts, such as
//! OpenCV's .yml.gz and .xml.gz. Archives from untrusted sources must not exhaust memory.

use super::{File, FileError, MAX_TEXT_BYTES, text, yaml};
use flate2::read::GzDecoder;
use std::io::Read as _;
use std::path::Path;
use stereopsis_base::console::foreign;
use stereopsis_base::files::plain;

/// Largest number of bytes read from an archive, compressed and decompressed; it may contain the calibration images.
pub(super) const MAX_BYTES: u64 = 1 << 29;

/// Whether a file is compressed, by its first bytes.
pub(super) fn recognizes(path: &Path) -> bool {
    let mut start = [0; MAGIC.len()];
    plain::open(path).and_then(|mut file| file.read_exact(&mut start)).is_ok() && start == MAGIC
}

const TAR_HEADER_BYTES: usize = 512;

pub(super) const MAGIC: [u8; 2] = [0x1f, 0x8b];

/// Decompresses a text; `None` for an archive.
pub(super) fn packed_text(bytes: &[u8]) -> Result<Option<Vec<u8>>, FileError> {
    let mut unpacked = Vec::new();
    let read = GzDecoder::new(bytes).take(MAX_TEXT_BYTES as u64 + 1).read_to_end(&mut unpacked);
    if unpacked.starts_with(&MAGIC) {
        return Err(FileError::PackedTwice);
    }
    // a tar header has zeros between its fields
    if unpacked.iter().take(TAR_HEADER_BYTES).any(|&byte| byte == 0) && !text::is_utf16(&unpacked) {
        return Ok(None);
    }
    read.map_err(FileError::Damaged)?;
    Ok(Some(unpacked))
}

/// Reads both camera files, left one first.
pub(super) fn read(bytes: &[u8]) -> Result<Vec<File>, FileError> {
    let mut archive = tar::Archive::new(GzDecoder::new(bytes).take(MAX_BYTES));
    let (mut found, mut names) = ([None, None], Vec::new());
    // raw entries, because the tar reader loads extension names of any length into memory
    for entry in archive.entries().map_err(FileError::Damaged)?.raw(true) {
        let mut entry = entry.map_err(FileError::Damaged)?;
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        let side = ["left.yaml", "right.yaml"].iter().position(|side| name.rsplit('/').next() == Some(side));
        if names.len() < 8 {
            names.push(foreign(&name));
        }
        let Some(side) = side else { continue };
        let mut bytes = Vec::new();
        let size = entry.size();
        if size > MAX_TEXT_BYTES as u64 {
            return Err(FileError::LargeFile { name, bytes: size });
        }
        entry.read_to_end(&mut bytes).map_err(FileError::Damaged)?;
        let in_file = |e: FileError| e.in_part(foreign(&name));
        let text = text::decoded(&bytes).ok_or_else(|| in_file(FileError::NoText))?;
        let tree = yaml::parse(&text).map_err(|e| in_file(e.into()))?;
        found[side] = Some(File { name, tree });
        if let [Some(_), Some(_)] = found {
            break;
        }
    }
    let [Some(left), Some(right)] = found else {
        return Err(FileError::NoCameraFiles(names));
    };
    Ok(vec![left, right])
}
