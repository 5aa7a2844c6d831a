//! Tests of the grammar of `--source` and of path arguments.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

use super::*;

#[test]
fn parses_and_prints_every_kind_of_source() {
    for words in [
        "scene",
        "a/l.png,b/r.png",
        "a/l.png,b/r.png,disp0.pfm",
        "a/l.png,b/r.png,c/disp2.png:4",
        "some/folder",
        "webcam:0,1",
        "webcam:12",
        "webcam:usb-0:1.2:1.0,usb-0:1.3:1.0",
        "a/b, c.MCAP",
        "clip.mp4",
        "l.mkv,r.mkv",
        "rtsp://cam/1,rtsp://cam/2",
        "csi:0,1",
        "y4m:-",
        "-",
        "ros2:/left/image_raw,/right/image_raw/compressed",
        "zenoh:pi",
        "zenoh:pi@192.168.1.5:7447",
        "zenoh:pi-left,pi-right@192.168.1.5",
    ] {
        assert_eq!(SourceSpec::parse(words).unwrap().to_string(), words);
    }
    for (words, meant) in [
        ("0,2", "webcam:0,2"),
        ("/dev/video4,/dev/video10", "webcam:4,10"),
        ("3", "webcam:3"),
        ("/dev/video7", "webcam:7"),
    ] {
        assert_eq!(SourceSpec::parse(words).unwrap().to_string(), meant);
        let paths: Vec<_> = words.split(',').map(PathBuf::from).collect();
        assert_eq!(SourceSpec::from_paths(&paths).unwrap().to_string(), meant);
    }
    assert!(SourceSpec::parse("1,1").unwrap_err().to_string().contains("one camera twice"));
    let (left, right) = (CameraName::Number(3), CameraName::Number(2));
    assert_eq!(SourceSpec::parse("webcam:3,2").unwrap(), SourceSpec::WebcamPair(left, right));
    assert_eq!(SourceSpec::parse("a.mcap").unwrap(), SourceSpec::Recording("a.mcap".into()));
}

#[test]
fn file_names_may_contain_commas() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    let [left, right, truth] = ["a, l.png", "a, r.png", "t,1.png"].map(at);
    for path in [&left, &right, &truth] {
        std::fs::write(path, "x").unwrap();
    }
    let files = |truth| SourceSpec::Files { left: (&left).into(), right: (&right).into(), truth };
    assert_eq!(SourceSpec::parse(&format!("{left},{right}")).unwrap(), files(None));
    let with_truth = files(Some(DisparityFile { path: (&truth).into(), scale: Some(8) }));
    let words = format!("{left},{right},{truth}:8");
    assert_eq!((SourceSpec::parse(&words).unwrap(), with_truth.to_string()), (with_truth, words));
}

#[test]
fn rejects_invalid_text_with_the_grammar() {
    for words in [
        "",
        ",",
        "a.png,",
        "a,b,",
        "a,b,c,d",
        "webcam:",
        "webcam:x",
        "webcam:0,1,2",
        "webcam",
        "zenoh:",
        "zenoh:@pi",
        "zenoh:pi@",
    ] {
        let text = SourceSpec::parse(words).unwrap_err().to_string();
        assert!(text.contains("LEFT,RIGHT"), "{words}: {text}");
    }
    for words in ["ros2:a,b", "ros2:/a,/b*", "ros2:/a/,/b", "ros2:/1,/b", "ros2:/a,/b,/c", "ros2:/a,"] {
        let text = SourceSpec::parse(words).unwrap_err().to_string();
        assert!(text.contains("no topic of ROS 2: give the full names"), "{words}: {text}");
    }
    for (words, why) in [("ros2:/a", "LEFT,RIGHT"), ("ros2:", "LEFT,RIGHT"), ("ros2:/a,/a", "one topic twice")] {
        let text = SourceSpec::parse(words).unwrap_err().to_string();
        assert!(text.contains(why), "{words}: {text}");
    }
    let text = SourceSpec::parse("webcam:1,1").unwrap_err().to_string();
    assert!(text.contains("side by side"), "{text}");
}

