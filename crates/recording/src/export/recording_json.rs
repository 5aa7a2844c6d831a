//! File `recording.json` of an export: all files with their units, the geometry and the parameters of matching.

use super::exported::Exported;
use super::frames_csv::COLUMNS;
use super::{Part, calibration_files};
use crate::CalibratedRecording;
use crate::read::Recording;
use crate::{format, topic};
use serde_json::{Map, Value, json};
use stereopsis_base::geometry::Geometry;
use stereopsis_frame::FramePreparation;

/// Parameters of matching from a time on.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub(super) struct ParameterSet {
    /// Log time from which they are used, ns since 1970; 0 for the parameters at the start.
    pub(super) log_time_ns: u64,
    /// Parameters by name, as on the command line.
    pub(super) parameters: Value,
}

/// Returns the sets of parameters of a recording in the order of time, without damaged ones.
pub(super) fn parameter_sets(recording: &mut Recording) -> Vec<ParameterSet> {
    let first = recording.about().filter(|about| !about.parameters.is_empty());
    let first = first.map(|about| ParameterSet { log_time_ns: 0, parameters: json!(about.parameters) });
    let mut sets: Vec<ParameterSet> = first.into_iter().collect();
    for k in 0..recording.len(topic::PARAMETERS) {
        let Ok(packet) = recording.packet(topic::PARAMETERS, k) else { continue };
        let Ok(parameters) = format::decode_json::<Value>(&packet) else { continue };
        if sets.last().is_none_or(|last| last.parameters != parameters) {
            sets.push(ParameterSet { log_time_ns: packet.log_time_ns, parameters });
        }
    }
    sets
}

/// Geometry from a pair on.
#[derive(Clone, Debug, serde::Serialize)]
pub(super) struct GeometryFrom {
    /// Number of the pair.
    pub(super) pair: u64,
    pub(super) geometry: Option<Geometry>,
}

pub(super) fn describe(
    opened: &CalibratedRecording,
    exported: &Exported,
    sets: &[ParameterSet],
    geometries: &[GeometryFrom],
) -> Value {
    let CalibratedRecording { path, recording, info, calibrated, .. } = opened;
    let about = recording.about();
    let has = |part: Part| exported.parts.contains(&part);
    let mut files = Map::new();
    for part in &exported.parts {
        let (endings, unit) = part.files();
        for ending in endings {
            files.insert(format!("NNNNNN{ending}"), unit.into());
        }
    }
    if has(Part::Csv) {
        let columns: Map<_, _> = COLUMNS.iter().map(|(name, what)| ((*name).to_owned(), (*what).into())).collect();
        files.insert("frames.csv".to_owned(), columns.into());
    }
    if has(Part::Calibration) {
        files.extend(calibration_files::FILES.iter().map(|(name, what)| ((*name).to_owned(), (*what).into())));
    }
    let FramePreparation { scale, rectifier, .. } = &calibrated.preparation;
    let geometry = calibrated.preparation.geometry(info).map(|geometry| geometry.scaled(scale.factor()));
    let outcome = json!(exported);
    json!({
        "program": concat!("stereopsis ", env!("CARGO_PKG_VERSION")),
        "recording": path.file_name().map(|name| name.to_string_lossy()),
        "damage": recording.damage(),
        "pairs_in_recording": recording.pairs().len(),
        "pairs": exported.pairs,
        "files": files,
        "numbering": "NNNNNN is the place of the pair in the recording, from 0",
        "raw_size": [info.width, info.height],
        "pictures_are_rectified": rectifier.is_none() && (info.is_rectified || geometry.is_some()),
        "working_scale": scale.to_string(),
        "geometry": geometry,
        "geometry_from_pair": geometries,
        "screen_px": exported.screen_px,
        "units": {
            "geometry": "of the rectified images at working size, to which depth and disparity belong; of the first pair",
            "geometry_from_pair": "the geometry of each pair from the named one on: the cameras may change on the way",
            "focal_px, doffs_px, cx_px, cy_px": "px, pixel centres at whole numbers",
            "baseline_m": "metres",
            "depth": "focal_px * baseline_m / (disparity + doffs_px)",
            "screen_px": "disparity in the plane of the screen of both views in one image",
            "points": "on OpenCV's axes x = (column - cx_px) * z / focal_px, y = (row - cy_px) * z / focal_px, z forward",
        },
        "filled": about.map(|about| about.filled),
        "parameters": sets,
        "missing": outcome["missing"],
        "pairs_that_cannot_be_read": outcome["damaged"],
        "warnings": outcome["warnings"],
        "about": about,
    })
}
