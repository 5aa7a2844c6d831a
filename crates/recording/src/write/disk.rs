//! Free space on disks.

use std::path::Path;
use std::time::Duration;

/// Space that always stays free.
const MIN_RESERVE: u64 = 64 << 20;
/// Duration of the recording that must fit.
const RESERVE_TIME: Duration = Duration::from_secs(5);

/// Bytes available to this program on the disk of a folder; `None` if the system does not report them.
pub fn free_bytes(folder: &Path) -> Option<u64> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    fs4::available_space(folder).inspect_err(|err| log::debug!("{}: {err}", folder.display())).ok()
}

/// The folder for messages.
pub(super) fn name(folder: &Path) -> String {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned()).display().to_string()
}

/// Free space at which a recording of this rate stops.
pub(super) fn reserve(bytes_per_s: f64) -> u64 {
    MIN_RESERVE.max((bytes_per_s * RESERVE_TIME.as_secs_f64()) as u64)
}
