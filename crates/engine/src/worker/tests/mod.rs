//! Tests of the order of events in the engine thread, with an engine that follows a script.

mod memory;
mod prepared;
mod untimed;

use super::*;
use crate::OpenOptions;
use std::collections::VecDeque;
use std::sync::atomic::AtomicUsize;
use std::time::{Duration, Instant, SystemTime};
use stereopsis_base::image::{Image, Luma, Picture};
use stereopsis_base::newest::{NewestSender, channel};
use stereopsis_base::rate::LatencySince;
use stereopsis_base::testing::until;
use stereopsis_frame::RawPair;
use stereopsis_frame::engine::{Engine, EngineChoice, EngineError, EngineInfo, EngineKind, EngineSettings, Job};
use stereopsis_stereo::map::{INVALID, reason};
use stereopsis_stereo::{CostKind, DisparityMap, StereoParams};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Event {
    /// Submission of a pair: its number and its P1.
    Submit(u64, u32),
    Done(u64),
}
use Event::{Done, Submit};

#[derive(Default)]
struct Script {
    log: Vec<Event>,
    permits: usize,
    fault: Option<EngineError>,
    /// P1 of the jobs for which the engine is not prepared.
    unprepared: Vec<u32>,
    /// P1 of the jobs for which there is no memory: before they begin, and after.
    too_large: [Vec<u32>; 2],
    asked: usize,
}

struct ScriptedEngine {
    slots: usize,
    script: Arc<Mutex<Script>>,
    queue: VecDeque<Job>,
}

impl Engine for ScriptedEngine {
    fn info(&self) -> Arc<EngineInfo> {
        Arc::new(EngineInfo { kind: EngineKind::Gpu, adapter: "script".into(), software: false })
    }

    fn slots(&self) -> usize {
        self.slots
    }

    fn prepare(&mut self, job: &Job) -> bool {
        let mut script = self.script.lock();
        script.asked += 1;
        !script.unprepared.contains(&job.params.p1)
    }

    fn forget(&mut self) {}

    fn submit(&mut self, job: Job) -> Result<(), EngineError> {
        assert!(self.queue.len() < self.slots, "more in flight than there are slots");
        if self.script.lock().too_large[0].contains(&job.params.p1) {
            return Err(EngineError::TooLarge("9 GB are missing".into()));
        }
        self.script.lock().log.push(Submit(job.frame.raw.sequence, job.params.p1));
        self.queue.push_back(job);
        Ok(())
    }

    fn collect(&mut self) -> Result<Option<Output>, EngineError> {
        let mut script = self.script.lock();
        if let Some(err) = script.fault.take() {
            self.queue.pop_front();
            return Err(err);
        }
        if self.queue.front().is_some_and(|job| script.too_large[1].contains(&job.params.p1)) {
            self.queue.pop_front();
            return Err(EngineError::TooLarge("its gates leave 9 GB".into()));
        }
        if script.permits == 0 {
            return Ok(None);
        }
        let Some(job) = self.queue.pop_front() else { return Ok(None) };
        script.permits -= 1;
        script.log.push(Done(job.frame.raw.sequence));
        let (stages, compute_time) = (Vec::new(), Duration::ZERO);
        let map = job.read_back.then(|| Arc::new(empty_map(job.frame.size())));
        Ok(Some(Output { job, engine: self.info(), map, right_map: None, texture: None, stages, compute_time }))
    }
}

fn empty_map((width, height): (usize, usize)) -> DisparityMap {
    let (values, reasons) = (Image::filled(width, height, INVALID), Image::filled(width, height, reason::RANGE));
    DisparityMap { values, reasons, confidence: None }
}

struct Bench {
    worker: EngineWorker,
    frames: NewestSender<Arc<Frame>>,
    script: Arc<Mutex<Script>>,
}

impl Bench {
    fn new(slots: usize) -> Self {
        let (frames, receiver) = channel();
        let script = Arc::<Mutex<Script>>::default();
        let engine = ScriptedEngine { slots, script: Arc::clone(&script), queue: VecDeque::new() };
        let params = Arc::new(StereoParams::default());
        let control = Control { params, read_back: false, paused: false, suspended: false, steps: 0 };
        let source = EngineSource::Ready(Box::new(engine));
        let worker =
            EngineWorker::start(receiver, None, source, control, Some(1), Vec::new(), Arc::new(|| {})).unwrap();
        Self { worker, frames, script }
    }