#[test]
fn path_arguments_are_folders_recordings_or_image_pairs() {
    let folder = tempfile::tempdir().unwrap();
    let image = folder.path().join("one.png");
    std::fs::write(&image, "x").unwrap();
    let spec = |paths: &[&Path]| SourceSpec::from_paths(&paths.iter().map(PathBuf::from).collect::<Vec<_>>());
    assert_eq!(spec(&[folder.path()]).unwrap(), SourceSpec::Folder(folder.path().into()));
    let files = |truth| SourceSpec::Files { left: image.clone(), right: image.clone(), truth };
    assert_eq!(spec(&[&image, &image]).unwrap(), files(None));
    for truth in ["x/disp0.pfm", "x/Disp2.png", "disp_occ_0/000000_10.png"] {
        let truth = folder.path().join(truth);
        std::fs::create_dir_all(truth.parent().unwrap()).unwrap();
        std::fs::write(&truth, "x").unwrap();
        let expected = files(Some(DisparityFile::new(&truth)));
        for paths in [[truth.as_path(), image.as_path(), &image], [&image, &image, truth.as_path()]] {
            assert_eq!(spec(&paths).unwrap(), expected);
        }
    }
    assert!(spec(&[&image]).unwrap_err().to_string().contains("one image, and a pair needs two"));
    let calibration = folder.path().join("calib.txt");
    let recording = folder.path().join("a.mcap");
    for file in [&calibration, &recording] {
        std::fs::write(file, "x").unwrap();
    }
    for wrong in [
        &[image.as_path(); 3][..],
        &[&image, &image, calibration.as_path()],
        &[folder.path(), &image],
        &[recording.as_path(), &image],
        &[image.as_path(); 4],
    ] {
        let text = spec(wrong).unwrap_err().to_string();
        assert!(text.contains("one.png") && text.contains("cannot be opened together"), "{text}");
        assert!(text.contains("true disparities") && text.contains("recording"), "what can be: {text}");
    }
    let text = spec(&[image.as_path(); 5]).unwrap_err().to_string();
    assert!(text.contains("one.png, one.png, one.png and 2 more"), "{text}");
    assert_eq!(spec(&[]).unwrap(), SourceSpec::Scene);
    assert_eq!(spec(&[&recording]).unwrap(), SourceSpec::Recording(recording.clone()));
    for gone in [&[Path::new("gone.mcap")][..], &[&image, Path::new("gone.png")], &[Path::new("gone/a"), &image]] {
        let text = spec(gone).unwrap_err().to_string();
        assert!(text.contains("cannot open gone") && !text.contains("os error"), "{text}");
    }
}

#[test]
fn addresses_that_cannot_be_opened_are_refused_without_their_secrets() {
    for words in [
        "rtmps://u:geheim@cam/x",
        "rtspx://cam/x?token=geheim",
        "u:geheim@cam/x",
        "u:geheim@cam/l.png,r.png",
        "cam/x?user=a&password=geheim",
        "y4m:http://geheim@cam/x",
        "zenoh:,http://u:geheim@cam/x",
        "ros2:http://u:geheim@cam/x,/b",
        "http://***@cam/x?password=geheim",
    ] {
        let checked = SourceSpec::parse(words).and_then(|spec| spec.check_files_exist());
        let paths: Vec<_> = words.split(',').map(PathBuf::from).collect();
        let opened = SourceSpec::from_paths(&paths).map(drop);
        for why in [checked, opened] {
            let why = why.expect_err(words).to_string();
            assert!(why.contains("***") && !why.contains("geheim"), "{words}: {why}");
        }
    }
    let why = SourceSpec::parse("rtmps://cam/x").unwrap_err().to_string();
    assert!(why.contains("is no address of a stream: one begins with rtsp://"), "{why}");
    let one = SourceSpec::from_paths(&["http://u:geheim@cam/a.mp4".into()]).unwrap();
    let two = SourceSpec::from_paths(&["rtsp://u:geheim@a/1".into(), "rtsp://b/2".into()]).unwrap();
    assert_eq!([one.to_string(), two.to_string()], ["http://***@cam/a.mp4", "rtsp://***@a/1,rtsp://b/2"]);
}

#[test]
fn files_may_have_names_like_addresses() {
    let folder = tempfile::tempdir().unwrap();
    let [left, right] = ["10:30@l.png", "10:30@r.png"].map(|name| folder.path().join(name));
    for path in [&left, &right] {
        std::fs::write(path, "x").unwrap();
    }
    let spec = SourceSpec::from_paths(&[left.clone(), right.clone()]).unwrap();
    assert_eq!(spec, SourceSpec::Files { left, right, truth: None });
    assert_eq!(SourceSpec::parse(&spec.to_string()).unwrap(), spec);
}

#[test]
fn accepts_truth_for_a_pair_of_files_only() {
    let pair = SourceSpec::parse("l.png,r.png").unwrap();
    let named = pair.clone().with_truth(DisparityFile { path: "t.png".into(), scale: Some(8) }).unwrap();
    assert_eq!(named.to_string(), "l.png,r.png,t.png:8");
    let text = SourceSpec::Scene.with_truth(DisparityFile::new("t.pfm")).unwrap_err().to_string();
    assert!(text.contains("truth t.pfm") && text.contains("scene"), "{text}");
}
