//! Tests of playback: recordings are played as recorded, in any order, and as far as they can be read.

use mcap::WriteOptions;
use std::io::{Cursor, Read};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};
use stereopsis_base::geometry::Geometry;
use stereopsis_calibration::{CameraInfo, StereoRig};
use stereopsis_capture::scene::SceneSource;
use stereopsis_engine::OpenOptions;
use stereopsis_frame::engine::{EngineChoice, EngineSettings};
use stereopsis_frame::{
    FramePreparation, MaxPixels, Next, PairSource, RawPair, SceneOptions, SourceOptions, SourceSpec, Speed, TopicChoice,
};
use stereopsis_live::capture::{Capture, CaptureOptions};
use stereopsis_live::{Live, LiveOptions};
use stereopsis_recording::fixture::{
    FIRST, INTERVAL, Recorder, SIZE, about, file, image, luma, ours, ours_with_depth, picture, taken,
};
use stereopsis_recording::message::Body;
use stereopsis_recording::playback::{PipeSource, RecordingSource};
use stereopsis_recording::write::{RecordOptions, Target};
use stereopsis_recording::{About, Format};
use stereopsis_settings::rig::CalibrationChoice;
use stereopsis_stereo::StereoParams;

const TIMEOUT: Duration = Duration::from_secs(20);

fn at_once() -> SourceOptions {
    SourceOptions { speed: Speed::Max, ..SourceOptions::default() }
}

fn next(source: &mut dyn PairSource) -> Option<Box<RawPair>> {
    let deadline = Instant::now() + TIMEOUT;
    loop {
        match source.next(Duration::from_millis(50)).unwrap() {
            Next::Pair(pair) => return Some(pair),
            Next::Waiting => assert!(Instant::now() < deadline, "no pair"),
            Next::End => return None,
        }
    }
}

fn all(source: &mut dyn PairSource) -> Vec<RawPair> {
    std::iter::from_fn(|| next(source)).map(|pair| *pair).collect()
}

fn is_pair(pair: &RawPair, k: u64) -> bool {
    pair.left.luma == luma(k, 0) && pair.right.luma == luma(k, 1)
}

fn refusal(path: &Path, options: &SourceOptions) -> String {
    RecordingSource::open(path, options).err().unwrap().to_string()
}

#[test]
fn pairs_keep_their_recorded_times_and_names() {
    for &format in Format::ALL {
        let file = file(&ours(format, 10));
        let mut source = RecordingSource::open(file.path(), &at_once()).unwrap();
        let info = source.info();
        assert_eq!((info.width, info.height, info.num_pairs, info.is_camera), (SIZE.0, SIZE.1, Some(10), false));
        assert_eq!(source.calibration(), Some(&about().calibration));
        let pairs = all(&mut source);
        assert_eq!(pairs.len(), 10);
        for (k, pair) in (0..).zip(&pairs) {
            assert!(is_pair(pair, k), "{format} {k}");
            assert_eq!((pair.sequence, pair.capture_time), (k, taken(k)), "{format}");
            assert!(pair.name.contains(&(FIRST + k).to_string()), "{}", pair.name);
            assert!((pair.skew_s - 0.001).abs() < 1e-9);
        }
    }
}

#[test]
fn watched_recording_reports_which_pairs_have_depth() {
    let has_depth = |k: u64| k % 5 == 2 || (30..40).contains(&k);
    for &format in Format::ALL {
        let file = file(&ours_with_depth(format, 50, has_depth));
        let options = SourceOptions { watched: true, ..at_once() };
        let source = RecordingSource::open(file.path(), &options).unwrap();
        let deadline = Instant::now() + TIMEOUT;
        let found = loop {
            let recorded = source.transport().unwrap().get().recorded.expect("it has depth");
            if recorded.len() == 50 {
                break recorded;
            }
            assert!(Instant::now() < deadline, "{} pairs searched", recorded.len());
            std::thread::sleep(Duration::from_millis(5));
        };
        assert!((0..50).map(has_depth).eq(found.iter().copied()), "{format} {found:?}");
        let mut source = RecordingSource::open(file.path(), &options).unwrap();
        let pairs: Vec<_> = (0..10).map(|_| next(&mut source).unwrap()).collect();
        assert!(pairs.iter().all(|pair| pair.recorded.is_some() == has_depth(pair.sequence)), "and they carry it");
    }
    let without = RecordingSource::open(file(&ours(Format::Ros2, 5)).path(), &at_once()).unwrap();
    assert_eq!(without.transport().unwrap().get().recorded, None);
}

