//! The records of an MCAP file, field by field. The `mcap` crate reads them too, but makes room for texts as long as a damaged
//! file claims before it looks whether they are there.

use crate::recording::Schema;
use std::collections::BTreeMap;

/// Opcode and length of a record.
pub(super) const RECORD_HEAD: u64 = 9;
/// What stands in a message before its data.
pub(super) const MESSAGE_HEAD: usize = 22;
/// A chunk's fields without the name of its compression.
const CHUNK_HEAD: usize = 8 + 8 + 8 + 4 + 4 + 8;
/// A name of a compression is not longer.
const LONGEST_NAME: usize = 64;
/// So many bytes hold all of a chunk's fields.
pub(super) const LONGEST_CHUNK_HEAD: usize = CHUNK_HEAD + LONGEST_NAME;

/// Takes one field after the other; `None` where there are too few bytes.
pub(super) struct Fields<'a>(pub(super) &'a [u8]);

impl<'a> Fields<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    pub(super) fn u8(&mut self) -> Option<u8> {
        self.array().map(u8::from_le_bytes)
    }

    pub(super) fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_le_bytes)
    }

    pub(super) fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    pub(super) fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = self.u32()?;
        self.take(usize::try_from(length).ok()?)
    }

    fn text(&mut self) -> Option<String> {
        self.bytes().and_then(|bytes| String::from_utf8(bytes.to_vec()).ok())
    }

    fn texts(&mut self) -> Option<BTreeMap<String, String>> {
        let mut pairs = Fields(self.bytes()?);
        let mut texts = BTreeMap::new();
        while !pairs.0.is_empty() {
            texts.insert(pairs.text()?, pairs.text()?);
        }
        Some(texts)
    }
}

/// Opcode and length of a record.
pub(super) fn record_head(bytes: &[u8]) -> Option<(u8, u64)> {
    let mut fields = Fields(bytes);
    Some((fields.u8()?, fields.u64()?))
}

/// The number of a schema or of a topic.
pub(super) fn id(body: &[u8]) -> Option<u16> {
    Fields(body).u16()
}

/// A schema.
pub(super) fn schema(body: &[u8]) -> Option<Schema> {
    let mut fields = Fields(body);
    let _id = fields.u16()?;
    Some(Schema { name: fields.text()?, encoding: fields.text()?, data: fields.bytes()?.to_vec() })
}

/// A topic as it stands in a file.
pub(super) struct ChannelRecord {
    /// 0 for none.
    pub(super) schema: u16,
    pub(super) topic: String,
    pub(super) message_encoding: String,
    pub(super) metadata: BTreeMap<String, String>,
}

pub(super) fn channel(body: &[u8]) -> Option<ChannelRecord> {
    let mut fields = Fields(body);
    let _id = fields.u16()?;
    Some(ChannelRecord {
        schema: fields.u16()?,
        topic: fields.text()?,
        message_encoding: fields.text()?,
        metadata: fields.texts()?,
    })
}

/// What stands before the data of a message.
#[derive(Clone, Copy)]
pub(super) struct MessageHead {
    pub(super) channel: u16,
    pub(super) sequence: u32,
    pub(super) log_time_ns: u64,
    pub(super) publish_time_ns: u64,
}

/// A message's fields and its data.
pub(super) fn message(body: &[u8]) -> Option<(MessageHead, &[u8])> {
    let mut fields = Fields(body);
    let head = MessageHead {
        channel: fields.u16()?,
        sequence: fields.u32()?,
        log_time_ns: fields.u64()?,
        publish_time_ns: fields.u64()?,
    };
    Some((head, fields.0))
}

/// How the records of a chunk are packed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Compression {
    None,
    Lz4,
    Zstd,
    /// In a way that is not read here, with its name.
    Other(Box<str>),
}

impl Compression {
    fn of(name: String) -> Self {
        match name.as_str() {
            "" => Self::None,
            "lz4" => Self::Lz4,
            "zstd" => Self::Zstd,
            _ => Self::Other(name.into()),
        }
    }
}

/// What stands before the records of a chunk.
#[derive(Clone, Debug)]
pub(super) struct ChunkHead {
    pub(super) uncompressed_size: u64,
    /// Checksum of the uncompressed records; 0 for none.
    pub(super) crc: u32,
    pub(super) compression: Compression,
    pub(super) compressed_size: u64,
    /// How many bytes of the record these fields are.
    pub(super) size: usize,
}

/// A chunk's fields from the first bytes of its record.
pub(super) fn chunk_head(body: &[u8]) -> Option<ChunkHead> {
    let mut fields = Fields(body);
    let _times = (fields.u64()?, fields.u64()?);
    let (uncompressed_size, crc) = (fields.u64()?, fields.u32()?);
    let name = fields.text()?;
    let size = CHUNK_HEAD + name.len();
    Some(ChunkHead { uncompressed_size, crc, compression: Compression::of(name), compressed_size: fields.u64()?, size })
}

/// A topic's number, and log time and place of each of its messages in the chunk before.
pub(super) fn message_index(body: &[u8]) -> Option<(u16, Vec<(u64, u64)>)> {
    let mut fields = Fields(body);
    let id = fields.u16()?;
    let mut entries = Fields(fields.bytes()?);
    let mut places = Vec::with_capacity(entries.0.len() / 16);
    while !entries.0.is_empty() {
        places.push((entries.u64()?, entries.u64()?));
    }
    Some((id, places))
}

/// Where a chunk's record begins in the file.
pub(super) fn chunk_index_start(body: &[u8]) -> Option<u64> {
    let mut fields = Fields(body);
    let _times = (fields.u64()?, fields.u64()?);
    fields.u64()
}

/// The records in the uncompressed bytes of a chunk: opcode, place and body; the last item is an error if a record is cut.
pub(super) fn records(bytes: &[u8]) -> impl Iterator<Item = Result<(u8, u64, &[u8]), CutRecord>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        if at >= bytes.len() {
            return None;
        }
        let record = record_at(bytes, at as u64);
        at = record.map_or(bytes.len(), |(_, body)| at + RECORD_HEAD as usize + body.len());
        Some(record.map(|(opcode, body)| (opcode, at as u64 - RECORD_HEAD - body.len() as u64, body)).ok_or(CutRecord))
    })
}

/// A record goes on behind the end of its chunk.
#[derive(Debug)]
pub(super) struct CutRecord;

/// The record that begins at this place of a chunk's bytes.
pub(super) fn record_at(bytes: &[u8], place: u64) -> Option<(u8, &[u8])> {
    let from = bytes.get(usize::try_from(place).ok()?..)?;
    let (opcode, length) = record_head(from)?;
    let body = from.get(RECORD_HEAD as usize..)?;
    Some((opcode, body.get(..usize::try_from(length).ok()?)?))
}
