//! Free space on disks, and the space that a recording leaves free.

use std::path::Path;
use std::time::Duration;

/// Space that a recording leaves free at least, bytes.
pub const MIN_RESERVE_BYTES: u64 = 64 << 20;
/// Duration of the recording that the free space must hold.
const RESERVE_TIME: Duration = Duration::from_secs(5);

/// Returns the bytes available to this program on the disk of a folder; `None` if the system does not report them.
pub fn free_bytes(folder: &Path) -> Option<u64> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    fs4::available_space(folder).inspect_err(|err| log::debug!("{}: {err}", folder.display())).ok()
}

/// Returns the absolute path of a folder, for messages.
pub(super) fn name(folder: &Path) -> String {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned()).display().to_string()
}

/// Returns the free space at which a recording of this rate stops, bytes.
pub(super) fn reserve(bytes_per_s: f64) -> u64 {
    MIN_RESERVE_BYTES.max((bytes_per_s * RESERVE_TIME.as_secs_f64()) as u64)
}
