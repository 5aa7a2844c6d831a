//! Tests of the pipeline from a source to results, with a source made for them.

mod device;
mod remotes;

use super::*;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant, SystemTime};
use stereopsis_base::geometry::Geometry;
use stereopsis_base::image::{Image, Luma, Picture, Truth};
use stereopsis_base::newest::Policy;
use stereopsis_base::testing::{found, until};
use stereopsis_calibration::StereoRig;
use stereopsis_frame::engine::{EngineChoice, EngineKind, EngineSettings};
use stereopsis_frame::{CaptureError, Next, RawPair, Scale, SourceInfo};

/// Source of noise with one disparity everywhere.
struct Shifted {
    disparity: usize,
    pairs: u64,
    next: u64,
    /// Whether it fails instead of ending.
    fails: bool,
    pause: Duration,
}

impl Shifted {
    fn new(disparity: usize, pairs: u64) -> Self {
        Self { disparity, pairs, next: 0, fails: false, pause: Duration::ZERO }
    }
}

const SIZE: (usize, usize) = (80, 40);

impl PairSource for Shifted {
    fn info(&self) -> SourceInfo {
        SourceInfo {
            name: format!("shifted {}", self.disparity),
            width: SIZE.0,
            height: SIZE.1,
            num_pairs: Some(self.pairs),
            is_rectified: true,
            ..SourceInfo::default()
        }
    }

    fn next(&mut self, _: Duration) -> Result<Next, CaptureError> {
        if self.next == self.pairs {
            let lost = || CaptureError::Camera("the camera was unplugged".into());
            return if self.fails { Err(lost()) } else { Ok(Next::End) };
        }
        std::thread::sleep(self.pause);
        let sequence = self.next;
        self.next += 1;
        let noise = |x: usize, y: usize| {
            ((x * 7919 + y * 104_729 + sequence as usize * 31).wrapping_mul(2_654_435_761) >> 13) as u8
        };
        let picture =
            |shift| Picture { luma: Luma::U8(Image::from_fn(SIZE.0, SIZE.1, |x, y| noise(x + shift, y))), rgb: None };
        let exact = Image::filled(SIZE.0, SIZE.1, self.disparity as f32);
        let occluded = Image::from_fn(SIZE.0, SIZE.1, |x, _| x < self.disparity + 4);
        Ok(Next::Pair(Box::new(RawPair {
            truth: Some(Arc::new(Truth {
                left_px: exact.clone(),
                right_px: Some(exact),
                occluded: Some(occluded),
                scale: None,
            })),
            ..RawPair::new(
                format!("shifted-{sequence:06}"),
                sequence,
                SystemTime::UNIX_EPOCH,
                picture(0),
                picture(self.disparity),
            )
        })))
    }
}

fn options() -> LiveOptions {
    let params = StereoParams { num_disparities: 16, ..StereoParams::default() };
    let engine =
        OpenOptions::from(EngineSettings { choice: EngineChoice::Cpu, threads: Some(1), ..EngineSettings::default() });
    let capture = CaptureOptions { policy: Policy::Lossless, ..CaptureOptions::default() };
    LiveOptions { capture, ..LiveOptions::new(params, engine) }
}

/// Returns the disparity in the middle of the newest result, px.
fn middle(live: &Live) -> Option<f32> {
    live.latest()?.map.as_ref()?.disparity_px(SIZE.0 / 2, SIZE.1 / 2)
}

#[test]
fn last_pair_of_an_ended_source_is_matched() {
    let wakes = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&wakes);
    let wake: Wake = Arc::new(move || {
        counter.fetch_add(1, Ordering::Relaxed);
    });
    let live = Live::start(Box::new(Shifted::new(7, 5)), LiveOptions { wake, ..options() }).unwrap();
    until("the source has ended", || live.status().engine.ended);
    let status = live.status();
    assert_eq!((status.capture.captured, status.engine.computed, status.dropped), (5, 5, Dropped::default()));
    assert_eq!(middle(&live), Some(7.0));
    let figures = status.engine.figures.unwrap();
    assert!(figures.shares.measured > 0.7);
    assert!(figures.truth.unwrap().nonocc.bad_1_percent < 5.0, "{status:?}");
    assert!(status.engine.latency_ms().is_some_and(|(median_ms, p99_ms)| median_ms > 0.0 && median_ms <= p99_ms));
    assert_eq!(status.engine.engine.map(|engine| engine.kind), Some(EngineKind::Cpu));
    let stages: Vec<_> = status.engine.stages.iter().map(|stage| stage.name).collect();
    assert!(status.errors.is_empty() && stages == ["cost", "paths + winner", "filters"], "{stages:?}");
    assert!(wakes.load(Ordering::Relaxed) >= 5, "each result wakes the owner");
}

#[test]
fn source_can_be_replaced_while_running() {
    let live = Live::start(Box::new(Shifted::new(3, u64::MAX)), options()).unwrap();
    until("the first source shows", || middle(&live) == Some(3.0));
    live.set_source(Box::new(Shifted::new(9, 4)), options().capture);
    until("the second source shows", || middle(&live) == Some(9.0));
    until("the second source has ended", || live.status().engine.ended);
    assert_eq!(live.status().source.name, "shifted 9");
    // the end is like a pause: the last pair stays, and parameters still act
    live.set_params(StereoParams { num_disparities: 8, ..StereoParams::default() });
    until("the range is too small for it", || live.latest().is_some_and(|o| o.job.params.num_disparities == 8));
    assert_ne!(middle(&live), Some(9.0));
}

