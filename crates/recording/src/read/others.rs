//! Tests with recordings of other programs: topics, clocks, skew, and folders of several files.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

use super::*;
use crate::Format;
use crate::fixture::{INTERVAL, Recorder, SIZE, file, image, picture, taken};
use crate::message::Body;
use crate::unpack::Unpacker;
use mcap::{WriteOptions, Writer};
use std::collections::BTreeMap;
use std::io::Cursor;
use std::time::SystemTime;
use stereopsis_base::geometry::Geometry;
use stereopsis_base::image::Image;
use stereopsis_calibration::{CameraInfo, SensorPart};
use stereopsis_frame::{MaxPixels, Pixels, RawPair};

const NAMES: [&str; 2] = ["/s/left/image", "/s/right/image"];

/// Writes images of two topics; `stamp` returns the capture time of image `k` of a side by its camera's clock.
fn recorded(names: [&str; 2], pairs: u64, stamp: impl Fn(u64, usize) -> SystemTime) -> Vec<u8> {
    let mut recorder = Recorder::new(Format::Ros2, WriteOptions::new());
    for k in 0..pairs {
        for (side, name) in names.into_iter().enumerate() {
            let at = (k as u32, taken(k) + Duration::from_millis(5 + 2 * side as u64));
            recorder.write(name, at, stamp(k, side), image(SIZE.0, SIZE.1, picture(k, side).pixels()));
        }
    }
    recorder.finish()
}

fn late(k: u64, side: usize, right: Duration) -> SystemTime {
    taken(k) + if side == 1 { right } else { Duration::ZERO }
}

fn by_log_time() -> TopicChoice {
    TopicChoice { pair_by: PairBy::LogTime, ..TopicChoice::default() }
}

fn pair(recording: &mut Recording, k: u64) -> RawPair {
    Unpacker::of(None, Pixels::Luma, MaxPixels::default()).read(recording, k).unwrap().1
}

#[test]
fn reports_the_skew_of_recorded_pairs() {
    let half = Duration::from_millis(25);
    let recording = Recording::open(file(&recorded(NAMES, 9, |k, side| late(k, side, half))).path()).unwrap();
    let losses = recording.losses().join("; ");
    assert!(losses.starts_with("left and right are 25.0 ms apart, half an interval: "), "{losses}");
    assert!((recording.skew().unwrap().skew.mean_s - 0.025).abs() < 1e-6);
    let small = Duration::from_millis(2);
    let recording = Recording::open(file(&recorded(NAMES, 9, |k, side| late(k, side, small))).path()).unwrap();
    assert_eq!(recording.losses(), [""; 0]);
}

#[test]
fn reports_the_skew_in_notes() {
    let mut recorder = Recorder::new(Format::Ros2, WriteOptions::new());
    let json = |value: serde_json::Value| Body::Json(value);
    recorder.write(topic::ABOUT, (0, taken(0)), taken(0), json(serde_json::to_value(crate::fixture::about()).unwrap()));
    for k in 0..40 {
        let skew_s = -0.0071 - 0.002 * (k % 2) as f64;
        let note = PairNote { sequence: k, skew_s, name: format!("camera-{k:06}"), bits: 8, cameras: None };
        recorder.write(topic::PAIRS, (k as u32, taken(k)), taken(k), json(serde_json::to_value(note).unwrap()));
        for (side, name) in [topic::LEFT_RAW, topic::RIGHT_RAW].into_iter().enumerate() {
            recorder.write(name, (k as u32, taken(k)), taken(k), image(SIZE.0, SIZE.1, picture(k, side).pixels()));
        }
    }
    let recording = Recording::open(file(&recorder.finish()).path()).unwrap();
    let losses = recording.losses().join("; ");
    assert!(
        losses.contains("left and right are") && losses.contains(" ms apart, ") && !losses.contains("half"),
        "{losses}"
    );
    assert!(recording.skew().unwrap().skew.mean_s < -0.007);
}

