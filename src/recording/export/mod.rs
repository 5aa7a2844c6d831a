//! A recording as files that every tool reads: pictures, numbers, points, a table, the calibration, and one JSON file that
//! says what all of them mean.

mod about;
mod calibration;
mod folder;
mod frame;
mod part;
mod plan;
mod table;

pub use part::{Part, Selection};

use super::read::{ReadError, Recording};
use super::unpack::Unpacker;
use crate::capture::{MaxPixels, SourceInfo};
use crate::files::{self, WriteError};
use crate::rig::Calibrated;
use folder::Folder;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// Why a recording was not exported, or not to its end.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The folder holds something, or cannot be made.
    #[error("{0}")]
    Folder(String),
    /// The recording has nothing of what is wanted.
    #[error("{0}")]
    Missing(String),
    /// It cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A file cannot be written.
    #[error(transparent)]
    Write(#[from] crate::export::ExportError),
    /// Neither can one that is no picture, or a folder.
    #[error(transparent)]
    File(#[from] WriteError),
}

/// What is exported and where to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExportOptions {
    /// What; `None` for all that the recording has.
    pub parts: Option<Vec<Part>>,
    /// Of which pairs.
    pub selection: Selection,
    /// Larger pictures are not read.
    pub max_pixels: MaxPixels,
}

/// What an export wrote.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct Exported {
    /// Pairs that were written.
    pub pairs: u64,
    /// What was written of them.
    pub parts: Vec<Part>,
    /// What the recording does not have, and how to get it, in sentences.
    pub missing: Vec<String>,
    /// Pairs that could not be read, each with why.
    pub damaged: BTreeMap<u64, String>,
    /// What was lost on the way, in sentences, each with how many pairs it concerns.
    pub warnings: BTreeMap<String, u64>,
}

/// A recording that is open, and how its pairs become the ones that were matched.
pub struct Opened<'a> {
    /// Its file, for words.
    pub path: &'a Path,
    /// The file.
    pub recording: &'a mut Recording,
    /// What is known of it as a source.
    pub info: &'a SourceInfo,
    /// Its calibration.
    pub calibrated: &'a Calibrated,
}

/// Hears how far an export is.
pub trait Progress: Sync {
    /// So many pairs are exported.
    fn begin(&self, pairs: u64);
    /// One of them is done.
    fn done(&self);
}

/// Writes pairs of a recording as files into a folder that is new or empty, with all cores. A folder in which the same export was
/// stopped is taken up again.
///
/// # Errors
/// [`ExportError`]; files that were written stay.
pub fn export(
    opened: &mut Opened,
    folder: &Path,
    options: &ExportOptions,
    progress: &dyn Progress,
) -> Result<Exported, ExportError> {
    let log_times: Vec<u64> = opened.recording.pairs().iter().map(|pair| pair.log_time_ns).collect();
    let places = options.selection.of(&log_times);
    if places.is_empty() {
        let (pairs, path) = (log_times.len(), opened.path.display());
        return Err(ExportError::Missing(format!("{path}: none of its {pairs} pairs is chosen; nothing to export")));
    }
    let rig = calibration::rig(opened.info, opened.calibrated);
    let (parts, missing) = plan::parts(opened, rig.is_some(), options.parts.as_deref())?;
    let place = Folder::begin(folder, &folder::task(opened, &parts, &options.selection))?;
    let mut exported = Exported { parts, missing, ..Exported::default() };
    if let Some(rig) = rig.filter(|_| exported.parts.contains(&Part::Calibration)) {
        let alpha = opened.recording.about().map_or(0.0, |about| about.calibration.alpha);
        for warning in calibration::write_files(folder, &rig, alpha)? {
            exported.warnings.insert(warning, 0);
        }
    }
    let sets = about::parameter_sets(opened.recording);
    let task = Task { folder, is_resumed: place.is_resumed, places: &places, max_pixels: options.max_pixels };
    let rows = write_pairs(opened, &task, &sets, &mut exported, progress)?;
    if exported.parts.contains(&Part::Csv) {
        files::write(&folder.join("frames.csv"), table::table(&rows).as_bytes())?;
    }
    if exported.parts.contains(&Part::Json) {
        let text = format!("{:#}\n", about::describe(opened, &exported, &sets));
        files::write(&folder.join("recording.json"), text.as_bytes())?;
    }
    place.finish();
    Ok(exported)
}

/// Which pairs are written where.
struct Task<'a> {
    folder: &'a Path,
    /// Some of the files are there already.
    is_resumed: bool,
    /// Their places in the recording.
    places: &'a [u64],
    max_pixels: MaxPixels,
}

/// Writes the files of these pairs. One thread at a time reads, all write.
fn write_pairs(
    opened: &mut Opened,
    task: &Task,
    sets: &[about::ParameterSet],
    exported: &mut Exported,
    progress: &dyn Progress,
) -> Result<Vec<table::Row>, ExportError> {
    let Opened { recording, info, calibrated, .. } = opened;
    let &Task { folder, is_resumed, places, max_pixels } = task;
    let unpacker = Unpacker::of(recording.about(), true).with_max_pixels(max_pixels);
    let parameter_times_ns: Vec<u64> = sets.iter().map(|set| set.log_time_ns).collect();
    let (parts, recipe) = (&exported.parts[..], &calibrated.recipe);
    let writer = frame::Writer { folder, is_resumed, parts, recipe, info, parameter_times_ns: &parameter_times_ns };
    progress.begin(places.len() as u64);
    let failed = AtomicBool::new(false);
    let read = |&place: &u64| (place, recording.packets_of_pair(place), recording.packets_of_result(place));
    let written = places
        .iter()
        .map(read)
        .take_while(|_| !failed.load(Ordering::Relaxed))
        .par_bridge()
        .map(|(place, pair, result)| {
            let raw = pair
                .map_err(|err| err.to_string())
                .and_then(|pair| unpacker.pair(&pair).map_err(|err| err.to_string()));
            let written = match raw {
                Ok(raw) => writer.write(place, raw, result).map(Ok),
                Err(why) => Ok(Err(why)),
            };
            failed.fetch_or(written.is_err(), Ordering::Relaxed);
            progress.done();
            written.map(|written| (place, written))
        })
        .collect::<Result<Vec<_>, ExportError>>()?;
    let mut rows = Vec::new();
    for (place, written) in written {
        match written {
            Ok(frame::Written { row, warnings }) => {
                rows.push(row);
                for warning in warnings {
                    *exported.warnings.entry(warning).or_default() += 1;
                }
            }
            Err(why) => {
                exported.damaged.insert(place, why);
            }
        }
    }
    rows.sort_by_key(|row| row.place);
    exported.pairs = rows.len() as u64;
    Ok(rows)
}
