//! Files of a recording that is split: their names, and the metadata by which they are recognised.
//!
//! The first file has the name of the recording, `walk.mcap`, the others follow it: `walk_part002.mcap`, `walk_part003.mcap`, …, which
//! sort. Each has a metadata record at its start with the recording and its number, and one at its end if another file follows.

use mcap::records::Metadata;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};
use stereopsis_base::files::folder_of;

/// Name of the metadata record.
const METADATA_NAME: &str = "stereopsis_part";
const RECORDING: &str = "recording";
const NUMBER: &str = "part";
const GOES_ON: &str = "goes_on";

/// Place of a file in its recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartNote {
    /// Identity of the recording.
    pub(crate) recording: String,
    /// Number of the file, from 1.
    pub(crate) number: u32,
    /// Whether another file follows.
    pub(crate) goes_on: bool,
}

impl PartNote {
    /// Returns the note of the first file of a new recording.
    pub(crate) fn first(now: SystemTime) -> Self {
        // two recorders on one machine differ in their process or their time
        let since_1970 = now.duration_since(UNIX_EPOCH).unwrap_or_default();
        let recording = format!("{:x}-{:x}", since_1970.as_nanos(), std::process::id());
        Self { recording, number: 1, goes_on: false }
    }

    /// Returns the note of the next file.
    pub(crate) fn next(&self) -> Self {
        Self { number: self.number + 1, ..self.clone() }
    }

    pub(crate) fn to_metadata(&self) -> Metadata {
        let Self { recording, number, goes_on } = self;
        let entries = [(RECORDING, recording.clone()), (NUMBER, number.to_string()), (GOES_ON, goes_on.to_string())];
        let metadata = entries.map(|(key, value)| (key.to_owned(), value)).into();
        Metadata { name: METADATA_NAME.to_owned(), metadata }
    }

    /// Returns the note in a metadata record; `None` in another one.
    pub(crate) fn of(name: &str, entries: &BTreeMap<String, String>) -> Option<Self> {
        let entry = |key| entries.get(key).filter(|_| name == METADATA_NAME);
        let number = entry(NUMBER)?.parse().ok().filter(|&number| number > 0)?;
        Some(Self { recording: entry(RECORDING)?.clone(), number, goes_on: entry(GOES_ON)? == "true" })
    }
}

/// Returns the name of a file of the recording whose first file this is.
pub(crate) fn name(first: &Path, number: u32) -> PathBuf {
    if number == 1 { first.to_owned() } else { suffixed(first, &format!("_part{number:03}")) }
}

/// Returns a path with a suffix before its extension.
pub(crate) fn suffixed(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.file_stem().unwrap_or_default().to_owned();
    name.push(suffix);
    let mut suffixed = path.with_file_name(name);
    if let Some(extension) = path.extension() {
        suffixed.as_mut_os_string().push(".");
        suffixed.as_mut_os_string().push(extension);
    }
    suffixed
}

/// Returns the files beside a first one that have names of its further parts, with their numbers, in order.
pub(crate) fn beside(first: &Path) -> Vec<(u32, PathBuf)> {
    let stem = first.file_stem().unwrap_or_default().to_string_lossy();
    let number = |entry: std::io::Result<std::fs::DirEntry>| {
        let found = entry.ok()?.file_name();
        let shown = found.to_string_lossy();
        let digits = shown.strip_prefix(&*stem)?.strip_prefix("_part")?.split('.').next()?;
        let number = digits.parse().ok().filter(|&number| number > 1)?;
        let path = name(first, number);
        (path.file_name() == Some(&*found)).then_some((number, path))
    };
    let mut found: Vec<_> = folder_of(first).read_dir().into_iter().flatten().filter_map(number).collect();
    found.sort_unstable();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_have_names_that_sort_and_are_found_again() {
        let folder = tempfile::tempdir().unwrap();
        let first = folder.path().join("desk.left.mcap");
        let names: Vec<_> = [1, 2, 10, 100].map(|number| name(&first, number)).into();
        assert!(names.is_sorted() && names[1].ends_with("desk.left_part002.mcap"), "{names:?}");
        let others = ["desk.left_part1.mcap", "desk.left_part2.mcap", "desk.left_part001.mcap", "desk_part002.mcap"];
        for path in names.iter().cloned().chain(others.map(|name| folder.path().join(name))) {
            std::fs::write(path, "").unwrap();
        }
        let found: Vec<_> = beside(&first).into_iter().map(|(number, _)| number).collect();
        assert_eq!(found, [2, 10, 100], "others are no parts of this one");
    }

    #[test]
    fn note_survives_its_record() {
        let note = PartNote { number: 7, goes_on: true, ..PartNote::first(UNIX_EPOCH) };
        let Metadata { name, metadata } = note.to_metadata();
        assert_eq!(PartNote::of(&name, &metadata), Some(note));
        assert_eq!(PartNote::of("rosbag2", &metadata), None);
    }
}
