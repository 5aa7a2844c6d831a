//! What went wrong with a camera, in words: what was tried, on what, and what to do next.
//!
//! nokhwa's errors are texts; the operating system's number inside (`os error 16`) is what tells them apart.

use crate::capture::CaptureError;
use nokhwa::NokhwaError;
use std::time::Duration;

/// The system's error numbers that have a meaning of their own for cameras (Linux).
pub(super) mod number {
    pub(in super::super) const MISSING: i32 = 2;
    pub(in super::super) const DENIED: i32 = 13;
    pub(in super::super) const BUSY: i32 = 16;
    pub(in super::super) const GONE: i32 = 19;
    pub(in super::super) const NO_BANDWIDTH: i32 = 28;
}

/// The operating system's error number in nokhwa's text.
pub(super) fn os_error(error: &NokhwaError) -> Option<i32> {
    let text = error.to_string();
    let (_, after) = text.rsplit_once("(os error ")?;
    after.split(')').next()?.parse().ok()
}

/// A camera that cannot be opened or read, while `doing` (`open it`, `read it`).
pub(super) fn explain(index: u32, doing: &str, error: &NokhwaError) -> CaptureError {
    let node = node(index);
    let text = match os_error(error) {
        Some(number::MISSING) => format!("no camera {index} ({node} does not exist); see `stereopsis devices`"),
        Some(number::DENIED) => format!(
            "camera {index}: permission denied for {node}; add yourself to its group (`sudo usermod -aG video $USER`) and \
             log in again"
        ),
        Some(number::BUSY) => format!(
            "camera {index} is busy: another program uses it; close that program (`fuser -v {node}` names it), or choose \
             another camera"
        ),
        Some(number::GONE) => format!("camera {index} is gone; plug it in again"),
        Some(number::NO_BANDWIDTH) => format!(
            "camera {index}: its USB bus has no room for another stream; plug the cameras into different ports (not one hub), \
             or ask for MJPEG, a smaller size or a lower rate"
        ),
        _ => other(index, doing, error),
    };
    CaptureError::Camera(text)
}

fn other(index: u32, doing: &str, error: &NokhwaError) -> String {
    let text = error.to_string();
    if cfg!(target_os = "linux") && (text.contains("Framerate not whole") || text.contains("FrameFormat: unsupported"))
    {
        // nokhwa reads the present mode before it sets another, and refuses what it cannot express
        return format!(
            "camera {index} stands in a mode that cannot be read ({text}); set another one: `v4l2-ctl -d {node} \
             --set-fmt-video=width=640,height=480,pixelformat=YUYV --set-parm=30`",
            node = node(index)
        );
    }
    format!("camera {index}: could not {doing}: {text}; try another camera or mode, see `stereopsis devices`")
}

/// The camera is not in the list `found`.
pub(super) fn missing(index: u32, found: &[u32]) -> CaptureError {
    let found = match found {
        [] => "no camera was found".to_owned(),
        [one] => format!("found {one}"),
        [first @ .., last] => {
            let first: Vec<String> = first.iter().map(u32::to_string).collect();
            format!("found {} and {last}", first.join(", "))
        }
    };
    CaptureError::Camera(format!("no camera {index}: {found}; see `stereopsis devices`"))
}

/// The camera is there and has nothing that can be decoded.
pub(super) fn unreadable(index: u32) -> CaptureError {
    CaptureError::Camera(format!("camera {index} sends neither YUYV nor MJPEG, and nothing else can be read"))
}

/// The camera answers nothing any more; its thread may be stuck in the driver.
pub(super) fn silent(index: u32, since: Duration, damaged: u64) -> CaptureError {
    let seconds = since.as_secs();
    let damaged = if damaged > 0 { format!(" ({damaged} frames came damaged)") } else { String::new() };
    CaptureError::Camera(format!(
        "camera {index} has sent no picture for {seconds} s{damaged}; check its cable, or unplug it and plug it in again"
    ))
}

/// This program itself has the camera open.
pub(super) fn held(index: u32) -> CaptureError {
    CaptureError::Camera(format!(
        "camera {index} is still open in this program; close its other source, or, if it hangs, unplug it and plug it in again"
    ))
}

/// The camera's thread ended without a word.
pub(super) fn ended(index: u32) -> CaptureError {
    CaptureError::Camera(format!("camera {index}: reading it ended unexpectedly; open it again"))
}

/// How the system calls the camera.
pub(super) fn node(index: u32) -> String {
    if cfg!(target_os = "linux") { format!("/dev/video{index}") } else { format!("camera {index}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_are_told_apart_by_the_systems_number() {
        let open = |text: &str| NokhwaError::OpenDeviceError("0".into(), format!("V4L2 Error: {text}"));
        let cases = [
            (open("Permission denied (os error 13)"), "usermod -aG video"),
            (NokhwaError::OpenStreamError("Device or resource busy (os error 16)".into()), "is busy"),
            (NokhwaError::ReadFrameError("No such device (os error 19)".into()), "is gone; plug it in again"),
            (NokhwaError::ReadFrameError("No space left on device (os error 28)".into()), "different ports"),
            (NokhwaError::ReadFrameError("Input/output error (os error 5)".into()), "could not read it: "),
        ];
        for (error, words) in cases {
            let text = explain(3, "read it", &error).to_string();
            assert!(text.starts_with("camera 3") && text.contains(words), "{text}");
        }
    }

    #[test]
    fn missing_camera_names_those_found() {
        assert_eq!(missing(3, &[0, 1]).to_string(), "no camera 3: found 0 and 1; see `stereopsis devices`");
        assert_eq!(missing(3, &[0, 1, 2]).to_string(), "no camera 3: found 0, 1 and 2; see `stereopsis devices`");
        assert_eq!(missing(0, &[]).to_string(), "no camera 0: no camera was found; see `stereopsis devices`");
    }
}
