//! Tests of camera controls: values in physical units, clamped and refused values, protection of a calibration, equal exposure.
use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};
use stereopsis_capture::emulated::{with_cameras, with_dressed_cameras};
use stereopsis_capture::webcam::controls::{
    ControlKind, ControlTask, OfferedControl, apply, equalise, offered, protect_calibration,
};
use stereopsis_frame::{CameraOptions, ControlSettings, PowerLine, Setting, SourceOptions, SourceSpec, ViewOptions};

/// V4L2's control numbers, as `preload.c` writes them.
const AUTO_WHITE_BALANCE: u32 = 0x0098_090c;
const AUTO_GAIN: u32 = 0x0098_0912;
const GAIN: u32 = 0x0098_0913;
const POWER_LINE: u32 = 0x0098_0918;
const WHITE_BALANCE: u32 = 0x0098_091a;
const AUTO_EXPOSURE: u32 = 0x009a_0901;
const EXPOSURE: u32 = 0x009a_0902;
const DARK_RATE: u32 = 0x009a_0903;
const FOCUS: u32 = 0x009a_090a;
const AUTO_FOCUS: u32 = 0x009a_090c;

/// Returns the controls that were set on a camera so far, by number.
fn was_set(camera: u32) -> BTreeMap<u32, i64> {
    let folder = std::env::var("FAKE_V4L2").expect("runs under LD_PRELOAD");
    let text = std::fs::read_to_string(format!("{folder}/{camera}.controls")).unwrap_or_default();
    let line = |line: &str| {
        let (id, value) = line.split_once(' ')?;
        Some((u32::from_str_radix(id, 16).ok()?, value.parse().ok()?))
    };
    text.lines().filter_map(line).collect()
}

fn offer(camera: u32, kind: ControlKind) -> OfferedControl {
    let all = offered(camera).expect("opens");
    *all.iter().find(|c| c.kind == kind).unwrap_or_else(|| panic!("no {kind} in {all:?}"))
}

fn assert_says(remarks: &[String], expected: &[&str]) {
    assert_eq!(remarks, expected);
}

#[test]
fn lists_controls_in_physical_units() {
    with_cameras(&["controls=1", "controls=2", ""], "controls::inside_offers");
}

#[test]
#[ignore = "runs under LD_PRELOAD"]
fn inside_offers() {
    let exposure = OfferedControl {
        kind: ControlKind::Exposure,
        min: 0.3,
        max: 204.7,
        step: 0.1,
        default: 25.0,
        value: 33.3,
        auto: Some(true),
        active: false,
    };
    assert_eq!(offer(0, ControlKind::Exposure), exposure);
    let kinds: Vec<_> = offered(0).expect("opens").iter().map(|c| c.kind).collect();
    assert_eq!(kinds, ControlKind::ALL);
    let white = offer(0, ControlKind::WhiteBalance);
    assert_eq!((white.min, white.max, white.step, white.value), (2800.0, 6500.0, 100.0, 4000.0));
    let gain = offer(1, ControlKind::Gain);
    assert_eq!((gain.max, gain.value, gain.auto, gain.active), (128.0, 47.0, None, true));
    assert_eq!(offered(1).expect("opens").len(), 2);
    assert_eq!(offered(2).expect("a camera without controls"), []);
    let missing = offered(7).expect_err("missing").to_string();
    assert!(missing.contains("no camera 7"), "{missing}");
}

#[test]
fn an_unknown_control_hides_no_other() {
    with_cameras(&["controls=5"], "controls::inside_unknown");
}

#[test]
#[ignore = "runs under LD_PRELOAD"]
fn inside_unknown() {
    let kinds: Vec<_> = offered(0).expect("opens").iter().map(|c| c.kind).collect();
    assert_eq!(kinds, ControlKind::ALL);
    let wishes = ControlSettings {
        exposure_ms: Some(Setting::Fixed(500.0)),
        gain: Some(Setting::Fixed(20)),
        ..ControlSettings::default()
    };
    assert_says(&apply(0, &wishes), &["camera 0: exposure is 204.7 ms instead of 500 ms: it takes 0.3 to 204.7 ms"]);
    let expected = [(AUTO_GAIN, 0), (GAIN, 20), (AUTO_EXPOSURE, 1), (EXPOSURE, 2047)];
    assert_eq!(was_set(0), BTreeMap::from(expected));
    assert_says(&apply(0, &ControlSettings { exposure_ms: Some(Setting::Auto), ..ControlSettings::default() }), &[]);
    assert_eq!(protect_calibration(0, &ControlSettings::default()).len(), 2);
    assert_eq!((was_set(0)[&AUTO_EXPOSURE], was_set(0)[&AUTO_FOCUS]), (3, 0));
}

