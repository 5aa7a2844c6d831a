//! Reads the packets of a recording once from its beginning on, as they arrive through a pipe.

use super::chunk::{unpack, unpack_message};
use super::index::{FileIndex, Position};
use super::limits::{self, MAX_CHUNK_BYTES};
use super::records::{self, RECORD_HEADER};
use super::scan::is_opcode;
use crate::error::{Damage, FileError, OpenError, ReadError};
use crate::{Channel, Packet};
use mcap::MAGIC;
use mcap::records::op;
use std::io::{self, Read};
use std::sync::Arc;

/// Reader of the packets of a recording, in their order.
#[derive(Debug)]
pub struct PacketStream<R> {
    reader: R,
    index: FileIndex,
    /// Chunk whose records come next.
    chunk: Option<OpenChunk>,
    has_begun: bool,
    has_ended: bool,
}

/// Chunk whose records are read one by one, because a small chunk may contain many empty messages.
#[derive(Debug)]
struct OpenChunk {
    bytes: Vec<u8>,
    /// Offset of the next record.
    next: usize,
    /// Whether the pipe ended within the chunk.
    is_cut: bool,
}

impl<R: Read> PacketStream<R> {
    /// Creates a stream of the packets in `reader`.
    pub fn new(reader: R) -> Self {
        Self { reader, index: FileIndex::default(), chunk: None, has_begun: false, has_ended: false }
    }

    /// Returns all channels so far, in the order of their first appearance.
    pub fn channels(&self) -> &[Arc<Channel>] {
        &self.index.channels
    }

    /// Returns the channels so far, with one message of each topic that has any.
    pub(super) fn index(&self) -> &FileIndex {
        &self.index
    }

    /// Returns whether the reader has ended. [`PacketStream::next_packet`] may still return packets that were read before.
    pub fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// Waits for the next packet; `None` at the end.
    ///
    /// # Errors
    /// [`ReadError::Damaged`]: a part is damaged, and the next call continues behind it. [`ReadError::File`]: the input is no recording,
    /// or exceeds one of the limits, and the stream has ended.
    pub fn next_packet(&mut self) -> Result<Option<Packet>, ReadError> {
        loop {
            let next = match self.chunk.take() {
                Some(chunk) => self.next_of_chunk(chunk),
                None if self.has_ended => return Ok(None),
                None => self.read_record(),
            };
            match next {
                Ok(None) => {}
                Ok(packet) => return Ok(packet),
                Err(err) => {
                    if matches!(err, ReadError::File(_)) {
                        self.has_ended = true;
                        self.chunk = None;
                    }
                    return Err(err);
                }
            }
        }
    }

    fn next_of_chunk(&mut self, mut chunk: OpenChunk) -> Result<Option<Packet>, ReadError> {
        let rest = chunk.bytes.get(chunk.next..).unwrap_or_default();
        let Some((opcode, body)) = records::record_at(rest, 0) else {
            return match (chunk.is_cut, rest.is_empty()) {
                (true, _) => Err(Damage::PipeCut.into()),
                (false, true) => Ok(None),
                (false, false) => Err(damaged("a record goes on behind its chunk")),
            };
        };
        chunk.next += RECORD_HEADER as usize + body.len();
        let packet = self.take_record(opcode, body);
        self.chunk = Some(chunk);
        packet
    }

    fn read_record(&mut self) -> Result<Option<Packet>, ReadError> {
        if !std::mem::replace(&mut self.has_begun, true) {
            self.read_magic()?;
        }
        let header = self.take(RECORD_HEADER)?;
        let Some((opcode, length)) = records::record_header(&header) else {
            self.has_ended = true;
            return if header.is_empty() { Ok(None) } else { Err(Damage::PipeCut.into()) };
        };
        let limit = match opcode {
            op::SCHEMA | op::CHANNEL => limits::MAX_DESCRIPTION_BYTES as u64,
            // a chunk has fields before its data
            _ => MAX_CHUNK_BYTES + 1024,
        };
        match opcode {
            op::DATA_END => {
                self.has_ended = true;
                Ok(None)
            }
            _ if !is_opcode(opcode) => Err(FileError::NoRecord.into()),
            _ if length > limit => Err(FileError::LongRecord { length, limit }.into()),
            op::SCHEMA | op::CHANNEL | op::MESSAGE | op::CHUNK => {
                let body = self.take(length)?;
                self.has_ended = body.len() as u64 != length;
                match opcode {
                    // the records of a cut chunk are valid up to the cut
                    op::CHUNK => self.open_chunk(&body).map(|()| None),
                    _ if self.has_ended => Err(Damage::PipeCut.into()),
                    _ => self.take_record(opcode, &body),
                }
            }
            _ => {
                let skipped = io::copy(&mut (&mut self.reader).take(length), &mut io::sink());
                self.has_ended = skipped.map_err(cannot_read)? != length;
                if self.has_ended { Err(Damage::PipeCut.into()) } else { Ok(None) }
            }
        }
    }

    fn read_magic(&mut self) -> Result<(), ReadError> {
        let magic = self.take(MAGIC.len() as u64)?;
        match &magic[..] {
            MAGIC => Ok(()),
            [] => Err(FileError::NothingCame.into()),
            _ => Err(FileError::NoRecording.into()),
        }
    }

    fn open_chunk(&mut self, body: &[u8]) -> Result<(), ReadError> {
        let Some(header) = records::chunk_header(body) else { return Err(damaged("a chunk makes no sense")) };
        let claimed = (records::chunk_header_size(&header) as u64).saturating_add(header.compressed_size);
        let is_cut = (body.len() as u64) < claimed;
        let unpacked = unpack(&header, body);
        if let Some(why) = unpacked.damage.filter(|_| !is_cut) {
            return Err(Damage::PipeChunk(why).into());
        }
        self.chunk = Some(OpenChunk { bytes: unpacked.bytes, next: 0, is_cut });
        Ok(())
    }

    fn take_record(&mut self, opcode: u8, body: &[u8]) -> Result<Option<Packet>, ReadError> {
        match opcode {
            op::SCHEMA | op::CHANNEL => {
                let is_valid = self.index.define(opcode, body).map_err(cannot_read)?;
                if is_valid { Ok(None) } else { Err(damaged("the description of a topic makes no sense")) }
            }
            op::MESSAGE => {
                let message = records::message(body).and_then(|(header, data)| {
                    let channel = Arc::clone(self.index.channel(header.channel_id)?);
                    if self.index.positions(&channel.topic).is_empty() {
                        // one message for each topic stays below the limit
                        self.index.add_message(header.channel_id, Position::in_file(0, header.log_time)).ok()?;
                    }
                    Some((channel, header, data.to_vec()))
                });
                let (channel, header, data) = message.ok_or_else(|| damaged("a message is of no known topic"))?;
                let data = unpack_message(&channel, data).map_err(|why| why.of(&channel.topic))?;
                Ok(Some(Packet::new(channel, &header, data)))
            }
            _ => Ok(None),
        }
    }

    /// Reads `count` bytes, or fewer at the end. Memory grows with the bytes that arrive, not with `count`.
    fn take(&mut self, count: u64) -> Result<Vec<u8>, ReadError> {
        let mut bytes = Vec::new();
        (&mut self.reader).take(count).read_to_end(&mut bytes).map_err(cannot_read)?;
        Ok(bytes)
    }
}

fn cannot_read(err: impl Into<OpenError>) -> ReadError {
    FileError::Pipe(err.into()).into()
}

fn damaged(what: &'static str) -> ReadError {
    Damage::Pipe(what).into()
}
