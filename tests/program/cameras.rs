//! Lists and reads emulated cameras with the program.

use super::recording::packets;
use super::start::{finished, stereopsis};
use std::path::Path;
use stereopsis::inside::topic;
use stereopsis_capture::emulated::{dress, emulate};

/// Returns the output of `stereopsis devices` with these emulated cameras; `dress` may add files to their folder.
fn listing_with(behaviours: &[&str], flags: &[&str], dress: impl FnOnce(&Path)) -> Option<String> {
    let home = tempfile::tempdir().expect("temporary folder");
    let mut program = stereopsis(home.path(), &[&["devices"], flags].concat());
    let folder = emulate(&mut program, behaviours)?;
    dress(folder.path());
    let output = program.output().expect("starts");
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn listing(behaviours: &[&str], flags: &[&str]) -> Option<String> {
    listing_with(behaviours, flags, |_| ())
}

fn listing_of_pictured(behaviours: &[&str]) -> Option<String> {
    listing_with(behaviours, &[], |folder| (0..behaviours.len()).for_each(|i| dress(folder, i)))
}

#[test]
fn devices_lists_cameras_and_modes() {
    let Some(text) = listing_of_pictured(&["", "denied", "metadata"]) else { return };
    for expected in [
        "camera 0: Fake Camera 0, port pci-0000:00:14.0-usb-0:0:1.0",
        "YUYV  320x240 at 30/s, 640x480 at 15 30/s",
        "MJPEG 320x240 at 30/s, 640x480 at 30/s",
        "camera 1: Fake Camera 1, port pci-0000:00:14.0-usb-0:1:1.0",
        "not usable now: camera 1: permission denied",
    ] {
        assert!(text.contains(expected), "{expected}\n{text}");
    }
    assert!(!text.contains("camera 2"), "{text}");
}

#[test]
fn no_camera_is_no_error() {
    let Some(text) = listing_of_pictured(&[]) else { return };
    assert!(text.starts_with("no cameras found: check "), "{text}");
}

#[test]
fn devices_lists_controls_and_how_to_name_a_camera() {
    let Some(text) = listing(&["controls=1", "denied", "controls=2"], &[]) else { return };
    for line in [
        "    exposure               0.3 to 204.7 ms, now 33.3 ms, automatic\n",
        "    gain                   0 to 255, now 40, automatic\n",
        "    white balance          2800 to 6500 K in steps of 100, now 4000 K, automatic\n",
        "    focus                  0 to 250 in steps of 5, now 35, automatic\n",
        "    flicker filter         off, 50 Hz, 60 Hz, auto, now auto\n",
        "    lower rate in the dark off, on, now on\n",
        "    gain                   1 to 128, now 54\n",
        "    flicker filter         off, 50 Hz, 60 Hz, now 50 Hz\n",
        "--source webcam:0,2",
        "--source webcam:1-0:1.0,1-2:1.0",
    ] {
        assert!(text.contains(line), "{line:?} is missing in\n{text}");
    }
}

#[test]
fn devices_for_programs_is_json() {
    let Some(text) = listing(&["controls=1", "denied"], &["--json"]) else { return };
    let json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let first = &json["cameras"][0];
    assert_eq!((first["index"].as_u64(), first["port"].as_str()), (Some(0), Some("1-0:1.0")));
    assert_eq!(first["modes"][0]["size"][0].as_u64(), Some(320));
    assert_eq!(first["controls"][0]["kind"].as_str(), Some("exposure"));
    assert_eq!(first["controls"][0]["max"].as_f64(), Some(204.7));
    let second = &json["cameras"][1];
    assert!(second["problem"].as_str().is_some_and(|p| p.contains("permission denied")), "{second}");
}

#[test]
fn a_recording_of_cameras_begins_with_depth_and_counts_from_there() {
    let home = tempfile::tempdir().expect("temporary folder");
    let args = ["record", "--source", "webcam:0,1", "--size", "320x240", "--engine", "cpu", "--num-disparities", "16"];
    let more = ["--frames", "12", "--json", "-o", "two.mcap"];
    let mut program = stereopsis(home.path(), &[&args[..], &more].concat());
    let Some(cameras) = emulate(&mut program, &["", ""]) else { return };
    (0..2).for_each(|i| dress(cameras.path(), i));
    let (said, output) = finished(program, 0);
    let summary: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(summary["pairs"], 12, "{said}");
    let numbers = |topic| -> Vec<u32> {
        packets(&home.path().join("two.mcap"), topic).iter().map(|packet| packet.sequence).collect()
    };
    let (pairs, results) = (numbers(topic::PAIRS), numbers(topic::RESULTS));
    assert!(pairs[0] > 0, "pairs came before there was depth: {pairs:?}");
    assert!(!results.is_empty() && results[0] >= pairs[0], "{results:?} of {pairs:?}");
}

#[test]
fn counts_are_reported_by_cause() {
    let words = "live --headless --engine cpu --num-disparities 16 --paths 4 --source webcam:0,1 --size 320x240 --frames 12 --json";
    let home = tempfile::tempdir().expect("temporary folder");
    let args: Vec<_> = words.split(' ').collect();
    let mut program = stereopsis(home.path(), &args);
    program.env("XDG_CACHE_HOME", home.path());
    let behaviours = ["cut=4", "flagged=4 skip=5"];
    let Some(folder) = emulate(&mut program, &behaviours) else { return };
    (0..behaviours.len()).for_each(|i| dress(folder.path(), i));
    program.arg("--preview").arg(folder.path().join("preview.png"));
    let output = program.output().expect("starts");
    let told = String::from_utf8_lossy(&output.stderr);
    let printed: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {told}"));
    let count = |path: &str| printed.pointer(path).and_then(serde_json::Value::as_u64).expect(path);
    let (short, flagged) = (count("/rig/cameras/0/damaged/short"), count("/rig/cameras/1/damaged/flagged"));
    assert!(short >= 2 && flagged >= 2, "{printed}");
    assert_eq!((count("/run/damaged/short"), count("/run/damaged/flagged")), (short, flagged));
    assert!(count("/run/missed") >= 2 && count("/rig/cameras/1/missed") == count("/run/missed"), "{printed}");
    let summary = format!("damaged frames {} ({short} too short, {flagged} flagged by the driver)", short + flagged);
    assert!(told.contains(&summary) && told.contains(", missing frames "), "{told}");
}

#[test]
fn a_preview_has_colours_where_matching_reads_none() {
    let home = tempfile::tempdir().expect("temporary folder");
    let words = "live --headless --engine cpu --preset fast --source webcam:0,1 --size 320x240 --format mjpeg --frames 2 --preview it.png";
    let mut program = stereopsis(home.path(), &words.split(' ').collect::<Vec<_>>());
    let Some(folder) = emulate(&mut program, &["", ""]) else { return };
    for i in 0..2 {
        dress(folder.path(), i);
        let red = image::RgbImage::from_fn(320, 240, |x, y| image::Rgb([150 + (x * 7 + y * 3) as u8 % 100, 20, 20]));
        red.save(folder.path().join(format!("{i}.320x240.jpg"))).expect("written");
    }
    finished(program, 0);
    let preview = image::open(home.path().join("it.png")).expect("an image").into_rgb8();
    let left = preview.enumerate_pixels().filter(|(x, ..)| *x < preview.width() / 3);
    let red = left.filter(|(.., color)| color[0] > color[1].saturating_add(80)).count();
    assert!(red > 320 * 240 / 2, "{red} pixels are red");
}

#[test]
fn nokhwa_gives_the_same_images_or_is_refused() {
    let home = tempfile::tempdir().expect("temporary folder");
    let words = ["live", "--headless", "--engine", "cpu", "--source", "webcam:0,1", "--frames", "3", "--camera-api"];
    for api in ["system", "nokhwa"] {
        let mut program = stereopsis(home.path(), &[&words[..], &[api, "--preview", &format!("{api}.png")]].concat());
        let Some(folder) = emulate(&mut program, &["", ""]) else { return };
        (0..2).for_each(|i| dress(folder.path(), i));
        let output = program.output().expect("starts");
        let said = String::from_utf8_lossy(&output.stderr);
        if api == "nokhwa" && cfg!(not(feature = "nokhwa-linux")) {
            assert_eq!(output.status.code(), Some(1), "{said}");
            assert!(said.contains("--features nokhwa-linux"), "{said}");
            return;
        }
        assert_eq!(output.status.code(), Some(0), "{said}");
    }
    let [system, nokhwa] = ["system", "nokhwa"].map(|api| image::open(home.path().join(format!("{api}.png"))).unwrap());
    assert_eq!(system.into_rgb8(), nokhwa.into_rgb8());
}