#[test]
fn survives_invalid_descriptions_of_controls() {
    with_cameras(&["controls=6 badnames"], "controls::inside_nonsense");
}

#[test]
#[ignore = "runs under LD_PRELOAD"]
fn inside_nonsense() {
    let asking = Instant::now();
    let kinds: Vec<_> = offered(0).expect("opens").iter().map(|c| c.kind).collect();
    assert!(asking.elapsed() < Duration::from_secs(2), "a menu of 2^31 values is not walked through");
    assert!(!kinds.contains(&ControlKind::Gain), "no value is from 9 to 3: {kinds:?}");
    assert_eq!(kinds.len(), ControlKind::ALL.len() - 1);
    let wishes = ControlSettings {
        exposure_ms: Some(Setting::Fixed(8.0)),
        gain: Some(Setting::Fixed(20)),
        ..ControlSettings::default()
    };
    assert_says(&apply(0, &wishes), &["camera 0 has no gain to set"]);
    assert_eq!(was_set(0), BTreeMap::from([(AUTO_EXPOSURE, 1), (EXPOSURE, 80)]));
}

#[test]
fn switches_automatic_modes_off_before_setting_values() {
    with_cameras(&["controls=1"], "controls::inside_wishes");
}

#[test]
#[ignore = "runs under LD_PRELOAD"]
fn inside_wishes() {
    assert_says(&apply(0, &ControlSettings::default()), &[]);
    assert!(was_set(0).is_empty());
    let wishes = ControlSettings {
        exposure_ms: Some(Setting::Fixed(8.3)),
        gain: Some(Setting::Fixed(20)),
        white_balance_k: Some(Setting::Fixed(5200)),
        focus: Some(Setting::Fixed(60)),
        power_line: Some(PowerLine::Hz50),
    };
    assert_says(&apply(0, &wishes), &[]);
    let expected = [
        (AUTO_WHITE_BALANCE, 0),
        (AUTO_GAIN, 0),
        (GAIN, 20),
        (POWER_LINE, 1),
        (WHITE_BALANCE, 5200),
        (AUTO_EXPOSURE, 1),
        (EXPOSURE, 83),
        (FOCUS, 60),
        (AUTO_FOCUS, 0),
    ];
    assert_eq!(was_set(0), BTreeMap::from(expected));
    let exposure = offer(0, ControlKind::Exposure);
    assert_eq!((exposure.value, exposure.auto, exposure.active), (8.3, Some(false), true));
    let back = ControlSettings {
        exposure_ms: Some(Setting::Auto),
        focus: Some(Setting::Auto),
        white_balance_k: Some(Setting::Auto),
        ..ControlSettings::default()
    };
    assert_says(&apply(0, &back), &[]);
    let set = was_set(0);
    assert_eq!((set[&AUTO_EXPOSURE], set[&AUTO_FOCUS], set[&AUTO_WHITE_BALANCE], set[&AUTO_GAIN]), (3, 1, 1, 0));
    assert_eq!(offer(0, ControlKind::Exposure).auto, Some(true));
}

#[test]
fn remarks_on_clamped_missing_and_refused_controls() {
    with_cameras(&["controls=1", "controls=2", "controls=3", ""], "controls::inside_remarks");
}

