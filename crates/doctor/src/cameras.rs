//! Checks of the cameras: port, modes, problems, and the programs that have them open.

use super::report::{self, Check};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use stereopsis_base::console::{counted, foreign};
use stereopsis_capture::webcam::{DetectedCamera, Mode, bandwidth_warnings};
use stereopsis_frame::CaptureError;

/// Program that has a camera open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Holder {
    pub(super) name: String,
    pub(super) pid: u32,
}

/// Returns the other programs with open cameras by camera number, as far as this user may see them; `proc` is a folder like /proc.
pub(super) fn holders(proc: &Path) -> BTreeMap<u32, Vec<Holder>> {
    let mut all: BTreeMap<u32, Vec<Holder>> = BTreeMap::new();
    for process in fs::read_dir(proc).into_iter().flatten().flatten() {
        let Some(pid) = process.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else { continue };
        if pid == std::process::id() {
            continue;
        }
        // other users' descriptors are unreadable
        for descriptor in fs::read_dir(process.path().join("fd")).into_iter().flatten().flatten() {
            let target = fs::read_link(descriptor.path()).unwrap_or_default();
            let number = target.to_str().and_then(|path| path.strip_prefix("/dev/video")?.parse().ok());
            let Some(number) = number else { continue };
            let of_camera = all.entry(number).or_default();
            if of_camera.iter().all(|holder| holder.pid != pid) {
                let name = fs::read_to_string(process.path().join("comm")).unwrap_or_default();
                of_camera.push(Holder { name: foreign(name.trim()), pid });
            }
        }
    }
    all
}

/// Checks each camera, and the bandwidth that two of them share.
pub(super) fn checks(
    found: &Result<Vec<DetectedCamera>, CaptureError>,
    holders: &BTreeMap<u32, Vec<Holder>>,
) -> Vec<Check> {
    let cameras = match found {
        Ok(cameras) => cameras,
        Err(why) => {
            let todo = "check that the cameras are plugged in, and that the system lets this program use them";
            return vec![Check::wrong("camera", why.to_string(), todo)];
        }
    };
    if cameras.is_empty() {
        return vec![Check::note("camera", "there are none", NO_CAMERA_REMEDY)];
    }
    let none = Vec::new();
    let of_camera = |camera| check(camera, holders.get(&camera.index).unwrap_or(&none));
    let mut checks = report::cut(cameras.iter().map(of_camera).collect(), "camera");
    let warnings = bandwidth_warnings(cameras).into_iter().map(|warning| {
        let remedy = warning.remedy;
        Check::note("camera", warning.text, format!("{}{}", remedy[..1].to_lowercase(), &remedy[1..]))
    });
    checks.extend(report::cut(warnings.collect(), "warning"));
    checks
}

fn check(camera: &DetectedCamera, holders: &[Holder]) -> Check {
    let DetectedCamera { index, name, port, bus, modes, problem } = camera;
    let named: Vec<_> = holders.iter().map(|Holder { name, pid }| format!("{name} (process {pid})")).collect();
    let named = report::names(&named);
    if let Some(problem) = problem {
        if !named.is_empty() {
            let todo = format!("close {named}, or choose another camera");
            return Check::wrong("camera", format!("camera {index} is busy: {named} has it open"), todo);
        }
        let (text, todo) = problem.split_once("; ").unwrap_or((problem, "choose another camera"));
        return Check::wrong("camera", text, todo);
    }
    let port = if port.is_empty() { String::new() } else { format!(", port {}", foreign(port)) };
    let bus = bus.map_or_else(String::new, |bus| format!(", {bus}"));
    let largest = modes.iter().max_by_key(|mode| (mode.width * mode.height, mode.rate_hz));
    let largest = largest.map_or_else(String::new, |mode: &Mode| format!(", the largest {mode}"));
    let count = counted(modes.len() as u64, "mode");
    let text = format!("camera {index}: {}{port}{bus}, {count}{largest}", foreign(name));
    if named.is_empty() {
        return Check::ok("camera", text);
    }
    let todo = format!("close {named} before you use the camera: one program at a time can read it");
    Check::note("camera", format!("{text}; {named} has it open"), todo)
}

#[cfg(target_os = "linux")]
const NO_CAMERA_REMEDY: &str =
    "plug them in, and check that `ls /dev/video*` shows them; pass them through to a container or virtual machine";
