//! How much room there is.

use std::path::Path;
use std::time::Duration;

/// What is left free at least.
const RESERVE: u64 = 64 << 20;
/// How much of the recording has to have room.
const RESERVE_TIME: Duration = Duration::from_secs(5);

/// Bytes that are free for this program on the disk of a folder; `None` where the system does not tell.
pub(super) fn free_bytes(folder: &Path) -> Option<u64> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    fs4::available_space(folder).inspect_err(|err| log::debug!("{}: {err}", folder.display())).ok()
}

/// The disk of a folder in words.
pub(super) fn name(folder: &Path) -> String {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned()).display().to_string()
}

/// A recording of so many bytes a second stops where less is free.
pub(super) fn reserve(bytes_per_s: f64) -> u64 {
    RESERVE.max((bytes_per_s * RESERVE_TIME.as_secs_f64()) as u64)
}
