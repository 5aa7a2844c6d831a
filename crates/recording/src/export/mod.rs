//! Export of a recording to files for other tools: images, depth, disparity, points, a table, the calibration, and a JSON file that
//! describes them. A stopped export is continued by the same command.

mod calibration_files;
mod folder;
mod frames_csv;
mod pair_files;
mod part;
mod plan;
mod recording_json;

pub use folder::UNFINISHED;
pub use part::{Part, Selection};

use super::read::Recording;
use super::unpack::Unpacker;
use super::{Packet, Progress, ReadError};
use crate::CalibratedRecording;
use folder::Folder;
use pair_files::{PairWriter, WrittenPair};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::path::Path;
use stereopsis_base::console::counted;
use stereopsis_base::files;
use stereopsis_calibration::Crop;
use stereopsis_frame::{MaxPixels, Pixels};

/// Options of an export.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExportOptions {
    /// Parts to write; `None` for all that the recording has.
    pub parts: Option<Vec<Part>>,
    /// Pairs to write.
    pub selection: Selection,
    /// Limit of pixels; larger images are not read.
    pub max_pixels: MaxPixels,
}

impl CalibratedRecording {
    /// Returns every part of an export, with the reason if the recording cannot provide it.
    pub fn parts(&self) -> Vec<(Part, Option<String>)> {
        parts(self)
    }

    /// Writes pairs as files into a folder.
    ///
    /// # Errors
    /// Errors of [`export`].
    pub fn export(&mut self, folder: &Path, options: &ExportOptions, progress: &Progress) -> anyhow::Result<Exported> {
        export(self, folder, options, progress)
    }
}

/// Outcome of an export.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct Exported {
    /// Number of pairs that were written.
    pub pairs: u64,
    /// Parts that were written.
    pub parts: Vec<Part>,
    /// Parts that the recording lacks, and how to get them, in sentences.
    pub missing: Vec<String>,
    /// Pairs that could not be read, by number, with the reasons.
    pub damaged: BTreeMap<u64, String>,
    /// Losses in sentences, each with the number of pairs concerned.
    pub warnings: BTreeMap<String, u64>,
}

impl Exported {
    /// Moves the parts of which no pair has a file from `parts` to `missing`. Fails where no pair can be read, or no part is left.
    fn leave_out_empty(&mut self, with_files: &[Part]) -> anyhow::Result<()> {
        if let Some((number, why)) = self.damaged.first_key_value().filter(|_| self.pairs == 0) {
            anyhow::bail!("no chosen pair can be read; pair {number}: {why}");
        }
        let is_empty = |part: &Part| !part.files().0.is_empty() && !with_files.contains(part);
        let (empty, parts): (Vec<_>, Vec<_>) = self.parts.iter().copied().partition(is_empty);
        let pairs = counted(self.pairs, "chosen pair");
        let why = |part: &Part| format!("{part}: the recording has none of it for {pairs}");
        let empty: Vec<_> = empty.iter().map(why).collect();
        if parts.is_empty() {
            anyhow::bail!("{}", empty.join("; "));
        }
        self.parts = parts;
        self.missing.extend(empty);
        Ok(())
    }
}

/// Returns each part, and why the recording lacks it and how to make it; `None` if it can be exported.
pub fn parts(opened: &CalibratedRecording) -> Vec<(Part, Option<String>)> {
    plan::all(opened, calibration_files::rig(&opened.info, &opened.calibrated).is_some())
}

