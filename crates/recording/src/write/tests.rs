//! Tests of the recorder with a pipe that can block and fail: drops, events, full disks, jumps of the clock.

use super::clock::{Clock, Moment, system_clock};
use super::file::{OpenTarget, Sink};
use super::*;
use crate::format::decode;
use crate::pack::PairParts;
use crate::{About, Body, Channel, Counters, Event, Recording, Schema, Stream, Streams, topic};
use parking_lot::{Condvar, Mutex};
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime};
use stereopsis_base::image::{Image, Luma, Picture};
use stereopsis_base::testing::until as wait_until;
use stereopsis_frame::decode_camera::{Layout, PixelFormat};
use stereopsis_frame::engine::{EngineInfo, EngineKind, Job, Output};
use stereopsis_frame::{EncodedImage, Frame, FrameTap, Original, RawPair, ResultTap, SourceInfo, StereoLayout};
use stereopsis_stereo::{DisparityMap, StereoParams};

pub(super) const SIZE: (usize, usize) = (64, 48);
/// Topics of grey images, which are PNG in ROS 2's format.
const LEFT: &str = "/stereo/left/image_raw/compressed";
const RIGHT: &str = "/stereo/right/image_raw/compressed";
/// Memory of one raw pair of [`frame`]: two images, bytes.
const FRAME_BYTES: usize = 2 * SIZE.0 * SIZE.1;

pub(super) fn info(name: &str) -> SourceInfo {
    SourceInfo { name: name.into(), width: SIZE.0, height: SIZE.1, is_rectified: true, ..SourceInfo::default() }
}

pub(super) fn frame(sequence: u64) -> Arc<Frame> {
    let picture = Picture { luma: Luma::U8(Image::filled(SIZE.0, SIZE.1, sequence as u8)), rgb: None };
    Arc::new(Frame::of_raw(Arc::new(RawPair::new(
        format!("pair-{sequence}"),
        sequence,
        SystemTime::now(),
        picture.clone(),
        picture,
    ))))
}

pub(super) fn output(frame: &Arc<Frame>) -> Arc<Output> {
    let map = DisparityMap {
        values: Image::filled(SIZE.0, SIZE.1, 16),
        reasons: Image::filled(SIZE.0, SIZE.1, 0),
        confidence: None,
    };
    Arc::new(Output {
        job: Job {
            frame: Arc::clone(frame),
            params: Arc::new(StereoParams::default()),
            read_back: true,
            wants_right: false,
        },
        engine: Arc::new(EngineInfo { kind: EngineKind::Cpu, adapter: "test".into(), software: false }),
        map: Some(Arc::new(map)),
        right_map: None,
        texture: None,
        stages: Vec::new(),
        compute_time: Duration::from_millis(1),
    })
}

pub(super) fn about(streams: &str) -> About {
    About { streams: streams.parse::<Streams>().unwrap(), ..About::of_source("test", &info("test"), SystemTime::now()) }
}

/// Pipe that keeps the written bytes, and blocks while it is stuck.
#[derive(Clone, Default)]
struct Pipe(Arc<(Mutex<PipeState>, Condvar)>);

#[derive(Default)]
struct PipeState {
    bytes: Vec<u8>,
    stuck: bool,
    fails: Option<io::ErrorKind>,
}

impl Pipe {
    fn set_stuck(&self, stuck: bool) {
        self.0.0.lock().stuck = stuck;
        self.0.1.notify_all();
    }

    fn fail(&self, kind: io::ErrorKind) {
        self.0.0.lock().fails = Some(kind);
        self.0.1.notify_all();
    }

    fn bytes(&self) -> Vec<u8> {
        self.0.0.lock().bytes.clone()
    }
}

