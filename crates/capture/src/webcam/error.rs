//! Errors of cameras for users: each text contains the camera, the failed operation and the next step.

use super::device::DeviceError;
use super::{claim, sysfs};
use std::time::Duration;
use stereopsis_frame::CaptureError;
use stereopsis_frame::decode_camera::Damaged;

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

/// Returns the error of an operation on a camera; `doing` is the operation (`open it`, `read it`).
pub(super) fn explain(index: u32, doing: &str, error: &DeviceError) -> CaptureError {
    let node = node(index);
    let text = match error.number {
        Some(number::MISSING) => format!("no camera {index} ({node} does not exist); see `stereopsis devices`"),
        Some(number::DENIED) => format!(
            "camera {index}: permission denied for {node}; add yourself to its group (`sudo usermod -aG video $USER`) and \
             log in again"
        ),
        Some(number::BUSY) => format!(
            "camera {index} is busy: another program uses it; close that program (`fuser -v {node}` names it), or choose \
             another camera"
        ),
        Some(number::GONE | number::NO_DEVICE) => format!("camera {index} is gone; plug it in again"),
        Some(number::NO_BANDWIDTH) => no_bandwidth(index),
        Some(number::IO | number::PROTOCOL | number::TIMED_OUT) => format!(
            "camera {index}: could not {doing}: {error}; check its cable, plug it in again without a hub between, or choose \
             another mode, see `stereopsis devices`"
        ),
        _ => {
            format!("camera {index}: could not {doing}: {error}; try another camera or mode, see `stereopsis devices`")
        }
    };
    CaptureError::Camera(text.into())
}

fn no_bandwidth(index: u32) -> String {
    let Some(bus) = sysfs::bus(index) else {
        return format!(
            "camera {index}: its USB bus has no room for another stream; plug the cameras into different ports (not one \
             hub), or ask for MJPEG (--format mjpeg), a smaller size or a lower rate"
        );
    };
    let mut others: Vec<u32> = claim::other_claimed(index);
    others.retain(|&other| sysfs::bus(other).is_some_and(|b| b.bus == bus.bus));
    let shared = match &others[..] {
        [] => String::new(),
        [one] => format!(", which it shares with camera {one}"),
        _ => format!(", which it shares with cameras {}", list(&others)),
    };
    format!(
        "camera {index}: {bus}{shared}, has no room for its stream; plug it into a port of another bus (`lsusb -t` shows \
         them, one hub is one bus), or ask for MJPEG (--format mjpeg), a smaller size or a lower rate"
    )
}

/// Returns the error that the camera is not among `found`.
pub(super) fn missing(index: u32, found: &[u32]) -> CaptureError {
    let found = match found {
        [] => "no camera was found".to_owned(),
        found => format!("found {}", list(found)),
    };
    CaptureError::Camera(format!("no camera {index}: {found}; see `stereopsis devices`").into())
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

/// Returns the error that the camera has no supported format.
pub(super) fn unreadable(index: u32) -> CaptureError {
    let formats = if cfg!(target_os = "linux") { "YUYV, NV12, MJPEG, GREY or Y16" } else { "YUYV, NV12 or MJPEG" };
    CaptureError::Camera(format!(
        "camera {index} sends nothing that can be read here ({formats}); use another camera, or another of its modes"
    ).into())
}

/// Returns the error that the camera delivers no images: all frames since the last image are `damaged`, or its thread is blocked in the
/// driver.
pub(super) fn silent(index: u32, since: Duration, damaged: Damaged) -> CaptureError {
    let seconds = since.as_secs();
    CaptureError::Camera((if damaged.total() > 0 {
        let causes = damaged.causes();
        format!(
            "camera {index} has sent nothing but damaged frames for {seconds} s ({causes}); try another cable or port without a \
             hub, or a smaller size or lower rate"
        )
    } else {
        format!("camera {index} has sent no image for {seconds} s; check its cable, or unplug it and plug it in again")
    }).into())
}

/// Returns the error that the camera does not report its modes; its driver may be blocked.
pub(super) fn unanswered(index: u32, since: Duration) -> CaptureError {
    let seconds = since.as_secs();
    CaptureError::Camera(
        format!("camera {index} has not said for {seconds} s what it can send; unplug it and plug it in again").into(),
    )
}

/// Returns the error that another thread of this program is opening the camera.
pub(super) fn held_here() -> DeviceError {
    DeviceError::new("this program is just opening it")
}

/// Returns the error that the camera's thread ended without a message.
pub(super) fn ended(index: u32) -> CaptureError {
    CaptureError::Camera(format!("camera {index}: reading it ended unexpectedly; open it again").into())
}

pub(super) fn node(index: u32) -> String {
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
            let text = explain(93, "read it", &error.into()).to_string();
            assert!(text.starts_with("camera 93") && text.contains(words), "{text}");
        }
        let from_system = DeviceError::from(std::io::Error::from_raw_os_error(number::BUSY));
        assert!(explain(93, "open it", &from_system).to_string().contains("is busy"));
    }

    #[test]
    fn a_missing_camera_lists_the_found_ones() {
        assert_eq!(missing(3, &[0, 1]).to_string(), "no camera 3: found 0 and 1; see `stereopsis devices`");
        assert_eq!(missing(3, &[0, 1, 2]).to_string(), "no camera 3: found 0, 1 and 2; see `stereopsis devices`");
        assert_eq!(missing(0, &[]).to_string(), "no camera 0: no camera was found; see `stereopsis devices`");
    }
}