#[test]
fn seek_returns_the_same_pair_in_any_order() {
    let file = file(&ours(Format::Ros2, 30));
    let options = SourceOptions { watched: true, ..at_once() };
    let mut source = RecordingSource::open(file.path(), &options).unwrap();
    let transport = source.transport().unwrap();
    transport.pause();
    let mut random = fastrand::Rng::with_seed(1);
    for _ in 0..100 {
        let k = random.u64(..30);
        transport.seek(k);
        let pair = next(&mut source).unwrap();
        assert!(pair.sequence == k && is_pair(&pair, k), "{k}");
    }
    let times = transport.get().times;
    assert!((0..30).all(|k| times[k] == INTERVAL * k as u32));
}

#[test]
fn playback_starts_at_the_given_pair_and_can_restart() {
    let file = file(&ours(Format::Foxglove, 6));
    let options = SourceOptions { start_at: 4 * INTERVAL, looped: true, ..at_once() };
    let mut source = RecordingSource::open(file.path(), &options).unwrap();
    let numbers: Vec<_> = (0..8).map(|_| next(&mut source).unwrap().sequence).collect();
    assert_eq!(numbers, [4, 5, 0, 1, 2, 3, 4, 5]);
}

#[test]
fn seek_while_paused_shows_the_right_pair() {
    let file = file(&ours(Format::Ros2, 20));
    let options = SourceOptions { watched: true, ..SourceOptions::default() };
    let source = RecordingSource::open(file.path(), &options).unwrap();
    let params = StereoParams { num_disparities: 16, ..StereoParams::default() };
    let engine =
        OpenOptions::from(EngineSettings { choice: EngineChoice::Cpu, threads: Some(1), ..EngineSettings::default() });
    let live =
        Live::start(Box::new(source), LiveOptions { read_back: true, ..LiveOptions::new(params, engine) }).unwrap();
    live.pause();
    let transport = live.transport().unwrap();
    for k in [12, 3, 4, 19, 0] {
        transport.seek(k);
        let deadline = Instant::now() + TIMEOUT;
        let shown = || live.latest().filter(|output| output.job.frame.raw.sequence == k);
        while shown().is_none() {
            assert!(Instant::now() < deadline, "pair {k} is not shown: {:?}", live.status().errors);
            std::thread::sleep(Duration::from_millis(2));
        }
        assert!(is_pair(&shown().unwrap().job.frame.raw, k));
    }
    live.step(1);
    let deadline = Instant::now() + TIMEOUT;
    while live.latest().is_none_or(|output| output.job.frame.raw.sequence != 1) {
        assert!(Instant::now() < deadline);
        std::thread::sleep(Duration::from_millis(2));
    }
    assert_eq!(live.status().dropped.source, 0, "a seek is no drop");
    assert!(live.is_paused());
}

#[test]
fn unfinished_file_plays_to_its_end_and_reports_it() {
    let bytes = ours(Format::Ros2, 12);
    let file = file(&bytes[..bytes.len() * 2 / 3]);
    let mut source = RecordingSource::open(file.path(), &at_once()).unwrap();
    let remarks = source.state().remarks.join("; ");
    assert!(remarks.contains("not finished"), "{remarks}");
    let pairs = all(&mut source);
    assert!((4..12).contains(&pairs.len()), "{}", pairs.len());
    assert!((0..).zip(&pairs).all(|(k, pair)| is_pair(pair, k)));
}

