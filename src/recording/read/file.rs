//! A file and its chunks: read at any place, and the last few chunks kept.

use super::ReadError;
use super::chunk::{self, Unpacked};
use super::contents::Chunk;
use super::fields::{RECORD_HEAD, record_head};
use super::limits::CHUNK_BYTES;
use crate::{console, files::plain};
use std::collections::{HashMap, VecDeque};
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Unpacked chunks take so many bytes at most, or are one.
const KEPT_BYTES: usize = 256 << 20;
/// And there are so many at most.
const KEPT: usize = 64;
/// Why so many chunks are bad is remembered; others are unpacked again.
const BAD: usize = 1024;

/// An open file. It may be cut, and grow, while it is open.
#[derive(Debug)]
pub(super) struct RecordingFile {
    path: PathBuf,
    file: File,
    len: u64,
    /// The last ones that were asked for, the newest one last.
    kept: VecDeque<(u32, Arc<Vec<u8>>)>,
    bad: HashMap<u32, String>,
}

impl RecordingFile {
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let file = plain::open(path)?;
        let len = file.metadata()?.len();
        Ok(Self { path: path.to_owned(), file, len, kept: VecDeque::new(), bad: HashMap::new() })
    }

    /// Its name, for words.
    pub(super) fn shown(&self) -> String {
        console::path(&self.path)
    }

    /// Bytes when it was opened.
    pub(super) fn len(&self) -> u64 {
        self.len
    }

    /// So many bytes from a place on, or as many as there are. Who asks for many has looked whether that is too much.
    pub(super) fn read_at(&mut self, at: u64, count: u64) -> io::Result<Vec<u8>> {
        self.file.seek(SeekFrom::Start(at))?;
        let count = count.min(self.len.saturating_sub(at));
        let mut bytes = Vec::with_capacity(usize::try_from(count).unwrap_or(0));
        (&mut self.file).take(count).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// Unpacks a chunk, if it is not larger than any.
    pub(super) fn unpack(&mut self, chunk: &Chunk) -> io::Result<Unpacked> {
        if let Some(why) = chunk::refusal(&chunk.head) {
            return Ok(Unpacked::nothing(why));
        }
        // the record may claim to be longer than what it is of
        let length = chunk.length.min((chunk.head.size as u64).saturating_add(chunk.head.compressed_size));
        let record = self.read_at(chunk.start, length)?;
        Ok(chunk::unpack(&chunk.head, &record))
    }

    /// The records of a chunk.
    pub(super) fn chunk(&mut self, number: u32, chunk: &Chunk) -> Result<Arc<Vec<u8>>, ReadError> {
        if let Some(place) = self.kept.iter().position(|(kept, _)| *kept == number)
            && let Some(entry) = self.kept.remove(place)
        {
            let bytes = Arc::clone(&entry.1);
            self.kept.push_back(entry);
            return Ok(bytes);
        }
        if let Some(why) = self.bad.get(&number) {
            return Err(ReadError::Damaged(why.clone()));
        }
        let unpacked = self.unpack(chunk).map_err(|err| self.failed(&err))?;
        if let Some(damage) = unpacked.damage.filter(|_| !chunk.is_cut) {
            let at = chunk.start - RECORD_HEAD;
            let why = format!("{}: the chunk at byte {at} is damaged: {damage}", self.shown());
            if self.bad.len() < BAD {
                self.bad.insert(number, why.clone());
            }
            return Err(ReadError::Damaged(why));
        }
        let bytes = Arc::new(unpacked.bytes);
        self.kept.push_back((number, Arc::clone(&bytes)));
        let sum = |kept: &VecDeque<(u32, Arc<Vec<u8>>)>| kept.iter().map(|(_, bytes)| bytes.len()).sum::<usize>();
        while self.kept.len() > KEPT || (self.kept.len() > 1 && sum(&self.kept) > KEPT_BYTES) {
            self.kept.pop_front();
        }
        Ok(bytes)
    }

    /// The record at a place of the file, with its head.
    pub(super) fn record_at(&mut self, at: u64) -> Result<Vec<u8>, ReadError> {
        let head = self.read_at(at, RECORD_HEAD).map_err(|err| self.failed(&err))?;
        let length = record_head(&head).map_or(0, |(_, length)| length);
        if length > CHUNK_BYTES {
            let shown = self.shown();
            return Err(ReadError::Damaged(format!(
                "{shown}: the message at byte {at} claims {length} bytes, and one of more than {CHUNK_BYTES} is not read"
            )));
        }
        self.read_at(at, RECORD_HEAD + length).map_err(|err| self.failed(&err))
    }

    /// A disk that fails.
    fn failed(&self, err: &io::Error) -> ReadError {
        ReadError::File(format!("cannot read {}: {err}", self.shown()))
    }
}
