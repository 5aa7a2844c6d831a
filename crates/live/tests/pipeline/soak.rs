//! Tests that memory does not grow over many pairs with changing contents, sizes, parameters and sources. `make soak` runs ten thousand
//! through each test; a few hundred are among the other tests.
//!
//! Sizes and parameters repeat in the same order in each block of pairs, so that every block needs the same memory. The first block warms
//! up. The median of the resident memory over the last block may exceed the one over the second block by [`MAX_GROWTH_MB`]. Ten thousand
//! pairs exceed that with a leak of one byte per pixel and pair, six hundred with a leak of every pair.

#![cfg(target_os = "linux")] // no other system tells a process its memory in a file
use fastrand::Rng;
use parking_lot::Mutex;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime};
use stereopsis_base::image::{Image, Luma, Picture};
use stereopsis_base::newest::Policy;
use stereopsis_base::process;
use stereopsis_cpu::CpuEngine;
use stereopsis_engine::OpenOptions;
use stereopsis_frame::engine::{EngineChoice, EngineSettings, Job};
use stereopsis_frame::{CaptureError, Frame, FramePreparation, FrameTap, Next, PairSource, RawPair, Scale, SourceInfo};
use stereopsis_live::capture::CaptureOptions;
use stereopsis_live::{Live, LiveOptions};
use stereopsis_recording::About;
use stereopsis_recording::write::{RecordOptions, Recorder, Target};
use stereopsis_settings::settings::{Origin, Settings, Word};
use stereopsis_stereo::{CostKind, StereoParams};

/// Largest memory that the allocator may keep unused, MB. It has a store for each of some threads, and each new source brings new threads:
/// over forty thousand pairs the live chain grew by less than 4 MB and stayed there.
const MAX_GROWTH_MB: f64 = 8.0;
/// Number of pairs of one size, with one set of parameters.
const RUN: u64 = 5;
/// Number of threads, small enough for equal results on every machine.
const THREADS: usize = 2;

#[derive(Clone, Copy)]
struct Course {
    /// Number of all pairs: at least three blocks.
    pairs: u64,
    /// Number of pairs until sizes and parameters repeat.
    block: u64,
}

const SHORT: Course = Course { pairs: 600, block: 100 };
const WHOLE: Course = Course { pairs: 10_000, block: 1000 };

#[test]
fn some_hundred_pairs_leave_the_memory_of_the_cpu_engine_as_it_was() {
    in_a_process_of_its_own("soak::inside_engine");
}

#[test]
#[ignore = "is run by the test above in a process of its own"]
fn inside_engine() {
    through_the_engine(SHORT);
}

#[test]
fn some_hundred_pairs_leave_the_memory_of_the_live_chain_as_it_was() {
    in_a_process_of_its_own("soak::inside_live_chain");
}

#[test]
#[ignore = "is run by the test above in a process of its own"]
fn inside_live_chain() {
    through_the_live_chain(SHORT);
}

#[test]
fn some_hundred_pairs_leave_the_memory_of_the_recorder_as_it_was() {
    in_a_process_of_its_own("soak::inside_recorder");
}

#[test]
#[ignore = "is run by the test above in a process of its own"]
fn inside_recorder() {
    through_the_recorder(SHORT);
}

#[test]
#[ignore = "takes minutes: make soak"]
fn ten_thousand_pairs_leave_the_memory_of_the_recorder_as_it_was() {
    through_the_recorder(WHOLE);
}

#[test]
#[ignore = "takes minutes: make soak"]
fn ten_thousand_pairs_leave_the_memory_of_the_cpu_engine_as_it_was() {
    through_the_engine(WHOLE);
}

#[test]
#[ignore = "takes minutes: make soak"]
fn ten_thousand_pairs_leave_the_memory_of_the_live_chain_as_it_was() {
    through_the_live_chain(WHOLE);
}