#[test]
fn reports_two_clocks_with_a_remedy_that_works() {
    // 3 minutes and little more than one interval: images find partners, but wrong ones
    let shift = Duration::from_millis(182_507);
    let file = file(&recorded(NAMES, 8, |k, side| late(k, side, shift)));
    let recording = Recording::open(file.path()).unwrap();
    let damage = recording.damage().unwrap();
    assert!(recording.pairs().is_empty() && damage.contains("16 images have no partner"), "{damage}");
    assert!(damage.contains("the stamps of left and right are 182.5 s apart") && damage.contains("pair-by log-time"));
    let mut recording = Recording::open_with(file.path(), &by_log_time()).unwrap();
    assert_eq!((recording.pairs().len(), recording.losses().len()), (8, 0));
    let pair = pair(&mut recording, 3);
    assert!((pair.skew_s - 0.002).abs() < 1e-6, "{}", pair.skew_s);
    assert_eq!(pair.right.luma.to_u8(), picture(3, 1));

    let mut stream = PairStream::new(std::fs::File::open(file.path()).unwrap(), by_log_time());
    let packets = stream.next_pair().unwrap().unwrap();
    assert!(packets.len() == 2 && (stream.skew_s().unwrap() - 0.002).abs() < 1e-6);
}

#[test]
fn suspects_clocks_that_differ_by_seconds() {
    let shift = 30 * INTERVAL;
    let recording = Recording::open(file(&recorded(NAMES, 90, |k, side| late(k, side, shift))).path()).unwrap();
    let damage = recording.damage().unwrap();
    assert_eq!(recording.pairs().len(), 60);
    assert!(damage.contains("left and right of one stamp were recorded 1.5 s apart"), "{damage}");
    assert!(damage.contains("pair-by log-time"), "{damage}");
}

/// Writes a recording with one image on each of these topics; topics that end in [`topic::COMPRESSED`] have compressed images.
fn with_topics(names: &[&str]) -> tempfile::NamedTempFile {
    let mut recorder = Recorder::new(Format::Ros2, WriteOptions::new());
    for name in names {
        let body = if name.ends_with(topic::COMPRESSED) {
            Body::Compressed { format: "jpeg".into(), data: [0xFF, 0xD8, 0xFF].as_slice().into() }
        } else {
            image(SIZE.0, SIZE.1, picture(0, 0).pixels())
        };
        recorder.write(name, (0, taken(0)), taken(0), body);
    }
    file(&recorder.finish())
}

fn topics_of(names: &[&str]) -> Result<([String; 2], Vec<String>), String> {
    let recording = Recording::open(with_topics(names).path()).map_err(|err| err.to_string())?;
    let Some(StereoTopics::Separate { left, right }) = recording.stereo_topics() else { unreachable!() };
    Ok(([left.topic.clone(), right.topic.clone()], recording.losses()))
}

#[test]
fn prefers_raw_topics_to_compressed_ones() {
    let names = ["/a/left/image", "/a/right/image", "/a/right/image/compressed", "/a/left/image/compressed"];
    let (taken, losses) = topics_of(&names).unwrap();
    assert_eq!(taken, names[..2]);
    let remark = losses.join("; ");
    assert!(
        remark.contains(
            "those of /a/left/image and /a/right/image; /a/left/image/compressed and /a/right/image/compressed,"
        ),
        "{remark}"
    );
    let mixed = ["/a/left/image", "/a/right/image/compressed"];
    assert_eq!(topics_of(&mixed), Ok((mixed.map(str::to_owned), vec![])));
    // both compressed, because only the left one exists raw
    let (taken, _) = topics_of(&["/a/left/image", "/a/left/image/compressed", "/a/right/image/compressed"]).unwrap();
    assert_eq!(taken, ["/a/left/image/compressed", "/a/right/image/compressed"]);
}

#[test]
fn pairs_names_that_contain_left_twice() {
    for names in [
        ["/left_arm/left/image", "/left_arm/right/image"],
        ["/right_arm/left/image", "/right_arm/right/image"],
        ["/left/image_left", "/right/image_left"],
        ["/left/image_left", "/right/image_right"],
        ["/upright/LEFT", "/upright/RIGHT"],
    ] {
        assert_eq!(topics_of(&names), Ok((names.map(str::to_owned), vec![])));
    }
    let why = topics_of(&["/left_arm/left", "/left_arm/right", "/right_arm/left", "/right_arm/right"]).unwrap_err();
    let flags = "give left-topic /left_arm/left right-topic /left_arm/right; or left-topic /right_arm/left right-topic /right_arm/right";
    assert!(why.ends_with(flags), "{why}");
}

