//! Opens the files of a recording: one, or those in a folder of `ros2 bag record`.

use super::file::RecordingFile;
use super::index::FileIndex;
use super::{limits, scan};
use crate::capture::{bag_files, unread_recording};
use crate::console;
use crate::files;
use std::io;
use std::path::Path;

/// Opens all files of a recording and builds their index. An unreadable file among several is reported as damage.
pub(super) fn open(path: &Path) -> io::Result<(RecordingFile, FileIndex)> {
    let (mut file, mut index) = (RecordingFile::new(path), FileIndex::default());
    let Some(parts) = bag_files(path) else {
        add(path, &mut file, &mut index)?;
        return Ok((file, index));
    };
    if parts.len() > limits::MAX_FILES {
        return Err(limits::exceeded("files", limits::MAX_FILES));
    }
    let mut why = "its metadata.yaml names no files".to_owned();
    for part in &parts {
        let name = console::foreign(&part.file_name().unwrap_or_default().to_string_lossy());
        index.begin_file(file.paths().len());
        let added = add(part, &mut file, &mut index);
        let damage = added.err().map(|err| files::read_cause(part, &err)).or_else(|| index.unfinished.take());
        if let Some(damage) = damage {
            why = format!("{name}: {damage}");
            index.add_damage(why.clone());
        }
    }
    if index.channels.is_empty() { Err(io::Error::other(why)) } else { Ok((file, index)) }
}

fn add(path: &Path, file: &mut RecordingFile, index: &mut FileIndex) -> io::Result<()> {
    if let Some(why) = unread_recording(path).filter(|_| path.exists()) {
        return Err(io::Error::other(why));
    }
    let (range, damage) = file.open(path)?;
    if let Some(damage) = damage {
        index.add_damage(damage);
    }
    let magic = file.read_at(range.start, mcap::MAGIC.len() as u64)?;
    if magic == mcap::MAGIC {
        return scan::scan(file, range, index);
    }
    Err(io::Error::other(if range.is_empty() {
        "the file is empty: its recording was stopped before anything was written"
    } else {
        "it is no MCAP file"
    }))
}
