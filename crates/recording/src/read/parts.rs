//! Opens the files of a recording: one, those of a recording that was split, or those in a folder of `ros2 bag record`.

use super::file::{RecordingFile, shown};
use super::index::FileIndex;
use super::records::{self, RECORD_HEADER};
use super::{limits, scan};
use crate::error::{Damage, OpenError};
use crate::part::{self, PartNote};
use mcap::records::op;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use stereopsis_frame::Cause;
use stereopsis_frame::source::{UnreadRecording, bag_files};

/// Number of records at the start of a file among which its place in a recording is searched.
const HEAD_RECORDS: usize = 8;

/// Opens all files of a recording and builds their index. An unreadable file among several is reported as damage.
pub(super) fn open(path: &Path) -> Result<(RecordingFile, FileIndex), OpenError> {
    let (mut file, mut index) = (RecordingFile::new(path), FileIndex::default());
    let Some(parts) = bag_files(path) else {
        add(path, &mut file, &mut index)?;
        if let Some(first) = index.part.take_if(|note| note.number == 1) {
            add_further(path, first, &mut file, &mut index);
        }
        return Ok((file, index));
    };
    if parts.len() > limits::MAX_FILES {
        return Err(limits::exceeded("files", limits::MAX_FILES));
    }
    let mut why = OpenError::NoFiles;
    for part in &parts {
        if let Some(damage) = add_named(part, &mut file, &mut index).map(Arc::new) {
            index.add_damage(Arc::clone(&damage));
            why = OpenError::LastFile(damage);
        }
    }
    if index.channels.is_empty() { Err(why) } else { Ok((file, index)) }
}

/// Adds the further files of a recording that was split, which lie beside its first one. Others of such names are left alone.
fn add_further(path: &Path, first: PartNote, file: &mut RecordingFile, index: &mut FileIndex) {
    let mut newest = first;
    for (number, part) in part::beside(path) {
        match note_of(&part) {
            Ok(Some(note)) if note.recording == newest.recording && note.number == number => {}
            Ok(_) => continue,
            Err(err) => {
                // a file that the recording does not tell of may be any other one
                if newest.goes_on && number == newest.number + 1 {
                    index.add_damage(in_file(&part, err));
                    newest = PartNote { number, goes_on: false, ..newest };
                }
                continue;
            }
        }
        if file.paths().len() == limits::MAX_FILES {
            return index.add_damage(Damage::FollowingFiles { file: shown(&part), limit: limits::MAX_FILES });
        }
        if let Some(unfinished) = index.unfinished.take() {
            // a damaged record hides the end of the file before
            index.add_damage(in_file(&part::name(path, newest.number), unfinished));
        }
        (newest.number + 1..number).for_each(|missing| index.add_damage(is_missing(&part::name(path, missing))));
        if let Some(damage) = add_named(&part, file, index) {
            index.add_damage(damage);
        }
        newest = PartNote { number, ..index.part.take().unwrap_or(newest) };
    }
    if newest.goes_on {
        index.add_damage(is_missing(&part::name(path, newest.number + 1)));
    }
}

fn is_missing(part: &Path) -> Damage {
    Damage::NoFile { file: shown(part), is_there: part.exists() }
}

fn in_file(part: &Path, why: impl Into<Cause>) -> Damage {
    Damage::File { file: shown(part), why: why.into() }
}

/// Returns the place of a file in a recording of several; `None` for other files.
fn note_of(path: &Path) -> Result<Option<PartNote>, OpenError> {
    let mut file = RecordingFile::new(path);
    let Range { start, end } = begin(path, &mut file)?.0;
    let mut at = start + mcap::MAGIC.len() as u64;
    for _ in 0..HEAD_RECORDS {
        let header = file.read_at(at, RECORD_HEADER)?;
        let Some((opcode, length)) = records::record_header(&header).filter(|(_, length)| *length <= end - at) else {
            break;
        };
        if opcode == op::METADATA && length <= limits::MAX_PART_NOTE_BYTES {
            let record = file.read_at(at + RECORD_HEADER, length)?;
            let note = records::metadata(&record).and_then(|(name, entries)| PartNote::of(&name, &entries));
            if note.is_some() {
                return Ok(note);
            }
        }
        at += RECORD_HEADER + length;
    }
    Ok(None)
}

/// Adds one of several files. Returns the damage that ended it, with its name.
fn add_named(part: &Path, file: &mut RecordingFile, index: &mut FileIndex) -> Option<Damage> {
    index.begin_file(file.paths().len());
    match add(part, file, index) {
        Err(err) => Some(in_file(part, err)),
        Ok(()) => index.unfinished.take().map(|unfinished| in_file(part, unfinished)),
    }
}

fn add(path: &Path, file: &mut RecordingFile, index: &mut FileIndex) -> Result<(), OpenError> {
    let (range, damage) = begin(path, file)?;
    if let Some(damage) = damage {
        index.add_damage(damage);
    }
    match file.last_db3() {
        Some(base) => {
            base.index(range.start, index)?;
            let beside = |ending| {
                let mut name = path.as_os_str().to_owned();
                name.push(ending);
                PathBuf::from(name)
            };
            let has_bytes = |journal: &PathBuf| journal.metadata().is_ok_and(|metadata| metadata.len() > 0);
            if let Some(journal) = ["-wal", "-journal"].map(beside).into_iter().find(has_bytes) {
                index.add_damage(Damage::Journal { journal, path: path.to_owned() });
            }
            Ok(())
        }
        None => scan::scan(file, range, index),
    }
}

/// Opens a file. Returns the offsets of its first byte and behind its last one, and damage while unpacking.
fn begin(path: &Path, file: &mut RecordingFile) -> Result<(Range<u64>, Option<Damage>), OpenError> {
    if let Some(why) = UnreadRecording::of(path).filter(|_| path.exists()) {
        return Err(OpenError::Kind(why.into()));
    }
    let (range, damage) = file.open(path)?;
    let magic = file.read_at(range.start, mcap::MAGIC.len() as u64)?;
    if magic == mcap::MAGIC || file.last_db3().is_some() {
        return Ok((range, damage));
    }
    Err(if range.is_empty() { OpenError::Empty } else { OpenError::NoMcap })
}
