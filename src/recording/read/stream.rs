//! Reads a recording from its beginning on, as it comes through a pipe.

use super::ReadError;
use super::chunk::unpack;
use super::contents::{Contents, Place};
use super::fields::{self, RECORD_HEAD};
use super::limits::{self, CHUNK_BYTES};
use crate::recording::{Channel, Packet};
use mcap::MAGIC;
use mcap::records::op;
use std::io::{self, Read};
use std::sync::Arc;

/// The packets of a recording that is read once.
#[derive(Debug)]
pub struct PacketStream<R> {
    reader: R,
    contents: Contents,
    /// The chunk whose records come now.
    chunk: Option<OpenChunk>,
    has_begun: bool,
    has_ended: bool,
}

/// A chunk of which some records have come. They are taken one by one: a chunk of empty messages is small, and all of them are not.
#[derive(Debug)]
struct OpenChunk {
    bytes: Vec<u8>,
    /// Where the next record begins.
    at: usize,
    /// The pipe ended within it.
    is_cut: bool,
}

impl<R: Read> PacketStream<R> {
    /// A recording that has not begun yet.
    pub fn new(reader: R) -> Self {
        Self { reader, contents: Contents::default(), chunk: None, has_begun: false, has_ended: false }
    }

    /// All topics so far, in the order of their first appearance.
    pub fn channels(&self) -> &[Arc<Channel>] {
        &self.contents.channels
    }

    /// What is known so far; of messages, only that there are some.
    pub(super) fn contents(&self) -> &Contents {
        &self.contents
    }

    /// Whether nothing more is read: what [`PacketStream::next_packet`] still gives has been read already.
    pub fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// The next packet, waiting for it; `None` at the end.
    ///
    /// # Errors
    /// A part is damaged, and the next call goes on behind it; or what comes is no recording, or has more of something than is
    /// read, and nothing more will come.
    pub fn next_packet(&mut self) -> Result<Option<Packet>, ReadError> {
        loop {
            let next = match self.chunk.take() {
                Some(chunk) => self.record_of(chunk),
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

    /// The next record of a chunk.
    fn record_of(&mut self, mut chunk: OpenChunk) -> Result<Option<Packet>, ReadError> {
        let Some(rest) = chunk.bytes.get(chunk.at..).filter(|rest| !rest.is_empty()) else {
            return if chunk.is_cut { Err(cut_off()) } else { Ok(None) };
        };
        let Some((opcode, body)) = fields::record_at(rest, 0) else {
            return if chunk.is_cut { Err(cut_off()) } else { Err(damaged("a record goes on behind its chunk")) };
        };
        chunk.at += RECORD_HEAD as usize + body.len();
        // a chunk has no chunks
        let taken = if opcode == op::CHUNK { Ok(None) } else { self.take_record(opcode, body) };
        self.chunk = Some(chunk);
        taken
    }

    fn read_record(&mut self) -> Result<Option<Packet>, ReadError> {
        if !self.has_begun {
            let magic = self.take(MAGIC.len() as u64)?;
            if magic != MAGIC {
                let text = if magic.is_empty() {
                    "nothing came through the pipe: does the program before it run, and write a recording to standard output?"
                } else {
                    "what comes through the pipe is no MCAP recording: write one with `stereopsis record --output -`"
                };
                return Err(ReadError::File(text.to_owned()));
            }
            self.has_begun = true;
        }
        let head = self.take(RECORD_HEAD)?;
        let Some((opcode, length)) = fields::record_head(&head) else {
            self.has_ended = true;
            return if head.is_empty() { Ok(None) } else { Err(cut_off()) };
        };
        if opcode == op::DATA_END {
            self.has_ended = true;
            return Ok(None);
        }
        let most = match opcode {
            op::SCHEMA | op::CHANNEL => limits::DESCRIPTION_BYTES as u64,
            // a chunk has some fields before its data
            _ => CHUNK_BYTES + 1024,
        };
        if !matches!(opcode, 1..=op::DATA_END | 0x80..) || length > most {
            let what = if matches!(opcode, 1..=op::DATA_END | 0x80..) {
                format!("a record claims {length} bytes, and one of more than {most} is not read")
            } else {
                "what comes is no record".to_owned()
            };
            return Err(ReadError::File(format!("the recording in the pipe is damaged: {what}")));
        }
        if !matches!(opcode, op::SCHEMA | op::CHANNEL | op::MESSAGE | op::CHUNK) {
            let skipped =
                io::copy(&mut (&mut self.reader).take(length), &mut io::sink()).map_err(|err| cannot_read(&err))?;
            self.has_ended |= skipped != length;
            return if skipped == length { Ok(None) } else { Err(cut_off()) };
        }
        let body = self.take(length)?;
        if body.len() as u64 != length {
            self.has_ended = true;
            // what a cut chunk holds is right as far as it goes
            if opcode != op::CHUNK {
                return Err(cut_off());
            }
        }
        if opcode == op::CHUNK {
            return self.open_chunk(&body).map(|()| None);
        }
        self.take_record(opcode, &body)
    }

    fn open_chunk(&mut self, body: &[u8]) -> Result<(), ReadError> {
        let Some(head) = fields::chunk_head(body) else { return Err(damaged("a chunk makes no sense")) };
        let unpacked = unpack(&head, body);
        let is_cut = (body.len() as u64) < (head.size as u64).saturating_add(head.compressed_size);
        if let Some(why) = unpacked.damage.filter(|_| !is_cut) {
            return Err(damaged(&format!("a chunk is lost: {why}")));
        }
        self.chunk = Some(OpenChunk { bytes: unpacked.bytes, at: 0, is_cut });
        Ok(())
    }

    fn take_record(&mut self, opcode: u8, body: &[u8]) -> Result<Option<Packet>, ReadError> {
        match opcode {
            op::SCHEMA | op::CHANNEL => {
                let makes_sense = self.contents.define(opcode, body).map_err(|err| cannot_read(&err))?;
                if makes_sense { Ok(None) } else { Err(damaged("the description of a topic makes no sense")) }
            }
            op::MESSAGE => {
                let message = fields::message(body);
                let packet = message.and_then(|(head, data)| self.packet(head, data));
                packet.map(Some).ok_or_else(|| damaged("a message is of no known topic"))
            }
            _ => Ok(None),
        }
    }

    fn packet(&mut self, head: fields::MessageHead, data: &[u8]) -> Option<Packet> {
        let channel = self.contents.channel(head.channel).cloned()?;
        if self.contents.of(&channel.topic).is_empty() {
            // one for each topic: never too many
            self.contents.add(head.channel, Place::outside(0, head.log_time_ns)).ok()?;
        }
        Some(Packet {
            channel,
            sequence: head.sequence,
            log_time_ns: head.log_time_ns,
            publish_time_ns: head.publish_time_ns,
            data: data.to_vec(),
        })
    }

    /// So many bytes, or fewer at the end; room is made as they come.
    fn take(&mut self, count: u64) -> Result<Vec<u8>, ReadError> {
        let mut bytes = Vec::new();
        match (&mut self.reader).take(count).read_to_end(&mut bytes) {
            Ok(_) => Ok(bytes),
            Err(err) => Err(cannot_read(&err)),
        }
    }
}

fn cannot_read(err: &io::Error) -> ReadError {
    ReadError::File(format!("cannot read the pipe: {err}"))
}

fn damaged(what: &str) -> ReadError {
    ReadError::Damaged(format!("the recording in the pipe is damaged: {what}"))
}

fn cut_off() -> ReadError {
    ReadError::Damaged("the recording in the pipe ends within a record: its writer was stopped".to_owned())
}
