//! Unpacks recordings that are compressed as a whole (`ros2 bag record --compression-mode file`) into a temporary file, which is deleted as
//! soon as it is open.

use super::limits::{MAX_UNPACKED_BYTES, MAX_UNPACKED_RATIO};
use crate::error::{Damage, OpenError};
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, Write};
use std::path::Path;
use tempfile::{NamedTempFile, TempPath};

const BUFFER_BYTES: usize = 1 << 17;

/// File, or its unpacked contents.
pub(super) struct Unpacked {
    pub(super) file: File,
    /// Path of the unpacked contents, which are deleted with it.
    pub(super) temporary: Option<TempPath>,
    /// Damage that ended it.
    pub(super) damage: Option<Damage>,
}

/// Returns the file, or its unpacked contents where it is compressed with zstd.
pub(super) fn unpacked(path: &Path, mut file: File) -> Result<Unpacked, OpenError> {
    let mut magic = Vec::new();
    Read::by_ref(&mut file).take(4).read_to_end(&mut magic)?;
    file.rewind()?;
    if magic != zstd::zstd_safe::MAGICNUMBER.to_le_bytes() {
        return Ok(Unpacked { file, temporary: None, damage: None });
    }
    let limit = file.metadata()?.len().saturating_mul(MAX_UNPACKED_RATIO).max(MAX_UNPACKED_BYTES);
    let folder = std::env::temp_dir();
    let no_room = |cause: io::Error| OpenError::NoRoom { path: path.to_owned(), folder: folder.clone(), cause };
    let mut whole = NamedTempFile::new_in(&folder).map_err(no_room)?;
    let mut packed = zstd::Decoder::new(BufReader::new(file))?.take(limit);
    let (mut bytes, mut copied) = (vec![0; BUFFER_BYTES], 0);
    let damage = loop {
        match packed.read(&mut bytes) {
            Ok(0) => break None,
            Ok(count) => {
                whole.write_all(&bytes[..count]).map_err(no_room)?;
                copied += count as u64;
            }
            Err(err) if copied == 0 => return Err(OpenError::Packed(err)),
            // the bytes before the damage are like a recording that was not finished
            Err(cause) => break Some(Damage::Packed { bytes: copied, cause }),
        }
    };
    if copied >= limit {
        return Err(OpenError::UnpacksToMore(limit));
    }
    let (file, temporary) = whole.into_parts();
    Ok(Unpacked { file, temporary: Some(temporary), damage })
}
