//! Finds what a file holds: from record to record by their headers, with the message indexes behind each chunk.

use super::contents::{Chunk, Contents, Place};
use super::fields::{self, Fields, LONGEST_CHUNK_HEAD, MESSAGE_HEAD, RECORD_HEAD};
use super::file::RecordingFile;
use super::limits;
use mcap::MAGIC;
use mcap::records::op;
use std::collections::BTreeSet;
use std::io;

/// Bytes of the footer's record and of what stands behind it.
const FOOTER: u64 = RECORD_HEAD + 8 + 8 + 4 + MAGIC.len() as u64;

/// So many bytes of a chunk's index say where it begins.
const CHUNK_INDEX_HEAD: u64 = 24;

/// What is known of a chunk while its message indexes are read.
struct Pending {
    chunk: Chunk,
    indexes: Vec<(u16, Vec<(u64, u64)>)>,
    /// Messages in all of them.
    messages: usize,
    /// One of them is not read, because it is too long.
    lacks_index: bool,
}

/// Walks through a file.
pub(super) struct Walk<'a> {
    file: &'a mut RecordingFile,
    contents: Contents,
    pending: Option<Pending>,
    /// Where the summary says that chunks begin.
    summary: Option<BTreeSet<u64>>,
}

/// How the way goes on behind a record.
enum Step {
    Next(u64),
    End,
    /// Here nothing makes sense any more: why.
    Lost(String),
}

impl<'a> Walk<'a> {
    /// All that the file holds.
    ///
    /// # Errors
    /// It cannot be read, or has more of something than is read. Whatever else its bytes are is no error, and is told in
    /// [`Contents::take_damage`].
    pub(super) fn through(file: &'a mut RecordingFile) -> io::Result<Contents> {
        let mut walk = Self { file, contents: Contents::default(), pending: None, summary: None };
        let mut at = MAGIC.len() as u64;
        loop {
            match walk.step(at)? {
                Step::Next(next) => at = next,
                Step::End => break,
                Step::Lost(why) => {
                    walk.finish_chunk(false)?;
                    let after = walk.summary()?.range(at + 1..).next().copied();
                    let skipped = after.map_or_else(
                        || format!("{why}; nothing behind it can be found"),
                        |after| format!("{why}; {} bytes are skipped", after - at),
                    );
                    walk.contents.damaged(skipped);
                    let Some(after) = after else { break };
                    at = after;
                }
            }
        }
        walk.finish_chunk(false)?;
        Ok(walk.contents)
    }

    /// The record at this place.
    fn step(&mut self, at: u64) -> io::Result<Step> {
        let left = self.file.len().saturating_sub(at);
        let head = self.file.read_at(at, RECORD_HEAD.min(left))?;
        let Some((opcode, length)) = fields::record_head(&head) else {
            let cut = if left > 0 { ", within a record" } else { "" };
            self.contents.unfinished =
                Some(format!("it was not finished: it ends after {} bytes{cut}", self.file.len()));
            return Ok(Step::End);
        };
        let body = at + RECORD_HEAD;
        let there = length.min(left - RECORD_HEAD);
        let is_whole = there == length;
        if opcode != op::MESSAGE_INDEX {
            self.finish_chunk(true)?;
        }
        match opcode {
            op::CHUNK => self.begin_chunk(body, there, is_whole)?,
            _ if !is_whole && matches!(opcode, 1..=op::DATA_END | 0x80..) => {}
            op::SCHEMA | op::CHANNEL => {
                if !self.describe(opcode, body, length)? {
                    self.contents.damaged(format!("the description of a topic at byte {at} makes no sense"));
                }
            }
            op::MESSAGE => self.message(body, at, length)?,
            op::MESSAGE_INDEX => {
                if !self.index(body, length)? {
                    return Ok(Step::Lost(format!("a part at byte {at} makes no sense")));
                }
            }
            op::DATA_END => return Ok(Step::End),
            op::HEADER | op::FOOTER..=op::METADATA_INDEX | op::SUMMARY_OFFSET | 0x80.. => {}
            _ => return Ok(Step::Lost(format!("what begins at byte {at} is no record"))),
        }
        if is_whole {
            return Ok(Step::Next(body + length));
        }
        // either the file was cut, or the number is damaged
        if self.summary()?.range(at + 1..).next().is_some() {
            return Ok(Step::Lost(format!("the record at byte {at} claims to have {length} bytes")));
        }
        let size = self.file.len();
        self.contents.unfinished = Some(format!("it was not finished: it ends after {size} bytes, within a record"));
        Ok(Step::End)
    }

