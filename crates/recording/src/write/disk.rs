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

/// Largest file of a FAT file system, bytes.
#[cfg(target_os = "linux")]
const FAT_BYTES: u64 = (1 << 32) - 1;
/// Type of FAT in the answer of `statfs`.
#[cfg(target_os = "linux")]
const FAT: u64 = 0x4d44;

/// Returns the largest size of a file in a folder, bytes: by the limit of this process (`ulimit -f`) and by the file system. `None` where
/// there is none that the system tells; it may still refuse a larger file as [`std::io::ErrorKind::FileTooLarge`].
#[cfg(target_os = "linux")]
pub(super) fn max_file_bytes(folder: &Path) -> Option<u64> {
    let of_process = rustix::process::getrlimit(rustix::process::Resource::Fsize).current;
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let is_fat = rustix::fs::statfs(folder).is_ok_and(|disk| disk.f_type as u64 == FAT);
    of_process.into_iter().chain(is_fat.then_some(FAT_BYTES)).min()
}

/// Returns `None`: this system does not tell a limit before it is reached.
#[cfg(not(target_os = "linux"))]
pub(super) fn max_file_bytes(_folder: &Path) -> Option<u64> {
    None
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
