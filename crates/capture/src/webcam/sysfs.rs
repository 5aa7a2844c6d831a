//! Reads port, USB bus and name of a camera from Linux's sysfs and /dev. On other systems these files do not exist, and the functions
//! return `None`.

#[cfg(target_os = "linux")]
use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

/// USB bus, whose devices share its bandwidth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UsbBus {
    /// Number, as in `lsusb`.
    pub bus: u32,
    /// Connection speed of the camera, Mbit/s: 12, 480, 5000 and more.
    pub speed_mbit: u32,
}

impl fmt::Display for UsbBus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "USB bus {} ({} Mbit/s)", self.bus, self.speed_mbit)
    }
}

/// Returns the port of the camera: its persistent name, or the name of the device on systems without persistent names.
pub(super) fn port(index: u32) -> Option<String> {
    path_name(index).or_else(|| device_name(index))
}

fn path_name(index: u32) -> Option<String> {
    let node = format!("video{index}");
    let names = fs::read_dir("/dev/v4l/by-path").ok()?.flatten().filter_map(|entry| {
        let target = fs::read_link(entry.path()).ok()?;
        let name = entry.file_name().into_string().ok()?;
        (target.file_name()? == node.as_str())
            .then(|| name.rsplit_once("-video-index").map(|(port, _)| port.to_owned()))?
    });
    // a camera may have several names, of an older and a newer scheme
    names.min()
}

/// Returns the bus's name of the device: `1-2:1.0`.
pub(super) fn device_name(index: u32) -> Option<String> {
    let device = fs::read_link(folder(index).join("device")).ok()?;
    Some(device.file_name()?.to_string_lossy().into_owned())
}

pub(super) fn bus(index: u32) -> Option<UsbBus> {
    let device = fs::canonicalize(folder(index).join("device")).ok()?;
    device.ancestors().find_map(|folder| {
        let bus = number(&folder.join("busnum"))?;
        let speed_mbit = number(&folder.join("speed"))?;
        Some(UsbBus { bus: bus as u32, speed_mbit: speed_mbit.round() as u32 })
    })
}

/// Returns whether this is not the first node of its camera; further nodes are for metadata or other images.
pub(super) fn is_secondary_node(index: u32) -> bool {
    number(&folder(index).join("index")).is_some_and(|position| position > 0.0)
}

/// Returns number and name of each node that may be a camera: each `videoN` of /dev. Other names there, which udev rules create
/// (`video_left`), are links to the same nodes.
///
/// # Errors
/// /dev cannot be read.
#[cfg(target_os = "linux")]
pub(super) fn nodes() -> std::io::Result<Vec<(u32, String)>> {
    let number = |name: OsString| name.to_str()?.strip_prefix("video")?.parse::<u32>().ok();
    let named = |index: u32| {
        let name = fs::read(folder(index).join("name")).unwrap_or_default();
        let name = String::from_utf8_lossy(&name).trim().to_owned();
        (index, if name.is_empty() { format!("/dev/video{index}") } else { name })
    };
    Ok(fs::read_dir("/dev")?.flatten().filter_map(|entry| number(entry.file_name())).map(named).collect())
}

fn folder(index: u32) -> PathBuf {
    PathBuf::from(format!("/sys/class/video4linux/video{index}"))
}

fn number(file: &Path) -> Option<f64> {
    fs::read_to_string(file).ok()?.trim().parse().ok()
}
