//! Tests of the list of cameras and of the identity of a camera: numbers, ports, buses, and returns under another number.

use super::{
    SIZES, SLOWLY, assert_recent, folder, luma, open_one, open_pair, scene, take, until, until_lost, with_cameras,
};
use stereopsis_capture::emulated::plug_in;
use stereopsis_capture::webcam::{DetectedCamera, UsbBus, cameras, number_of};
use stereopsis_frame::{CameraName, PairSource, SourceOptions, SourceSpec};
use stereopsis_sources::open;

#[test]
fn reports_that_there_is_no_camera() {
    with_cameras(&[], "identity::inside_nothing");
}

#[test]
#[ignore = "runs under LD_PRELOAD"]
fn inside_nothing() {
    let error = open_one(0).expect_err("missing").to_string();
    assert_eq!(error, "no camera 0: no camera was found; see devices");
}

#[test]
fn lists_ports_and_buses() {
    with_cameras(&["", "wide"], "identity::inside_ports");
}

#[test]
#[ignore = "runs under LD_PRELOAD"]
fn inside_ports() {
    let listed = cameras().expect("lists");
    assert_eq!(listed[1].port, "pci-0000:00:14.0-usb-0:1:1.0");
    assert_eq!(listed[1].bus, Some(UsbBus { bus: 2, speed_mbit: 480 }));
    assert_eq!(listed.iter().map(DetectedCamera::proposes_side_by_side).collect::<Vec<_>>(), [false, true]);
    for port in ["pci-0000:00:14.0-usb-0:1:1.0", "2-1:1.0"] {
        assert_eq!(number_of(&CameraName::Port(port.into())).expect("is there"), 1, "{port}");
    }
    let error = number_of(&CameraName::Port("2-7:1.0".into())).expect_err("nothing there").to_string();
    assert!(error.contains("found pci-0000:00:14.0-usb-0:0:1.0, pci-"), "{error}");
}

#[test]
fn finds_a_camera_by_its_port() {
    with_cameras(&["", ""], "identity::inside_by_port");
}

#[test]
#[ignore = "runs under LD_PRELOAD"]
fn inside_by_port() {
    std::fs::remove_file(folder().join("video0")).expect("removed");
    plug_in(&folder(), 0, 4);
    let words = "webcam:pci-0000:00:14.0-usb-0:0:1.0,2-1:1.0";
    let mut source = open(&SourceSpec::parse(words).expect("grammar"), &SourceOptions::default()).expect("opens");
    assert_eq!(source.info().name, "webcam 4,1");
    assert_eq!(luma(&take(&mut *source, 1)[0].left), &scene(0, SIZES[0]));
}

#[test]
fn reopens_a_camera_under_another_number() {
    with_cameras(&[SLOWLY, &format!("{SLOWLY} unplug=10")], "identity::inside_replug");
}

#[test]
#[ignore = "runs under LD_PRELOAD"]
fn inside_replug() {
    let mut source = open_pair(0, 1).expect("opens");
    let (why, _) = until_lost(&mut source, 1);
    assert_eq!(why, "camera 1 is gone; plug it in again");
    let mut last = 0;
    until(&mut source, |source, pair| {
        last = pair.map_or(last, |pair| pair.sequence);
        let left = &source.state().cameras[0];
        left.rate_hz > 2.5 && left.lost.is_none()
    });
    plug_in(&folder(), 1, 5);
    let mut pairs = Vec::new();
    until(&mut source, |_, pair| {
        pairs.extend(pair);
        pairs.len() > 5
    });
    assert_eq!(source.info().name, "webcam 0,5");
    let state = source.state();
    assert_eq!((state.cameras[1].index, state.cameras[1].lost.as_ref()), (5, None));
    for pair in &pairs {
        assert_eq!(luma(&pair.right), &scene(1, SIZES[0]));
        assert!(pair.skew_s.abs() < 0.002, "the left images are of the same time: {}", pair.skew_s);
        assert!(pair.sequence > last);
    }
    assert_recent(&pairs[5]);
}
