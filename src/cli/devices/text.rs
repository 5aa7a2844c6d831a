//! The list of cameras for people.

use super::ListedCamera;
use std::fmt::Write;
use stereopsis_base::console::foreign;
use stereopsis_capture::webcam::controls::{ControlKind, OfferedControl};
use stereopsis_capture::webcam::{Mode, bandwidth_warnings};
use stereopsis_frame::PowerLine;

/// Lists the cameras: their ports, modes grouped by format and size, controls; then warnings, and how to use them. Without cameras it
/// contains what to check. Ends with a line break.
pub fn camera_list_text(cameras: &[ListedCamera]) -> String {
    let mut text: String = cameras.iter().map(camera_text).collect();
    for warning in bandwidth_warnings(cameras.iter().map(|camera| &camera.info)) {
        let _ = writeln!(text, "warning: {warning}");
    }
    text += &how_to_use(cameras);
    text
}

fn camera_text(ListedCamera { info, controls }: &ListedCamera) -> String {
    let port = if info.port.is_empty() { String::new() } else { format!(", port {}", foreign(&info.port)) };
    let bus = info.bus.map_or(String::new(), |bus| format!(", {bus}"));
    let mut text = format!("camera {}: {}{port}{bus}\n", info.index, foreign(&info.name));
    for of_format in info.modes.chunk_by(|a, b| a.format == b.format) {
        let sizes: Vec<String> = of_format.chunk_by(|a, b| a.size() == b.size()).map(size_text).collect();
        let _ = writeln!(text, "  {:<5} {}", of_format[0].format.name(), wrapped(&sizes));
    }
    let mut wide: Vec<_> = info.modes.iter().filter(|m| is_wide(m)).map(Mode::size).collect();
    wide.sort_unstable();
    wide.dedup();
    if !wide.is_empty() {
        let sizes: Vec<String> = wide.iter().map(|(width, height)| format!("{}x{height}", width / 2)).collect();
        let _ = writeln!(text, "  as one camera with both images side by side: {} per image", sizes.join(", "));
    }
    match (&info.problem, controls) {
        (Some(problem), _) => {
            let _ = writeln!(text, "  not usable now: {problem}");
        }
        (None, Ok(controls)) if controls.is_empty() => {}
        (None, Ok(controls)) => {
            text += "  controls\n";
            text.extend(controls.iter().map(control_text));
        }
        (None, Err(why)) => {
            let _ = writeln!(text, "  controls: {why}");
        }
    }
    text
}

/// Formats one size with its rates: `640x480 at 15 30/s`, `640x480 at 5 to 30/s` where there are many.
fn size_text(of_size: &[Mode]) -> String {
    let rates: Vec<String> = of_size.iter().map(|mode| mode.rate_hz.to_string()).collect();
    let rates = match &rates[..] {
        [slowest, _, .., fastest] => format!("{slowest} to {fastest}"),
        few => few.join(" "),
    };
    format!("{}x{} at {rates}/s", of_size[0].width, of_size[0].height)
}

/// Joins sizes with commas, in lines of about a hundred columns.
fn wrapped(sizes: &[String]) -> String {
    let mut lines = vec![String::new()];
    for size in sizes {
        let line = lines.last_mut().filter(|line| line.is_empty() || line.len() + size.len() < 100);
        match line {
            Some(line) if line.is_empty() => line.push_str(size),
            Some(line) => line.extend([", ", size.as_str()]),
            None => lines.push(size.clone()),
        }
    }
    lines.join(",\n        ")
}

/// Whether a mode is wide enough for two views.
fn is_wide(mode: &Mode) -> bool {
    mode.width >= 2 * mode.height && mode.width.is_multiple_of(2)
}

/// Formats a control: `    exposure               0.3 to 204.7 ms, now 33.3 ms, automatic`.
fn control_text(control: &OfferedControl) -> String {
    let OfferedControl { kind, min, max, step, value, auto, .. } = *control;
    let range = match kind {
        ControlKind::PowerLine => {
            let offered = (0..PowerLine::ALL.len()).map(|i| i as f64).filter(|v| (min..=max).contains(v));
            offered.map(|v| kind.value_text(v)).collect::<Vec<_>>().join(", ")
        }
        ControlKind::DarkRate => "off, on".to_owned(),
        _ => {
            let steps = if step > 1.0 { format!(" in steps of {step}") } else { String::new() };
            format!("{min} to {}{steps}", kind.value_text(max))
        }
    };
    let auto = if auto == Some(true) { ", automatic" } else { "" };
    format!("    {:<22} {range}, now {}{auto}\n", kind.label(), kind.value_text(value))
}