    /// Takes the description of a topic or of a kind of messages; false if it makes no sense.
    fn describe(&mut self, opcode: u8, body: u64, length: u64) -> io::Result<bool> {
        if length > limits::DESCRIPTION_BYTES as u64 {
            return Err(limits::exceeded("bytes that describe its topics", limits::DESCRIPTION_BYTES));
        }
        let record = self.file.read_at(body, length)?;
        self.contents.define(opcode, &record)
    }

    /// Takes what says where the messages of a topic lie in the chunk before; false if it makes no sense.
    fn index(&mut self, body: u64, length: u64) -> io::Result<bool> {
        let Some(pending) = &mut self.pending else { return Ok(false) };
        if length > limits::INDEX_BYTES {
            pending.lacks_index = true;
            return Ok(true);
        }
        let record = self.file.read_at(body, length)?;
        let Some(index) = fields::message_index(&record) else { return Ok(false) };
        pending.messages += index.1.len();
        self.contents.check_room(pending.messages)?;
        pending.indexes.push(index);
        Ok(true)
    }

    /// A message that lies in no chunk.
    fn message(&mut self, body: u64, at: u64, length: u64) -> io::Result<()> {
        let record = self.file.read_at(body, length.min(MESSAGE_HEAD as u64))?;
        let known = match fields::message(&record) {
            Some((head, _)) => self.contents.add(head.channel, Place::outside(at, head.log_time_ns))?,
            None => false,
        };
        if !known {
            self.contents.damaged(format!("the message at byte {at} is of no known topic"));
        }
        Ok(())
    }

    fn begin_chunk(&mut self, body: u64, there: u64, is_whole: bool) -> io::Result<()> {
        let record = self.file.read_at(body, there.min(LONGEST_CHUNK_HEAD as u64))?;
        match fields::chunk_head(&record) {
            Some(head) => {
                // a length that is damaged does not cut what is there
                let is_cut = !is_whole && there < (head.size as u64).saturating_add(head.compressed_size);
                let chunk = Chunk { start: body, length: there, is_cut, head };
                self.pending = Some(Pending { chunk, indexes: Vec::new(), messages: 0, lacks_index: false });
            }
            None => self.contents.damaged(format!("the chunk at byte {} makes no sense", body - RECORD_HEAD)),
        }
        Ok(())
    }

    /// A chunk may end with a topic of which the first message is in the next one; its own indexes do not tell of that.
    fn define_by_the_chunk_before(&mut self) -> io::Result<()> {
        let Some(chunk) = self.contents.chunks.last().cloned() else { return Ok(()) };
        let unpacked = self.file.unpack(&chunk)?;
        let records = fields::records(&unpacked.bytes).filter(|_| unpacked.damage.is_none());
        for (opcode, _, body) in records.flatten().filter(|(opcode, ..)| matches!(*opcode, op::SCHEMA | op::CHANNEL)) {
            self.contents.define(opcode, body)?;
        }
        Ok(())
    }

