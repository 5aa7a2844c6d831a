//! Self-test on the built-in scene: both engines against the reference, its error against the truth, and a recording that is read back.

use super::report::Check;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::{Instant, SystemTime};
use stereopsis_base::{console, files};
use stereopsis_cpu::CpuEngine;
use stereopsis_engine::OpenOptions;
use stereopsis_frame::engine::{Engine, Job};
use stereopsis_frame::{Cause, Frame, MaxPixels, Pixels, RawPair, RawTap as _, SceneOptions, SourceInfo};
use stereopsis_metrics::truth_error;
use stereopsis_recording::unpack::Unpacker;
use stereopsis_recording::write::{RecordOptions, Recorder, Target};
use stereopsis_recording::{About, Recording, Stream, Streams};
use stereopsis_scene::render;
use stereopsis_stereo::{DisparityMap, StereoParams, match_pair};

const AREA: &str = "self-test";
/// Size of each image, px; small, because the reference is slow.
const SIZE: (usize, usize) = (160, 120);
/// Number of disparities; the nearest object is at 15 px.
const NUM_DISPARITIES: u32 = 24;
/// Maximum share of pixels visible in both images and off by more than 1 px, %.
const MAX_BAD_PERCENT: f64 = 4.0;
const RECORDED_PAIRS: u64 = 3;

/// Begin of the remedy for wrong results.
const REMEDY: &str = "ask with this whole text; until then use";

/// Pair of the scene with its reference map.
struct Sample {
    frame: Arc<Frame>,
    params: Arc<StereoParams>,
    reference: DisparityMap,
}

impl Sample {
    fn new() -> Self {
        let raw = pair(0);
        let params = StereoParams { num_disparities: NUM_DISPARITIES, ..StereoParams::default() };
        let reference = match_pair(&raw.left, &raw.right, &params);
        Self { frame: Arc::new(Frame::of_raw(Arc::new(raw))), params: Arc::new(params), reference }
    }

    fn job(&self) -> Job {
        let (frame, params) = (Arc::clone(&self.frame), Arc::clone(&self.params));
        Job { frame, params, read_back: true, wants_right: false }
    }

    /// Checks that an engine reproduces the reference exactly.
    fn run(&self, engine: &mut dyn Engine, instead: &str) -> Check {
        let start = Instant::now();
        let name = engine.info().adapter.clone();
        match stereopsis_frame::engine::run(engine, self.job()) {
            Ok(output) => compared(&name, output.map.as_deref(), &self.reference, start, instead),
            Err(err) => Check::wrong(AREA, format!("{name}: {err}"), format!("{REMEDY} {instead}")),
        }
    }
}

fn pair(number: u64) -> RawPair {
    render(&SceneOptions { width: SIZE.0, height: SIZE.1, ..SceneOptions::default() }, number, true)
}

/// Tests the CPU engine, and the error of the reference against the truth.
pub(super) fn cpu() -> Vec<Check> {
    let sample = Sample::new();
    let compared = sample.run(&mut CpuEngine::new(None), "--engine gpu");
    vec![compared, accuracy(&sample.reference, &sample.frame.raw)]
}

/// Tests the GPU engine on the best adapter.
pub(super) fn gpu() -> Vec<Check> {
    let instead = "--engine cpu";
    match OpenOptions::default().gpu_engine() {
        Ok(mut engine) => vec![Sample::new().run(&mut engine, instead)],
        Err(err) => {
            let todo = format!("update the GPU's driver; until then use {instead}");
            vec![Check::wrong(AREA, format!("the GPU engine: {err}"), todo)]
        }
    }
}

/// Checks two maps for equality.
fn compared(
    engine: &str,
    map: Option<&DisparityMap>,
    reference: &DisparityMap,
    start: Instant,
    instead: &str,
) -> Check {
    let Some(map) = map else {
        return Check::wrong(AREA, format!("{engine} gave no map"), format!("{REMEDY} {instead}"));
    };
    if map.values.size() != reference.values.size() {
        return Check::wrong(AREA, format!("{engine} gave a map of another size"), format!("{REMEDY} {instead}"));
    }
    let values = map.values.pixels().iter().zip(reference.values.pixels());
    let reasons = map.reasons.pixels().iter().zip(reference.reasons.pixels());
    let wrong = values.zip(reasons).filter(|(values, reasons)| values.0 != values.1 || reasons.0 != reasons.1).count();
    if wrong > 0 {
        let of = reference.values.pixels().len();
        let text = format!("{engine} computes wrong results: {wrong} of {of} pixels differ from the plain loops");
        return Check::wrong(AREA, text, format!("{REMEDY} {instead}"));
    }
    let ms = start.elapsed().as_secs_f64() * 1e3;
    Check::ok(AREA, format!("{engine}: the same bits as the plain loops, {ms:.0} ms"))
}

fn accuracy(map: &DisparityMap, raw: &RawPair) -> Check {
    let error = raw.truth.as_ref().and_then(|truth| truth_error(map, truth));
    let Some(error) = error.map(|error| error.nonocc) else {
        return Check::wrong(AREA, "the built-in scene has no truth", "ask with this whole text");
    };
    let bad = error.bad_1_percent;
    if bad > MAX_BAD_PERCENT {
        let text =
            format!("{bad:.1} % of the scene's visible pixels are wrong by more than 1 px, above {MAX_BAD_PERCENT} %");
        return Check::wrong(AREA, text, "ask with this whole text");
    }
    Check::ok(
        AREA,
        format!("{bad:.1} % of the scene's visible pixels are wrong by more than 1 px, below {MAX_BAD_PERCENT} %"),
    )
}