/// Runs an ignored test in a separate process, without the memory of others.
fn in_a_process_of_its_own(inside: &str) {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", inside, "--ignored", "--nocapture"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("1 passed"), "{inside}: {}\n{said}", output.status);
}

/// Lock for one test at a time: the memory is the whole process's.
static ALONE: Mutex<()> = Mutex::new(());

fn through_the_engine(course: Course) {
    let _alone = ALONE.lock();
    let mut memory = Memory::new("CPU engine", course);
    let mut engine = CpuEngine::new(Some(THREADS));
    for number in 0..course.pairs {
        let run = course.run(number);
        let params = Arc::new(params(run));
        let raw = Arc::new(pair(number, size(run)));
        let frame = FramePreparation::default().prepare(&raw, &info(), Instant::now()).unwrap();
        let output = stereopsis_frame::engine::run(
            &mut engine,
            Job { frame: Arc::<Frame>::new(frame), params, read_back: true, wants_right: false },
        )
        .unwrap();
        assert_eq!(output.map.unwrap().size(), size(run));
        memory.look(number);
    }
    memory.judge();
}

/// Runs pairs through the recorder, waiting until they are written; the file's index grows by some bytes a pair.
fn through_the_recorder(course: Course) {
    let _alone = ALONE.lock();
    let mut memory = Memory::new("recorder", course);
    let folder = tempfile::tempdir().unwrap();
    let target = Target::File(folder.path().join("soak.mcap"));
    let streams = "raw,rectified".parse().unwrap();
    let about = About { streams, ..About::of_source("changing", &info(), SystemTime::now()) };
    let options = RecordOptions { lossless: true, queue_bytes: 1 << 20, ..RecordOptions::default() };
    let recorder = Recorder::start(target, about, options).unwrap();
    for number in 0..course.pairs {
        let raw = Arc::new(pair(number, (64, 48)));
        let frame = FramePreparation::default().prepare(&raw, &info(), Instant::now()).unwrap();
        recorder.frame(&Arc::new(frame), &info());
        memory.look(number);
    }
    assert_eq!(recorder.stop().unwrap().counters.pairs, course.pairs);
    memory.judge();
}

fn through_the_live_chain(course: Course) {
    let _alone = ALONE.lock();
    let mut memory = Memory::new("live chain", course);
    let given = Arc::new(AtomicU64::new(0));
    let source = || Box::new(Changing { course, given: Arc::clone(&given) });
    let capture = || CaptureOptions { policy: Policy::Lossless, ..CaptureOptions::default() };
    let engine = OpenOptions::from(EngineSettings {
        choice: EngineChoice::Cpu,
        threads: Some(THREADS),
        ..EngineSettings::default()
    });
    let options = LiveOptions { capture: capture(), read_back: true, ..LiveOptions::new(params(0), engine) };
    let live = Live::start(source(), options).unwrap();
    let (mut looked, mut progress) = (0, Instant::now());
    while looked < course.pairs {
        std::thread::sleep(Duration::from_micros(200));
        let status = live.status();
        assert!(status.errors.is_empty(), "{:?}", status.errors);
        assert!(progress.elapsed() < Duration::from_mins(1), "no result for a minute after {looked} pairs");
        let done = status.engine.computed.min(course.pairs);
        for number in looked..done {
            memory.look(number);
            let run = course.run(number + 1);
            if run != course.run(number) {
                live.set_params(params(run));
                let scale = if run.is_multiple_of(3) { Scale::Half } else { Scale::One };
                live.set_preparation(FramePreparation { scale, ..live.preparation() }).unwrap();
            }
            if (number + 1).is_multiple_of(course.block) {
                live.set_source(source(), capture());
            }
        }
        if done > looked {
            (looked, progress) = (done, Instant::now());
        }
    }
    let seconds = live.status().engine.run_latency.largest().unwrap().as_secs_f64();
    assert!(seconds < 60.0, "a pair took {seconds} s");
    drop(live);
    memory.judge();
}