#[test]
fn pause_holds_and_step_takes_one() {
    let live = Live::start(Box::new(Shifted::new(3, u64::MAX)), options()).unwrap();
    let shown = || live.latest().map_or(0, |output| output.job.frame.raw.sequence);
    until("something shows", || shown() > 0);
    live.pause();
    // pairs in flight still arrive
    let settled = || loop {
        let before = shown();
        std::thread::sleep(Duration::from_millis(100));
        if shown() == before {
            return before;
        }
    };
    let held = settled();
    assert_eq!(settled(), held);
    live.step(1);
    until("a step", || shown() == held + 1);
    assert_eq!(settled(), held + 1);
    live.resume();
    until("it goes on", || shown() > held + 3);
}

#[test]
fn lost_source_is_reported_and_the_last_result_stays() {
    let source = Shifted { fails: true, ..Shifted::new(4, 2) };
    let live = Live::start(Box::new(source), options()).unwrap();
    until("the loss is told", || live.status().errors.iter().any(|err| err.contains("unplugged")));
    until("what came before is matched", || live.status().engine.computed == 2);
    assert_eq!(middle(&live), Some(4.0));
    live.set_source(Box::new(Shifted::new(5, 1)), options().capture);
    until("another source shows", || middle(&live) == Some(5.0));
    assert!(live.status().errors.is_empty());
}

#[test]
fn headless_run_ends_with_the_source_and_returns_the_last_result() {
    let finished = headless::run(Box::new(Shifted::new(5, 6)), options(), None).unwrap();
    assert_eq!(finished.status.engine.computed, 6);
    let summary = finished.summary;
    assert_eq!((summary.came, summary.computed, summary.dropped), (6, 6, Dropped::default()));
    let latency = summary.latency_ms.unwrap();
    assert!(latency.median > 0.0 && latency.p99 <= latency.largest && latency.largest < 1e3 * summary.seconds);
    assert_eq!(summary.cpu_percent.is_some(), cfg!(target_os = "linux"));
    let output = finished.output.unwrap();
    assert_eq!((output.job.frame.raw.sequence, output.map.is_some()), (5, true));
}

#[test]
fn headless_run_ends_after_the_requested_results() {
    let finished = headless::run(Box::new(Shifted::new(5, u64::MAX)), options(), Some(3)).unwrap();
    assert!(finished.status.engine.computed >= 3);
}

#[test]
fn new_preparation_also_applies_to_a_held_pair() {
    let live = Live::start(Box::new(Shifted::new(4, u64::MAX)), options()).unwrap();
    until("something shows", || middle(&live) == Some(4.0));
    live.pause();
    let width = || live.latest().map(|output| output.job.frame.size().0);
    live.set_preparation(FramePreparation { scale: Scale::Half, ..live.preparation() }).unwrap();
    until("the held pair is halved", || width() == Some(SIZE.0 / 2));
    // jobs in flight have finished before
    let held = live.latest().unwrap().job.frame.raw.sequence;
    let geometry = Geometry { estimated: true, ..Geometry::new(50.0, 0.1, 0.0, [0.0, 0.0]) };
    live.set_preparation(FramePreparation { geometry: Some(geometry), ..live.preparation() }).unwrap();
    until("it has a geometry", || live.latest().is_some_and(|output| output.job.frame.geometry.is_some()));
    assert_eq!(live.latest().unwrap().job.frame.raw.sequence, held);
    live.set_preparation(FramePreparation::default()).unwrap();
    live.resume();
    until("new pairs are whole", || width() == Some(SIZE.0));
}

/// Camera whose right image shows every point 2 px lower than its rig says; it looks at another wall every half second.
struct TurnedRig(Instant);

const TURNED_SIZE: (usize, usize) = (320, 240);

impl PairSource for TurnedRig {
    fn info(&self) -> SourceInfo {
        let (width, height) = TURNED_SIZE;
        SourceInfo { name: "turned".into(), width, height, is_camera: true, ..SourceInfo::default() }
    }

    fn next(&mut self, _: Duration) -> Result<Next, CaptureError> {
        std::thread::sleep(Duration::from_millis(100));
        let number = self.0.elapsed().as_millis() as u64 / 500;
        Ok(Next::Pair(Box::new(crate::health::tests::wall(number as u32 % 7, 2.0))))
    }
}

#[test]
fn a_camera_whose_rig_has_turned_is_corrected_once_while_it_runs() {
    let (width, height) = TURNED_SIZE;
    let rig = StereoRig::of_rectified(&Geometry::centred(250.0, 0.06, 0.0, TURNED_SIZE), TURNED_SIZE);
    let rectifier = Some(Arc::new(rig.rectifier(width, height, 0.0).unwrap()));
    let capture = FramePreparation { rectifier, ..FramePreparation::default() }.into();
    let options = LiveOptions { capture, ..options() };
    let live = Live::start(Box::new(TurnedRig(Instant::now())), options).unwrap();
    let said = found("a correction", || live.correct());
    assert!(said.starts_with("the rig is corrected"), "{said}");
    let corrected = live.preparation().rectifier.unwrap().rig().clone();
    assert!(corrected.as_calibrated() == &rig && corrected.corrected_from.is_some());
    let applied = found("the corrected rig", || live.status().health.drift.filter(|drift| drift.in_force.is_some()));
    assert!(!applied.is_offered && live.correct().is_none(), "{applied:?}");
}
