//! Files of a recording: one, or several where it is split. Each of them is whole, whatever becomes of the next one.

use super::file::{McapFile, OpenTarget, Sink, end_without_summary};
use super::{RecordError, RecordOptions, Split};
use crate::Packet;
use crate::part::{self, PartNote};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Instant, SystemTime};
use stereopsis_base::console;

/// Reason why a recording goes on in another file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Full {
    /// The file has the size or the time that was asked for.
    Asked,
    /// The system says that it takes no larger file.
    MaxBytes(u64),
    /// The system took no more bytes at this size.
    Refused(u64),
}

impl Full {
    /// Returns the reason in words, unless it was asked for.
    pub(super) fn text(self) -> Option<String> {
        match self {
            Self::Asked => None,
            Self::MaxBytes(bytes) => Some(format!("a file here can have {} at most", console::bytes(bytes))),
            Self::Refused(bytes) => Some(format!("the disk takes no file of much more than {}", console::bytes(bytes))),
        }
    }
}

/// Next file of a recording, made and empty.
pub(super) struct NextFile {
    note: PartNote,
    pub(super) path: PathBuf,
    place: OpenTarget,
    sink: Sink,
}

/// File that is written, with its place among the files of the recording.
pub(super) struct Files {
    pub(super) place: OpenTarget,
    file: McapFile,
    /// Path of the first file; `None` for a pipe.
    first: Option<PathBuf>,
    note: Option<PartNote>,
    options: RecordOptions,
    /// Whether another file is begun where this one is full.
    splits: bool,
    /// Calibration file, attached at the end.
    calibration: Option<String>,
    /// Number of bytes that the system took, of all files.
    written: Arc<AtomicU64>,
    /// [`Self::written`] before this file.
    before: u64,
    /// Time of the first pair or result in this file.
    since: Option<Instant>,
    /// Packets that may not be with the system: those since the last flush.
    unsettled: Vec<Packet>,
}

impl Files {
    /// Begins the first file.
    pub(super) fn begin(
        (place, sink): (OpenTarget, Sink),
        first: Option<PathBuf>,
        options: RecordOptions,
        calibration: Option<String>,
        written: Arc<AtomicU64>,
    ) -> Result<Self, RecordError> {
        let note = first.is_some().then(|| PartNote::first(SystemTime::now()));
        let file = begin(&place, sink, options, note.as_ref(), &written)?;
        let (splits, before, since, unsettled) = (first.is_some(), 0, None, Vec::new());
        Ok(Self { place, file, first, note, options, splits, calibration, written, before, since, unsettled })
    }

    /// Returns the reason why these packets belong into another file. `item_time` is the time of a pair or result.
    pub(super) fn full(&self, packets: &[Packet], item_time: Option<Instant>) -> Option<Full> {
        let since = self.since.filter(|_| self.splits)?;
        let bytes = self.file.bytes_with(packets, self.calibration.as_deref());
        let asked = self.options.split.filter(|split| match *split {
            Split::Bytes(most) => bytes > most,
            Split::Time(most) => item_time.is_some_and(|now| now.saturating_duration_since(since) >= most),
        });
        let most = self.place.max_bytes.filter(|&most| bytes > most);
        most.map(Full::MaxBytes).or(asked.map(|_| Full::Asked))
    }

    /// Returns whether the rest can go into another file after this error.
    pub(super) fn can_be_cut(&self, err: &io::Error) -> bool {
        err.kind() == io::ErrorKind::FileTooLarge && self.splits && self.since.is_some() && self.file.settled > 0
    }

    /// Makes the next file.
    pub(super) fn create_next(&self) -> Result<NextFile, RecordError> {
        let Some((note, first)) = self.note.as_ref().map(PartNote::next).zip(self.first.as_deref()) else {
            return Err(cannot_write(&self.place, io::ErrorKind::FileTooLarge.into())); // a pipe has no other file
        };
        let path = part::name(first, note.number);
        let (place, sink) = OpenTarget::create(&path).map_err(|err| RecordError::Split(err.into()))?;
        Ok(NextFile { note, path, place, sink })
    }

    /// Lets the recording end in this file.
    pub(super) fn stop_splitting(&mut self) {
        self.splits = false;
    }

    /// Adds the packets of an item or a note. `item_time` is the time of a pair or result.
    pub(super) fn write(&mut self, packets: Vec<Packet>, item_time: Option<Instant>) -> io::Result<()> {
        self.since = self.since.or(item_time);
        let first = self.unsettled.len();
        self.unsettled.extend(packets);
        self.file.write(&self.unsettled[first..])?;
        if self.file.open == 0 {
            self.unsettled.clear();
        }
        Ok(())
    }

    /// Ends the chunk and passes all bytes to the system.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.file.flush()?;
        self.unsettled.clear();
        Ok(())
    }

    /// Returns the bytes of this file.
    pub(super) fn bytes(&self) -> u64 {
        self.written.load(Ordering::Relaxed) - self.before
    }

    /// Syncs the file. Fails where another program changed it.
    pub(super) fn sync(&self) -> io::Result<()> {
        self.place.file.as_ref().map_or(Ok(()), |file| file.sync(self.bytes()))
    }

    /// Ends the flushed file with its summary; without, where the system takes no more bytes.
    pub(super) fn finish(&mut self, goes_on: bool, now: SystemTime) -> io::Result<()> {
        let note = self.note.clone().filter(|_| goes_on).map(|note| PartNote { goes_on, ..note });
        match self.file.finish(self.calibration.as_deref(), note.as_ref(), now) {
            Err(err) if self.can_be_cut(&err) => self.cut().map(drop),
            finished => finished.and_then(|()| self.sync()),
        }
    }

    /// Ends the file behind its last flush, and returns the packets that come after it.
    pub(super) fn cut(&mut self) -> io::Result<Vec<Packet>> {
        let settled = self.file.settled;
        // what the writer still holds would come behind the end
        self.file.abandon();
        if let Some(file) = &self.place.file {
            let handle = file.handle()?;
            handle.set_len(settled)?;
            end_without_summary(&handle).or_else(|_| handle.set_len(settled))?;
            self.written.store(self.before + file.len()?, Ordering::Relaxed);
            self.sync()?;
        }
        Ok(std::mem::take(&mut self.unsettled))
    }

    /// Goes on in the next file.
    pub(super) fn begin_next(&mut self, next: NextFile) -> Result<(), RecordError> {
        let NextFile { note, place, sink, .. } = next;
        self.before = self.written.load(Ordering::Relaxed);
        self.file = begin(&place, sink, self.options, Some(&note), &self.written)?;
        (self.place, self.note, self.since) = (place, Some(note), None);
        Ok(())
    }
}

fn begin(
    place: &OpenTarget,
    sink: Sink,
    options: RecordOptions,
    note: Option<&PartNote>,
    written: &Arc<AtomicU64>,
) -> Result<McapFile, RecordError> {
    let name = note.and_then(|_| Path::new(&place.name).file_name()).unwrap_or_default().to_string_lossy();
    let file = McapFile::begin(sink, &name, (options.format, options.compression), note, Arc::clone(written));
    file.map_err(|err| cannot_write(place, err))
}

/// Returns the error of writing to a file or pipe.
pub(super) fn cannot_write(place: &OpenTarget, err: io::Error) -> RecordError {
    RecordError::Write { target: place.name.clone(), error: err.into() }
}