impl Course {
    /// Returns the number of the run, which determines size and parameters.
    fn run(self, number: u64) -> u64 {
        number % self.block / RUN
    }
}

/// Returns odd, small and flat sizes.
fn size(run: u64) -> (usize, usize) {
    [(64, 48), (97, 31), (33, 65), (80, 60), (48, 1), (1, 7)][run as usize % 6]
}

fn params(run: u64) -> StereoParams {
    let mut rng = Rng::with_seed(run);
    let mut one_of = |words: &[&'static str]| *rng.choice(words).unwrap();
    let costs: Vec<_> = CostKind::ALL.iter().map(|cost| cost.word()).collect();
    let words = [
        ("cost", one_of(&costs)),
        ("num-disparities", one_of(&["1", "7", "16", "24", "33"])),
        ("paths", one_of(&["0", "4", "8", "8"])),
        ("adaptive-p2", one_of(&["off", "linear", "inverse"])),
        ("median", one_of(&["0", "3", "5"])),
        ("left-right", one_of(&["off", "1"])),
        ("speckle-size", one_of(&["0", "30"])),
        ("fill", one_of(&["none", "background", "interpolate"])),
    ];
    let words = words.map(|(name, text)| Word { name: name.into(), text: text.into(), origin: Origin::Flag });
    Settings::resolve(&words).unwrap().params
}

/// Returns a pair with another texture for each number, 3 px further left in the right view.
fn pair(number: u64, (width, height): (usize, usize)) -> RawPair {
    let mut rng = Rng::with_seed(number);
    let texture = Image::from_fn(width + 3, height, |_, _| rng.u8(..));
    let picture = |shift| Picture {
        luma: Luma::U8(Image::from_fn(width, height, |x, y| texture.at(x + shift, y))),
        rgb: Some(Image::filled(width, height, [number as u8; 3])),
    };
    RawPair::new(format!("pair-{number:06}"), number, SystemTime::now(), picture(0), picture(3))
}

fn info() -> SourceInfo {
    SourceInfo { name: "changing".into(), width: 64, height: 48, is_rectified: true, ..SourceInfo::default() }
}

/// Source of these pairs, which continues where the previous one has stopped.
struct Changing {
    course: Course,
    given: Arc<AtomicU64>,
}

impl PairSource for Changing {
    fn info(&self) -> SourceInfo {
        info()
    }

    fn next(&mut self, _: Duration) -> Result<Next, CaptureError> {
        let number = self.given.fetch_add(1, Ordering::Relaxed);
        Ok(Next::Pair(Box::new(pair(number, size(self.course.run(number))))))
    }
}

struct Memory {
    what: &'static str,
    course: Course,
    start: Instant,
    megabytes: Vec<f64>,
}

impl Memory {
    fn new(what: &'static str, course: Course) -> Self {
        Self { what, course, start: Instant::now(), megabytes: Vec::with_capacity(course.pairs as usize) }
    }

    fn look(&mut self, number: u64) {
        assert_eq!(number, self.megabytes.len() as u64, "looked at once after each pair");
        self.megabytes.push(process::resident_bytes().unwrap() as f64 / f64::from(1 << 20));
    }

    fn judge(self) {
        let Self { what, course: Course { pairs, block }, start, megabytes } = self;
        assert_eq!(megabytes.len() as u64, pairs);
        let medians: Vec<f64> = megabytes.chunks(block as usize).map(median).collect();
        let (second, last) = (medians[1], medians[medians.len() - 1]);
        eprintln!(
            "{what}: {pairs} pairs in {:.0} s; resident memory by blocks of {block}, MB: {medians:.1?}",
            start.elapsed().as_secs_f64()
        );
        assert!(
            last <= second + MAX_GROWTH_MB,
            "{what}: memory has grown from {second:.1} to {last:.1} MB: {medians:.1?}"
        );
    }
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}