/// Returns a foreign recording: the right camera is 8 ms late, and some of its images are missing.
fn foreign(format: Format, names: [&str; 2], missing: &[u64]) -> Vec<u8> {
    let mut recorder = Recorder::new(format, WriteOptions::new());
    for k in 0..9 {
        for (eye, name) in names.into_iter().enumerate() {
            let stamp = taken(k) + Duration::from_millis(8 * eye as u64);
            // recorded at another time than taken, and all left images with the same number
            let at = (0, taken(k) + Duration::from_millis(30 - 13 * (k % 2)));
            if eye == 0 || !missing.contains(&k) {
                recorder.write(name, at, stamp, image(SIZE.0, SIZE.1, picture(k, eye).pixels()));
            }
        }
    }
    recorder.finish()
}

#[test]
fn foreign_recordings_are_paired_by_image_time() {
    for &format in Format::ALL {
        let file = file(&foreign(format, ["/rig/left/image", "/rig/right/image"], &[2, 6]));
        let mut source = RecordingSource::open(file.path(), &at_once()).unwrap();
        assert!(source.calibration().is_none(), "nothing tells of the cameras");
        let pairs = all(&mut source);
        let expected = [0, 1, 3, 4, 5, 7, 8];
        assert_eq!(pairs.len(), expected.len(), "{format}");
        for (pair, k) in pairs.iter().zip(expected) {
            assert!(is_pair(pair, k), "{format} {k}");
            assert_eq!(pair.capture_time, taken(k));
            assert!((pair.skew_s - 0.008).abs() < 1e-6, "{}", pair.skew_s);
        }
        let remarks = source.state().remarks.join("; ");
        assert!(remarks.contains("2 images have no partner"), "{remarks}");
    }
}

#[test]
fn foreign_camera_messages_make_depth_metric() {
    let geometry = Geometry::new(50.0, 0.1, 0.0, [19.5, 14.5]);
    let cameras = CameraInfo::of_rectified(&geometry, SIZE);
    for (format, pictures, rectifies) in
        [(Format::Ros2, "image_rect", false), (Format::Ros2, "image_raw", true), (Format::Foxglove, "image", true)]
    {
        let mut recorder = Recorder::new(format, WriteOptions::new());
        for (side, camera) in ["left", "right"].into_iter().zip(&cameras) {
            let of = |what: &str| format!("/rig/{side}/{what}");
            recorder.write(&of("camera_info"), (0, taken(0)), taken(0), Body::Camera(Box::new(camera.clone())));
            let body = image(SIZE.0, SIZE.1, picture(0, 0).pixels());
            recorder.write(&of(pictures), (0, taken(0)), taken(0), body);
        }
        let file = file(&recorder.finish());
        let spec = SourceSpec::Recording(file.path().into());
        let stereopsis_sources::CalibratedSource { source, calibrated, .. } =
            stereopsis_sources::open_calibrated(&spec, &at_once(), &CalibrationChoice::default()).unwrap();
        assert_eq!(calibrated.preparation.rectifier.is_some(), rectifies, "{pictures}");
        let found = calibrated.preparation.geometry(&source.info()).unwrap();
        for (found, said) in [(found.focal_px, 50.0), (found.baseline_m, 0.1), (found.doffs_px, 0.0)] {
            assert!((found - said).abs() < 0.01 * said.max(1.0), "{pictures}: {found} {said}");
        }
    }
}

