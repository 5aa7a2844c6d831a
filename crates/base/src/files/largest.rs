//! Largest size of a file.

use std::path::Path;

/// Largest file of a FAT file system, bytes.
#[cfg(target_os = "linux")]
const FAT_BYTES: u64 = (1 << 32) - 1;
/// Type of FAT in the answer of `statfs`.
#[cfg(target_os = "linux")]
const FAT: u64 = 0x4d44;

/// Returns the largest size of a file in a folder, bytes: by the limit of this process (`ulimit -f`) and by the file system. `None` where
/// there is no limit that the system tells; a larger file is refused as [`std::io::ErrorKind::FileTooLarge`] then too.
#[cfg(target_os = "linux")]
pub fn max_file_bytes(folder: &Path) -> Option<u64> {
    let of_process = rustix::process::getrlimit(rustix::process::Resource::Fsize).current;
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let is_fat = rustix::fs::statfs(folder).is_ok_and(|disk| disk.f_type as u64 == FAT);
    of_process.into_iter().chain(is_fat.then_some(FAT_BYTES)).min()
}

/// Returns `None`: this system tells no limit before it is reached.
#[cfg(not(target_os = "linux"))]
pub fn max_file_bytes(_folder: &Path) -> Option<u64> {
    None
}
