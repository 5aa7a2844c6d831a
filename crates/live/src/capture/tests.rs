//! Tests of the capture thread: taps, limits, counts, errors, and changes of the preparation.

use super::*;
use crossbeam_channel::{RecvTimeoutError, TryRecvError};
use std::time::SystemTime;
use stereopsis_base::geometry::Geometry;
use stereopsis_base::image::{Image, Luma, Picture};
use stereopsis_calibration::{Rectifier, StereoRig};
use stereopsis_frame::{CaptureError, FrameTap, RawPair, RawTap, Scale};

/// Source of pairs of one grey level each, which then ends, fails or blocks.
struct ScriptedSource {
    numbers: Vec<u64>,
    given: usize,
    last: fn() -> Result<Next, CaptureError>,
}

fn script(numbers: impl IntoIterator<Item = u64>) -> ScriptedSource {
    ScriptedSource { numbers: numbers.into_iter().collect(), given: 0, last: || Ok(Next::End) }
}

impl PairSource for ScriptedSource {
    fn info(&self) -> SourceInfo {
        SourceInfo { name: "script".into(), width: 8, height: 4, ..SourceInfo::default() }
    }

    fn next(&mut self, _: Duration) -> Result<Next, CaptureError> {
        let Some(&sequence) = self.numbers.get(self.given) else { return (self.last)() };
        self.given += 1;
        let picture = Picture { luma: Luma::U8(Image::filled(8, 4, sequence as u8)), rgb: None };
        Ok(Next::Pair(Box::new(RawPair {
            skew_s: 0.002,
            ..RawPair::new(format!("{sequence}"), sequence, SystemTime::now(), picture.clone(), picture)
        })))
    }
}

/// Source of the pairs whose numbers come through a channel.
struct ChannelSource(crossbeam_channel::Receiver<u64>);

impl PairSource for ChannelSource {
    fn info(&self) -> SourceInfo {
        script([]).info()
    }

    fn next(&mut self, timeout: Duration) -> Result<Next, CaptureError> {
        match self.0.recv_timeout(timeout) {
            Ok(sequence) => script([sequence]).next(timeout),
            Err(crossbeam_channel::RecvTimeoutError::Timeout) => Ok(Next::Waiting),
            Err(crossbeam_channel::RecvTimeoutError::Disconnected) => Ok(Next::End),
        }
    }
}

fn wait_for_end(capture: &Capture) -> CaptureStats {
    let deadline = Instant::now() + Duration::from_secs(10);
    while !capture.stats().ended {
        assert!(Instant::now() < deadline, "the stream does not end");
        std::thread::sleep(Duration::from_millis(1));
    }
    capture.stats()
}

#[derive(Default)]
struct SequenceLog(Mutex<Vec<u64>>);

impl FrameTap for SequenceLog {
    fn frame(&self, frame: &Arc<Frame>, source: &SourceInfo) {
        assert_eq!(source.name, "script");
        self.0.lock().push(frame.raw.sequence);
    }
}

#[test]
fn taps_receive_every_frame_despite_a_slow_consumer() {
    let tap = Arc::new(SequenceLog::default());
    let options =
        CaptureOptions { taps: Taps { frames: vec![tap.clone()], ..Taps::default() }, ..CaptureOptions::default() };
    let capture = Capture::start(Box::new(script(0..100)), options);
    let stats = wait_for_end(&capture);
    assert_eq!((stats.captured, stats.dropped_newest), (100, 99));
    assert_eq!(*tap.0.lock(), (0..100).collect::<Vec<_>>());
    assert_eq!(capture.frames.try_recv().unwrap().raw.sequence, 99, "the newest one is left");
}

#[test]
fn ends_after_the_maximum_pairs_or_time() {
    let options = CaptureOptions { max_pairs: Some(7), ..CaptureOptions::default() };
    assert_eq!(wait_for_end(&Capture::start(Box::new(script(0..100)), options)).captured, 7);
    let (sender, numbers) = crossbeam_channel::bounded(1);
    sender.send(0).unwrap();
    let options = CaptureOptions { max_time: Some(Duration::from_millis(200)), ..CaptureOptions::default() };
    let start = Instant::now();
    assert_eq!(wait_for_end(&Capture::start(Box::new(ChannelSource(numbers)), options)).captured, 1);
    assert!((0.2..5.0).contains(&start.elapsed().as_secs_f64()), "{:?}", start.elapsed());
    let tap = Arc::new(SequenceLog::default());
    let seen = Arc::clone(&tap);
    let counts_from: CountsFrom = Arc::new(move || seen.0.lock().len() > 3);
    let taps = Taps { frames: vec![tap], ..Taps::default() };
    let options =
        CaptureOptions { max_pairs: Some(7), counts_from: Some(counts_from), taps, ..CaptureOptions::default() };
    assert_eq!(wait_for_end(&Capture::start(Box::new(script(0..100)), options)).captured, 10);
}