#[test]
fn pairs_topics_that_differ_by_the_numbers_of_cameras() {
    for names in [
        // librealsense 2.59, realsense-ros 4.56, and cameras of EuRoC's
        ["/device_0/sensor_0/Infrared_1/image/data", "/device_0/sensor_1/Infrared_2/image/data"],
        ["/camera/camera/infra1/image_rect_raw", "/camera/camera/infra2/image_rect_raw"],
        ["/cam0/image_raw/compressed", "/cam1/image_raw/compressed"],
    ] {
        assert_eq!(topics_of(&[names[0], names[1], "/camera/color/image_raw"]), Ok((names.map(str::to_owned), vec![])));
        let choice = TopicChoice { right: Some(names[1].into()), ..TopicChoice::default() };
        let recording = Recording::open_with(with_topics(&names).path(), &choice).unwrap();
        let Some(StereoTopics::Separate { left, .. }) = recording.stereo_topics() else { unreachable!() };
        assert_eq!(left.topic, names[0]);
    }
    for names in
        [&["/cam0/image", "/cam1/image", "/cam2/image"][..], &["/cam2/image", "/cam4/image"], &["/cam1/a", "/cam2/b"]]
    {
        let why = topics_of(names).unwrap_err();
        assert!(why.contains("no pair of image topics"), "{names:?}: {why}");
    }
    let both = ["/left/image", "/right/image", "/infra1/image", "/infra2/image"];
    assert_eq!(
        topics_of(&both).unwrap().0,
        both[..2].iter().map(ToString::to_string).collect::<Vec<_>>()[..],
        "words come first"
    );
}

/// Returns a recording of two cameras without a baseline, whose frames are 0.05 m apart below one body.
fn with_frames(pictures: [&str; 2], child_of_right: &str) -> Recording {
    let mut recorder = Recorder::new(Format::Ros2, WriteOptions::new());
    let camera = CameraInfo {
        p: {
            let mut p = camera_of(50.0).p;
            p[3] = 0.0;
            p
        },
        ..camera_of(50.0)
    };
    for (child_frame_id, x_m) in [("Infrared1", -0.01), (child_of_right, 0.04)] {
        let body = Body::Transform {
            child_frame_id: child_frame_id.into(),
            translation_m: [x_m, 0.0, 0.0],
            rotation: [0.0, 0.0, 0.0, 1.0],
        };
        recorder.write_in("ref_1", topic::TRANSFORMS, (0, taken(0)), taken(0), body);
    }
    for (side, frame) in ["Infrared1", "Infrared2"].into_iter().enumerate() {
        let name = format!("{}/camera_info", pictures[side].rsplit_once('/').unwrap().0);
        recorder.write_in(frame, &name, (0, taken(0)), taken(0), Body::Camera(Box::new(camera.clone())));
        recorder.write_in(
            frame,
            pictures[side],
            (0, taken(0)),
            taken(0),
            image(SIZE.0, SIZE.1, picture(0, side).pixels()),
        );
    }
    Recording::open(file(&recorder.finish()).path()).unwrap()
}

#[test]
fn a_baseline_that_cameras_lack_is_that_of_their_frames() {
    let recording = with_frames(["/Infrared_1/image", "/Infrared_2/image"], "Infrared2");
    assert_eq!(recording.losses(), [""; 0]);
    let rig = recording.calibration().unwrap().parsed_rig().unwrap().unwrap();
    assert!((rig.baseline_m() - 0.05).abs() < 1e-9 && (rig.focal_px() - 50.0).abs() < 1e-9, "{rig:?}");
    let recording = with_frames(["/infra1/image_rect_raw", "/infra2/image_rect_raw"], "Infrared2");
    let geometry = recording.calibration().unwrap().geometry.unwrap();
    assert!((geometry.baseline_m - 0.05).abs() < 1e-9 && (geometry.focal_px - 50.0).abs() < 1e-9, "{geometry:?}");
    let losses = with_frames(["/Infrared_1/image", "/Infrared_2/image"], "another").losses().join("; ");
    assert!(losses.contains("the baseline is not there"), "{losses}");
}

