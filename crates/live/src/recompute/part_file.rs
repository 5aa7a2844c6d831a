//! File of the new recording while it is unfinished, under the name [`part_name`].

use super::error::RecomputeError;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime};
use stereopsis_base::files::{Growing, WriteError};
use stereopsis_recording::Format;
use stereopsis_recording::write::{Compression, McapFile};

/// Interval of flushes: a killed program loses at most the packets of this time.
const FLUSH_INTERVAL: Duration = Duration::from_millis(250);

/// Returns the name of a recording until it is finished.
pub(crate) fn part_name(output: &Path) -> PathBuf {
    with_suffix(output, ".part")
}

pub(super) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    name.into()
}

/// Refuses an output that exists, such as the input.
pub(super) fn check_names(input: &Path, output: &Path) -> Result<(), RecomputeError> {
    let same = std::fs::canonicalize(output).is_ok_and(|o| std::fs::canonicalize(input).is_ok_and(|i| i == o));
    if same { Err(RecomputeError::OutputIsInput(output.to_owned())) } else { check_is_free(output) }
}

pub(super) fn check_is_free(output: &Path) -> Result<(), RecomputeError> {
    if output.symlink_metadata().is_ok() { Err(RecomputeError::Exists(output.to_owned())) } else { Ok(()) }
}

pub(super) fn open_locked(path: &Path) -> Result<Growing, RecomputeError> {
    Growing::open(path).map_err(|err| match err.kind() {
        io::ErrorKind::WouldBlock => RecomputeError::Locked(path.to_owned()),
        _ => RecomputeError::Begin(WriteError::new(path, err)),
    })
}

/// Unfinished recording, locked.
pub(super) struct PartFile {
    pub(super) file: McapFile,
    pub(super) growing: Growing,
    written: Arc<AtomicU64>,
    flush_due: Instant,
}

impl PartFile {
    /// Begins an empty file that will have the name `output`.
    pub(super) fn begin(growing: Growing, output: &Path, format: Format, compression: Compression) -> io::Result<Self> {
        let written = Arc::<AtomicU64>::default();
        let sink = Box::new(growing.handle()?);
        let name = output.file_name().unwrap_or_default().to_string_lossy();
        let file = McapFile::begin(sink, &name, (format, compression), None, Arc::clone(&written))?;
        Ok(Self { file, growing, written, flush_due: Instant::now() + FLUSH_INTERVAL })
    }

    pub(super) fn flush_if_due(&mut self) -> io::Result<()> {
        if Instant::now() < self.flush_due {
            return Ok(());
        }
        self.flush_due = Instant::now() + FLUSH_INTERVAL;
        self.file.flush()
    }

    /// Flushes the file, and replaces another file with it.
    pub(super) fn replace(&mut self, other: &Growing) -> io::Result<()> {
        self.file.flush()?;
        self.growing.replace(other)
    }

    /// Ends the file, gives it its final name, and returns its size, bytes.
    pub(super) fn finish(
        mut self,
        calibration: Option<&str>,
        output: &Path,
        now: SystemTime,
    ) -> Result<u64, WriteError> {
        let path = self.growing.path().to_owned();
        let cannot = |err| WriteError::new(&path, err);
        self.file.finish(calibration, None, now).map_err(cannot)?;
        let written = self.written.load(Ordering::Relaxed);
        self.growing.finish(output, written)?;
        Ok(written)
    }
}