/// Writes pairs of a recording as files into a folder that is new or empty, on all cores. In the folder of the same export that was
/// stopped before, it continues.
///
/// # Errors
/// No pair is chosen, the recording lacks a wanted part, or a file cannot be written; files that were written stay.
pub fn export(
    opened: &mut CalibratedRecording,
    folder: &Path,
    options: &ExportOptions,
    progress: &Progress,
) -> anyhow::Result<Exported> {
    let log_times: Vec<u64> = opened.recording.pairs().iter().map(|pair| pair.log_time_ns).collect();
    let numbers = options.selection.of(&log_times);
    if numbers.is_empty() {
        let (pairs, path) = (log_times.len(), opened.path.display());
        anyhow::bail!("{path}: none of its pairs is chosen (there are {pairs}); nothing to export");
    }
    let rig = calibration_files::rig(&opened.info, &opened.calibrated);
    let (parts, missing) = plan::parts(opened, rig.is_some(), options.parts.as_deref())?;
    let claimed = Folder::begin(folder, &folder::task(opened, &parts, &options.selection))?;
    let mut exported = Exported { parts, missing, ..Exported::default() };
    if let Some(rig) = rig.filter(|_| exported.parts.contains(&Part::Calibration)) {
        let crop = opened.recording.about().map_or(Crop::default(), |about| about.calibration.crop);
        for warning in calibration_files::write_files(folder, &rig, crop)? {
            exported.warnings.insert(warning, 0);
        }
    }
    let sets = recording_json::parameter_sets(&mut opened.recording);
    let writer = PairWriter {
        folder,
        is_resumed: claimed.is_resumed,
        parts: &exported.parts,
        preparation: &opened.calibrated.preparation,
        info: &opened.info,
        parameter_times_ns: sets.iter().map(|set| set.log_time_ns).collect(),
    };
    let unpacker = Unpacker::of(opened.recording.about(), Pixels::Color, options.max_pixels);
    let written = write_pairs(&mut opened.recording, &numbers, &unpacker, &writer, progress)?;
    if written.len() < numbers.len() {
        let (done, pairs, shown) = (written.len(), numbers.len(), folder.display());
        anyhow::bail!("stopped after {done} of {pairs} pairs; the same export goes on in {shown}");
    }
    let (mut lines, mut with_files) = (Vec::new(), Vec::new());
    for (number, pair) in written {
        match pair {
            Ok(WrittenPair { line, warnings, parts }) => {
                lines.push(line);
                with_files.extend(parts);
                for warning in warnings {
                    *exported.warnings.entry(warning).or_default() += 1;
                }
            }
            Err(why) => {
                exported.damaged.insert(number, why.to_string());
            }
        }
    }
    exported.pairs = lines.len() as u64;
    if let Err(nothing) = exported.leave_out_empty(&with_files) {
        claimed.finish(); // nothing is left to continue
        return Err(nothing.context(format!("{}: nothing was exported", opened.path.display())));
    }
    if exported.parts.contains(&Part::Csv) {
        files::write(&folder.join("frames.csv"), frames_csv::table(&lines).as_bytes())?;
    }
    if exported.parts.contains(&Part::Json) {
        let text = format!("{:#}\n", recording_json::describe(opened, &exported, &sets));
        files::write(&folder.join("recording.json"), text.as_bytes())?;
    }
    claimed.finish();
    Ok(exported)
}

/// Files or damage of each pair, by number.
type WrittenPairs = BTreeMap<u64, Result<WrittenPair, ReadError>>;

/// Writes the files of these pairs, or of the first ones if it is stopped. One thread at a time reads, all write.
fn write_pairs(
    recording: &mut Recording,
    numbers: &[u64],
    unpacker: &Unpacker,
    writer: &PairWriter,
    progress: &Progress,
) -> anyhow::Result<WrittenPairs> {
    progress.begin(numbers.len() as u64, 0);
    let read = |&k: &u64| (k, recording.packets_of_pair(k), recording.packets_of_result(k));
    let write = |(k, pair, result): (u64, Result<Vec<Packet>, ReadError>, _)| {
        let written = match pair.and_then(|packets| unpacker.pair(&packets)) {
            Ok(raw) => Ok(writer.write(k, raw, result)?),
            Err(why) => Err(why),
        };
        progress.done();
        Ok((k, written))
    };
    numbers.iter().take_while(|_| !progress.is_stopped()).map(read).par_bridge().map(write).collect()
}
