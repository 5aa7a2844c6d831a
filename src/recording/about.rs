//! What a recording says of itself, of each pair and of each result: JSON, the same in every format.

use super::Streams;
use crate::calibration::CalibrationNote;
use crate::capture::{RawRule, SourceInfo};
use crate::parameter::Parameter;
use crate::stereo::StereoParams;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::SystemTime;

/// What a recording is of: [`super::topic::ABOUT`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct About {
    /// The version of this program that recorded.
    pub stereopsis: String,
    /// When, RFC 3339 with milliseconds, UTC: for people; topics have exact times.
    pub started: String,
    /// The source in the words of `--source`.
    pub source: String,
    /// What the source called itself.
    pub name: String,
    /// Columns of one eye's raw picture.
    pub width: usize,
    /// Rows of one eye's raw picture.
    pub height: usize,
    /// Pairs per second that the source gave by itself.
    pub rate_hz: Option<f64>,
    /// The source was a camera.
    pub is_camera: bool,
    /// Raw pairs are rectified as they come.
    pub is_rectified: bool,
    /// What is in the file.
    pub streams: Streams,
    /// Depth and disparity have their holes filled: what stands there was not measured.
    pub filled: bool,
    /// How raw pictures become the left and the right eye's.
    pub raw: RawRule,
    /// How pairs become rectified and metric.
    pub calibration: CalibrationNote,
    /// All parameters at the start, in the words of the command line.
    pub parameters: BTreeMap<String, String>,
    /// Units of every number, for people who read the file.
    pub units: BTreeMap<String, String>,
    /// What its results were computed from, where that was another recording.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recomputed: Option<Recomputed>,
}

/// The recording from which another one was computed: raw pictures are copied with their times, and each result has the log
/// time of its pair.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recomputed {
    /// The file's name.
    pub file: String,
    /// Its size then.
    pub bytes: u64,
    /// How many pairs it has.
    pub pairs: u64,
    /// When its first pair was recorded: the wall clock, ns since 1970.
    pub first_log_time_ns: u64,
    /// In which words the new one is written.
    pub format: super::Format,
}

/// What belongs to a pair beside its pictures: [`super::topic::PAIRS`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PairNote {
    /// Number of the pair at its source.
    pub sequence: u64,
    /// How much later the right picture was taken, s.
    pub skew_s: f64,
    /// The pair's name.
    pub name: String,
    /// How many bits of each pixel carry light.
    pub bits: u8,
}

/// What belongs to a result beside its numbers: [`super::topic::RESULTS`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ResultNote {
    /// Number of its pair.
    pub sequence: u64,
    /// `cpu` or `gpu`, and on what.
    pub engine: String,
    /// How long it took, ms.
    pub compute_ms: f64,
    /// Share of pixels that were measured, 0 to 1.
    pub measured: f64,
    /// What was added to the recorded disparity, px: others make depth of it as `z = f T / d`, see
    /// [`crate::geometry::Geometry::doffs_px`].
    #[serde(default)]
    pub doffs_px: f64,
}

/// Pairs and results so far: [`super::topic::COUNTERS`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    /// Pairs recorded.
    pub pairs: u64,
    /// Results recorded.
    pub results: u64,
    /// Pairs that the source itself dropped, or a camera gave in vain.
    pub dropped_by_source: u64,
    /// Pairs that the disk, or whoever reads the pipe, could not take in time.
    pub dropped_by_disk: u64,
    /// Results that the disk could not take in time.
    pub results_dropped_by_disk: u64,
    /// Pairs that were recorded and not matched, because the matcher had not finished the one before.
    pub not_matched: u64,
}

/// What went wrong: [`super::topic::EVENTS`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// `dropped`, `disk`, `source`, `clock`, `end`.
    pub kind: String,
    /// In words.
    pub text: String,
    /// The pair that was the newest then.
    pub sequence: Option<u64>,
}

impl About {
    /// What is known when a recording begins.
    pub fn of_source(source: &str, info: &SourceInfo, started: SystemTime) -> Self {
        Self {
            stereopsis: env!("CARGO_PKG_VERSION").to_owned(),
            started: super::time::rfc3339(started),
            source: source.to_owned(),
            name: info.name.clone(),
            width: info.width,
            height: info.height,
            rate_hz: info.rate_hz,
            is_camera: info.is_camera,
            is_rectified: info.is_rectified,
            streams: Streams::default(),
            filled: false,
            raw: RawRule::default(),
            calibration: CalibrationNote::default(),
            parameters: BTreeMap::new(),
            units: units(),
            recomputed: None,
        }
    }
}

impl About {
    /// Removes a calibration with impossible numbers, and returns the reason: a file may hold anything.
    pub(super) fn validated(mut self) -> (Self, Option<String>) {
        self.rate_hz = self.rate_hz.filter(|hz| *hz > 0.0 && *hz < 1e6);
        let wrong = self.calibration.check().err();
        if wrong.is_some() {
            self.calibration = CalibrationNote::default();
        }
        (self, wrong.map(|why| format!("what it says of its calibration is not used: {why}")))
    }
}

/// All parameters in the words of the command line.
pub fn parameter_words(params: &StereoParams) -> BTreeMap<String, String> {
    let word = |parameter: &Parameter<StereoParams>| (parameter.name.to_owned(), (parameter.get)(params).to_string());
    StereoParams::table().iter().map(word).collect()
}

/// What a reader of the file should not have to guess.
fn units() -> BTreeMap<String, String> {
    let units = [
        ("depth", "mm, 16 bits, 0 where there is none"),
        ("disparity", "px, left minus right, and geometry.doffs_px at its size added to it: z = f T / d"),
        (
            "calibration.geometry",
            "focal_px, doffs_px, cx_px, cy_px: px; baseline_m: m; z = focal_px * baseline_m / (d + doffs_px)",
        ),
        ("time", "ns since 1970 by the wall clock; publish time is when the left picture was taken"),
    ];
    units.map(|(what, unit)| (what.to_owned(), unit.to_owned())).into()
}