/// Returns a recording of another program whose cameras change at pair 2: another focal length and images of half the size.
fn changing(format: Format, pictures: &str) -> Vec<u8> {
    let cameras = [(50.0, SIZE), (40.0, (SIZE.0 / 2, SIZE.1 / 2))].map(|(focal_px, size)| {
        let geometry = Geometry::centred(focal_px, 0.1, 0.0, size);
        (CameraInfo::of_rectified(&geometry, size), size)
    });
    let mut recorder = Recorder::new(format, WriteOptions::new());
    for k in 0..4 {
        let (cameras, (width, height)) = &cameras[usize::from(k >= 2)];
        for (side, camera) in cameras.iter().enumerate() {
            let of = |what: &str| format!("/rig/{}/{what}", ["left", "right"][side]);
            // the message comes behind its image
            let at = |ms| (0, taken(k) + Duration::from_millis(ms));
            let body = image(*width, *height, &picture(k, side).pixels()[..width * height]);
            recorder.write(&of(pictures), at(side as u64), taken(k), body);
            recorder.write(&of("camera_info"), at(9), taken(k), Body::Camera(Box::new(camera.clone())));
        }
    }
    recorder.finish()
}

#[test]
fn cameras_that_change_on_the_way_hold_from_their_image_on() {
    for (format, pictures) in
        [(Format::Ros2, "image_raw"), (Format::Ros2, "image_rect"), (Format::Foxglove, "image_raw")]
    {
        let file = file(&changing(format, pictures));
        let spec = SourceSpec::Recording(file.path().into());
        let options = SourceOptions { watched: true, ..at_once() };
        let opened = |choice| stereopsis_sources::open_calibrated(&spec, &options, &choice).unwrap();
        let stereopsis_sources::CalibratedSource { mut source, calibrated, .. } = opened(CalibrationChoice::default());
        let mut focal_px = || {
            let raw = Arc::new(*next(source.as_mut()).unwrap());
            let frame = calibrated.preparation.prepare(&raw, &source.info(), Instant::now()).unwrap();
            assert_eq!(frame.size(), raw.left.size());
            frame.geometry.unwrap().focal_px.round() as u32
        };
        assert_eq!([(); 4].map(|()| focal_px()), [50, 50, 40, 40], "{format} {pictures}");
        let remarks = source.state().remarks.join("; ");
        assert!(remarks.contains("from pair 2 on") && remarks.contains("40.0 px, before 50.0 px"), "{remarks}");
        assert_eq!(remarks.contains("20x15 px, before 40x30 px"), pictures == "image_raw", "{remarks}");
        source.transport().unwrap().seek(1);
        let mut focal_px = || {
            let raw = Arc::new(*next(source.as_mut()).unwrap());
            calibrated.preparation.geometry_of(&raw, &source.info()).unwrap().focal_px.round() as u32
        };
        assert_eq!([focal_px(), focal_px()], [50, 40], "back before the change");

        let own = CalibrationChoice { focal_px: Some(60.0), baseline_m: Some(0.1), ..CalibrationChoice::default() };
        let stereopsis_sources::CalibratedSource { mut source, calibrated, .. } = opened(own);
        let pairs: Vec<_> = (0..3).map(|_| next(source.as_mut()).unwrap()).collect();
        let geometry = calibrated.preparation.geometry_of(&pairs[2], &source.info()).unwrap();
        assert_eq!(geometry.focal_px.round() as u32, 60, "the user's numbers hold for all");
    }
}