/// Writes the messages of a file again: `change` changes sequence number and bytes of a message.
fn rewritten(bytes: &[u8], mut change: impl FnMut(&str, &mut u32, &mut Vec<u8>)) -> Vec<u8> {
    let mut writer = Writer::new(Cursor::new(Vec::new())).unwrap();
    for message in mcap::MessageStream::new(bytes).unwrap().map(Result::unwrap) {
        let schema = message.channel.schema.as_ref().unwrap();
        let schema = writer.add_schema(&schema.name, &schema.encoding, &schema.data).unwrap();
        let topic = &message.channel.topic;
        let channel_id =
            writer.add_channel(schema, topic, &message.channel.message_encoding, &BTreeMap::new()).unwrap();
        let mcap::Message { mut sequence, log_time, publish_time, .. } = message;
        let mut data = message.data.to_vec();
        change(topic, &mut sequence, &mut data);
        writer.write_to_known_channel(&MessageHeader { channel_id, sequence, log_time, publish_time }, &data).unwrap();
    }
    writer.finish().unwrap();
    writer.into_inner().into_inner()
}

#[test]
fn own_recordings_with_other_sequence_numbers_are_paired_by_stamps() {
    // as rosbags-convert 0.11.9 counts the messages of each topic in a bag of ROS 1
    let mut counts = BTreeMap::<String, u32>::new();
    let ours = crate::fixture::ours_with_depth(Format::Ros2, 8, |k| k % 3 == 1);
    let numbered = rewritten(&ours, |topic, sequence, _| {
        let count = counts.entry(topic.to_owned()).or_default();
        (*sequence, *count) = (*count, *count + 1);
    });
    for bytes in [
        rewritten(&numbered, |topic, sequence, _| *sequence += u32::from(topic.contains("right"))),
        numbered,
        rewritten(&ours, |_, sequence, _| *sequence = 0),
    ] {
        let mut recording = Recording::open(file(&bytes).path()).unwrap();
        assert_eq!((recording.pairs().len(), recording.losses()), (8, vec![]));
        for k in 0..8 {
            let pair = pair(&mut recording, k);
            assert_eq!((pair.sequence, pair.right.luma.to_u8()), (crate::fixture::FIRST + k, picture(k, 1)));
            let packets = recording.packets_of_result(k).unwrap();
            let stamps: Vec<_> = packets.iter().map(pair_stream::stamp).collect();
            assert_eq!(stamps, if k % 3 == 1 { vec![taken(k)] } else { vec![] }, "depth of pair {k}");
        }
    }
}

#[test]
fn reads_messages_that_are_compressed_one_by_one() {
    let bytes = rewritten(&part(0, 3, false), |_, _, data| *data = zstd::encode_all(&data[..], 1).unwrap());
    let mut recording = Recording::open(file(&bytes).path()).unwrap();
    assert_eq!((recording.pairs().len(), recording.losses()), (3, vec![]));
    assert_eq!(pair(&mut recording, 2).left.luma.to_u8(), picture(2, 0));
    let mut stream = PairStream::new(Cursor::new(bytes), TopicChoice::default());
    assert_eq!(stream.next_pair().unwrap().unwrap().len(), 2);
    let bomb = zstd::encode_all(&vec![0; (limits::MAX_CHUNK_BYTES + 1) as usize][..], 1).unwrap();
    for wrong in [bomb, zstd::encode_all(&[1, 2, 3][..], 1).unwrap()[..7].to_vec()] {
        let bytes = rewritten(&part(0, 2, false), |_, _, data| data.clone_from(&wrong));
        let why = Recording::open(file(&bytes).path()).unwrap().packet(NAMES[0], 0).unwrap_err().to_string();
        assert!(why.contains("was compressed by itself and"), "{why}");
    }
}

#[test]
fn names_all_topics_where_none_has_images() {
    let why =
        Recording::open(file(&of_types(&[("acme/Cloud", "cdr", b""), ("acme/Pose", "cdr", b"")])).path()).unwrap_err();
    let says = "no images that can be read; its topics are /left (acme/Cloud), /right (acme/Pose)";
    assert!(why.to_string().contains(says), "{why}");
}

