//! Builds the index of a recording from the headers of its records and the message indexes behind each chunk. Damage is skipped with
//! the help of the summary.

use super::file::RecordingFile;
use super::index::{Chunk, FileIndex, Position};
use super::limits;
use super::records::{self, MAX_CHUNK_HEADER, MESSAGE_HEADER, RECORD_HEADER};
use crate::error::{Damage, OpenError, Place};
use crate::part::PartNote;
use mcap::MAGIC;
use mcap::records::{MessageIndex, op};
use std::collections::BTreeSet;
use std::ops::Range;

/// Bytes of the footer's record and of the magic behind it.
const FOOTER: u64 = RECORD_HEADER + FOOTER_BODY + MAGIC.len() as u64;
const FOOTER_BODY: u64 = 8 + 8 + 4;
/// Bytes of a chunk index up to and including the offset of its chunk.
const CHUNK_INDEX_START: u64 = 8 + 8 + 8;

/// Last chunk, while its message indexes are read.
struct IndexedChunk {
    chunk: Chunk,
    indexes: Vec<MessageIndex>,
    /// Number of messages in these indexes.
    messages: usize,
    /// Whether an index was left out because it is longer than [`limits::MAX_INDEX_BYTES`].
    lacks_index: bool,
}

struct Scan<'a> {
    file: &'a mut RecordingFile,
    index: &'a mut FileIndex,
    /// Offsets of the first byte of the file and behind its last one.
    range: Range<u64>,
    open: Option<IndexedChunk>,
    /// Offsets of the chunks according to the summary, once it is read.
    summary: Option<BTreeSet<u64>>,
}

enum Step {
    Next(u64),
    End,
    /// Search for the next chunk behind a damaged record.
    Resync(Damage),
}

/// Adds the file in this range of offsets to an index. Damage is no error; [`FileIndex::take_damage`] returns it. Fails
/// where the file cannot be read, or the recording exceeds one of the [`limits`].
pub(super) fn scan(file: &mut RecordingFile, range: Range<u64>, index: &mut FileIndex) -> Result<(), OpenError> {
    let mut at = range.start + MAGIC.len() as u64;
    let mut scan = Scan { file, index, range, open: None, summary: None };
    loop {
        match scan.step(at)? {
            Step::Next(next) => at = next,
            Step::End => break,
            Step::Resync(why) => {
                scan.close_chunk(false)?;
                let next = scan.summary()?.range(at + 1..).next().copied();
                scan.index.add_damage(Damage::Skipped { why: Box::new(why), bytes: next.map(|next| next - at) });
                let Some(next) = next else { break };
                at = next;
            }
        }
    }
    scan.close_chunk(false)
}

/// Returns whether the format defines or reserves this opcode. Zero, as in a hole of a sparse file, is none.
pub(super) fn is_opcode(opcode: u8) -> bool {
    matches!(opcode, op::HEADER..=op::DATA_END | 0x80..)
}

fn senseless(what: &'static str, place: Place) -> Damage {
    Damage::Senseless { what, place }
}

