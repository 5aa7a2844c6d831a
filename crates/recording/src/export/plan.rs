//! Choice of the parts to export: the parts that a recording can give, and how to get the parts that it lacks.

use super::Part;
use crate::CalibratedRecording;
use crate::{Stream, topic};
use stereopsis_base::console;
use stereopsis_frame::Scale;

/// Returns the parts to export, and sentences on those left out; without `wanted`, all that the recording has. Fails where a wanted
/// part cannot be exported.
pub(super) fn parts(
    opened: &CalibratedRecording,
    has_rig: bool,
    wanted: Option<&[Part]>,
) -> anyhow::Result<(Vec<Part>, Vec<String>)> {
    let why_not = |part: Part| why_not(opened, has_rig, part);
    if let Some(wanted) = wanted {
        let refused = wanted.iter().find_map(|&part| Some(format!("--what {part}: {}", why_not(part)?)));
        return match refused {
            Some(text) => Err(anyhow::Error::msg(text)),
            None => Ok((wanted.to_vec(), Vec::new())),
        };
    }
    let (mut parts, mut missing) = (Vec::new(), Vec::new());
    for &part in Part::ALL {
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

pub(super) fn all(opened: &CalibratedRecording, has_rig: bool) -> Vec<(Part, Option<String>)> {
    Part::ALL.iter().map(|&part| (part, why_not(opened, has_rig, part))).collect()
}

/// Returns why a recording lacks a part, and how to make it; `None` if it can be exported.
fn why_not(opened: &CalibratedRecording, has_rig: bool, part: Part) -> Option<String> {
    let CalibratedRecording { path, recording, info, calibrated, .. } = opened;
    let (shown, stem) = (path.display(), path.file_stem().unwrap_or_default().display());
    let named = |end: &str| console::quoted(&format!("{stem}-{end}.mcap"));
    let (word, again, with_depth) = (console::quoted(&shown.to_string()), named("again"), named("depth"));
    let depth = recording.len(topic::DEPTH) > 0;
    let disparity = recording.len(topic::DISPARITY) > 0;
    let metric = calibrated.preparation.geometry(info).is_some();
    let rectified_only =
        recording.about().is_some_and(|about| about.streams.has(Stream::Rectified) && !about.streams.has_unrectified());
    let pictures = if rectified_only { Stream::Rectified } else { Stream::Raw };
    let numbers = if metric { "disparity,depth" } else { "disparity" };
    let recompute = format!("`stereopsis recompute {word} -o {again} --streams {pictures},{numbers}`");
    let uncalibrated = || {
        format!(
            "{shown} has no calibration, and so neither depth nor points: `stereopsis recompute {word} -o {with_depth} \
             --calibration FILE --streams {pictures},depth` adds both"
        )
    };
    match part {
        Part::Left | Part::Right | Part::Csv | Part::Json => None,
        Part::Rectified => {
            let same = calibrated.preparation.rectifier.is_none() && calibrated.preparation.scale == Scale::One;
            same.then(|| {
                format!("{shown} has no calibration to rectify with: what is matched is left and right as they are")
            })
        }
        Part::DepthMm if depth => None,
        Part::DepthMm if !metric => Some(uncalibrated()),
        Part::DepthMm => Some(format!("{shown} has no depth: {recompute} computes it")),
        Part::DispX256 | Part::Pfm | Part::Tiff => {
            (!disparity).then(|| format!("{shown} has no disparity: {recompute} computes it"))
        }
        Part::Ply if !metric => Some(uncalibrated()),
        Part::Ply if depth || disparity => None,
        Part::Ply => Some(format!("{shown} has no depth: {recompute} computes it")),
        Part::Calibration => (!has_rig).then(uncalibrated),
    }
}