#[test]
fn the_lossless_policy_drops_nothing() {
    let options = CaptureOptions { policy: Policy::Lossless, ..CaptureOptions::default() };
    let capture = Capture::start(Box::new(script(0..20)), options);
    let mut numbers = Vec::new();
    loop {
        match capture.frames.recv_timeout(Duration::from_secs(5)) {
            Ok(frame) => numbers.push(frame.raw.sequence),
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => panic!("no frame within 5 s"),
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(numbers, (0..20).collect::<Vec<_>>());
    assert_eq!(capture.stats().dropped_newest, 0);
}

#[test]
fn counts_gaps_in_sequence_numbers_as_dropped_by_the_source() {
    let stats = wait_for_end(&Capture::start(Box::new(script([5, 6, 9, 10, 20])), CaptureOptions::default()));
    assert_eq!((stats.captured, stats.dropped_source), (5, 11));
    assert!(!stats.lost && stats.last_error.is_none());
}

#[test]
fn a_lost_source_ends_the_stream_with_its_error() {
    let mut source = script(0..3);
    source.last = || Err(CaptureError::Camera("camera 0 is gone".into()));
    let capture = Capture::start(Box::new(source), CaptureOptions::default());
    let stats = wait_for_end(&capture);
    assert!(stats.lost);
    assert_eq!(stats.last_error.as_deref(), Some("camera 0 is gone"));
    assert_eq!(capture.frames.recv_timeout(Duration::from_secs(1)).unwrap().raw.sequence, 2);
    assert_eq!(capture.frames.try_recv().unwrap_err(), TryRecvError::Disconnected);
}

#[test]
fn a_source_that_panics_ends_the_stream_with_an_error() {
    let mut source = script(0..3);
    source.last = || panic!("a fault");
    let stats = wait_for_end(&Capture::start(Box::new(source), CaptureOptions::default()));
    assert!(stats.lost && stats.last_error.as_deref().unwrap().contains("has died"), "{:?}", stats.last_error);
}

#[test]
fn stop_detaches_a_blocked_source() {
    let mut source = script([]);
    source.last = || {
        std::thread::sleep(Duration::from_secs(5));
        Ok(Next::End)
    };
    let mut capture = Capture::start(Box::new(source), CaptureOptions::default());
    std::thread::sleep(Duration::from_millis(20));
    let start = Instant::now();
    capture.stop();
    assert!((0.4..2.0).contains(&start.elapsed().as_secs_f64()), "{:?}", start.elapsed());
}

#[test]
fn stop_wakes_a_thread_that_waits_for_room() {
    let options = CaptureOptions { policy: Policy::Lossless, ..CaptureOptions::default() };
    let mut capture = Capture::start(Box::new(script(0..1000)), options);
    std::thread::sleep(Duration::from_millis(20));
    capture.stop();
    assert!(capture.stats().ended);
}

/// Returns a rectifier of pairs of `width` x 4 px.
fn rectifier(width: usize) -> Arc<Rectifier> {
    let geometry = Geometry::new(8.0, 0.1, 4.0, [3.5, 1.5]);
    Arc::new(StereoRig::of_rectified(&geometry, (width, 4)).rectifier(width, 4, 0.0).unwrap())
}

impl RawTap for SequenceLog {
    fn pair(&self, pair: &Arc<RawPair>, _: Option<Geometry>, _: &SourceInfo) {
        self.0.lock().push(pair.sequence);
    }
}

#[test]
fn raw_pairs_continue_while_rectification_fails() {
    let tap = Arc::new(SequenceLog::default());
    let (sender, numbers) = crossbeam_channel::bounded(0);
    let preparation = FramePreparation { rectifier: Some(rectifier(16)), ..FramePreparation::default() };
    let taps = Taps { raw: vec![tap.clone()], ..Taps::default() };
    let capture =
        Capture::start(Box::new(ChannelSource(numbers)), CaptureOptions { preparation, taps, ..Default::default() });
    for sequence in 0..3 {
        sender.send(sequence).unwrap();
    }
    sender.send(3).unwrap(); // the three pairs before have been read
    let stats = capture.stats();
    assert!(stats.unprepared && !stats.lost && !stats.ended, "{stats:?}");
    let error = stats.last_error.unwrap();
    assert!(error.contains("8x4") && error.contains("16x4"), "{error}");
    assert!(capture.frames.try_recv().is_err());
    capture.set_preparation(FramePreparation { rectifier: Some(rectifier(8)), ..FramePreparation::default() });
    sender.send(4).unwrap();
    drop(sender);
    let stats = wait_for_end(&capture);
    assert_eq!((stats.captured, stats.unprepared, stats.lost), (5, false, false));
    assert_eq!(*tap.0.lock(), [0, 1, 2, 3, 4]);
    assert_eq!(capture.frames.try_recv().unwrap().raw.sequence, 4);
}

#[test]
fn frames_are_rectified_then_scaled_and_the_geometry_follows() {
    let options = FramePreparation { rectifier: Some(rectifier(8)), scale: Scale::Half, ..FramePreparation::default() };
    let capture = Capture::start(Box::new(script([200])), options.into());
    let stats = wait_for_end(&capture);
    assert_eq!(stats.last_error, None);
    let frame = capture.frames.try_recv().unwrap();
    assert_eq!(frame.left.luma, Luma::U8(Image::filled(4, 2, 200)));
    assert_eq!(frame.raw.left.luma, Luma::U8(Image::filled(8, 4, 200)), "the raw pair stays");
    let geometry = frame.geometry.unwrap();
    assert_eq!((geometry.focal_px, geometry.doffs_px, geometry.cx_px), (4.0, 2.0, 1.5));
}
