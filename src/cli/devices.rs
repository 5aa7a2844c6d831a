//! `stereopsis devices`: which cameras there are and what they can send, as text.

use crate::capture::webcam::{self, CameraInfo, Mode};
use crate::engine::gpu::{AdapterSummary, Gpu, INSTALL};
use std::fmt::Write;
use std::io::Write as _;

/// Arguments of `devices`.
#[derive(Debug, clap::Args)]
pub(super) struct DevicesArgs {
    /// List GPUs instead of cameras, with their numbers for --adapter
    #[arg(long)]
    gpu: bool,
}

/// Runs `devices`; finding none is no error.
///
/// # Errors
/// The system cannot list its cameras.
pub(super) fn run(args: &DevicesArgs) -> anyhow::Result<()> {
    let text = if args.gpu { gpu_list_text(&Gpu::list()) } else { camera_list_text(&webcam::cameras()?) };
    std::io::stdout().lock().write_all(text.as_bytes())?;
    Ok(())
}

/// The GPUs that can compute, one a line.
fn gpu_list_text(adapters: &[AdapterSummary]) -> String {
    if adapters.is_empty() {
        return format!("no GPU found that can compute; the CPU engine needs none. For a GPU, {INSTALL}\n");
    }
    let lines: Vec<_> = adapters.iter().map(ToString::to_string).collect();
    lines.join("\n") + "\n"
}

/// The cameras with their modes, grouped by format and size; where there are none, what to check. Ends with a line break.
pub fn camera_list_text(cameras: &[CameraInfo]) -> String {
    let mut text = String::new();
    for camera in cameras {
        let port = if camera.port.is_empty() { String::new() } else { format!(", port {}", camera.port) };
        let _ = writeln!(text, "camera {}: {}{port}", camera.index, camera.name);
        for of_format in camera.modes.chunk_by(|a, b| a.format == b.format) {
            let sizes: Vec<String> = of_format.chunk_by(|a, b| a.size() == b.size()).map(size_text).collect();
            let _ = writeln!(text, "  {:<5} {}", of_format[0].format.name(), sizes.join(", "));
        }
        if let Some(problem) = &camera.problem {
            let _ = writeln!(text, "  not usable now: {problem}");
        }
    }
    text += match cameras {
        [] => NONE,
        [_] => "use it with both eyes side by side: --source webcam:N\n",
        _ => "use two, left one first: --source webcam:L,R; or one with both eyes side by side: --source webcam:N\n",
    };
    text
}

#[cfg(target_os = "linux")]
const NONE: &str = "no cameras found: check that they are plugged in and that `ls /dev/video*` shows them; inside a \
                    container or virtual machine they must be passed through\n";
#[cfg(not(target_os = "linux"))]
const NONE: &str = "no cameras found: check that they are plugged in and that the system's privacy settings let this \
                    program (or its terminal) use them\n";

/// One size with its rates: `640x480 at 15 30/s`.
fn size_text(of_size: &[Mode]) -> String {
    let rates: Vec<String> = of_size.iter().map(|mode| mode.rate_hz.to_string()).collect();
    format!("{}x{} at {}/s", of_size[0].width, of_size[0].height, rates.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture::decode_camera::PixelFormat::{Mjpeg, Yuyv};

    #[test]
    fn modes_are_grouped_by_format_and_size() {
        let mode = |format, width, height, rate_hz| Mode { format, width, height, rate_hz };
        let modes = vec![
            mode(Yuyv, 320, 240, 30),
            mode(Yuyv, 640, 480, 15),
            mode(Yuyv, 640, 480, 30),
            mode(Mjpeg, 1280, 720, 30),
        ];
        let first = CameraInfo { index: 0, name: "Cam".into(), port: "1-2:1.0".into(), modes, problem: None };
        let problem = Some("camera 2 is busy".into());
        let second = CameraInfo { index: 2, name: "Other".into(), port: String::new(), modes: vec![], problem };
        assert_eq!(
            camera_list_text(&[first, second]),
            "camera 0: Cam, port 1-2:1.0\n  YUYV  320x240 at 30/s, 640x480 at 15 30/s\n  MJPEG 1280x720 at 30/s\n\
             camera 2: Other\n  not usable now: camera 2 is busy\n\
             use two, left one first: --source webcam:L,R; or one with both eyes side by side: --source webcam:N\n"
        );
    }

    #[test]
    fn no_cameras_says_what_to_check() {
        assert!(camera_list_text(&[]).starts_with("no cameras found: check "));
    }
}