/// Explains how `--source` names the cameras.
fn how_to_use(cameras: &[ListedCamera]) -> String {
    let usable: Vec<_> = cameras.iter().map(|c| &c.info).filter(|info| info.problem.is_none()).collect();
    let mut lines = match &usable[..] {
        [] if cameras.is_empty() => return NONE.to_owned(),
        [] => return "no camera is usable now\n".to_owned(),
        [one] => {
            format!("if it shows both images side by side: --source webcam:{}; else plug in a second one\n", one.index)
        }
        [left, right, ..] => format!(
            "use two, left one first: --source webcam:{},{}; or one with both images side by side: --source webcam:{}\n",
            left.index, right.index, left.index
        ),
    };
    let ports: Vec<&str> = usable.iter().take(2).map(|info| info.port.as_str()).collect();
    // a port names a camera only if it is unique, and can be typed
    let is_name = |port: &&str| {
        !port.is_empty() && foreign(port) == **port && usable.iter().filter(|info| info.port == **port).count() == 1
    };
    if ports.iter().all(is_name) {
        let _ = writeln!(lines, "numbers may change, ports stay: --source webcam:{}", ports.join(","));
    }
    if cameras.iter().any(|camera| camera.controls.as_ref().is_ok_and(|controls| !controls.is_empty())) {
        lines += "set controls with --exposure-ms, --gain, --white-balance-k, --focus and --power-line-hz, or both cameras \
                  alike with --equal-exposure\n";
    }
    lines
}

#[cfg(target_os = "linux")]
const NONE: &str = "no cameras found: check that they are plugged in and that `ls /dev/video*` shows them; inside a \
                    container or virtual machine they must be passed through\n";
#[cfg(not(target_os = "linux"))]
const NONE: &str = "no cameras found: check that they are plugged in and that the system's privacy settings let this \
                    program (or its terminal) use them\n";

#[cfg(test)]
mod tests {
    use super::*;
    use stereopsis_capture::webcam::{DetectedCamera, UsbBus};
    use stereopsis_frame::decode_camera::PixelFormat::{Mjpeg, Yuyv};

    #[test]
    fn modes_are_grouped_by_format_and_size() {
        let mode = |format, width, height, rate_hz| Mode { format, width, height, rate_hz };
        let modes = vec![
            mode(Yuyv, 320, 240, 30),
            mode(Yuyv, 640, 480, 15),
            mode(Yuyv, 640, 480, 30),
            mode(Mjpeg, 2560, 720, 30),
        ];
        let bus = Some(UsbBus { bus: 2, speed_mbit: 480 });
        let first = DetectedCamera { index: 0, name: "Cam".into(), port: "1-2:1.0".into(), bus, modes, problem: None };
        let problem = Some("camera 2 is busy".into());
        let second =
            DetectedCamera { index: 2, name: "Other".into(), port: String::new(), bus: None, modes: vec![], problem };
        let listed = [
            ListedCamera { info: first, controls: Ok(Vec::new()) },
            ListedCamera { info: second, controls: Err(anyhow::anyhow!("not asked")) },
        ];
        assert_eq!(
            camera_list_text(&listed),
            "camera 0: Cam, port 1-2:1.0, USB bus 2 (480 Mbit/s)\n  YUYV  320x240 at 30/s, 640x480 at 15 30/s\n  \
             MJPEG 2560x720 at 30/s\n  as one camera with both images side by side: 1280x720 per image\n\
             camera 2: Other\n  not usable now: camera 2 is busy\n\
             if it shows both images side by side: --source webcam:0; else plug in a second one\n\
             numbers may change, ports stay: --source webcam:1-2:1.0\n"
        );
    }

    #[test]
    fn many_rates_and_sizes_stay_readable() {
        let mode = |height, rate_hz| Mode { format: Mjpeg, width: height, height, rate_hz };
        assert_eq!(size_text(&[mode(480, 15), mode(480, 30)]), "480x480 at 15 30/s");
        assert_eq!(size_text(&[mode(480, 5), mode(480, 15), mode(480, 30)]), "480x480 at 5 to 30/s");
        let text = wrapped(&vec!["1920x1080 at 5 to 30/s".to_owned(); 9]);
        let lines: Vec<_> = text.lines().collect();
        assert_eq!((lines.len(), text.matches("1920x1080").count()), (3, 9));
        assert!(lines.iter().all(|line| line.len() <= 110), "{text}");
    }

    #[test]
    fn port_of_two_cameras_is_no_name() {
        let camera = |index, port: &str| {
            let info = DetectedCamera {
                index,
                name: "Cam".into(),
                port: port.into(),
                bus: None,
                modes: vec![],
                problem: None,
            };
            ListedCamera { info, controls: Ok(Vec::new()) }
        };
        assert!(camera_list_text(&[camera(0, "a-1"), camera(1, "a-2")]).contains("--source webcam:a-1,a-2"));
        assert!(!camera_list_text(&[camera(0, "a-1"), camera(1, "a-1")]).contains("ports stay"));
        assert!(!camera_list_text(&[camera(0, "a-1"), camera(1, "")]).contains("ports stay"));
    }

    #[test]
    fn empty_list_contains_what_to_check() {
        assert!(camera_list_text(&[]).starts_with("no cameras found: check "));
    }
}