#[test]
fn a_new_recording_keeps_cameras_that_change() {
    let file = file(&changing(Format::Ros2, "image_raw"));
    let folder = tempfile::tempdir().unwrap();
    let spec = SourceSpec::Recording(file.path().into());
    for (streams, own) in [("raw", false), ("rectified", false), ("raw", true)] {
        let choice = if own {
            CalibrationChoice { focal_px: Some(60.0), baseline_m: Some(0.1), ..CalibrationChoice::default() }
        } else {
            CalibrationChoice::default()
        };
        let stereopsis_sources::CalibratedSource { source, calibrated, .. } =
            stereopsis_sources::open_calibrated(&spec, &SourceOptions::default(), &choice).unwrap();
        let path = folder.path().join(format!("{streams}-{own}.mcap"));
        let info = source.info();
        let calibration = calibrated.to_note(choice.crop(), &info);
        let about = About {
            streams: streams.parse().unwrap(),
            calibration,
            ..About::of_source("test", &info, SystemTime::now())
        };
        let recorder =
            stereopsis_recording::write::Recorder::start(Target::File(path.clone()), about, RecordOptions::default())
                .unwrap();
        let options = CaptureOptions { taps: recorder.taps(), ..CaptureOptions::from(calibrated.preparation) };
        let capture = Capture::start(source, options);
        let deadline = Instant::now() + TIMEOUT;
        while !capture.stats().ended {
            assert!(Instant::now() < deadline, "the source does not end");
            std::thread::sleep(Duration::from_millis(2));
        }
        drop(capture);
        assert_eq!(recorder.stop().unwrap().counters.pairs, 4, "{streams}");
        let stereopsis_sources::CalibratedSource { mut source, calibrated, .. } = stereopsis_sources::open_calibrated(
            &SourceSpec::Recording(path),
            &at_once(),
            &CalibrationChoice::default(),
        )
        .unwrap();
        let info = source.info();
        let focal = |raw: &RawPair| calibrated.preparation.geometry_of(raw, &info).unwrap().focal_px.round() as u32;
        let expected = if own { [60; 4] } else { [50, 50, 40, 40] };
        assert_eq!(all(source.as_mut()).iter().map(focal).collect::<Vec<_>>(), expected, "{streams} {own}");
    }
}

#[test]
fn ambiguous_topics_are_listed_and_accepted_by_name() {
    let file = file(&foreign(Format::Ros2, ["/front", "/rear"], &[]));
    let text = refusal(file.path(), &at_once());
    assert!(text.contains("give left-topic") && text.contains("/front (sensor_msgs/msg/Image, 9)"), "{text}");
    let topics = TopicChoice { left: Some("/front".into()), right: Some("/rear".into()), ..TopicChoice::default() };
    let mut source = RecordingSource::open(file.path(), &SourceOptions { topics, ..at_once() }).unwrap();
    assert_eq!(all(&mut source).len(), 9);
    let topics = TopicChoice { left: Some("/none".into()), ..TopicChoice::default() };
    let text = refusal(file.path(), &SourceOptions { topics, ..at_once() });
    assert!(text.contains("/none") && text.contains("/rear"), "{text}");
    let topics = TopicChoice { both: Some("/front".into()), ..TopicChoice::default() };
    let mut source = RecordingSource::open(file.path(), &SourceOptions { topics, ..at_once() }).unwrap();
    assert_eq!(all(&mut source)[0].left.size(), (SIZE.0 / 2, SIZE.1));
}

/// Pipe whose bytes come in small pieces.
struct Trickle(Cursor<Vec<u8>>);

impl Read for Trickle {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = buffer.len().min(97);
        self.0.read(&mut buffer[..count])
    }
}

#[test]
fn pipe_delivers_what_arrives_and_ends_with_it() {
    for bytes in [ours(Format::Ros2, 9), foreign(Format::Foxglove, ["left", "right"], &[])] {
        let mut source = PipeSource::open(Trickle(Cursor::new(bytes)), &at_once()).unwrap();
        let info = source.info();
        assert_eq!((info.width, info.height, info.is_camera, info.num_pairs), (SIZE.0, SIZE.1, true, None));
        assert!(source.transport().is_none());
        let pairs = all(&mut source);
        assert!(pairs.len() == 9 && (0..).zip(&pairs).all(|(k, pair)| is_pair(pair, k)), "{}", pairs.len());
    }
}