    fn send(&self, sequence: u64) {
        self.frames.send(Arc::new(frame(sequence))).unwrap();
    }

    fn permit(&self, jobs: usize) {
        self.script.lock().permits += jobs;
    }

    fn log(&self) -> Vec<Event> {
        self.script.lock().log.clone()
    }

    fn until(&self, what: &str, mut condition: impl FnMut(&Self) -> bool) {
        let deadline = Instant::now() + Duration::from_secs(10);
        while !condition(self) {
            assert!(Instant::now() < deadline, "waited in vain until {what}; events: {:?}", self.log());
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    fn until_last(&self, event: Event) {
        self.until(&format!("{event:?}"), |bench| bench.log().last() == Some(&event));
    }

    /// Whether nothing happens for longer than the thread needs to notice anything.
    fn is_quiet(&self) -> bool {
        let before = self.log();
        std::thread::sleep(Duration::from_millis(40));
        self.log() == before
    }

    fn set_p1(&self, p1: u32) {
        self.worker.set_control(|control| control.params = Arc::new(StereoParams { p1, ..StereoParams::default() }));
    }
}

fn frame(sequence: u64) -> Frame {
    let picture = Picture { luma: Luma::U8(Image::filled(4, 3, 0)), rgb: None };
    let raw = RawPair::new(String::new(), sequence, SystemTime::UNIX_EPOCH, picture.clone(), picture);
    Frame::of_raw(Arc::new(raw))
}

const P1: u32 = CostKind::Census5x5.penalties().p1;

#[test]
fn next_upload_starts_before_the_last_pair_is_finished() {
    let bench = Bench::new(2);
    for sequence in 0..3 {
        bench.send(sequence);
        if sequence < 2 {
            bench.until_last(Submit(sequence, P1));
        }
    }
    assert!(bench.is_quiet(), "both slots are taken");
    bench.permit(1);
    bench.until_last(Submit(2, P1));
    bench.permit(2);
    bench.until_last(Done(2));
    let expected = [Submit(0, P1), Submit(1, P1), Done(0), Submit(2, P1), Done(1), Done(2)];
    assert_eq!(bench.log(), expected);
    bench.until("the last is published", |b| b.worker.latest().is_some_and(|o| o.job.frame.raw.sequence == 2));
    assert_eq!((bench.worker.stats().computed, bench.worker.stats().late), (3, 0));
}

#[test]
fn counts_pairs_that_a_newer_one_replaces() {
    let bench = Bench::new(1);
    bench.send(0);
    bench.until_last(Submit(0, P1));
    (1..=4).for_each(|sequence| bench.send(sequence));
    bench.permit(2);
    bench.until_last(Done(4));
    assert_eq!(bench.log(), [Submit(0, P1), Done(0), Submit(4, P1), Done(4)]);
    bench.until("drops are counted", |b| b.worker.stats().late == 3);
}

#[test]
fn paused_thread_matches_only_after_changed_parameters() {
    let bench = Bench::new(2);
    bench.permit(100);
    bench.send(0);
    bench.until_last(Done(0));
    bench.worker.set_control(|control| control.paused = true);
    (1..=3).for_each(|sequence| bench.send(sequence));
    assert!(bench.is_quiet(), "no new pair while paused");
    bench.set_p1(P1 + 1);
    bench.until_last(Done(0));
    bench.until("matched again", |b| b.log().contains(&Submit(0, P1 + 1)));
    bench.set_p1(P1 + 1);
    assert!(bench.is_quiet(), "the same parameters are no work");

    bench.worker.set_control(|control| control.steps += 1);
    bench.until_last(Done(3));
    bench.send(4);
    assert!(bench.is_quiet(), "a step takes one pair and holds it");
    bench.set_p1(P1);
    bench.until("the new pair is the one that is held", |b| b.log().contains(&Submit(3, P1)));
    assert_eq!((bench.worker.stats().late, bench.worker.stats().while_paused), (0, 2));

    bench.worker.set_control(|control| control.paused = false);
    bench.until_last(Done(4));
}

#[test]
fn held_pair_is_matched_again_on_request() {
    let bench = Bench::new(2);
    bench.permit(100);
    bench.send(0);
    bench.until_last(Done(0));
    bench.worker.match_again();
    bench.until("matched again", |b| b.log() == [Submit(0, P1), Done(0), Submit(0, P1), Done(0)]);
    assert!(bench.is_quiet(), "once");
}

#[test]
fn latencies_from_different_events_are_not_mixed() {
    let bench = Bench::new(2);
    bench.permit(100);
    let send = |sequence: u64, since: LatencySince, age: Duration| {
        let latency_begin = (Instant::now().checked_sub(age).unwrap(), since);
        bench.frames.send(Arc::new(Frame { latency_begin, ..frame(sequence) })).unwrap();
        bench.until("the result", |b| b.worker.latest().is_some_and(|o| o.job.frame.raw.sequence == sequence));
        bench.worker.stats()
    };
    let median_ms = |stats: &EngineStats| stats.latency_ms().unwrap().0;
    let here = send(0, LatencySince::Arrival, Duration::ZERO);
    assert!(here.latency_since == LatencySince::Arrival && median_ms(&here) < 3e3, "{here:?}");
    let unknown = send(1, LatencySince::NetworkArrival, Duration::ZERO);
    assert!(unknown.latency_since == LatencySince::NetworkArrival && median_ms(&unknown) < 3e3, "{unknown:?}");
    let known = send(2, LatencySince::Capture, Duration::from_secs(5));
    assert_eq!((known.latency_since, known.run_latency.count()), (LatencySince::Capture, 1), "the others do not count");
    assert!((5e3..8e3).contains(&median_ms(&known)), "{known:?}");
}

#[test]
fn suspended_thread_matches_only_the_first_pair() {
    let bench = Bench::new(2);
    bench.permit(100);
    bench.worker.set_control(|control| control.suspended = true);
    bench.send(0);
    bench.until_last(Done(0));
    (1..=3).for_each(|sequence| bench.send(sequence));
    assert!(bench.is_quiet());
    bench.worker.set_control(|control| control.suspended = false);
    bench.until_last(Done(3));
    assert_eq!((bench.worker.stats().late, bench.worker.stats().while_paused), (0, 2));
}

#[test]
fn paused_thread_fetches_numbers_on_request() {
    let bench = Bench::new(1);
    bench.permit(100);
    bench.send(0);
    bench.send(1);
    bench.until_last(Done(1));
    bench.worker.set_control(|control| control.paused = true);
    let log = bench.log().len();
    bench.worker.set_control(|control| control.read_back = true);
    bench.until("the pair is matched with its numbers", |b| b.worker.latest().is_some_and(|o| o.job.read_back));
    assert!(bench.is_quiet() && bench.log().len() <= log + 2);
}

#[test]
fn cpu_takes_over_the_pair_of_a_lost_device() {
    let bench = Bench::new(2);
    bench.send(0);
    bench.until_last(Submit(0, P1));
    bench.send(1);
    bench.until_last(Submit(1, P1));
    bench.script.lock().fault = Some(EngineError::DeviceLost("driver reset".into()));
    bench.until("the CPU has matched the newest pair", |b| {
        b.worker.latest().is_some_and(|o| o.engine.kind == EngineKind::Cpu && o.job.frame.raw.sequence == 1)
    });
    let stats = bench.worker.stats();
    let fault = stats.fault.unwrap();
    assert!(fault.contains("driver reset") && fault.contains("the CPU computes instead"), "{fault}");
    assert_eq!((stats.failed, stats.engine.unwrap().kind), (2, EngineKind::Cpu));

    let script = Arc::clone(&bench.script);
    bench.worker.set_engine(EngineSource::Ready(Box::new(ScriptedEngine { slots: 1, script, queue: VecDeque::new() })));
    bench.until("another engine is there", |b| b.worker.stats().fault.is_none());
    bench.until_last(Submit(1, P1));
}

#[test]
fn error_of_a_failed_pair_lasts_until_the_next_result() {
    let bench = Bench::new(1);
    bench.send(0);
    bench.until_last(Submit(0, P1));
    bench.script.lock().fault = Some(EngineError::TooLarge("9 GB".into()));
    bench.until("the error is told", |b| b.worker.stats().error.as_deref() == Some("9 GB"));
    assert!(bench.is_quiet(), "what failed is not tried again");
    bench.permit(1);
    bench.send(1);
    bench.until("the error is gone", |b| b.worker.stats().error.is_none());
    assert_eq!((bench.worker.stats().computed, bench.worker.stats().failed), (1, 1));
}

#[test]
fn hanging_engine_can_be_replaced() {
    let bench = Bench::new(1);
    bench.send(0);
    bench.until_last(Submit(0, P1));
    let cpu =
        OpenOptions::from(EngineSettings { choice: EngineChoice::Cpu, threads: Some(1), ..EngineSettings::default() });
    bench.worker.set_engine(EngineSource::Open(cpu));
    bench.until("the CPU matches the pair", |b| b.worker.latest().is_some_and(|o| o.engine.kind == EngineKind::Cpu));
    assert_eq!(bench.worker.stats().failed, 1);
}

#[test]
fn stops_while_the_device_hangs() {
    let bench = Bench::new(1);
    bench.send(0);
    bench.until_last(Submit(0, P1));
    let Bench { worker, .. } = bench;
    let start = Instant::now();
    drop(worker);
    assert!(start.elapsed() < Duration::from_secs(1));
}

#[test]
fn named_engine_opens_before_the_first_pair_and_end_is_reported() {
    let bench = Bench::new(1);
    bench.worker.set_engine(EngineSource::Open(OpenOptions::from(EngineSettings {
        choice: EngineChoice::Cpu,
        threads: Some(1),
        ..EngineSettings::default()
    })));
    bench.until("the CPU is open", |b| b.worker.stats().engine.is_some_and(|engine| engine.kind == EngineKind::Cpu));
    let Bench { worker, frames, script } = bench;
    let (sender, receiver) = channel();
    worker.set_frames(receiver, None);
    sender.send(Arc::new(frame(7))).unwrap();
    drop(sender);
    let bench = Bench { worker, frames, script };
    bench.until("the source has ended", |b| b.worker.stats().ended);
    assert_eq!(bench.worker.latest().map(|output| output.job.frame.raw.sequence), Some(7));
}

/// Tap that records its results: number of the pair, and whether it was matched before.
#[derive(Default)]
struct RecordingTap {
    wants: AtomicBool,
    /// Number of calls of `wants_results`, one for each turn of the engine thread's loop.
    asked: AtomicUsize,
    seen: Mutex<Vec<(u64, bool)>>,
}

impl ResultTap for RecordingTap {
    fn result(&self, output: &Arc<Output>) {
        self.seen.lock().push((output.job.frame.raw.sequence, false));
    }

    fn result_again(&self, output: &Arc<Output>) {
        self.seen.lock().push((output.job.frame.raw.sequence, true));
    }

    fn wants_results(&self) -> bool {
        self.asked.fetch_add(1, Ordering::AcqRel);
        self.wants.load(Ordering::Acquire)
    }
}

#[test]
fn results_come_to_the_host_only_while_a_tap_wants_them() {
    let bench = Bench::new(2);
    let listener = Arc::new(RecordingTap::default());
    bench.worker.set_taps(vec![listener.clone()]);
    bench.permit(100);
    bench.send(0);
    bench.until_last(Done(0)); // the first result is always measured, so it comes back
    bench.send(1);
    bench.until_last(Done(1));
    bench.until("it is published", |bench| bench.worker.latest().is_some_and(|o| o.job.frame.raw.sequence == 1));
    assert!(bench.worker.latest().unwrap().map.is_none() && !listener.seen.lock().contains(&(1, false)));
    listener.wants.store(true, Ordering::Release);
    (bench.worker.waker())();
    bench.until("the last pair came back", |_| listener.seen.lock().last() == Some(&(1, true)));
    bench.send(2);
    bench.until("the next one comes back", |_| listener.seen.lock().last() == Some(&(2, false)));
}

#[test]
fn an_idle_thread_sleeps() {
    let bench = Bench::new(2);
    let listener = Arc::new(RecordingTap::default());
    bench.worker.set_taps(vec![listener.clone()]);
    bench.permit(100);
    let sleeps = |when: &str| {
        let deadline = Instant::now() + Duration::from_secs(10);
        loop {
            let turns = listener.asked.load(Ordering::Acquire);
            std::thread::sleep(Duration::from_millis(60));
            if listener.asked.load(Ordering::Acquire) == turns {
                return;
            }
            assert!(Instant::now() < deadline, "the thread never sleeps {when}");
        }
    };
    sleeps("before the first pair");
    bench.send(0);
    bench.until_last(Done(0));
    sleeps("between pairs");
    bench.worker.set_control(|control| control.paused = true);
    (1..=3).for_each(|sequence| bench.send(sequence));
    sleeps("while paused");
    let Bench { worker, frames, script } = bench;
    drop(frames);
    let bench = Bench { worker, frames: channel().0, script };
    bench.worker.set_control(|control| control.paused = false);
    bench.until("the source has ended", |b| b.worker.stats().ended);
    sleeps("after the end");
}

#[test]
fn last_pair_is_measured_after_a_while() {
    let bench = Bench::new(1);
    bench.permit(100);
    bench.send(0);
    bench.until_last(Done(0));
    bench.until("it is measured", |b| b.worker.stats().figures.is_some());
    bench.send(1);
    bench.until_last(Done(1));
    assert_eq!(bench.log().len(), 4, "without numbers");
    bench.until("it is matched again, with numbers", |b| b.log().len() == 6);
    bench.until("they are there", |b| b.worker.latest().is_some_and(|output| output.map.is_some()));
    std::thread::sleep(Duration::from_millis(700));
    assert_eq!(bench.log()[4..], [Submit(1, P1), Done(1)], "once");
}

/// Engine of a source; opens the same scripted engine each time.
struct OwnEngine(Arc<Mutex<Script>>);

impl SourceEngine for OwnEngine {
    fn open(&self) -> Result<Box<dyn Engine>, EngineError> {
        Ok(Box::new(ScriptedEngine { slots: 1, script: Arc::clone(&self.0), queue: VecDeque::new() }))
    }

    fn exchange(&self, _: &StereoParams) -> Option<StereoParams> {
        None
    }
}

#[test]
fn the_engine_of_a_source_comes_and_goes_with_it() {
    let Bench { worker, frames, script } = Bench::new(1);
    script.lock().permits = 100;
    worker.set_control(|control| control.read_back = true); // else pairs are matched again for their numbers
    worker.set_engine(EngineSource::Open(OpenOptions::from(EngineSettings {
        choice: EngineChoice::Network,
        ..EngineSettings::default()
    })));
    let begin = |own: bool| {
        let (frames, receiver) = channel();
        worker.set_frames(receiver, own.then(|| Arc::new(OwnEngine(Arc::clone(&script))) as _));
        frames
    };
    let refused = |stats: EngineStats| {
        let error = stats.error.unwrap_or_default();
        stats.failed > 0 && stats.engine.is_none() && error.contains("this source is no rig on the network")
    };
    frames.send(Arc::new(frame(0))).unwrap();
    until("the pair fails", || refused(worker.stats()));
    for sequence in [1, 3] {
        let with_engine = begin(true);
        with_engine.send(Arc::new(frame(sequence))).unwrap();
        until("a result", || worker.latest().is_some_and(|output| output.job.frame.raw.sequence == sequence));
        assert_eq!(worker.stats().error, None);
        // a pair that the other machine leaves out is late, and no error
        script.lock().fault = Some(EngineError::LeftOut("a newer one was matched".into()));
        with_engine.send(Arc::new(frame(9))).unwrap();
        until("it is counted", || worker.stats().late == 1);
        assert_eq!((worker.stats().failed, worker.stats().error), (0, None));
        let without = begin(false);
        without.send(Arc::new(frame(sequence + 1))).unwrap();
        until("the pair fails", || refused(worker.stats()));
    }
}
