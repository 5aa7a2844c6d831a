//! Export of a recording to files for other tools: images, depth, disparity, points, a table, the calibration, and a JSON file that
//! describes them. A stopped export is continued by the same command.

mod calibration_files;
mod error;
mod exported;
mod folder;
mod frames_csv;
mod pair_files;
mod part;
mod plan;
mod recording_json;
mod screen;

pub use error::{ExportError, MissingPart};
pub use exported::Exported;
pub use part::{Part, Selection, UNFINISHED};

use super::read::Recording;
use super::unpack::Unpacker;
use super::{Packet, Progress, ReadError};
use crate::CalibratedRecording;
use crate::pack::beyond_range;
use folder::Folder;
use pair_files::{PairWriter, WrittenPair};
use rayon::prelude::*;
use recording_json::GeometryFrom;
use screen::Screen;
use std::collections::BTreeMap;
use std::path::Path;
use stereopsis_base::files;
use stereopsis_calibration::Crop;
use stereopsis_frame::{MaxPixels, Pixels, RawPair};
use stereopsis_images::Axes;

/// Options of an export.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExportOptions {
    /// Parts to write; `None` for all that the recording has.
    pub parts: Option<Vec<Part>>,
    /// Pairs to write.
    pub selection: Selection,
    /// Axes of points.
    pub axes: Axes,
    /// Disparity in the plane of the screen where both views are looked at, px; `None` for that of the nearest things.
    pub screen_px: Option<i32>,
    /// Limit of pixels; larger images are not read.
    pub max_pixels: MaxPixels,
}

impl CalibratedRecording {
    /// Returns every part of an export, with the reason if the recording cannot provide it.
    pub fn parts(&self) -> Vec<(Part, Option<MissingPart>)> {
        let has = plan::Has { rig: calibration_files::rig(&self.info, &self.calibrated).is_some(), screen: false };
        Part::ALL.iter().map(|&part| (part, plan::why_not(self, has, part))).collect()
    }

    /// Writes pairs as files into a folder that is new or empty, on all cores. In the folder of the same export that was
    /// stopped before, it continues.
    ///
    /// # Errors
    /// No pair is chosen, the recording lacks a wanted part, or a file cannot be written; files that were written stay.
    pub fn export(
        &mut self,
        folder: &Path,
        options: &ExportOptions,
        progress: &Progress,
    ) -> Result<Exported, ExportError> {
        let log_times: Vec<u64> = self.recording.pairs().iter().map(|pair| pair.log_time_ns).collect();
        let numbers = options.selection.of(&log_times);
        if numbers.is_empty() {
            return Err(ExportError::NoneChosen { recording: self.path.clone(), pairs: log_times.len() });
        }
        let rig = calibration_files::rig(&self.info, &self.calibrated);
        let has = plan::Has { rig: rig.is_some(), screen: options.screen_px.is_some() };
        let (parts, missing) = plan::parts(self, has, options.parts.as_deref())?;
        let claimed = Folder::begin(folder, &folder::task(self, &parts, options))?;
        let mut exported = Exported { parts, missing, ..Exported::default() };
        exported.screen_px = options.screen_px.filter(|_| exported.has_views());
        if exported.has_views() && exported.screen_px.is_none() {
            let geometry = self.calibrated.preparation.geometry(&self.info);
            let geometry = geometry.map(|geometry| geometry.scaled(self.calibrated.preparation.scale.factor()));
            let found = Screen::of(&mut self.recording, &numbers, geometry.as_ref());
            exported.screen_px = found.map(|found| found.screen_px);
            let remark = found.and_then(|found| found.remark(self.info.width));
            exported.warnings.extend(remark.map(|remark| (remark, 0)));
        }
        if let Some(rig) = rig.filter(|_| exported.parts.contains(&Part::Calibration)) {
            let crop = self.recording.about().map_or(Crop::default(), |about| about.calibration.crop);
            for warning in calibration_files::write_files(folder, &rig, crop)? {
                exported.warnings.insert(warning, 0);
            }
        }
        let sets = recording_json::parameter_sets(&mut self.recording);
        let writer = PairWriter {
            folder,
            is_resumed: claimed.is_resumed,
            parts: &exported.parts,
            preparation: &self.calibrated.preparation,
            info: &self.info,
            axes: options.axes,
            screen_px: exported.screen_px,
            parameter_times_ns: sets.iter().map(|set| set.log_time_ns).collect(),
        };
        let unpacker = Unpacker::of(self.recording.about(), Pixels::Color, options.max_pixels);
        let written = write_pairs(&mut self.recording, &numbers, &unpacker, &writer, progress)?;
        if written.len() < numbers.len() {
            let (done, pairs, folder) = (written.len(), numbers.len(), folder.to_owned());
            return Err(ExportError::Stopped { done, pairs, folder });
        }
        let (mut lines, mut with_files, mut geometries) = (Vec::new(), Vec::new(), Vec::<GeometryFrom>::new());
        let (mut depth_shares, mut far) = ([0.0; 2], 0);
        for (number, pair) in written {
            match pair {
                Ok(WrittenPair { line, warnings, parts, geometry, depth_shares: [there, beyond] }) => {
                    depth_shares = [depth_shares[0] + there, depth_shares[1] + beyond];
                    far += u64::from(beyond > 0.0);
                    if geometries.last().is_none_or(|last| last.geometry != geometry) {
                        geometries.push(GeometryFrom { pair: number, geometry });
                    }
                    lines.push(line);
                    with_files.extend(parts);
                    for warning in warnings {
                        *exported.warnings.entry(warning).or_default() += 1;
                    }
                }
                Err(why) => {
                    exported.damaged.insert(number, why);
                }
            }
        }
        exported.pairs = lines.len() as u64;
        let share = depth_shares[1] / depth_shares[0].max(f64::MIN_POSITIVE);
        let loss = beyond_range(share, exported.parts.contains(&Part::DepthM));
        exported.warnings.extend(loss.filter(|_| exported.parts.contains(&Part::DepthMm)).map(|text| (text, far)));
        if let Err(nothing) = exported.leave_out_empty(&self.path, &with_files) {
            claimed.finish(); // nothing is left to continue
            return Err(nothing);
        }
        if exported.parts.contains(&Part::Csv) {
            files::write(&folder.join("frames.csv"), frames_csv::table(&lines).as_bytes())?;
        }
        if exported.parts.contains(&Part::Json) {
            let text = format!("{:#}\n", recording_json::describe(self, &exported, &sets, &geometries));
            files::write(&folder.join("recording.json"), text.as_bytes())?;
        }
        claimed.finish();
        Ok(exported)
    }
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
) -> Result<WrittenPairs, ExportError> {
    progress.begin(numbers.len() as u64, 0);
    let read =
        |&k: &u64| (k, recording.packets_of_pair(k), recording.cameras_of_pair(k), recording.packets_of_result(k));
    let write = |(k, pair, cameras, result): (u64, Result<Vec<Packet>, ReadError>, Option<_>, _)| {
        let written = match pair.and_then(|packets| Ok(unpacker.pair(&packets)?)) {
            Ok(raw) => Ok(writer.write(k, RawPair { cameras: cameras.or(raw.cameras), ..raw }, result)?),
            Err(why) => Err(why),
        };
        progress.done();
        Ok((k, written))
    };
    numbers.iter().take_while(|_| !progress.is_stopped()).map(read).par_bridge().map(write).collect()
}