#[test]
fn lists_several_pairs_as_flags() {
    let names = [
        "/z/left/image_rect_color",
        "/z/left/image_rect_gray",
        "/z/right/image_rect_color",
        "/z/right/image_rect_gray",
    ];
    let why = topics_of(&names).unwrap_err();
    assert!(
        why.contains("more than one pair") && why.contains("left-topic /z/left/image_rect_gray right-topic"),
        "{why}"
    );
    let choice = TopicChoice { left: Some(names[1].into()), ..TopicChoice::default() };
    assert!(Recording::open_with(with_topics(&names).path(), &choice).is_ok());
}

/// Writes a recording with one message of each of these types and encodings, on `/left`, `/right` and `/third`.
fn of_types(types: &[(&str, &str, &[u8])]) -> Vec<u8> {
    let mut writer = Writer::new(Cursor::new(Vec::new())).unwrap();
    for ((schema, encoding, data), topic) in types.iter().zip(["/left", "/right", "/third"]) {
        let schema = writer.add_schema(schema, "", b"").unwrap();
        let channel_id = writer.add_channel(schema, topic, encoding, &BTreeMap::new()).unwrap();
        let header = MessageHeader { channel_id, sequence: 0, log_time: 5, publish_time: 5 };
        writer.write_to_known_channel(&header, data).unwrap();
    }
    writer.finish().unwrap();
    writer.into_inner().into_inner()
}

#[test]
fn names_unread_image_topics_with_the_reason() {
    let refusal = |types: &[(&str, &str, &[u8])]| {
        let bytes = of_types(types);
        let mut stream = PairStream::new(Cursor::new(bytes.clone()), TopicChoice::default());
        let piped = stream.next_pair().unwrap_err().to_string();
        assert!(piped.contains("/left (") && piped.contains("not read"), "{piped}");
        Recording::open(file(&bytes).path()).unwrap_err().to_string()
    };
    let mut video = Vec::new();
    let message = ::foxglove::messages::CompressedVideo { format: "h265".into(), ..Default::default() };
    ::foxglove::Encode::encode(&message, &mut video).unwrap();
    let why =
        refusal(&[("foxglove.CompressedVideo", "protobuf", &video), ("foxglove.ImageAnnotations", "protobuf", &[])]);
    assert!(
        why.contains("no images that can be read; /left (foxglove.CompressedVideo, h265): video is not read"),
        "{why}"
    );
    assert!(!why.contains("/right"), "{why}");
    // little-endian CDR: stamp, an empty name, two bytes, and the coding
    let video = [&[0, 1, 0, 0][..], &[0; 8], &[1, 0, 0, 0, 0], &[0; 3], &[2, 0, 0, 0, 7, 7, 0, 0], b"\x05\0\0\0h264\0"]
        .concat();
    let why = refusal(&[("foxglove_msgs/msg/CompressedVideo", "cdr", &video), ("foxglove.RawImage", "json", b"{}")]);
    assert!(why.contains("/left (foxglove_msgs/msg/CompressedVideo, h264): video"), "{why}");
    assert!(why.contains("/right (foxglove.RawImage, json): images in JSON are not read"), "{why}");
    let why = refusal(&[("theora_image_transport/Packet", "ros1", &[]), ("foxglove.RawImage", "flatbuffer", &[])]);
    assert!(why.contains("/left (theora_image_transport/Packet, ros1): video is not read"), "{why}");
    assert!(why.contains("/right (foxglove.RawImage, flatbuffer): this encoding is not read"), "{why}");
}

#[test]
fn ros_1_messages_in_a_recording_are_pairs() {
    let text = |text: &str| [&(text.len() as u32).to_le_bytes()[..], text.as_bytes()].concat();
    let words = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
    let image = |value: u8| {
        let start = [words(&[4, 1_700_000_000, 0]), text("cam"), words(&[2, 2]), text("8UC1"), vec![0]].concat();
        [start, words(&[2, 4]), vec![value; 4]].concat()
    };
    let images = [image(60), image(90)];
    let bytes = of_types(&images.each_ref().map(|image| ("sensor_msgs/Image", "ros1", &image[..])));
    let file = file(&bytes);
    let mut recording = Recording::open(file.path()).unwrap();
    let pair = pair(&mut recording, 0);
    assert_eq!((pair.left.luma.to_u8().at(1, 1), pair.right.luma.to_u8().at(0, 0)), (60, 90));
    assert_eq!(pair.capture_time, time::from_ns(1_700_000_000_000_000_000));
}