#[test]
#[ignore = "runs under LD_PRELOAD"]
fn inside_remarks() {
    let wishes = ControlSettings {
        exposure_ms: Some(Setting::Fixed(500.0)),
        white_balance_k: Some(Setting::Fixed(4640)),
        ..ControlSettings::default()
    };
    assert_says(
        &apply(0, &wishes),
        &[
            "camera 0: exposure is 204.7 ms instead of 500 ms: it takes 0.3 to 204.7 ms",
            "camera 0: white balance is 4600 K instead of 4640 K: it takes 2800 to 6500 K in steps of 100",
        ],
    );
    assert_eq!((was_set(0)[&EXPOSURE], was_set(0)[&WHITE_BALANCE]), (2047, 4600));
    let nonsense = ControlSettings { exposure_ms: Some(Setting::Fixed(f64::NAN)), ..ControlSettings::default() };
    assert_says(&apply(0, &nonsense), &["camera 0: exposure cannot be NaN; it takes 0.3 to 204.7 ms"]);

    let wishes = ControlSettings {
        exposure_ms: Some(Setting::Fixed(8.0)),
        focus: Some(Setting::Auto),
        gain: Some(Setting::Fixed(20)),
        power_line: Some(PowerLine::Auto),
        ..ControlSettings::default()
    };
    assert_says(
        &apply(1, &wishes),
        &[
            "camera 1: its flicker filter has no auto, only off, 50 Hz, 60 Hz",
            "camera 1 has no exposure to set",
            "camera 1 has no focus to set",
        ],
    );
    assert_eq!(was_set(1), BTreeMap::from([(GAIN, 20)]));

    let wishes = ControlSettings {
        exposure_ms: Some(Setting::Fixed(8.0)),
        focus: Some(Setting::Fixed(47)),
        ..ControlSettings::default()
    };
    assert_says(
        &apply(2, &wishes),
        &[
            "camera 2: exposure could not be set to 8 ms: Input/output error (os error 5)",
            "camera 2: focus is 40 instead of 47: its driver granted that",
        ],
    );
    assert_says(&apply(3, &wishes), &["camera 3 has no exposure to set", "camera 3 has no focus to set"]);
    assert_eq!(apply(7, &wishes).len(), 1);
}

#[test]
fn a_calibration_is_protected() {
    with_cameras(&["controls=1", "controls=1", "controls=2"], "controls::inside_calibration");
}

#[test]
#[ignore = "runs under LD_PRELOAD"]
fn inside_calibration() {
    let said = [
        "camera 0: autofocus is switched off, focus stays at 35: the calibration holds for one focus only",
        "camera 0: keeps its rate in the dark now, so that pairs fit; its images get darker instead",
    ];
    assert_says(&protect_calibration(0, &ControlSettings::default()), &said);
    assert_eq!(was_set(0), BTreeMap::from([(AUTO_FOCUS, 0), (FOCUS, 35), (DARK_RATE, 0)]));
    // the second time there is nothing to change
    assert_says(&protect_calibration(0, &ControlSettings::default()), &[]);

    let wishes = ControlSettings { focus: Some(Setting::Auto), ..ControlSettings::default() };
    let said = protect_calibration(1, &wishes);
    assert_eq!(said[0], "camera 1: autofocus is on, as wished; the calibration holds for one focus only");
    assert_eq!(was_set(1), BTreeMap::from([(DARK_RATE, 0)]));
    assert_says(&protect_calibration(2, &ControlSettings::default()), &[]);
}

#[test]
fn both_cameras_are_locked_to_the_left_one() {
    with_cameras(&["controls=1", "controls=1"], "controls::inside_equal");
}

#[test]
#[ignore = "runs under LD_PRELOAD"]
fn inside_equal() {
    let said = equalise(0, 1).expect("both can");
    assert_eq!(said, "cameras 0 and 1 are locked alike: exposure 33.3 ms, gain 40, white balance 4000 K");
    let both = [
        (AUTO_EXPOSURE, 1),
        (EXPOSURE, 333),
        (AUTO_GAIN, 0),
        (GAIN, 40),
        (AUTO_WHITE_BALANCE, 0),
        (WHITE_BALANCE, 4000),
    ];
    assert_eq!(was_set(0), BTreeMap::from(both));
    assert_eq!(was_set(1), was_set(0));
}

#[test]
fn reports_exposures_that_cannot_be_equal() {
    with_cameras(&["controls=1", "controls=2", "controls=3", "controls=4"], "controls::inside_unequal");
}

