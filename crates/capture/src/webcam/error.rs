//! Faults of cameras: each text contains the camera, the failed operation and the next step.

use super::controls::ControlError;
use super::device::DeviceError;
use super::sysfs::UsbBus;
use super::{claim, sysfs};
use std::io;
use std::time::Duration;
use stereopsis_base::console::foreign;
use stereopsis_base::remedy::{Part, Remedy};
use stereopsis_frame::CaptureError;
use stereopsis_frame::decode_camera::{Damaged, PixelFormat};

/// Linux error numbers with a specific meaning for cameras.
pub(super) mod number {
    pub(in super::super) const MISSING: i32 = 2;
    pub(in super::super) const IO: i32 = 5;
    pub(in super::super) const NO_DEVICE: i32 = 6;
    pub(in super::super) const DENIED: i32 = 13;
    pub(in super::super) const BUSY: i32 = 16;
    pub(in super::super) const GONE: i32 = 19;
    pub(in super::super) const NO_BANDWIDTH: i32 = 28;
    pub(in super::super) const PROTOCOL: i32 = 71;
    pub(in super::super) const TIMED_OUT: i32 = 110;
}

/// Fault of cameras, most with the number of the camera.
#[derive(Debug, thiserror::Error)]
pub(super) enum CameraError {
    #[error("'{0}' is no camera: give webcam:0,1 (two cameras) or webcam:0 (one, side by side)")]
    NoCamera(String),
    #[error(
        "camera {0} cannot be both left and right; name two cameras (`webcam:0,1`), or one that sends both images side by side \
         (`webcam:{0}`)"
    )]
    Twice(u32),
    #[error("no camera {index}: {}; see {}", numbers(.found), devices())]
    Missing { index: u32, found: Vec<u32> },
    #[error("no camera at port {}: found {}; plug it in there, or see {}", foreign(.port), ports(.found), devices())]
    NoPort { port: String, found: Vec<String> },
    #[cfg(target_os = "linux")]
    #[error("/dev cannot be read: {0}")]
    Unlisted(io::Error),
    #[cfg(not(target_os = "linux"))]
    #[error("the system does not list its cameras: {0}")]
    Unlisted(nokhwa::NokhwaError),

    // opening
    #[error("no camera {0} ({node} does not exist); see {devices}", node = node(*.0), devices = devices())]
    NoNode(u32),
    #[error(
        "camera {0}: permission denied for {node}; add yourself to its group (`sudo usermod -aG video $USER`) and log in again",
        node = node(*.0)
    )]
    Denied(u32),
    #[error(
        "camera {0} is busy: another program uses it; close that program (`fuser -v {node}` names it), or choose another camera",
        node = node(*.0)
    )]
    Busy(u32),
    #[error("camera {0} is gone; plug it in again")]
    Gone(u32),
    #[error(
        "camera {0}: its USB bus has no room for another stream; plug the cameras into different ports (not one hub), or ask for MJPEG \
         ({mjpeg}), a smaller size or a lower rate",
        mjpeg = mjpeg()
    )]
    NoRoom(u32),
    #[error(
        "camera {index}: {bus}{}, has no room for its stream; plug it into a port of another bus (`lsusb -t` shows them, one hub is one \
         bus), or ask for MJPEG ({}), a smaller size or a lower rate",
        shared(.others),
        mjpeg()
    )]
    NoRoomOnBus {
        index: u32,
        bus: UsbBus,
        /// Other cameras of this program on the bus.
        others: Vec<u32>,
    },
    #[error("camera {index}: could not {task}: {cause}; {}, see {}", advice(.cause), devices())]
    Device {
        index: u32,
        /// Operation, such as `open it`.
        task: String,
        cause: DeviceError,
    },
    #[error("camera {0} sends nothing that can be read here ({FORMATS}); use another camera, or another of its modes")]
    Unreadable(u32),
    #[error(
        "camera {0} is still open in this program; close its other source, or, if it hangs, unplug it and plug it in again"
    )]
    Held(u32),
    #[error("camera {0} is in use by this program's source; its image is shown there")]
    InUse(u32),
    #[error("camera {index} has no {} mode that fits; see {}", name(*.format), devices())]
    NoMode { index: u32, format: Option<PixelFormat> },
    #[error("cameras {} have no {} size in common; see {}, use two of one model", list(.indices), name(*.format), devices())]
    NoCommonSize { indices: Vec<u32>, format: Option<PixelFormat> },
    #[error("camera {index} has no image of {}x{} any more; open the source again to take another size", .size.0, .size.1)]
    NoSize { index: u32, size: (usize, usize) },

    // running
    #[error(
        "camera {index} has sent nothing but damaged frames for {} s ({}); try another cable or port without a hub, or a smaller size or \
         lower rate",
        .since.as_secs(),
        .damaged.causes()
    )]
    AllDamaged { index: u32, since: Duration, damaged: Damaged },
    #[error(
        "camera {index} has sent no image for {} s; check its cable, or unplug it and plug it in again", .since.as_secs()
    )]
    Silent { index: u32, since: Duration },
    #[error(
        "camera {index} has not said for {} s what it can send; unplug it and plug it in again", .since.as_secs()
    )]
    Unanswered { index: u32, since: Duration },
    #[error("camera {0}: reading it ended unexpectedly; open it again")]
    Ended(u32),
    #[error("camera {index}: no thread for it: {cause}")]
    NoThread { index: u32, cause: io::Error },
    #[error(
        "camera {index} is lost, and the system gives no thread to look for it: {cause}; close other programs, and open the source again"
    )]
    NoSearch { index: u32, cause: io::Error },

    // controls
    #[error("no thread for the cameras' controls: {0}")]
    NoControlThread(io::Error),
    #[error("cameras {left} and {right} cannot be given equal exposure: {cause}; light the scene evenly instead")]
    UnequalExposure { left: u32, right: u32, cause: ControlError },
    #[cfg(not(target_os = "linux"))]
    #[error(
        "camera {0}: exposure, focus and the like are set only on Linux so far; set them with the camera's own program{others}",
        others = if cfg!(target_os = "macos") { "" } else { ", or in the system's camera settings" }
    )]
    NoControls(u32),
}

