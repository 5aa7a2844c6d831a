//! Choice of the parts to export: the parts that a recording can give, and how to get the parts that it lacks.

use super::{ExportError, MissingPart, Part};
use crate::CalibratedRecording;
use crate::{DepthFormat, Stream, topic};
use stereopsis_base::console;
use stereopsis_base::remedy::{self, Remedy};
use stereopsis_frame::Scale;

/// Facts about an export beside its recording.
#[derive(Clone, Copy)]
pub(super) struct Has {
    /// Whether there is a calibration.
    pub(super) rig: bool,
    /// Whether the user names the disparity in the plane of the screen.
    pub(super) screen: bool,
}

/// Returns the parts to export, and the reasons for those left out; without `wanted`, all that the recording has. Fails where a wanted
/// part cannot be exported.
pub(super) fn parts(
    opened: &CalibratedRecording,
    has: Has,
    wanted: Option<&[Part]>,
) -> Result<(Vec<Part>, Vec<MissingPart>), ExportError> {
    let why_not = |part: Part| why_not(opened, has, part);
    if let Some(wanted) = wanted {
        let refused = wanted.iter().find_map(|&part| Some(ExportError::Part { part, why: why_not(part)? }));
        return refused.map_or_else(|| Ok((wanted.to_vec(), Vec::new())), Err);
    }
    let (mut parts, mut missing) = (Vec::new(), Vec::new());
    // floats are written unasked where depth is recorded so
    let is_default = |part: &&Part| !part.is_on_request() || **part == Part::DepthM && has_metres(opened);
    for &part in Part::ALL.iter().filter(is_default) {
        match why_not(part) {
            None => parts.push(part),
            // images that are recorded rectified lack nothing
            Some(_) if part == Part::Rectified => {}
            Some(why) if missing.contains(&why) => {}
            Some(why) => missing.push(why),
        }
    }
    Ok((parts, missing))
}

/// Returns whether depth is recorded in metres, as floats.
fn has_metres(opened: &CalibratedRecording) -> bool {
    opened.recording.about().is_some_and(|about| about.depth_format == DepthFormat::Metres)
}

/// Returns why a recording lacks a part, and how to make it; `None` if it can be exported.
pub(super) fn why_not(opened: &CalibratedRecording, has: Has, part: Part) -> Option<MissingPart> {
    let CalibratedRecording { path: recording, recording: opened_file, info, calibrated, .. } = opened;
    let depth = opened_file.len(opened_file.depth_topic()) > 0;
    let disparity = opened_file.len(topic::DISPARITY) > 0;
    let metric = calibrated.preparation.geometry(info).is_some();
    let streams = opened_file.about().map(|about| about.streams);
    let rectified_only = streams.is_some_and(|streams| streams.has(Stream::Rectified) && !streams.has_unrectified());
    let pictures = if rectified_only { Stream::Rectified } else { Stream::Raw };
    // the command that makes FILE-ENDING.mcap with these streams
    let recompute = |ending: &str, calibration: bool, numbers: &str| {
        let stem = recording.file_stem().unwrap_or_default().display();
        let word = |word: &str| remedy::Part::Word(word.to_owned());
        let [from, to] = [recording.display().to_string(), format!("{stem}-{ending}.mcap")];
        let mut parts = vec![
            word("recompute"),
            word(&console::quoted(&from)),
            remedy::Part::Option("output"),
            word(&console::quoted(&to)),
        ];
        if calibration {
            parts.extend([remedy::Part::Option("calibration"), word("FILE")]);
        }
        parts.extend([remedy::Part::Option("streams"), word(&format!("{pictures},{numbers}"))]);
        Remedy::Run(parts)
    };
    let recording = recording.clone();
    let uncalibrated =
        || MissingPart::Calibration { recording: recording.clone(), recompute: recompute("depth", true, "depth") };
    let without = |stream: Stream| {
        let recompute = recompute("again", false, if metric { "disparity,depth" } else { "disparity" });
        MissingPart::Result { recording: recording.clone(), stream, recompute }
    };
    match part {
        Part::Left | Part::Right | Part::Csv | Part::Json => None,
        Part::Rectified => {
            let same = calibrated.preparation.rectifier.is_none() && calibrated.preparation.scale == Scale::One;
            same.then(|| MissingPart::Rectified(recording.clone()))
        }
        Part::DispX256 | Part::Pfm | Part::Tiff => (!disparity).then(|| without(Stream::Disparity)),
        Part::Calibration => (!has.rig).then(uncalibrated),
        Part::DepthMm if depth => None,
        Part::DepthMm | Part::DepthM | Part::Ply if !metric => Some(uncalibrated()),
        Part::DepthM if disparity || depth && has_metres(opened) => None,
        Part::DepthM if depth => Some(MissingPart::Metres(recording)),
        Part::Ply if depth || disparity => None,
        Part::DepthMm | Part::DepthM | Part::Ply => Some(without(Stream::Depth)),
        Part::SideBySide | Part::TopBottom | Part::Anaglyph | Part::Mpo => {
            (!has.screen && !depth && !disparity).then(|| without(Stream::Disparity))
        }
    }
}