impl Scan<'_> {
    fn step(&mut self, at: u64) -> Result<Step, OpenError> {
        let left = self.range.end.saturating_sub(at);
        let header = self.file.read_at(at, RECORD_HEADER.min(left))?;
        let Some((opcode, length)) = records::record_header(&header) else {
            return Ok(self.end_unfinished(left > 0));
        };
        let body = at + RECORD_HEADER;
        let available = length.min(left - RECORD_HEADER);
        let is_whole = available == length;
        if opcode != op::MESSAGE_INDEX {
            self.close_chunk(true)?;
        }
        match opcode {
            op::CHUNK => self.open_chunk(body, available, is_whole)?,
            _ if !is_whole && is_opcode(opcode) => {}
            op::SCHEMA | op::CHANNEL => {
                if !self.define(opcode, body, length)? {
                    self.index.add_damage(senseless("the description of a topic", self.file.place(at)));
                }
            }
            op::MESSAGE => self.add_message(body, at, length)?,
            op::MESSAGE_INDEX => {
                if !self.add_message_index(body, length)? {
                    return Ok(Step::Resync(senseless("a part", self.file.place(at))));
                }
            }
            op::METADATA => self.note_part(body, length)?,
            op::DATA_END => return Ok(Step::End),
            _ if is_opcode(opcode) => {}
            _ => return Ok(Step::Resync(Damage::NoRecord(self.file.place(at)))),
        }
        if is_whole {
            return Ok(Step::Next(body + length));
        }
        // the file was cut off, or the length is damaged
        if self.summary()?.range(at + 1..).next().is_some() {
            return Ok(Step::Resync(Damage::LongRecord { place: self.file.place(at), length }));
        }
        Ok(self.end_unfinished(true))
    }

    fn note_part(&mut self, body: u64, length: u64) -> Result<(), OpenError> {
        if length <= limits::MAX_PART_NOTE_BYTES {
            let record = self.file.read_at(body, length)?;
            let note = records::metadata(&record).and_then(|(name, entries)| PartNote::of(&name, &entries));
            self.index.part = note.or(self.index.part.take());
        }
        Ok(())
    }

    fn end_unfinished(&mut self, in_record: bool) -> Step {
        self.index.unfinished = Some(Damage::Unfinished { bytes: self.range.end - self.range.start, in_record });
        Step::End
    }

    /// Reads a schema or channel; returns false if it is malformed.
    fn define(&mut self, opcode: u8, body: u64, length: u64) -> Result<bool, OpenError> {
        if length > limits::MAX_DESCRIPTION_BYTES as u64 {
            return Err(limits::exceeded("bytes that describe its topics", limits::MAX_DESCRIPTION_BYTES));
        }
        let record = self.file.read_at(body, length)?;
        self.index.define(opcode, &record)
    }

    /// Reads a message index of the open chunk; returns false if there is no chunk, or the index is malformed.
    fn add_message_index(&mut self, body: u64, length: u64) -> Result<bool, OpenError> {
        let Some(open) = &mut self.open else { return Ok(false) };
        if length > limits::MAX_INDEX_BYTES {
            open.lacks_index = true;
            return Ok(true);
        }
        let record = self.file.read_at(body, length)?;
        let Some(index) = records::message_index(&record) else { return Ok(false) };
        open.messages += index.records.len();
        self.index.check_room(open.messages)?;
        open.indexes.push(index);
        Ok(true)
    }

    fn add_message(&mut self, body: u64, at: u64, length: u64) -> Result<(), OpenError> {
        let record = self.file.read_at(body, length.min(MESSAGE_HEADER))?;
        let is_known = match records::message(&record) {
            Some((header, _)) => self.index.add_message(header.channel_id, Position::in_file(at, header.log_time))?,
            None => false,
        };
        if !is_known {
            self.index.add_damage(Damage::UnknownTopic(self.file.place(at)));
        }
        Ok(())
    }

    fn open_chunk(&mut self, body: u64, available: u64, is_whole: bool) -> Result<(), OpenError> {
        let record = self.file.read_at(body, available.min(MAX_CHUNK_HEADER))?;
        if let Some(header) = records::chunk_header(&record) {
            // a chunk whose data are complete is not cut, even where its record's length is damaged
            let claimed = (records::chunk_header_size(&header) as u64).saturating_add(header.compressed_size);
            let chunk = Chunk { start: body, length: available, is_cut: !is_whole && available < claimed, header };
            self.open = Some(IndexedChunk { chunk, indexes: Vec::new(), messages: 0, lacks_index: false });
        } else {
            self.index.add_damage(senseless("the chunk", self.file.place(body - RECORD_HEADER)));
        }
        Ok(())
    }

    /// Adds the open chunk's messages: from its indexes where they are complete, else from its records.
    fn close_chunk(&mut self, has_all_indexes: bool) -> Result<(), OpenError> {
        let Some(IndexedChunk { chunk, indexes, lacks_index, .. }) = self.open.take() else { return Ok(()) };
        if indexes.iter().any(|index| !self.index.has_channel(index.channel_id)) {
            self.define_from_previous_chunk()?;
        }
        let number = self.index.add_chunk(chunk.clone())?;
        let size = chunk.header.uncompressed_size.min(limits::MAX_CHUNK_BYTES);
        let is_valid = |index: &MessageIndex| {
            self.index.has_channel(index.channel_id) && index.records.iter().all(|entry| entry.offset < size)
        };
        if !has_all_indexes || lacks_index || indexes.is_empty() || !indexes.iter().all(is_valid) {
            return self.add_records(&chunk, number);
        }
        for index in indexes {
            for entry in index.records {
                let position = Position::in_chunk(number, entry.offset, entry.log_time);
                self.index.add_message(index.channel_id, position)?;
            }
        }
        Ok(())
    }

    /// Defines the channels of the previous chunk: it may end with a channel whose first message is in this chunk, and which its message
    /// indexes do not name.
    fn define_from_previous_chunk(&mut self) -> Result<(), OpenError> {
        let Some(chunk) = self.index.chunks.last().filter(|chunk| self.range.contains(&chunk.start)).cloned() else {
            return Ok(());
        };
        let unpacked = self.file.unpack(&chunk)?;
        let records = records::records(&unpacked.bytes).filter(|_| unpacked.damage.is_none());
        for (opcode, _, body) in records.flatten().filter(|(opcode, ..)| matches!(*opcode, op::SCHEMA | op::CHANNEL)) {
            self.index.define(opcode, body)?;
        }
        Ok(())
    }

    fn add_records(&mut self, chunk: &Chunk, number: u32) -> Result<(), OpenError> {
        let unpacked = self.file.unpack(chunk)?;
        let place = self.file.place(chunk.record_start());
        if let Some(why) = unpacked.damage.filter(|_| !chunk.is_cut) {
            self.index.add_damage(Damage::LostChunk { place, why });
            self.summary()?; // it may repeat the lost channels
            return Ok(());
        }
        let mut count = 0_u64;
        for record in records::records(&unpacked.bytes) {
            let is_valid = match record {
                Some((opcode @ (op::SCHEMA | op::CHANNEL), _, body)) => self.index.define(opcode, body)?,
                Some((op::MESSAGE, offset, body)) => match records::message(body) {
                    Some((header, _)) => {
                        let position = Position::in_chunk(number, offset, header.log_time);
                        self.index.add_message(header.channel_id, position)?
                    }
                    None => false,
                },
                Some(_) => true,
                // the end of a chunk that is cut off
                None => chunk.is_cut,
            };
            count += u64::from(!is_valid);
        }
        if count > 0 {
            self.index.add_damage(Damage::Records { count, place });
        }
        Ok(())
    }

    /// Returns the offsets of the chunks according to the summary of a finished file. Adds the schemas and channels in it too.
    fn summary(&mut self) -> Result<&BTreeSet<u64>, OpenError> {
        if self.summary.is_none() {
            self.summary = Some(self.read_summary()?);
        }
        Ok(self.summary.get_or_insert_default())
    }

    fn read_summary(&mut self) -> Result<BTreeSet<u64>, OpenError> {
        let mut chunks = BTreeSet::new();
        let Range { start: begin, end } = self.range;
        let Some(footer) = end.checked_sub(FOOTER).filter(|&footer| footer >= begin) else { return Ok(chunks) };
        let bytes = self.file.read_at(footer, FOOTER)?;
        let is_footer = records::record_header(&bytes) == Some((op::FOOTER, FOOTER_BODY)) && bytes.ends_with(MAGIC);
        let start = is_footer.then(|| records::summary_start(&bytes[RECORD_HEADER as usize..])).flatten();
        let mut at = start.map_or(footer, |start| begin.saturating_add(start));
        let starts = |record: &[u8]| {
            let start = records::chunk_index_start(record).map(|start| begin.saturating_add(start));
            start.filter(|&start| start < footer)
        };
        while at < footer {
            let Some((opcode, length)) = records::record_header(&self.file.read_at(at, RECORD_HEADER)?) else { break };
            if !is_opcode(opcode) || length > (footer - at).saturating_sub(RECORD_HEADER) {
                break;
            }
            if opcode == op::CHUNK_INDEX {
                let record = self.file.read_at(at + RECORD_HEADER, length.min(CHUNK_INDEX_START))?;
                chunks.extend(starts(&record));
                if chunks.len() > limits::MAX_CHUNKS {
                    return Err(limits::exceeded("chunks", limits::MAX_CHUNKS));
                }
            } else if let op::SCHEMA | op::CHANNEL = opcode {
                self.define(opcode, at + RECORD_HEADER, length)?;
            }
            at += RECORD_HEADER + length;
        }
        Ok(chunks)
    }
}
