//! JSON messages, equal in all formats: the description of a recording, and the notes of pairs and results.

use super::error::Damage;
use super::{DepthFormat, Streams};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::SystemTime;
use stereopsis_calibration::CalibrationNote;
use stereopsis_frame::{SourceInfo, StereoLayout};

/// Description of a recording, sent as [`super::topic::ABOUT`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct About {
    /// Version of the program.
    pub stereopsis: String,
    /// Start time, RFC 3339 with milliseconds, UTC. Messages have exact times.
    pub started: String,
    /// Source, as for `--source`.
    #[serde(with = "without_secrets")]
    pub source: String,
    /// Name of the source.
    #[serde(with = "without_secrets")]
    pub name: String,
    /// Columns of the raw image of one side.
    pub width: usize,
    /// Rows of the raw image of one side.
    pub height: usize,
    /// Rate of the source, Hz.
    pub rate_hz: Option<f64>,
    /// Whether the source was a camera.
    pub is_camera: bool,
    /// Whether raw pairs are rectified already.
    pub is_rectified: bool,
    /// Streams in the file.
    pub streams: Streams,
    /// Format of depth images.
    #[serde(default)]
    pub depth_format: DepthFormat,
    /// Whether invalid pixels of depth and disparity are filled, and so not measured.
    pub filled: bool,
    /// Layout by which raw images become the left and the right image.
    pub raw: StereoLayout,
    /// Calibration by which pairs become rectified and metric.
    pub calibration: CalibrationNote,
    /// Parameters at the start of the file, by name as on the command line.
    pub parameters: BTreeMap<String, String>,
    /// Units of all numbers, for readers of the file.
    pub units: BTreeMap<String, String>,
    /// Recording from which this one was recomputed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recomputed: Option<Recomputed>,
}

/// Input of `recompute`. Raw images are copied with their times, and each result has the log time of its pair.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recomputed {
    /// Name of the file.
    pub file: String,
    /// Size of the file at that time, bytes.
    pub bytes: u64,
    /// Number of pairs.
    pub pairs: u64,
    /// Log time of the first pair, ns since 1970.
    pub first_log_time_ns: u64,
    /// Format of the new recording.
    pub format: super::Format,
}

/// Note of a pair, sent as [`super::topic::PAIRS`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PairNote {
    /// Sequence number at the source.
    pub sequence: u64,
    /// Capture time of the right image minus that of the left one, s.
    pub skew_s: f64,
    /// Name of the pair.
    pub name: String,
    /// Significant bits of a pixel.
    pub bits: u8,
    /// Cameras of the pair, where they are others than in [`About::calibration`]: see [`stereopsis_frame::RawPair::cameras`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cameras: Option<Box<CalibrationNote>>,
}

/// Note of a result, sent as [`super::topic::RESULTS`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ResultNote {
    /// Sequence number of the pair.
    pub sequence: u64,
    /// Engine, `cpu` or `gpu`, and the adapter.
    pub engine: String,
    /// Time of computation, ms.
    pub compute_ms: f64,
    /// Share of measured pixels, 0 to 1.
    pub measured: f64,
    /// Offset added to the recorded disparity, px, so that `z = f T / d` in other programs; see
    /// [`stereopsis_base::geometry::Geometry::doffs_px`].
    #[serde(default)]
    pub doffs_px: f64,
    /// Share of pixels whose depth is beyond that of a depth image of 16 bits, 65.535 m, and missing in it, 0 to 1.
    #[serde(default)]
    pub beyond: f64,
}

/// Numbers of pairs and results so far, sent as [`super::topic::COUNTERS`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    /// Number of recorded pairs.
    pub pairs: u64,
    /// Number of recorded results.
    pub results: u64,
    /// Number of pairs dropped by the source.
    pub dropped_by_source: u64,
    /// Number of pairs dropped because the disk or the reader of the pipe was too slow.
    pub dropped_by_disk: u64,
    /// Number of results dropped because the disk was too slow.
    pub results_dropped_by_disk: u64,
    /// Number of recorded pairs that were not matched, because the engine was too slow.
    pub not_matched: u64,
}

/// Event, sent as [`super::topic::EVENTS`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// Kind: `dropped`, `disk`, `source`, `calibration`, `depth`, `clock`, `split`, `end`.
    pub kind: String,
    /// Description.
    #[serde(with = "without_secrets")]
    pub text: String,
    /// Sequence number of the newest pair at that time.
    pub sequence: Option<u64>,
}

/// Texts with `***` in place of the secrets of addresses: a recording is made to be shared. Earlier versions wrote some of them.
mod without_secrets {
    use serde::{Deserialize as _, Deserializer, Serializer};
    use stereopsis_base::secrets;

    pub(super) fn serialize<S: Serializer>(text: &str, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&secrets::hidden(text))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
        String::deserialize(deserializer).map(|text| secrets::hidden(&text))
    }
}

impl About {
    /// Returns the description at the start of a recording.
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
            depth_format: DepthFormat::default(),
            filled: false,
            raw: StereoLayout::default(),
            calibration: CalibrationNote::default(),
            parameters: BTreeMap::new(),
            units: units(),
            recomputed: None,
        }
    }

    /// Returns whether raw pairs are matched as they are, because they are rectified and the calibration rectifies them no further.
    pub(crate) fn is_raw_rectified(&self) -> bool {
        self.is_rectified && !self.calibration.rectifies
    }

    /// Removes a rate or calibration with impossible numbers, which a damaged file may contain, and returns the reason for the calibration.
    pub fn validated(mut self) -> (Self, Option<Damage>) {
        self.rate_hz = self.rate_hz.filter(|hz| *hz > 0.0 && *hz < 1e6);
        let wrong = self.calibration.check().err();
        if wrong.is_some() {
            self.calibration = CalibrationNote::default();
        }
        (self, wrong.map(Damage::Calibration))
    }
}

fn units() -> BTreeMap<String, String> {
    let units = [
        ("depth", DepthFormat::default().unit()),
        ("disparity", "px, left minus right, and geometry.doffs_px at its size added to it: z = f T / d"),
        (
            "calibration.geometry",
            "focal_px, doffs_px, cx_px, cy_px: px; baseline_m: m; z = focal_px * baseline_m / (d + doffs_px)",
        ),
        ("time", "ns since 1970 by the wall clock; publish time is when the left image was taken"),
    ];
    units.map(|(what, unit)| (what.to_owned(), unit.to_owned())).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_of_addresses_are_neither_written_nor_read() {
        let name = "http://cam/x?token=geheim, http://u:geheim@cam/y".to_owned();
        let info = SourceInfo { name, ..SourceInfo::default() };
        let about = About::of_source("http://cam/x?token=geheim,http://u:geheim@cam/y", &info, SystemTime::UNIX_EPOCH);
        let written = serde_json::to_string(&about).unwrap();
        assert!(!written.contains("geheim"), "{written}");
        // as an earlier version wrote it
        let mut earlier: serde_json::Value = serde_json::from_str(&written).unwrap();
        earlier["source"] = about.source.as_str().into();
        earlier["name"] = about.name.as_str().into();
        let read: About = serde_json::from_value(earlier).unwrap();
        assert_eq!(read.source, "http://cam/x?token=***,http://***@cam/y");
        assert_eq!(read.name, "http://cam/x?token=***, http://***@cam/y");
        let event = Event { kind: "source".to_owned(), text: "http://u:geheim@cam broke".to_owned(), sequence: None };
        assert!(!serde_json::to_string(&event).unwrap().contains("geheim"));
    }
}