    /// Takes the messages of the chunk that was last: from its indexes where they are all there, else from itself.
    fn finish_chunk(&mut self, has_all_indexes: bool) -> io::Result<()> {
        let Some(Pending { chunk, indexes, lacks_index, .. }) = self.pending.take() else { return Ok(()) };
        if indexes.iter().any(|(id, _)| !self.contents.knows(*id)) {
            self.define_by_the_chunk_before()?;
        }
        let number = self.contents.add_chunk(chunk.clone())?;
        let size = chunk.head.uncompressed_size.min(limits::CHUNK_BYTES);
        let makes_sense = |(id, places): &(u16, Vec<(u64, u64)>)| {
            self.contents.knows(*id) && places.iter().all(|&(_, offset)| offset < size)
        };
        if has_all_indexes && !lacks_index && !indexes.is_empty() && indexes.iter().all(makes_sense) {
            for (id, places) in indexes {
                for (log_time_ns, offset) in places {
                    self.contents.add(id, Place::inside(number, offset, log_time_ns))?;
                }
            }
            return Ok(());
        }
        let unpacked = self.file.unpack(&chunk)?;
        let at = chunk.start - RECORD_HEAD;
        // what was written before a cut is right; what fails its checksum may be anything
        let is_right = unpacked.damage.is_none() || chunk.is_cut;
        if let Some(damage) = unpacked.damage.filter(|_| !chunk.is_cut) {
            self.contents.damaged(format!("the chunk at byte {at} is lost: {damage}"));
            self.summary()?; // what it said of topics may stand there once more
        }
        let mut unknown = 0_u64;
        for record in fields::records(&unpacked.bytes).filter(|_| is_right) {
            match record {
                Ok((opcode @ (op::SCHEMA | op::CHANNEL), _, body)) => {
                    unknown += u64::from(!self.contents.define(opcode, body)?);
                }
                Ok((op::MESSAGE, offset, body)) => {
                    let known = match fields::message(body) {
                        Some((head, _)) => {
                            self.contents.add(head.channel, Place::inside(number, offset, head.log_time_ns))?
                        }
                        None => false,
                    };
                    unknown += u64::from(!known);
                }
                Ok(_) => {}
                Err(_) => unknown += u64::from(!chunk.is_cut),
            }
        }
        if unknown > 0 {
            self.contents.damaged(format!("{unknown} records of the chunk at byte {at} make no sense"));
        }
        Ok(())
    }

    /// Where chunks begin, as a finished file says at its end; what it says there of topics is taken too.
    fn summary(&mut self) -> io::Result<&BTreeSet<u64>> {
        if self.summary.is_none() {
            let chunks = self.read_summary()?;
            return Ok(self.summary.insert(chunks));
        }
        Ok(self.summary.get_or_insert_default())
    }

    fn read_summary(&mut self) -> io::Result<BTreeSet<u64>> {
        let mut chunks = BTreeSet::new();
        let Some(footer) = self.file.len().checked_sub(FOOTER) else { return Ok(chunks) };
        let bytes = self.file.read_at(footer, FOOTER)?;
        let start = fields::record_head(&bytes)
            .filter(|&head| head == (op::FOOTER, FOOTER - RECORD_HEAD - MAGIC.len() as u64) && bytes.ends_with(MAGIC))
            .and_then(|_| Fields(&bytes[RECORD_HEAD as usize..]).u64());
        let mut at = start.filter(|&start| start > 0).unwrap_or(footer);
        while at < footer {
            let Some((opcode, length)) = fields::record_head(&self.file.read_at(at, RECORD_HEAD)?) else { break };
            // holes are no records either, and may go on for long
            if !matches!(opcode, 1..=op::DATA_END | 0x80..) || length > (footer - at).saturating_sub(RECORD_HEAD) {
                break;
            }
            if opcode == op::CHUNK_INDEX {
                let record = self.file.read_at(at + RECORD_HEAD, length.min(CHUNK_INDEX_HEAD))?;
                chunks.extend(fields::chunk_index_start(&record).filter(|&start| start < footer));
                if chunks.len() > limits::CHUNKS {
                    return Err(limits::exceeded("chunks", limits::CHUNKS));
                }
            } else if let op::SCHEMA | op::CHANNEL = opcode {
                self.describe(opcode, at + RECORD_HEAD, length)?;
            }
            at += RECORD_HEAD + length;
        }
        Ok(chunks)
    }
}
