//! Recordings that are compressed as a whole (`ros2 bag record --compression-mode file`), unpacked into a file without a name.

use super::limits::{UNPACKED_BYTES, UNPACKED_RATIO};
use crate::console;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, Write};
use std::path::Path;

/// Bytes that are unpacked at a time.
const BUFFER_BYTES: usize = 1 << 17;

/// The file itself, or its unpacked contents where it is compressed with zstd, up to damage, which is told.
pub(super) fn unpacked(path: &Path, mut file: File) -> io::Result<(File, Option<String>)> {
    let mut magic = Vec::new();
    Read::by_ref(&mut file).take(4).read_to_end(&mut magic)?;
    file.rewind()?;
    if magic != zstd::zstd_safe::MAGICNUMBER.to_le_bytes() {
        return Ok((file, None));
    }
    let limit = file.metadata()?.len().saturating_mul(UNPACKED_RATIO).max(UNPACKED_BYTES);
    let folder = std::env::temp_dir();
    let no_room = |err: io::Error| {
        io::Error::other(format!(
            "it is compressed, and cannot be unpacked in {}: {err}; set TMPDIR to a folder with more room, or unpack it with `zstd -d {}`",
            console::path(&folder),
            console::quoted(&path.to_string_lossy())
        ))
    };
    let mut whole = tempfile::tempfile_in(&folder).map_err(no_room)?;
    let mut packed = zstd::Decoder::new(BufReader::new(file))?.take(limit);
    let (mut bytes, mut copied) = (vec![0; BUFFER_BYTES], 0);
    let damage = loop {
        match packed.read(&mut bytes) {
            Ok(0) => break None,
            Ok(count) => {
                whole.write_all(&bytes[..count]).map_err(no_room)?;
                copied += count as u64;
            }
            Err(err) if copied == 0 => {
                return Err(io::Error::other(format!("it is compressed and damaged from its start on: {err}")));
            }
            // what lies before the damage is a recording that was not finished
            Err(err) => break Some(format!("what comes after {} cannot be unpacked: {err}", console::bytes(copied))),
        }
    };
    if copied >= limit {
        return Err(io::Error::other(format!("it unpacks to more than {}", console::bytes(limit))));
    }
    Ok((whole, damage))
}
