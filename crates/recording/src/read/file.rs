//! Random access to the bytes of a recording, and a cache of its unpacked chunks.
//!
//! A recording may have several files (`ros2 bag record --max-bag-size`). Offsets count from the start of the first file through all; in a
//! bag in SQLite they are numbers of rows.

use super::chunk::{self, UnpackedChunk};
use super::db3::{self, Db3};
use super::index::Chunk;
use super::limits::MAX_CHUNK_BYTES;
use super::records::{RECORD_HEADER, chunk_header_size, record_header};
use super::unpacked::{Unpacked, unpacked};
use crate::error::{ChunkDamage, Damage, FileError, OpenError, Place, ReadError};
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use stereopsis_base::console;
use stereopsis_base::files::plain;
use stereopsis_frame::Cause;
use tempfile::TempPath;

/// Capacity of the cache, bytes; a single larger chunk is kept too.
const CACHE_BYTES: usize = 256 << 20;
/// Capacity of the cache, chunks.
const CACHE_CHUNKS: usize = 64;

/// Records of a chunk, or its damage.
type CachedChunk = Result<Arc<Vec<u8>>, ChunkDamage>;

/// Open files of a recording. They may be cut, and grow, while they are open.
#[derive(Debug)]
pub(super) struct RecordingFile {
    /// Path of the file, or of the folder of several.
    pub(super) path: PathBuf,
    parts: Vec<FilePart>,
    /// Chunks with their numbers, the one used last at the end.
    cache: VecDeque<(u32, CachedChunk)>,
}

#[derive(Debug)]
struct FilePart {
    path: PathBuf,
    content: Content,
    /// Unpacked contents, where an open file cannot be deleted: dropped behind `content`.
    _unpacked: Option<TempPath>,
    /// Bytes of the file when it was opened.
    bytes: u64,
    /// Offset of the first byte.
    start: u64,
    /// Offset behind the last byte when the file was opened.
    end: u64,
}

#[derive(Debug)]
enum Content {
    File(File),
    Db3(Db3),
}

/// Reader of a file from an offset on. It does not use the file's own position, which forked processes share.
struct ReaderAt<'a> {
    file: &'a File,
    at: u64,
}

impl Read for ReaderAt<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        #[cfg(unix)]
        let count = std::os::unix::fs::FileExt::read_at(self.file, bytes, self.at)?;
        #[cfg(windows)]
        let count = std::os::windows::fs::FileExt::seek_read(self.file, bytes, self.at)?;
        self.at += count as u64;
        Ok(count)
    }
}

/// Returns the name of a file for messages.
pub(super) fn shown(path: &Path) -> String {
    console::foreign(&path.file_name().unwrap_or_default().to_string_lossy())
}

impl RecordingFile {
    /// Creates a recording without files at this path.
    pub(super) fn new(path: &Path) -> Self {
        Self { path: path.to_owned(), parts: Vec::new(), cache: VecDeque::new() }
    }

    /// Opens the next file. Returns the offsets of its first byte and behind its last one, and damage while unpacking.
    pub(super) fn open(&mut self, path: &Path) -> Result<(Range<u64>, Option<Damage>), OpenError> {
        let file = plain::open(path).map_err(|cause| OpenError::Open { path: path.to_owned(), cause })?;
        let Unpacked { file, temporary, damage } = unpacked(path, file)?;
        let bytes = file.metadata()?.len();
        let mut magic = Vec::new();
        ReaderAt { file: &file, at: 0 }.take(db3::MAGIC.len() as u64).read_to_end(&mut magic)?;
        let start = self.parts.last().map_or(0, |part| part.end);
        let (content, end) = if magic == db3::MAGIC {
            let base = Db3::open(temporary.as_deref().unwrap_or(path), bytes)?;
            (Content::Db3(base), start + db3::MAX_ROW + 1)
        } else {
            (Content::File(file), start + bytes)
        };
        // elsewhere it is deleted now, so that a killed program leaves nothing
        let unpacked = temporary.filter(|_| cfg!(windows));
        self.parts.push(FilePart { path: path.to_owned(), content, _unpacked: unpacked, bytes, start, end });
        Ok((start..end, damage))
    }

    /// Returns the bag in SQLite that was opened last, if it is one.
    pub(super) fn last_db3(&mut self) -> Option<&mut Db3> {
        match &mut self.parts.last_mut()?.content {
            Content::Db3(base) => Some(base),
            Content::File(_) => None,
        }
    }

    pub(super) fn paths(&self) -> Vec<PathBuf> {
        self.parts.iter().map(|part| part.path.clone()).collect()
    }

    /// Returns the number of the file that contains an offset.
    pub(super) fn part(&self, at: u64) -> usize {
        self.parts.partition_point(|part| part.start <= at).saturating_sub(1)
    }

    /// Returns the place at an offset.
    pub(super) fn place(&self, at: u64) -> Place {
        match self.parts.get(self.part(at)).filter(|_| self.parts.len() > 1) {
            None => Place { byte: at, file: None },
            Some(part) => {
                let name = part.path.file_name().unwrap_or_default().to_string_lossy();
                Place { byte: at - part.start, file: Some(name.into_owned()) }
            }
        }
    }