#[cfg(not(target_os = "linux"))]
const NO_CAMERA_REMEDY: &str =
    "plug them in, and check that the system's privacy settings let this program (or its terminal) use them";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::State;
    use stereopsis_capture::webcam::UsbBus;
    use stereopsis_frame::decode_camera::PixelFormat::{Mjpeg, Yuyv};

    fn camera(index: u32, problem: Option<&str>) -> DetectedCamera {
        let mode = |format, width, height| Mode { format, width, height, rate_hz: 30 };
        let modes = vec![mode(Mjpeg, 1920, 1080), mode(Yuyv, 640, 480), mode(Yuyv, 1280, 720)];
        let modes = if problem.is_some() { Vec::new() } else { modes };
        let bus = Some(UsbBus { bus: 1 + index, speed_mbit: 480 });
        let (name, port) = ("Cam".into(), format!("1-{index}:1.0"));
        DetectedCamera { index, name, port, bus, modes, problem: problem.map(str::to_owned) }
    }

    fn held(index: u32) -> BTreeMap<u32, Vec<Holder>> {
        BTreeMap::from([(index, vec![Holder { name: "cheese".into(), pid: 42 }])])
    }

    fn only(camera: DetectedCamera, holders: &BTreeMap<u32, Vec<Holder>>) -> Check {
        let mut found = checks(&Ok(vec![camera]), holders);
        assert_eq!(found.len(), 1, "{found:?}");
        found.remove(0)
    }

    #[test]
    fn reports_port_bus_and_modes() {
        let text = "camera 0: Cam, port 1-0:1.0, USB bus 1 (480 Mbit/s), 3 modes, the largest MJPEG 1920x1080 at 30/s";
        assert_eq!(only(camera(0, None), &BTreeMap::new()), Check::ok("camera", text));
    }

    #[test]
    fn no_cameras_are_a_note() {
        let found = checks(&Ok(Vec::new()), &BTreeMap::new());
        assert_eq!((found.len(), found[0].state, found[0].text.as_str()), (1, State::Note, "there are none"));
        assert!(found[0].todo.as_ref().unwrap().contains("plug them in"));
        let refused =
            checks(&Err(CaptureError::Camera("the system does not list its cameras".into())), &BTreeMap::new());
        assert_eq!((refused.len(), refused[0].state), (1, State::Wrong));
    }

    #[test]
    fn a_camera_without_rights_is_wrong() {
        let problem =
            "camera 1: permission denied for /dev/video1; add yourself to its group (`sudo usermod -aG video $USER`)";
        let check = only(camera(1, Some(problem)), &BTreeMap::new());
        assert_eq!((check.state, check.text.as_str()), (State::Wrong, "camera 1: permission denied for /dev/video1"));
        assert!(check.todo.unwrap().starts_with("add yourself to its group"));
    }

    #[test]
    fn names_the_program_of_a_busy_camera() {
        let problem = "camera 2 is busy: another program uses it; close that program (`fuser -v /dev/video2` names it)";
        let busy = only(camera(2, Some(problem)), &held(2));
        assert_eq!(
            (busy.state, busy.text.as_str()),
            (State::Wrong, "camera 2 is busy: cheese (process 42) has it open")
        );
        assert!(busy.todo.unwrap().starts_with("close cheese (process 42)"));
        let unknown = only(camera(2, Some(problem)), &held(3));
        assert!(unknown.state == State::Wrong && unknown.todo.unwrap().contains("fuser -v"));
        let open = only(camera(2, None), &held(2));
        assert!(open.state == State::Note && open.text.ends_with("; cheese (process 42) has it open"), "{open:?}");
    }

    #[test]
    fn two_cameras_on_one_slow_bus_are_noted() {
        let on = |index| DetectedCamera { bus: Some(UsbBus { bus: 2, speed_mbit: 480 }), ..camera(index, None) };
        let found = checks(&Ok(vec![on(0), on(2)]), &BTreeMap::new());
        assert_eq!(found.iter().map(|check| check.state).collect::<Vec<_>>(), [State::Ok, State::Ok, State::Note]);
        assert!(found[2].text.starts_with("cameras 0 and 2 share USB bus 2"), "{found:?}");
        assert!(found[2].todo.as_ref().unwrap().starts_with("ask for compressed images"), "{found:?}");
    }

    #[test]
    #[cfg(unix)]
    fn holders_are_found_by_their_open_files() {
        let proc = tempfile::tempdir().unwrap();
        let process = |pid: &str, name: &str, open: &[&str]| {
            let folder = proc.path().join(pid);
            fs::create_dir_all(folder.join("fd")).unwrap();
            fs::write(folder.join("comm"), format!("{name}\n")).unwrap();
            for (number, target) in open.iter().enumerate() {
                std::os::unix::fs::symlink(target, folder.join(format!("fd/{number}"))).unwrap();
            }
        };
        process("42", "cheese", &["/dev/null", "/dev/video2", "/dev/video2"]);
        process("43", "obs\u{1b}", &["/dev/video2", "/dev/video0", "/dev/video-dec0"]);
        process(&std::process::id().to_string(), "stereopsis", &["/dev/video0"]);
        process("self", "stereopsis", &["/dev/video1"]);
        let holder = |name: &str, pid| Holder { name: name.into(), pid };
        let mut found = holders(proc.path());
        found.get_mut(&2).unwrap().sort_by_key(|holder| holder.pid);
        assert_eq!(
            found,
            BTreeMap::from([
                (0, vec![holder("obs\\u{1b}", 43)]),
                (2, vec![holder("cheese", 42), holder("obs\\u{1b}", 43)])
            ])
        );
    }
}