impl CameraError {
    /// Returns the error of an operation on a camera (`open it`, `read it`).
    pub(super) fn of_device(index: u32, task: impl Into<String>, cause: DeviceError) -> Self {
        match cause.number() {
            Some(number::MISSING) => Self::NoNode(index),
            Some(number::DENIED) => Self::Denied(index),
            Some(number::BUSY) => Self::Busy(index),
            Some(number::GONE | number::NO_DEVICE) => Self::Gone(index),
            Some(number::NO_BANDWIDTH) => sysfs::bus(index).map_or(Self::NoRoom(index), |bus| {
                let mut others = claim::other_claimed(index);
                others.retain(|&other| sysfs::bus(other).is_some_and(|b| b.bus == bus.bus));
                Self::NoRoomOnBus { index, bus, others }
            }),
            _ => Self::Device { index, task: task.into(), cause },
        }
    }

    /// Returns the error that the camera delivers no images: all frames since the last image are `damaged`, or its thread is blocked in
    /// the driver.
    pub(super) fn silent(index: u32, since: Duration, damaged: Damaged) -> Self {
        if damaged.total() > 0 { Self::AllDamaged { index, since, damaged } } else { Self::Silent { index, since } }
    }
}

impl From<CameraError> for CaptureError {
    fn from(err: CameraError) -> Self {
        match err {
            CameraError::NoCamera(_) => Self::Grammar(err.into()),
            _ => Self::Camera(err.into()),
        }
    }
}

/// Names of the formats that can be read.
const FORMATS: &str = if cfg!(target_os = "linux") { "YUYV, NV12, MJPEG, GREY or Y16" } else { "YUYV, NV12 or MJPEG" };

fn devices() -> Remedy {
    Remedy::Run(vec![Part::Word("devices".to_owned())])
}

/// Returns the remedy of a bus without room for raw images.
pub(super) fn mjpeg() -> Remedy {
    Remedy::set("format", "mjpeg")
}

fn advice(cause: &DeviceError) -> &'static str {
    match cause.number() {
        Some(number::IO | number::PROTOCOL | number::TIMED_OUT) => {
            "check its cable, plug it in again without a hub between, or choose another mode"
        }
        _ => "try another camera or mode",
    }
}

fn numbers(found: &[u32]) -> String {
    if found.is_empty() { "no camera was found".to_owned() } else { format!("found {}", list(found)) }
}

fn ports(found: &[String]) -> String {
    let ports: Vec<_> = found.iter().map(|port| foreign(port)).collect();
    if ports.is_empty() { "none".to_owned() } else { ports.join(", ") }
}

fn shared(others: &[u32]) -> String {
    match others {
        [] => String::new(),
        [one] => format!(", which it shares with camera {one}"),
        _ => format!(", which it shares with cameras {}", list(others)),
    }
}

fn list(numbers: &[u32]) -> String {
    match numbers {
        [] => String::new(),
        [one] => one.to_string(),
        [first @ .., last] => {
            let first: Vec<String> = first.iter().map(u32::to_string).collect();
            format!("{} and {last}", first.join(", "))
        }
    }
}

fn name(format: Option<PixelFormat>) -> &'static str {
    format.map_or("readable", PixelFormat::name)
}

fn node(index: u32) -> String {
    if cfg!(target_os = "linux") { format!("/dev/video{index}") } else { format!("camera {index}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nokhwa::NokhwaError;

    #[test]
    fn distinguishes_causes_by_error_numbers() {
        let open = |text: &str| NokhwaError::OpenDeviceError("0".into(), format!("V4L2 Error: {text}"));
        let cases = [
            (open("Permission denied (os error 13)"), "usermod -aG video"),
            (NokhwaError::OpenStreamError("Device or resource busy (os error 16)".into()), "is busy"),
            (NokhwaError::ReadFrameError("No such device (os error 19)".into()), "is gone; plug it in again"),
            (NokhwaError::ReadFrameError("No space left on device (os error 28)".into()), "different ports"),
            (NokhwaError::ReadFrameError("Input/output error (os error 5)".into()), "could not read it: "),
        ];
        for (error, words) in cases {
            let text = CameraError::of_device(93, "read it", error.into()).to_string();
            assert!(text.starts_with("camera 93") && text.contains(words), "{text}");
        }
        let from_system = DeviceError::from(io::Error::from_raw_os_error(number::BUSY));
        assert!(CameraError::of_device(93, "open it", from_system).to_string().contains("is busy"));
    }

    #[test]
    fn a_missing_camera_lists_the_found_ones() {
        let missing = |index, found: &[u32]| CameraError::Missing { index, found: found.to_vec() }.to_string();
        assert_eq!(missing(3, &[0, 1]), "no camera 3: found 0 and 1; see devices");
        assert_eq!(missing(3, &[0, 1, 2]), "no camera 3: found 0, 1 and 2; see devices");
        assert_eq!(missing(0, &[]), "no camera 0: no camera was found; see devices");
    }
}