    /// Returns the bytes of all files when they were opened.
    pub(super) fn bytes(&self) -> u64 {
        self.parts.iter().map(|part| part.bytes).sum()
    }

    /// Reads `count` bytes from an offset on, or as many as its file has. The caller bounds `count`.
    pub(super) fn read_at(&self, at: u64, count: u64) -> io::Result<Vec<u8>> {
        let Some(FilePart { content: Content::File(file), start, end, .. }) = self.parts.get(self.part(at)) else {
            return Ok(Vec::new());
        };
        let count = count.min(end.saturating_sub(at));
        let mut bytes = Vec::with_capacity(usize::try_from(count).unwrap_or(0));
        ReaderAt { file, at: at.saturating_sub(*start) }.take(count).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// Unpacks a chunk, without the cache.
    pub(super) fn unpack(&mut self, chunk: &Chunk) -> io::Result<UnpackedChunk> {
        if let Some(why) = chunk::refusal(&chunk.header) {
            return Ok(UnpackedChunk { bytes: Vec::new(), damage: Some(why) });
        }
        // the record may claim to be longer than its data
        let claimed = (chunk_header_size(&chunk.header) as u64).saturating_add(chunk.header.compressed_size);
        let record = self.read_at(chunk.start, chunk.length.min(claimed))?;
        Ok(chunk::unpack(&chunk.header, &record))
    }

    /// Returns the records of a chunk, from the cache where possible.
    pub(super) fn chunk(&mut self, number: u32, chunk: &Chunk) -> Result<Arc<Vec<u8>>, ReadError> {
        let cached = self.cache.iter().position(|(cached, _)| *cached == number).and_then(|i| self.cache.remove(i));
        let entry = if let Some((_, entry)) = cached {
            entry
        } else {
            let UnpackedChunk { bytes, damage } = self.unpack(chunk).map_err(|err| self.failed(err))?;
            damage.filter(|_| !chunk.is_cut).map_or_else(|| Ok(Arc::new(bytes)), Err)
        };
        self.cache.push_back((number, entry.clone()));
        let bytes = |(_, entry): &(u32, CachedChunk)| entry.as_ref().map_or(0, |bytes| bytes.len());
        while self.cache.len() > CACHE_CHUNKS
            || (self.cache.len() > 1 && self.cache.iter().map(bytes).sum::<usize>() > CACHE_BYTES)
        {
            self.cache.pop_front();
        }
        let place = || self.place(chunk.record_start());
        entry.map_err(|why| Damage::Chunk { path: self.path.clone(), place: place(), why }.into())
    }

    /// Reads the record at an offset of the file, with its header.
    pub(super) fn record_at(&mut self, at: u64) -> Result<Vec<u8>, ReadError> {
        if let Some(FilePart { content: Content::Db3(base), start, path, .. }) = self.parts.get(self.part(at)) {
            let damaged = |why| Damage::File { file: shown(path), why: Cause::from(why) };
            return Ok(base.record(at - start).map_err(damaged)?.unwrap_or_default());
        }
        let header = self.read_at(at, RECORD_HEADER).map_err(|err| self.failed(err))?;
        let length = record_header(&header).map_or(0, |(_, length)| length);
        if length > MAX_CHUNK_BYTES {
            let (path, place) = (self.path.clone(), self.place(at));
            return Err(Damage::LongMessage { path, place, length, limit: MAX_CHUNK_BYTES }.into());
        }
        self.read_at(at, RECORD_HEADER + length).map_err(|err| self.failed(err))
    }

    pub(super) fn failed(&self, why: impl Into<OpenError>) -> ReadError {
        FileError::Read { path: self.path.clone(), why: why.into() }.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Seek as _, SeekFrom};

    #[test]
    #[cfg(unix)]
    fn reading_keeps_the_shared_file_position() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.mcap");
        std::fs::write(&path, b"0123456789").unwrap();
        let mut open = RecordingFile::new(&path);
        assert_eq!(open.open(&path).unwrap().0, 0..10);
        // as after a fork: another handle with the same position
        let Content::File(file) = &open.parts[0].content else { unreachable!() };
        let mut shared = file.try_clone().unwrap();
        shared.seek(SeekFrom::Start(3)).unwrap();
        assert_eq!(open.read_at(6, 2).unwrap(), b"67");
        assert_eq!(open.read_at(8, 9).unwrap(), b"89", "as many as there are");
        assert_eq!(shared.stream_position().unwrap(), 3);
        assert_eq!((open.place(6).to_string(), open.open(&path).unwrap().0), ("byte 6".to_owned(), 10..20));
        assert_eq!((open.read_at(8, 9).unwrap(), open.read_at(13, 2).unwrap()), (b"89".to_vec(), b"34".to_vec()));
        assert_eq!((open.place(13).to_string(), open.bytes()), ("byte 3 of a.mcap".to_owned(), 20));
    }
}
