//! Folder of an export: empty at first, locked by one run, and continued after a run that was stopped.

use super::{ExportError, ExportOptions, Part, UNFINISHED};
use crate::CalibratedRecording;
use serde_json::{Value, json};
use std::io::{self, Read as _, Write as _};
use std::path::Path;
use stereopsis_base::files::{self, Growing, WriteError};

/// Folder of an export, locked by this run.
pub(super) struct Folder {
    marker: Growing,
    /// Whether an earlier run wrote some of the files; each of these is complete.
    pub(super) is_resumed: bool,
}

impl Folder {
    /// Makes the folder, or takes an empty one, or one with the same export unfinished. Fails where it has other content, or another
    /// run has locked it.
    pub(super) fn begin(folder: &Path, task: &Value) -> Result<Self, ExportError> {
        let refused = |why: &'static str| ExportError::Folder { folder: folder.to_owned(), why };
        let occupied = || refused("holds something already, and nothing is overwritten");
        files::make_folder(folder)?;
        let path = folder.join(UNFINISHED);
        let failed = |err: io::Error| ExportError::from(WriteError::new(&path, err));
        if !path.exists() && has_others(folder).map_err(failed)? {
            return Err(occupied());
        }
        let marker = Growing::open(&path).map_err(|err| match err.kind() {
            io::ErrorKind::WouldBlock => refused("is being written by another export"),
            _ => failed(err),
        })?;
        let mut handle = marker.handle().map_err(failed)?;
        let mut before = String::new();
        // a marker that is no text belongs to another program
        let is_text = handle.read_to_string(&mut before).is_ok();
        let task = format!("{task:#}\n");
        if before.is_empty() && is_text {
            if has_others(folder).map_err(failed)? {
                marker.remove();
                return Err(occupied());
            }
            handle.write_all(task.as_bytes()).map_err(failed)?;
            return Ok(Self { marker, is_resumed: false });
        }
        if before != task {
            return Err(refused("has the beginning of another export (see unfinished-export.json there)"));
        }
        files::remove_drafts(folder).map_err(failed)?;
        Ok(Self { marker, is_resumed: true })
    }

    /// Ends the export as complete.
    pub(super) fn finish(self) {
        self.marker.remove();
    }
}

/// Returns the description of an export; equal for equal commands.
pub(super) fn task(opened: &CalibratedRecording, parts: &[Part], options: &ExportOptions) -> Value {
    let selection = &options.selection;
    let pairs = opened.recording.pairs();
    json!({
        "program": concat!("stereopsis ", env!("CARGO_PKG_VERSION")),
        "unfinished": "the same command goes on with this export; delete the folder to begin anew",
        "recording": {
            "name": opened.path.file_name().unwrap_or_default().to_string_lossy(),
            "pairs": pairs.len(),
            "first_log_time_ns": pairs.first().map(|pair| pair.log_time_ns),
            "last_log_time_ns": pairs.last().map(|pair| pair.log_time_ns),
            "geometry": opened.calibrated.preparation.geometry(&opened.info),
        },
        "what": parts.iter().map(|part| part.word()).collect::<Vec<_>>(),
        "axes": options.axes.word(),
        "screen_px": options.screen_px,
        "from": selection.from,
        "count": selection.count,
        "from_s": selection.from_s,
        "to_s": selection.to_s,
        "every": selection.every,
    })
}

/// Returns whether the folder contains anything but the marker.
fn has_others(folder: &Path) -> io::Result<bool> {
    for entry in std::fs::read_dir(folder)? {
        if entry?.file_name() != UNFINISHED {
            return Ok(true);
        }
    }
    Ok(false)
}