#[test]
fn cut_pipe_ends_and_a_pipe_without_a_recording_is_refused() {
    let bytes = ours(Format::Ros2, 9);
    let half = bytes[..bytes.len() / 2].to_vec();
    let mut source = PipeSource::open(Cursor::new(half), &at_once()).unwrap();
    let pairs = all(&mut source);
    assert!((2..9).contains(&pairs.len()), "{}", pairs.len());
    let text = |bytes: &[u8]| PipeSource::open(Cursor::new(bytes.to_vec()), &at_once()).err().unwrap().to_string();
    assert!(text(b"hello, this is a text").contains("no MCAP recording"));
    assert!(text(b"").contains("nothing came"));
    assert!(text(mcap::MAGIC).contains("no images"), "{}", text(mcap::MAGIC));
}

/// Pipe that a fault ends.
struct Faulty(Cursor<Vec<u8>>);

impl Read for Faulty {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.0.read(buffer)?;
        assert!(count > 0, "a fault");
        Ok(count)
    }
}

#[test]
fn panicking_reader_thread_of_a_pipe_is_an_error() {
    let bytes = ours(Format::Ros2, 9);
    let half = bytes[..bytes.len() / 2].to_vec();
    let mut source = PipeSource::open(Faulty(Cursor::new(half)), &at_once()).unwrap();
    let error = loop {
        match source.next(TIMEOUT) {
            Ok(Next::Pair(_)) => {}
            Ok(other) => panic!("{other:?}"),
            Err(err) => break err.to_string(),
        }
    };
    assert!(error.contains("the thread that reads the pipe has died"), "{error}");
}

#[test]
fn recorded_images_beyond_max_pixels_are_refused() {
    let file = file(&ours(Format::Ros2, 3));
    let options = SourceOptions { max_pixels: MaxPixels((SIZE.0 * SIZE.1) as u64 - 1), ..at_once() };
    let text = refusal(file.path(), &options);
    assert!(text.contains("40x30 px are more than the 1199 of max-pixels"), "{text}");
    let options = SourceOptions { max_pixels: MaxPixels((SIZE.0 * SIZE.1) as u64), ..at_once() };
    assert_eq!(all(&mut RecordingSource::open(file.path(), &options).unwrap()).len(), 3);
}

#[test]
fn records_raw_pairs_while_rectification_fails() {
    let folder = tempfile::tempdir().unwrap();
    for streams in ["raw", "raw,rectified"] {
        let path = folder.path().join(format!("{streams}.mcap"));
        let scene = SceneOptions { width: SIZE.0, height: SIZE.1, ..SceneOptions::default() };
        let source = SceneSource::new(scene, None, false).unwrap();
        let about =
            About { streams: streams.parse().unwrap(), ..About::of_source("test", &source.info(), SystemTime::now()) };
        let recorder =
            stereopsis_recording::write::Recorder::start(Target::File(path.clone()), about, RecordOptions::default())
                .unwrap();
        // made for images of another shape
        let rig = StereoRig::of_rectified(&scene.geometry(), (SIZE.0 / 2, SIZE.1));
        let rectifier = rig.rectifier(SIZE.0 / 2, SIZE.1, 0.0).unwrap();
        let preparation = FramePreparation { rectifier: Some(Arc::new(rectifier)), ..FramePreparation::default() };
        let options = CaptureOptions { taps: recorder.taps(), max_pairs: Some(3), ..CaptureOptions::from(preparation) };
        let capture = Capture::start(Box::new(source), options);
        let deadline = Instant::now() + TIMEOUT;
        while !capture.stats().ended {
            assert!(Instant::now() < deadline, "the source does not end");
            std::thread::sleep(Duration::from_millis(2));
        }
        let stats = capture.stats();
        assert!(stats.unprepared && !stats.lost, "{stats:?}");
        assert_eq!(recorder.stop().unwrap().counters.pairs, 3, "{streams}");
        let mut recorded = RecordingSource::open(&path, &at_once()).unwrap();
        assert_eq!(all(&mut recorded).iter().map(|pair| pair.sequence).collect::<Vec<_>>(), [0, 1, 2]);
    }
}
