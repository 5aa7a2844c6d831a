//! Parses MCAP records: from bytes to the record types of the `mcap` crate. Each function returns `None` for a malformed record.
//!
//! The crate's own parser reserves memory for the claimed length of a text, up to 4 GiB, before it compares that with the bytes that
//! are left. The functions here never reserve more than a record has.

use crate::Schema;
use byteorder::{LE, ReadBytesExt as _};
use mcap::records::{Channel, ChunkHeader, MessageHeader, MessageIndex, MessageIndexEntry};
use std::collections::BTreeMap;

/// Bytes of opcode and length before each record.
pub(super) const RECORD_HEADER: u64 = 9;
/// Bytes of a message's fields before its data.
pub(super) const MESSAGE_HEADER: u64 = 22;
/// Bytes of a chunk's fields without the name of its compression.
const CHUNK_FIELDS: usize = 8 + 8 + 8 + 4 + 4 + 8;
/// Bytes of all fields of a chunk whose compression has a name of up to 64 bytes.
pub(super) const MAX_CHUNK_HEADER: u64 = CHUNK_FIELDS as u64 + 64;

fn bytes<'a>(from: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = from.read_u32::<LE>().ok()?;
    from.split_off(..usize::try_from(length).ok()?)
}

fn text(from: &mut &[u8]) -> Option<String> {
    String::from_utf8(bytes(from)?.to_vec()).ok()
}

fn text_map(from: &mut &[u8]) -> Option<BTreeMap<String, String>> {
    let mut entries = bytes(from)?;
    let mut map = BTreeMap::new();
    while !entries.is_empty() {
        map.insert(text(&mut entries)?, text(&mut entries)?);
    }
    Some(map)
}

pub(super) fn record_header(mut from: &[u8]) -> Option<(u8, u64)> {
    Some((from.read_u8().ok()?, from.read_u64::<LE>().ok()?))
}

pub(super) fn id(mut body: &[u8]) -> Option<u16> {
    body.read_u16::<LE>().ok()
}

pub(super) fn schema(mut body: &[u8]) -> Option<Schema> {
    let from = &mut body;
    let _id = from.read_u16::<LE>().ok()?;
    Some(Schema { name: text(from)?, encoding: text(from)?, data: bytes(from)?.to_vec() })
}

pub(super) fn channel(mut body: &[u8]) -> Option<Channel> {
    let from = &mut body;
    Some(Channel {
        id: from.read_u16::<LE>().ok()?,
        schema_id: from.read_u16::<LE>().ok()?,
        topic: text(from)?,
        message_encoding: text(from)?,
        metadata: text_map(from)?,
    })
}

/// Parses a metadata record: its name and entries.
pub(super) fn metadata(mut body: &[u8]) -> Option<(String, BTreeMap<String, String>)> {
    let from = &mut body;
    Some((text(from)?, text_map(from)?))
}

pub(super) fn message(mut body: &[u8]) -> Option<(MessageHeader, &[u8])> {
    let from = &mut body;
    let header = MessageHeader {
        channel_id: from.read_u16::<LE>().ok()?,
        sequence: from.read_u32::<LE>().ok()?,
        log_time: from.read_u64::<LE>().ok()?,
        publish_time: from.read_u64::<LE>().ok()?,
    };
    Some((header, body))
}

/// Parses the fields of a chunk, from the first bytes of its record.
pub(super) fn chunk_header(mut body: &[u8]) -> Option<ChunkHeader> {
    let from = &mut body;
    Some(ChunkHeader {
        message_start_time: from.read_u64::<LE>().ok()?,
        message_end_time: from.read_u64::<LE>().ok()?,
        uncompressed_size: from.read_u64::<LE>().ok()?,
        uncompressed_crc: from.read_u32::<LE>().ok()?,
        compression: text(from)?,
        compressed_size: from.read_u64::<LE>().ok()?,
    })
}

/// Returns the bytes of a chunk's fields, behind which its compressed records begin.
pub(super) fn chunk_header_size(header: &ChunkHeader) -> usize {
    CHUNK_FIELDS + header.compression.len()
}

/// Parses a message index: log time and offset of each message of one channel in the chunk before.
pub(super) fn message_index(mut body: &[u8]) -> Option<MessageIndex> {
    let from = &mut body;
    let channel_id = from.read_u16::<LE>().ok()?;
    let mut entries = bytes(from)?;
    let mut records = Vec::with_capacity(entries.len() / size_of::<MessageIndexEntry>());
    while !entries.is_empty() {
        let (log_time, offset) = (entries.read_u64::<LE>().ok()?, entries.read_u64::<LE>().ok()?);
        records.push(MessageIndexEntry { log_time, offset });
    }
    Some(MessageIndex { channel_id, records })
}

/// Parses a chunk index, and returns the offset in the file of the chunk.
pub(super) fn chunk_index_start(body: &[u8]) -> Option<u64> {
    const TIMES: usize = 8 + 8;
    body.get(TIMES..)?.read_u64::<LE>().ok()
}

/// Parses a footer, and returns the offset in the file at which the summary begins; `None` without a summary.
pub(super) fn summary_start(mut body: &[u8]) -> Option<u64> {
    body.read_u64::<LE>().ok().filter(|&start| start > 0)
}

/// Iterates over the records in the uncompressed bytes of a chunk: opcode, offset and body. The last item is `None` if it is cut off.
pub(super) fn records(bytes: &[u8]) -> impl Iterator<Item = Option<(u8, u64, &[u8])>> {
    let mut next = 0;
    std::iter::from_fn(move || {
        let offset = next;
        if offset >= bytes.len() {
            return None;
        }
        let record = record_at(bytes, offset as u64);
        next = record.map_or(bytes.len(), |(_, body)| offset + RECORD_HEADER as usize + body.len());
        Some(record.map(|(opcode, body)| (opcode, offset as u64, body)))
    })
}

/// Returns opcode and body of the record at an offset of a chunk's uncompressed bytes.
pub(super) fn record_at(bytes: &[u8], offset: u64) -> Option<(u8, &[u8])> {
    let from = bytes.get(usize::try_from(offset).ok()?..)?;
    let (opcode, length) = record_header(from)?;
    let body = from.get(RECORD_HEADER as usize..)?;
    Some((opcode, body.get(..usize::try_from(length).ok()?)?))
}