#[test]
#[ignore = "runs under LD_PRELOAD"]
fn inside_unequal() {
    let refusal = |left, right| equalise(left, right).expect_err("cannot").to_string();
    assert_eq!(
        refusal(0, 1),
        "cameras 0 and 1 cannot be given equal exposure: camera 1 has no exposure to set; light the scene evenly instead"
    );
    assert!(was_set(0).is_empty() && was_set(1).is_empty());
    assert!(refusal(2, 0).contains("camera 2: exposure could not be set to 53.3 ms: Input/output error"));
    let said = equalise(0, 3).expect("the nearest");
    assert!(said.contains("exposure 20 ms (the nearest to 33.3 ms that both take), gain 40"), "{said}");
    assert_eq!((was_set(0)[&EXPOSURE], was_set(3)[&EXPOSURE]), (200, 200));
}

#[test]
fn a_task_applies_settings_then_equalises() {
    with_cameras(&["controls=1", "controls=1"], "controls::inside_task");
}

#[test]
#[ignore = "runs under LD_PRELOAD"]
fn inside_task() {
    let controls = ControlSettings { focus: Some(Setting::Fixed(300)), ..ControlSettings::default() };
    let views = [ViewOptions { controls, ..ViewOptions::default() }, ViewOptions::default()];
    let options = CameraOptions { views, calibrated: true, equal_exposure: true, ..CameraOptions::default() };
    let task = ControlTask::start(&[0, 1], &options).expect("starts");
    let deadline = Instant::now() + Duration::from_secs(20);
    while task.remarks().len() < 5 && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_says(
        &task.remarks(),
        &[
            "camera 0: focus is 250 instead of 300: it takes 0 to 250 in steps of 5",
            "camera 0: keeps its rate in the dark now, so that pairs fit; its images get darker instead",
            "camera 1: autofocus is switched off, focus stays at 40: the calibration holds for one focus only",
            "camera 1: keeps its rate in the dark now, so that pairs fit; its images get darker instead",
            "cameras 0 and 1 are locked alike: exposure 33.3 ms, gain 40, white balance 4000 K",
        ],
    );
    // a task that is dropped before automatic modes have settled changes nothing
    let options = CameraOptions { equal_exposure: true, ..CameraOptions::default() };
    apply(0, &ControlSettings { exposure_ms: Some(Setting::Auto), ..ControlSettings::default() });
    drop(ControlTask::start(&[0, 1], &options).expect("starts"));
    std::thread::sleep(Duration::from_millis(2500));
    assert_eq!(was_set(0)[&AUTO_EXPOSURE], 3);
}

#[test]
fn opening_applies_the_control_settings() {
    let dress = |folder: &Path| {
        for camera in 0..2 {
            std::fs::write(folder.join(format!("{camera}.640x480.yuyv")), vec![128; 640 * 480 * 2]).expect("written");
        }
    };
    with_dressed_cameras(&["controls=1", "controls=1"], dress, "controls::inside_opening");
}

#[test]
#[ignore = "runs under LD_PRELOAD"]
fn inside_opening() {
    let eye = |gain| ViewOptions {
        controls: ControlSettings { gain: Some(Setting::Fixed(gain)), ..ControlSettings::default() },
        ..ViewOptions::default()
    };
    let cameras = CameraOptions { views: [eye(20), eye(300)], calibrated: true, ..CameraOptions::default() };
    let options = SourceOptions { cameras, ..SourceOptions::default() };
    let spec = SourceSpec::parse("webcam:0,1").expect("grammar");
    let mut source = stereopsis_sources::open(&spec, &options).expect("opens");
    let deadline = Instant::now() + Duration::from_secs(20);
    while !was_set(1).contains_key(&DARK_RATE) && Instant::now() < deadline {
        source.next(Duration::from_millis(20)).expect("runs");
    }
    for (camera, gain) in [(0, 20), (1, 255)] {
        let set = was_set(camera);
        assert_eq!((set[&GAIN], set[&AUTO_GAIN], set[&AUTO_FOCUS], set[&DARK_RATE]), (gain, 0, 0, 0), "{camera}");
    }
    let clamped = "camera 1: gain is 255 instead of 300: it takes 0 to 255".to_owned();
    assert!(source.state().remarks.contains(&clamped), "{:?}", source.state().remarks);
}