pub(super) fn recording() -> Vec<Check> {
    let start = Instant::now();
    let todo =
        "free some space in the folder of temporary files, or set TMPDIR to another one; else ask with this whole text";
    match record_and_read() {
        Ok(bytes) => {
            let ms = start.elapsed().as_secs_f64() * 1e3;
            let size = console::bytes(bytes);
            let text = format!("a recording of {RECORDED_PAIRS} pairs was written and read back, {size}, {ms:.0} ms");
            vec![Check::ok(AREA, text)]
        }
        Err(why) => vec![Check::wrong(AREA, format!("a recording was not written and read back: {why}"), todo)],
    }
}

/// Fault of the recording that is written and read back.
#[derive(Debug, thiserror::Error)]
enum SelfTestError {
    #[error("{}", files::cause(.0))]
    Folder(io::Error),
    #[error("{0}")]
    Damaged(String),
    #[error("it has {found} pairs instead of {expected}")]
    Count { found: usize, expected: usize },
    #[error("pair {0} came back with other images")]
    OtherImages(u64),
}

/// Records pairs and reads them back; returns the file size, bytes.
fn record_and_read() -> Result<u64, Cause> {
    let folder = tempfile::tempdir().map_err(SelfTestError::Folder)?;
    let path = folder.path().join("self-test.mcap");
    let pairs: Vec<_> = (0..RECORDED_PAIRS).map(|number| Arc::new(pair(number))).collect();
    let bytes = record(&path, &pairs)?;
    read_back(&path, &pairs)?;
    Ok(bytes)
}

fn record(path: &Path, pairs: &[Arc<RawPair>]) -> Result<u64, Cause> {
    let (width, height) = SIZE;
    let info = SourceInfo { name: "scene".into(), width, height, is_rectified: true, ..SourceInfo::default() };
    let streams = Streams::NONE.with(Stream::Raw, true);
    let about = About { streams, ..About::of_source("scene", &info, SystemTime::now()) };
    let options = RecordOptions { lossless: true, ..RecordOptions::default() };
    let recorder = Recorder::start(Target::File(path.to_owned()), about, options)?;
    for pair in pairs {
        recorder.pair(pair, None, &info);
    }
    Ok(recorder.stop()?.bytes)
}

/// Checks that a recording contains exactly these pairs.
fn read_back(path: &Path, pairs: &[Arc<RawPair>]) -> Result<(), Cause> {
    let mut recording = Recording::open(path)?;
    if let Some(damage) = recording.damage() {
        return Err(SelfTestError::Damaged(damage).into());
    }
    if recording.pairs().len() != pairs.len() {
        return Err(SelfTestError::Count { found: recording.pairs().len(), expected: pairs.len() }.into());
    }
    let unpacker = Unpacker::of(recording.about(), Pixels::Color, MaxPixels::default());
    for (k, pair) in (0..).zip(pairs) {
        let (_, read) = unpacker.read(&mut recording, k)?;
        if (&read.left.rgb, &read.right.rgb) != (&pair.left.rgb, &pair.right.rgb) {
            return Err(SelfTestError::OtherImages(k).into());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::State;
    use stereopsis_gpu::Gpu;

    #[test]
    fn this_machine_passes() {
        let mut found = [cpu(), recording()].concat();
        if Gpu::for_test().is_some() {
            found.extend(gpu());
        }
        assert!(found.iter().all(|check| check.state == State::Ok), "{found:#?}");
    }

    #[test]
    fn engines_that_disagree_are_wrong() {
        let sample = Sample::new();
        let check = |map: Option<&DisparityMap>| {
            compared("Some GPU (Vulkan)", map, &sample.reference, Instant::now(), "--engine cpu")
        };
        assert_eq!(check(Some(&sample.reference)).state, State::Ok);
        let mut wrong = sample.reference.clone();
        wrong.values.pixels_mut()[77] ^= 1;
        wrong.reasons.pixels_mut()[99] ^= 1;
        let said = check(Some(&wrong));
        let text = "Some GPU (Vulkan) computes wrong results: 2 of 19200 pixels differ from the plain loops";
        assert_eq!((said.state, said.text.as_str()), (State::Wrong, text));
        assert!(said.todo.unwrap().contains("--engine cpu"));
        assert_eq!(check(None).state, State::Wrong);
    }

    #[test]
    fn reports_a_wrong_map_of_the_scene() {
        let sample = Sample::new();
        let mut wrong = sample.reference.clone();
        for value in wrong.values.pixels_mut() {
            *value = value.saturating_add(40);
        }
        let said = accuracy(&wrong, &sample.frame.raw);
        assert!(said.state == State::Wrong && said.text.contains("wrong by more than 1 px, above"), "{said:?}");
    }

    #[test]
    fn detects_a_recording_with_other_images() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.mcap");
        let pairs = [0, 1].map(|number| Arc::new(pair(number)));
        record(&path, &pairs).unwrap();
        read_back(&path, &pairs).unwrap();
        let exchanged = [Arc::clone(&pairs[1]), Arc::clone(&pairs[0])];
        assert_eq!(read_back(&path, &exchanged).unwrap_err().to_string(), "pair 0 came back with other images");
        assert_eq!(read_back(&path, &pairs[..1]).unwrap_err().to_string(), "it has 2 pairs instead of 1");
        let missing = folder.path().join("gone.mcap");
        assert!(read_back(&missing, &[]).unwrap_err().to_string().contains("there is no such file"));
    }
}
