//! Random access to a file, and a cache of its unpacked chunks.

use super::ReadError;
use super::chunk::{self, Unpacked};
use super::index::Chunk;
use super::limits::CHUNK_BYTES;
use super::records::{RECORD_HEADER, chunk_header_size, record_header};
use crate::console;
use crate::files::{self, plain};
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Capacity of the cache: bytes, except for a single larger chunk.
const CACHE_BYTES: usize = 256 << 20;
/// Capacity of the cache: chunks.
const CACHE_CHUNKS: usize = 64;

/// Records of a chunk, or its damage in words.
type CachedChunk = Result<Arc<Vec<u8>>, String>;

/// An open file. It may be cut, and grow, while it is open.
#[derive(Debug)]
pub(super) struct RecordingFile {
    path: PathBuf,
    file: File,
    len: u64,
    /// Chunks with their numbers, the one used last at the end.
    cache: VecDeque<(u32, CachedChunk)>,
}

/// A file from an offset on. The file's own position counts for nothing: processes that were forked share it.
struct At<'a> {
    file: &'a File,
    at: u64,
}

impl Read for At<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        #[cfg(unix)]
        let count = std::os::unix::fs::FileExt::read_at(self.file, bytes, self.at)?;
        #[cfg(windows)]
        let count = std::os::windows::fs::FileExt::seek_read(self.file, bytes, self.at)?;
        self.at += count as u64;
        Ok(count)
    }
}

impl RecordingFile {
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let file = plain::open(path)?;
        let len = file.metadata()?.len();
        Ok(Self { path: path.to_owned(), file, len, cache: VecDeque::new() })
    }

    /// Its path, for messages.
    pub(super) fn shown(&self) -> String {
        console::path(&self.path)
    }

    /// Bytes when it was opened.
    pub(super) fn len(&self) -> u64 {
        self.len
    }

    /// `count` bytes from an offset on, or as many as there are. The caller bounds `count`.
    pub(super) fn read_at(&self, at: u64, count: u64) -> io::Result<Vec<u8>> {
        let count = count.min(self.len.saturating_sub(at));
        let mut bytes = Vec::with_capacity(usize::try_from(count).unwrap_or(0));
        At { file: &self.file, at }.take(count).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// Unpacks a chunk, without the cache.
    pub(super) fn unpack(&mut self, chunk: &Chunk) -> io::Result<Unpacked> {
        if let Some(why) = chunk::refusal(&chunk.header) {
            return Ok(Unpacked { bytes: Vec::new(), damage: Some(why) });
        }
        // the record may claim to be longer than its data
        let claimed = (chunk_header_size(&chunk.header) as u64).saturating_add(chunk.header.compressed_size);
        let record = self.read_at(chunk.start, chunk.length.min(claimed))?;
        Ok(chunk::unpack(&chunk.header, &record))
    }

    /// The records of a chunk.
    pub(super) fn chunk(&mut self, number: u32, chunk: &Chunk) -> Result<Arc<Vec<u8>>, ReadError> {
        let cached = self.cache.iter().position(|(cached, _)| *cached == number).and_then(|i| self.cache.remove(i));
        let entry = if let Some((_, entry)) = cached {
            entry
        } else {
            let Unpacked { bytes, damage } = self.unpack(chunk).map_err(|err| self.failed(&err))?;
            match damage.filter(|_| !chunk.is_cut) {
                Some(why) => {
                    Err(format!("{}: the chunk at byte {} is damaged: {why}", self.shown(), chunk.record_start()))
                }
                None => Ok(Arc::new(bytes)),
            }
        };
        self.cache.push_back((number, entry.clone()));
        let bytes = |(_, entry): &(u32, CachedChunk)| entry.as_ref().map_or(0, |bytes| bytes.len());
        while self.cache.len() > CACHE_CHUNKS
            || (self.cache.len() > 1 && self.cache.iter().map(bytes).sum::<usize>() > CACHE_BYTES)
        {
            self.cache.pop_front();
        }
        entry.map_err(ReadError::Damaged)
    }

    /// The record at an offset of the file, with its header.
    pub(super) fn record_at(&mut self, at: u64) -> Result<Vec<u8>, ReadError> {
        let header = self.read_at(at, RECORD_HEADER).map_err(|err| self.failed(&err))?;
        let length = record_header(&header).map_or(0, |(_, length)| length);
        if length > CHUNK_BYTES {
            let shown = self.shown();
            return Err(ReadError::Damaged(format!(
                "{shown}: the message at byte {at} claims {length} bytes, and one of more than {CHUNK_BYTES} is not read"
            )));
        }
        self.read_at(at, RECORD_HEADER + length).map_err(|err| self.failed(&err))
    }

    fn failed(&self, err: &io::Error) -> ReadError {
        ReadError::File(format!("cannot read {}: {}", self.shown(), files::cause(err)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Seek as _, SeekFrom};

    #[test]
    #[cfg(unix)]
    fn reading_leaves_the_position_that_processes_share() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.mcap");
        std::fs::write(&path, b"0123456789").unwrap();
        let open = RecordingFile::open(&path).unwrap();
        // as after a fork: another one with the same position
        let mut shared = open.file.try_clone().unwrap();
        shared.seek(SeekFrom::Start(3)).unwrap();
        assert_eq!(open.read_at(6, 2).unwrap(), b"67");
        assert_eq!(open.read_at(8, 9).unwrap(), b"89", "as many as there are");
        assert_eq!(shared.stream_position().unwrap(), 3);
    }
}
