//! Outcome of an export.

use super::{ExportError, MissingPart, Part};
use crate::ReadError;
use serde::Serializer;
use std::collections::BTreeMap;
use std::path::Path;

/// Outcome of an export.
#[derive(Debug, Default, serde::Serialize)]
pub struct Exported {
    /// Number of pairs that were written.
    pub pairs: u64,
    /// Parts that were written.
    pub parts: Vec<Part>,
    /// Disparity in the plane of the screen of both views, px; `None` without such files.
    pub screen_px: Option<i32>,
    /// Parts that the recording lacks, and how to get them.
    #[serde(serialize_with = "texts")]
    pub missing: Vec<MissingPart>,
    /// Pairs that could not be read, by number, with the reasons.
    #[serde(serialize_with = "texts_by_number")]
    pub damaged: BTreeMap<u64, ReadError>,
    /// Losses in sentences, each with the number of pairs concerned.
    pub warnings: BTreeMap<String, u64>,
}

fn texts<S: Serializer>(missing: &[MissingPart], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(missing.iter().map(ToString::to_string))
}

fn texts_by_number<S: Serializer>(damaged: &BTreeMap<u64, ReadError>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(damaged.iter().map(|(number, why)| (number, why.to_string())))
}

impl Exported {
    /// Returns whether both views are written in one image.
    pub(super) fn has_views(&self) -> bool {
        self.parts.iter().any(|part| part.view().is_some())
    }

    /// Moves the parts of which no pair has a file from `parts` to `missing`. Fails where no pair of the recording can be read, or no part
    /// is left.
    pub(super) fn leave_out_empty(&mut self, recording: &Path, with_files: &[Part]) -> Result<(), ExportError> {
        let recording = recording.to_owned();
        if self.pairs == 0
            && let Some((number, why)) = self.damaged.pop_first()
        {
            return Err(ExportError::Unreadable { recording, number, why });
        }
        let is_empty = |part: &Part| !part.files().0.is_empty() && !with_files.contains(part);
        let (empty, parts): (Vec<_>, Vec<_>) = self.parts.iter().copied().partition(is_empty);
        let missing = empty.into_iter().map(|part| MissingPart::OfPairs { part, pairs: self.pairs });
        if parts.is_empty() {
            return Err(ExportError::Empty { recording, missing: missing.collect() });
        }
        self.missing.extend(missing);
        self.parts = parts;
        Ok(())
    }
}