/// Makes a folder of `ros2 bag record`; each file has its topics in another order, and so other ids.
fn bag(files: &[(&str, Vec<u8>)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mut metadata = "rosbag2_bagfile_information:\n  version: 9\n  relative_file_paths:\n".to_owned();
    for (name, bytes) in files {
        metadata.extend(["    - ", name, "\n"]);
        std::fs::write(folder.path().join(name), bytes).unwrap();
    }
    std::fs::write(folder.path().join("metadata.yaml"), metadata).unwrap();
    folder
}

/// Writes pairs from `first` on; with `is_other`, the right topic comes first in the file.
fn part(first: u64, pairs: u64, is_other: bool) -> Vec<u8> {
    let mut recorder = Recorder::new(Format::Ros2, WriteOptions::new());
    for k in first..first + pairs {
        for side in if is_other { [1, 0] } else { [0, 1] } {
            recorder.write(NAMES[side], (0, taken(k)), taken(k), image(SIZE.0, SIZE.1, picture(k, side).pixels()));
        }
    }
    recorder.finish()
}

#[test]
fn the_folder_of_a_bag_is_one_recording_of_all_its_files() {
    let folder =
        bag(&[("run_0.mcap", part(0, 5, false)), ("run_1.mcap", part(5, 4, true)), ("run_2.mcap", part(9, 3, false))]);
    let mut recording = Recording::open(folder.path()).unwrap();
    assert_eq!((recording.pairs().len(), recording.losses()), (12, vec![]));
    assert_eq!((recording.channels().len(), recording.files().len()), (2, 3));
    for k in [0, 11, 4, 5, 8, 9] {
        let pair = pair(&mut recording, k);
        assert_eq!((pair.left.luma.to_u8(), pair.right.luma.to_u8()), (picture(k, 0), picture(k, 1)), "{k}");
    }
}

#[test]
fn reads_compressed_files_up_to_their_damage() {
    let packed = |bytes: &[u8]| zstd::encode_all(bytes, 1).unwrap();
    let folder =
        bag(&[("run_0.mcap.zstd", packed(&part(0, 3, false))), ("run_1.mcap.zstd", packed(&part(3, 2, true)))]);
    let mut recording = Recording::open(folder.path()).unwrap();
    assert_eq!((recording.pairs().len(), recording.damage()), (5, None));
    assert_eq!(pair(&mut recording, 4).right.luma.to_u8(), picture(4, 1));

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("walk.mcap.zst");
    let bytes = part(0, 40, false);
    let (first, second) = bytes.split_at(bytes.len() - 200);
    let second = packed(second);
    std::fs::write(&path, [packed(first), second[..second.len() / 2].to_vec()].concat()).unwrap();
    let recording = Recording::open(&path).unwrap();
    assert!(recording.pairs().len() == 40 && recording.damage().is_some(), "{:?}", recording.damage());
    std::fs::write(&path, &second[..9]).unwrap();
    let damaged = Recording::open(&path).unwrap_err().to_string();
    assert!(damaged.contains("damaged from its start on"), "{damaged}");
    std::fs::write(&path, packed(&vec![0; 70 << 20])).unwrap();
    let bomb = Recording::open(&path).unwrap_err().to_string();
    assert!(bomb.contains("it unpacks to more than"), "{bomb}");
}

#[test]
fn leaves_out_and_names_unreadable_files_of_a_bag() {
    let whole = part(5, 4, true);
    let cut = whole[..whole.len() / 2].to_vec();
    let folder = bag(&[
        ("run_0.mcap", b"text".to_vec()),
        ("run_1.mcap", part(0, 3, true)),
        ("run_2.mcap", cut),
        ("run_3.mcap", vec![]),
    ]);
    let metadata = std::fs::read_to_string(folder.path().join("metadata.yaml")).unwrap();
    std::fs::write(folder.path().join("metadata.yaml"), metadata + "    - run_4.mcap\n    - run_5.mcap\n").unwrap();
    std::fs::write(folder.path().join("run_5.mcap"), part(9, 2, false)).unwrap();
    let mut recording = Recording::open(folder.path()).unwrap();
    let damage = recording.damage().unwrap();
    for words in [
        "run_0.mcap: it is no MCAP file",
        "run_2.mcap: it was not finished",
        "run_3.mcap: the file is empty",
        "run_4.mcap: ",
    ] {
        assert!(damage.contains(words), "{words}: {damage}");
    }
    let last = recording.pairs().len() as u64 - 1;
    assert!(
        pair(&mut recording, last).left.luma.to_u8() == picture(10, 0)
            && pair(&mut recording, 2).right.luma.to_u8() == picture(2, 1)
    );

    let refusal = |folder: tempfile::TempDir| Recording::open(folder.path()).unwrap_err().to_string();
    let sqlite = refusal(bag(&[("run_0.db3", b"SQLite format 3\0".to_vec())]));
    let says = if cfg!(feature = "db3") { "run_0.db3: SQLite says of it: " } else { "which this build does not read" };
    assert!(sqlite.contains(says), "{sqlite}");
    assert!(refusal(bag(&[("run_0.mcap.zstd", vec![1])])).contains("it is no MCAP file"));
    assert!(refusal(bag(&[])).contains("names no files"));
    let many: Vec<_> = (0..=limits::MAX_FILES).map(|k| (format!("{k}.mcap"), Vec::new())).collect();
    let many: Vec<_> = many.iter().map(|(name, bytes)| (name.as_str(), Vec::clone(bytes))).collect();
    assert!(refusal(bag(&many)).contains("more than 512 files"));
}

/// Returns a recording of raw pairs; `camera` returns what each side's driver says beside image `k`, with its stamp.
fn with_cameras(pairs: u64, camera: impl Fn(u64) -> Option<(SystemTime, CameraInfo)>) -> Recording {
    let mut recorder = Recorder::new(Format::Ros2, WriteOptions::new());
    for k in 0..pairs {
        for (side, name) in ["left", "right"].into_iter().enumerate() {
            let at = (k as u32, taken(k));
            if let Some((stamp, mut camera)) = camera(k) {
                camera.p[3] *= side as f64;
                recorder.write(&format!("/s/{name}/camera_info"), at, stamp, Body::Camera(Box::new(camera)));
            }
            recorder.write(
                &format!("/s/{name}/image_raw"),
                at,
                taken(k),
                image(SIZE.0, SIZE.1, picture(k, side).pixels()),
            );
        }
    }
    Recording::open(file(&recorder.finish()).path()).unwrap()
}

fn camera_of(focal_px: f64) -> CameraInfo {
    let [_, right] = CameraInfo::of_rectified(&Geometry::centred(focal_px, 0.1, 0.0, SIZE), SIZE);
    right
}

/// Returns the focal length of the calibration, and the pairs with other cameras, with theirs.
fn focal_lengths(recording: &Recording) -> (Option<f64>, Vec<(u64, f64)>) {
    let focal_px = |note: &CalibrationNote| note.parsed_rig().unwrap().unwrap().focal_px();
    let later = (0..recording.pairs().len() as u64)
        .filter_map(|k| Some((k, focal_px(&*recording.cameras_of_pair(k)?))))
        .collect();
    (recording.calibration().map(focal_px), later)
}

#[test]
fn cameras_without_a_stamp_hold_from_the_next_image_on() {
    let zoom = |k: u64, stamp: SystemTime| (k == 0 || k == 2).then(|| (stamp, camera_of(50.0 + 5.0 * k as f64)));
    for stamp in [SystemTime::UNIX_EPOCH, taken(100)] {
        let recording = with_cameras(4, |k| zoom(k, stamp));
        assert_eq!(focal_lengths(&recording), (Some(50.0), vec![(2, 60.0), (3, 60.0)]));
    }
}

#[test]
fn unusable_cameras_among_others_change_nothing() {
    let uncalibrated = CameraInfo { k: [0.0; 9], ..camera_of(50.0) };
    let recording = with_cameras(4, |k| {
        let camera = if k % 2 == 0 { uncalibrated.clone() } else { camera_of(50.0) };
        Some((taken(k), camera))
    });
    assert_eq!((focal_lengths(&recording), recording.losses()), ((Some(50.0), vec![]), vec![]));
    let recording = with_cameras(3, |k| Some((taken(k), uncalibrated.clone())));
    assert_eq!((focal_lengths(&recording), recording.losses()), ((None, vec![]), vec![]));
    let broken = CameraInfo { k: [f64::NAN; 9], ..camera_of(50.0) };
    let recording = with_cameras(4, |k| Some((taken(k), if k == 2 { broken.clone() } else { camera_of(50.0) })));
    assert_eq!(focal_lengths(&recording), (Some(50.0), vec![]));
    let losses = recording.losses().join("; ");
    assert!(losses.contains("some of what the recording says of its cameras is not used"), "{losses}");
    let recording = with_cameras(9, |k| Some((taken(k), camera_of(50.0 + k as f64))));
    let losses = recording.losses();
    assert!(losses.len() == 5 && losses[4].contains("the cameras change 4 more times"), "{losses:?}");
}

#[test]
fn regions_and_binning_of_the_sensor_are_those_of_the_images() {
    // the images show 80x60 px of a sensor of 200x100, two by two
    let part = SensorPart { offset: [60, 20], size: [80, 60], binning: [2, 2] };
    let k = [100.0, 0.0, 99.5, 0.0, 100.0, 49.5, 0.0, 0.0, 1.0];
    let p = [100.0, 0.0, 99.5, -10.0, 0.0, 100.0, 49.5, 0.0, 0.0, 0.0, 1.0, 0.0];
    let camera = CameraInfo { width: 200, height: 100, k, p, part, ..camera_of(50.0) };
    let rig = |camera: &CameraInfo| {
        let recording = with_cameras(2, |k| Some((taken(k), camera.clone())));
        recording.calibration().unwrap().parsed_rig().unwrap().unwrap()
    };
    let found = rig(&camera);
    assert_eq!((found.size, found.left.fx, found.left.cx, found.left.cy), (Some(SIZE), 50.0, 19.5, 14.5));
    assert!((found.baseline_m() - 0.1).abs() < 1e-12 && found.doubts.is_empty(), "{:?}", found.doubts);
    // a driver that fills the fields and sends the whole sensor
    let part = SensorPart { offset: [0, 0], size: [20, 30], binning: [1, 1] };
    let whole = rig(&CameraInfo { part, ..camera_of(50.0) });
    assert_eq!((whole.size, whole.left.fx), (Some(SIZE), 50.0));
}

#[test]
fn compressed_depth_of_a_recording_is_read() {
    let mm = Image::from_fn(SIZE.0, SIZE.1, |x, y| (x * 40 + y) as u16);
    let (form, data) = crate::compressed_depth::encode(&mm, crate::DepthFormat::Rvl).unwrap();
    let mut recorder = Recorder::new(Format::Ros2, WriteOptions::new());
    let json = |value: serde_json::Value| Body::Json(value);
    recorder.write(topic::ABOUT, (0, taken(0)), taken(0), json(serde_json::to_value(crate::fixture::about()).unwrap()));
    let note = PairNote { sequence: 3, skew_s: 0.0, name: "a".into(), bits: 8, cameras: None };
    recorder.write(topic::PAIRS, (3, taken(0)), taken(0), json(serde_json::to_value(note).unwrap()));
    for (side, name) in [topic::LEFT_RAW, topic::RIGHT_RAW].into_iter().enumerate() {
        recorder.write(name, (3, taken(0)), taken(0), image(SIZE.0, SIZE.1, picture(0, side).pixels()));
    }
    recorder.write(topic::COMPRESSED_DEPTH, (3, taken(1)), taken(0), Body::Compressed { format: form, data });
    let mut recording = Recording::open(file(&recorder.finish()).path()).unwrap();
    assert!(recording.depth_topic() == topic::COMPRESSED_DEPTH && recording.has_depth(0).unwrap());
    let result = crate::unpack::UnpackedResult::of(&recording.packets_of_result(0).unwrap()).unwrap();
    assert_eq!(result.depth_mm(), Some(mm));
}