impl Write for Pipe {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut state = self.0.0.lock();
        while state.stuck && state.fails.is_none() {
            self.0.1.wait(&mut state);
        }
        if let Some(kind) = state.fails {
            return Err(kind.into());
        }
        state.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn place(free_bytes: impl Fn() -> Option<u64> + Send + 'static) -> OpenTarget {
    OpenTarget {
        name: "the pipe".into(),
        disk: "/disk".into(),
        file: None,
        max_bytes: None,
        free_bytes: Box::new(free_bytes),
    }
}

fn start(pipe: &Pipe, streams: &str, queue_frames: usize, lossless: bool, clock: Clock) -> Arc<Recorder> {
    let options = RecordOptions { queue_bytes: queue_frames * FRAME_BYTES, lossless, ..RecordOptions::default() };
    let sink: Sink = Box::new(pipe.clone());
    Recorder::start_at(place(|| None), sink, None, about(streams), options, clock).unwrap()
}

/// Returns topic, sequence number, log time and bytes of each message.
fn messages(bytes: &[u8]) -> Vec<(String, u32, u64, Vec<u8>)> {
    let messages = mcap::MessageStream::new(bytes).unwrap().map(Result::unwrap);
    messages.map(|m| (m.channel.topic.clone(), m.sequence, m.log_time, m.data.to_vec())).collect()
}

pub(super) fn sequences(bytes: &[u8], topic: &str) -> Vec<u32> {
    messages(bytes).into_iter().filter(|(name, ..)| name == topic).map(|(_, sequence, ..)| sequence).collect()
}

pub(super) fn json<T: serde::de::DeserializeOwned>(bytes: &[u8], topic: &str) -> Vec<T> {
    let messages = mcap::MessageStream::new(bytes).unwrap().map(Result::unwrap);
    let said = messages.filter(|message| message.channel.topic == topic).map(|message| {
        let schema = message.channel.schema.as_ref().unwrap();
        let channel = Channel {
            topic: topic.to_owned(),
            message_encoding: message.channel.message_encoding.clone(),
            schema: Some(
                Schema { name: schema.name.clone(), encoding: schema.encoding.clone(), data: schema.data.to_vec() }
                    .into(),
            ),
            metadata: std::collections::BTreeMap::new(),
        };
        let Body::Json(value) = decode(&channel, &message.data).unwrap().body else { panic!("{topic} says nothing") };
        serde_json::from_value(value).unwrap()
    });
    said.collect()
}

#[test]
fn pairs_results_and_counters_are_in_the_file() {
    let pipe = Pipe::default();
    let recorder = start(&pipe, "raw,disparity", 100, false, system_clock());
    recorder.result(&output(&frame(9)));
    for sequence in [3, 4, 7, 8] {
        let frame = frame(sequence);
        recorder.frame(&frame, &info("test"));
        if sequence != 4 {
            recorder.result(&output(&frame));
        }
    }
    let summary = recorder.stop().unwrap();
    let expected = Counters { pairs: 4, results: 3, dropped_by_source: 2, not_matched: 1, ..Counters::default() };
    assert_eq!(summary.counters, expected);
    let bytes = pipe.bytes();
    assert!(summary.bytes == bytes.len() as u64 && matches!(recorder.status().ended, Some(Ok(()))));
    assert_eq!(sequences(&bytes, topic::PAIRS), [3, 4, 7, 8]);
    assert_eq!(sequences(&bytes, topic::RESULTS), [3, 7, 8], "of recorded pairs only");
    assert_eq!(json::<Counters>(&bytes, topic::COUNTERS).last(), Some(&expected));
    assert_eq!(json::<Event>(&bytes, topic::EVENTS).last().unwrap().kind, "end");
    assert!(mcap::Summary::read(&bytes).unwrap().unwrap().stats.is_some(), "it has a summary");
    assert_eq!(recorder.stop().unwrap().bytes, summary.bytes, "again the same");
}

#[test]
fn drops_whole_items_and_results_before_pairs() {
    let pipe = Pipe::default();
    // a result takes as much as 1.5 pairs
    let recorder = start(&pipe, "raw,disparity", 9, false, system_clock());
    pipe.set_stuck(true);
    // the thread stands still with the first chunk
    recorder.frame(&frame(0), &info("test"));
    let begun = Instant::now();
    wait_until("a chunk that is stuck", || {
        std::thread::sleep(Duration::from_millis(50));
        begun.elapsed() > Duration::from_millis(1200)
    });
    let start = Instant::now();
    for sequence in 1..=20 {
        let frame = frame(sequence);
        recorder.frame(&frame, &info("test"));
        recorder.result(&output(&frame));
    }
    assert!(start.elapsed() < Duration::from_secs(1), "nobody waits: {:?}", start.elapsed());
    // two results had room until pairs needed it; then as many pairs are kept as fit
    let status = recorder.status();
    assert_eq!((status.counters.dropped_by_disk, status.counters.results_dropped_by_disk), (11, 20), "{status:?}");
    pipe.set_stuck(false);
    wait_until("room", || recorder.status().counters.pairs > 1);
    std::thread::sleep(Duration::from_millis(50));
    recorder.frame(&frame(21), &info("test"));
    let counters = recorder.stop().unwrap().counters;
    assert_eq!(counters.pairs + counters.dropped_by_disk, 22);
    let bytes = pipe.bytes();
    let pairs = sequences(&bytes, topic::PAIRS);
    assert_eq!((pairs.len() as u64, pairs.last()), (counters.pairs, Some(&21)));
    let per_pair = |topic| sequences(&bytes, topic);
    assert_eq!((per_pair(LEFT), per_pair(RIGHT)), (pairs.clone(), pairs), "whole pairs");
    let events = json::<Event>(&bytes, topic::EVENTS);
    let told = events.iter().find(|event| event.kind == "dropped").unwrap();
    let dropped = [(counters.dropped_by_disk, "pair"), (counters.results_dropped_by_disk, "result")];
    let text = dropped.map(|(count, noun)| stereopsis_base::console::counted(count, noun)).join(" and ");
    assert!(told.text.starts_with(&text), "{told:?} {counters:?}");
    let order: Vec<_> =
        messages(&bytes).into_iter().filter(|(name, ..)| name == topic::EVENTS || name == topic::PAIRS).collect();
    let place = |sought: &str| order.iter().position(|(name, ..)| name == sought).unwrap();
    let last_pair = order.iter().rposition(|(name, ..)| name == topic::PAIRS).unwrap();
    assert_eq!(place(topic::EVENTS) + 1, last_pair, "told where the gap is");
}

#[test]
fn unmatched_pairs_never_exceed_taken_pairs() {
    let pipe = Pipe::default();
    let recorder = start(&pipe, "raw,disparity", 100, false, system_clock());
    let share = || {
        let RecordStatus { counters, taken, .. } = recorder.status();
        assert!(counters.not_matched <= taken && counters.pairs <= taken, "{counters:?} of {taken}");
        (counters.not_matched, taken)
    };
    pipe.set_stuck(true);
    recorder.frame(&frame(0), &info("test"));
    std::thread::sleep(Duration::from_millis(1200)); // the thread stands still with the first chunk
    for sequence in 1..40 {
        recorder.frame(&frame(sequence), &info("test"));
        share();
    }
    recorder.result(&output(&frame(39)));
    assert_eq!(share(), (39, 40));
    // pairs lost with the pipe are neither recorded nor counted as not matched
    pipe.fail(io::ErrorKind::StorageFull);
    wait_until("the end", || recorder.status().ended.is_some());
    let counters = recorder.status().counters;
    assert!(counters.not_matched <= counters.pairs && counters.dropped_by_disk >= 39, "{counters:?}");
}

#[test]
fn recording_with_depth_begins_with_first_result_or_its_failure() {
    let begin = |streams: &str, begins| {
        let pipe = Pipe::default();
        let options = RecordOptions { begins, ..RecordOptions::default() };
        let sink: Sink = Box::new(pipe.clone());
        let recorder = Recorder::start_at(place(|| None), sink, None, about(streams), options, system_clock()).unwrap();
        (pipe, recorder)
    };
    let (pipe, recorder) = begin("raw,disparity", Begins::WithResult);
    for sequence in 0..7 {
        recorder.frame(&frame(sequence), &info("test"));
    }
    let status = recorder.status();
    assert!(status.is_waiting && !recorder.has_begun() && recorder.wants_results());
    assert_eq!((status.parts(), status.elapsed), (vec!["waiting for the first depth".to_owned()], Duration::ZERO));
    recorder.result(&output(&frame(5)));
    for sequence in 7..10 {
        recorder.frame(&frame(sequence), &info("test"));
        recorder.result(&output(&frame(sequence)));
    }
    let counters = recorder.stop().unwrap().counters;
    assert_eq!(counters, Counters { pairs: 3, results: 3, ..Counters::default() }, "none is missed");
    assert_eq!(sequences(&pipe.bytes(), topic::PAIRS), [7, 8, 9]);

    let (pipe, recorder) = begin("raw,disparity", Begins::WithResult);
    recorder.frame(&frame(0), &info("test"));
    recorder.begin_without_depth("the engine failed");
    recorder.frame(&frame(1), &info("test"));
    let status = recorder.stop().unwrap();
    assert_eq!((status.counters.pairs, status.without_depth.as_deref()), (1, Some("the engine failed")));
    let events = json::<Event>(&pipe.bytes(), topic::EVENTS);
    assert_eq!((events[0].kind.as_str(), events[0].text.as_str()), ("depth", "begun without depth: the engine failed"));

    let (_, recorder) = begin("raw", Begins::WithResult);
    recorder.frame(&frame(0), &info("test"));
    assert!(!recorder.status().is_waiting);
    assert_eq!(recorder.stop().unwrap().counters.pairs, 1, "without depth it begins at once");
}

#[test]
fn lossless_waits_for_room_until_the_recorder_ends() {
    let pipe = Pipe::default();
    let recorder = start(&pipe, "raw", 4, true, system_clock());
    for sequence in 0..200 {
        recorder.frame(&frame(sequence), &info("test"));
    }
    assert_eq!(recorder.stop().unwrap().counters, Counters { pairs: 200, ..Counters::default() });
    let pipe = Pipe::default();
    let recorder = start(&pipe, "raw", 4, true, system_clock());
    pipe.set_stuck(true);
    let (given, tap) = (Arc::new(AtomicU64::new(0)), Arc::clone(&recorder));
    let counted = Arc::clone(&given);
    let source = std::thread::Builder::new().name("source".into()).spawn(move || {
        for sequence in 0..2000 {
            tap.frame(&frame(sequence), &info("test"));
            counted.store(sequence, Ordering::Release);
        }
    });
    let source = source.unwrap();
    wait_until("the queue to be full", || given.load(Ordering::Acquire) > 3);
    let camera = SourceInfo { is_camera: true, ..info("test") };
    std::thread::sleep(Duration::from_millis(1500));
    assert!(!source.is_finished(), "held back");
    recorder.frame(&frame(9999), &camera);
    assert_eq!(recorder.status().counters.dropped_by_disk, 1, "a camera is never held back");
    pipe.fail(io::ErrorKind::StorageFull);
    source.join().unwrap();
    let err = recorder.stop().unwrap_err();
    assert!(err.to_string().starts_with("stopped: cannot write the pipe: "), "{err}");
}

#[test]
fn queued_pair_counts_only_recorded_images() {
    let pixels = SIZE.0 * SIZE.1;
    let shot = EncodedImage { layout: Layout::tight(PixelFormat::Yuyv, SIZE), bytes: vec![0; 2 * pixels].into() };
    let original = Some(Original { images: vec![shot.clone(), shot], layout: StereoLayout::default() });
    let frame = frame(0);
    let frame = Frame { raw: Arc::new(RawPair { original, ..(*frame.raw).clone() }), ..(*frame).clone() };
    for (streams, per_pixel) in [("raw", 4), ("raw,eyes", 4), ("raw,rectified", 6), ("rectified", 2), ("depth", 0)] {
        let parts = PairParts::of_frame(&frame, streams.parse().unwrap());
        assert_eq!(parts.bytes(), per_pixel * pixels, "{streams}");
    }
}

#[test]
fn distinguishes_closed_pipe_from_failing_disk() {
    for (kind, closed) in [(io::ErrorKind::BrokenPipe, true), (io::ErrorKind::StorageFull, false)] {
        let pipe = Pipe::default();
        let recorder = start(&pipe, "raw", 100, false, system_clock());
        recorder.frame(&frame(0), &info("test"));
        wait_until("the pair", || recorder.status().counters.pairs == 1);
        let before = recorder.status().bytes;
        wait_until("the chunk with it", || recorder.status().bytes > before);
        pipe.fail(kind);
        recorder.frame(&frame(1), &info("test"));
        wait_until("the end", || recorder.status().ended.is_some());
        recorder.frame(&frame(2), &info("test"));
        assert_eq!(recorder.status().counters.dropped_by_disk, 0, "nothing is taken any more");
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("until_then.mcap");
        std::fs::write(&path, pipe.bytes()).unwrap();
        let recording = Recording::open(&path).unwrap();
        assert_eq!((recording.pairs().len(), recording.damage().is_some()), (1, true), "what was there stays readable");
        assert_eq!(recorder.stop().unwrap_err().is_closed_pipe(), closed);
        assert!(recorder.status().ended.is_some_and(|ended| ended.is_err()));
    }
}

#[test]
fn nearly_full_disk_ends_with_a_finished_file() {
    let pipe = Pipe::default();
    let free = Arc::new(AtomicI64::new(65 << 20));
    let left = Arc::clone(&free);
    let place = place(move || u64::try_from(left.load(Ordering::Acquire)).ok());
    let options = RecordOptions::default();
    let recorder =
        Recorder::start_at(place, Box::new(pipe.clone()), None, about("raw"), options, system_clock()).unwrap();
    recorder.frame(&frame(0), &info("test"));
    wait_until("a look at the disk", || recorder.status().disk_left_s.is_some());
    assert!(recorder.status().ended.is_none());
    free.store(63 << 20, Ordering::Release);
    wait_until("the end", || recorder.status().ended.is_some());
    let ended = recorder.status().ended.unwrap().unwrap_err().to_string();
    assert_eq!(ended, "stopped: /disk has only 66 MB left, and the last ones are kept free");
    let err = recorder.stop().unwrap_err();
    assert!(matches!(err, RecordError::DiskFull { .. }), "{err}");
    let events = json::<Event>(&pipe.bytes(), topic::EVENTS);
    assert_eq!(events.last().unwrap().kind, "disk");
    assert!(mcap::Summary::read(&pipe.bytes()).unwrap().is_some());
}

#[test]
fn clock_jumps_are_events_and_log_times_stay_distinct() {
    let ahead_ms = Arc::new(AtomicI64::new(10_000_000));
    let (shift, steady) = (Arc::clone(&ahead_ms), Instant::now());
    // a wall clock that stands still between its jumps
    let clock: Clock = Box::new(move || Moment {
        wall: SystemTime::UNIX_EPOCH + Duration::from_millis(shift.load(Ordering::Acquire) as u64),
        steady,
    });
    let pipe = Pipe::default();
    let recorder = start(&pipe, "raw", 100, false, clock);
    for (sequence, jump_ms) in [0, 0, 50_000, -500, 61_000, -3_600_000, 0].into_iter().enumerate() {
        ahead_ms.fetch_add(jump_ms, Ordering::AcqRel);
        recorder.frame(&frame(sequence as u64), &info("test"));
    }
    assert_eq!(recorder.stop().unwrap().counters.pairs, 7);
    let bytes = pipe.bytes();
    let events: Vec<_> = json::<Event>(&bytes, topic::EVENTS).into_iter().filter(|e| e.kind == "clock").collect();
    let texts: Vec<_> = events.iter().map(|event| event.text.as_str()).collect();
    assert_eq!(texts, ["the wall clock jumped ahead by 61.000 s", "the wall clock went back by 3600.000 s"]);
    assert_eq!(sequences(&bytes, LEFT), [0, 1, 2, 3, 4, 5, 6], "in the order in which they came");
    let times: Vec<_> =
        messages(&bytes).into_iter().filter(|(name, ..)| name == topic::PAIRS).map(|(_, _, time, _)| time).collect();
    let mut distinct = times.clone();
    distinct.sort_unstable();
    distinct.dedup();
    assert_eq!(distinct.len(), 7, "{times:?}");
}

#[test]
fn lost_cameras_and_other_sources_are_events() {
    let pipe = Pipe::default();
    let recorder = start(&pipe, "raw", 100, false, system_clock());
    recorder.frame(&frame(5), &info("one"));
    let lost = ["camera 1 is gone".to_owned()];
    recorder.watch(&lost);
    recorder.watch(&lost);
    recorder.watch(&[]);
    recorder.frame(&frame(0), &info("two"));
    recorder.set_params(&StereoParams::default());
    recorder.frame(&frame(1), &info("two"));
    assert_eq!(recorder.stop().unwrap().counters.dropped_by_source, 0, "another source counts anew");
    let events = json::<Event>(&pipe.bytes(), topic::EVENTS);
    let texts: Vec<_> = events.iter().filter(|e| e.kind == "source").map(|event| event.text.as_str()).collect();
    assert_eq!(texts, ["camera 1 is gone", "no more: camera 1 is gone", "from here on pairs are those of two, 64x48"]);
    assert_eq!(sequences(&pipe.bytes(), topic::PARAMETERS).len(), 1);
}

#[test]
fn files_are_never_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("desk.mcap");
    let start = || Recorder::start(Target::File(path.clone()), about("raw"), RecordOptions::default());
    let recorder = start().unwrap();
    recorder.frame(&frame(0), &info("test"));
    assert_eq!(recorder.stop().unwrap().path.as_deref(), Some(path.as_path()));
    let before = std::fs::read(&path).unwrap();
    assert_eq!(sequences(&before, topic::PAIRS), [0]);
    let text = start().err().unwrap().to_string();
    assert!(text.contains("is not overwritten; ") && text.ends_with("desk_2.mcap is free"), "{text}");
    assert_eq!(std::fs::read(&path).unwrap(), before);
    let nowhere = Target::File(folder.path().join("none/desk.mcap"));
    let text = Recorder::start(nowhere, about("raw"), RecordOptions::default()).err().unwrap().to_string();
    assert!(text.starts_with("cannot write ") && text.contains("none/desk.mcap"), "{text}");
}

#[test]
fn expected_size_matches_written_size() {
    for streams in ["raw", "raw,depth", "raw,rectified,disparity"] {
        let streams: Streams = streams.parse().unwrap();
        let frame = frame(0);
        let told = expected(std::path::Path::new(""), streams, &frame, 10.0);
        let pixels = SIZE.0 * SIZE.1;
        let bytes = 2 * pixels
            + if streams.has(Stream::Depth) { 2 * pixels } else { 0 }
            + if streams.has(Stream::Rectified) { 6 * pixels } else { 0 };
        let per_pair = told.bytes_per_minute as usize / 600;
        assert!((bytes..bytes + 4096).contains(&per_pair), "{streams}: {per_pair} for {bytes}");
        assert!(told.disk_time.unwrap() > Duration::ZERO);
    }
}
