//! Reads a recording from its beginning on, as it comes through a pipe.

use super::ReadError;
use super::chunk::{LARGEST_CHUNK, unpack};
use super::contents::{Contents, Place};
use super::fields::{self, RECORD_HEAD};
use crate::recording::{Channel, Packet};
use mcap::MAGIC;
use mcap::records::op;
use std::collections::VecDeque;
use std::io::Read;
use std::sync::Arc;

/// The packets of a recording that is read once.
#[derive(Debug)]
pub struct PacketStream<R> {
    reader: R,
    contents: Contents,
    packets: VecDeque<Packet>,
    has_begun: bool,
    has_ended: bool,
}

impl<R: Read> PacketStream<R> {
    /// A recording that has not begun yet.
    pub fn new(reader: R) -> Self {
        let (contents, packets) = (Contents::default(), VecDeque::new());
        Self { reader, contents, packets, has_begun: false, has_ended: false }
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
    /// A part is damaged, and the next call goes on behind it; or what comes is no recording, and nothing more will come.
    pub fn next_packet(&mut self) -> Result<Option<Packet>, ReadError> {
        loop {
            if let Some(packet) = self.packets.pop_front() {
                return Ok(Some(packet));
            }
            if self.has_ended {
                return Ok(None);
            }
            if let Err(err) = self.read_record() {
                self.has_ended |= matches!(err, ReadError::File(_));
                return Err(err);
            }
        }
    }

    fn read_record(&mut self) -> Result<(), ReadError> {
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
            return if head.is_empty() { Ok(()) } else { Err(cut_off()) };
        };
        if opcode == op::DATA_END {
            self.has_ended = true;
            return Ok(());
        }
        if !matches!(opcode, 1..=op::DATA_END | 0x80..) || length > LARGEST_CHUNK {
            let text = "the recording in the pipe is damaged: what comes is no record".to_owned();
            return Err(ReadError::File(text));
        }
        let body = self.take(length)?;
        if body.len() as u64 != length {
            self.has_ended = true;
            // what a cut chunk holds is right as far as it goes
            if opcode != op::CHUNK {
                return Err(cut_off());
            }
        }
        self.take_record(opcode, &body)
    }

    fn take_record(&mut self, opcode: u8, body: &[u8]) -> Result<(), ReadError> {
        let damaged = |what: &str| Err(ReadError::Damaged(format!("the recording in the pipe is damaged: {what}")));
        match opcode {
            op::SCHEMA | op::CHANNEL if !self.contents.define(opcode, body) => {
                damaged("the description of a topic makes no sense")
            }
            op::MESSAGE => match fields::message(body) {
                Some((head, data)) if self.contents.knows(head.channel) => {
                    self.take_message(head, data);
                    Ok(())
                }
                _ => damaged("a message is of no known topic"),
            },
            op::CHUNK => {
                let Some(head) = fields::chunk_head(body) else { return damaged("a chunk makes no sense") };
                let unpacked = unpack(&head, body);
                let is_cut = (body.len() as u64) < (head.size as u64).saturating_add(head.compressed_size);
                if let Some(why) = unpacked.damage.filter(|_| !is_cut) {
                    return damaged(&format!("a chunk is lost: {why}"));
                }
                let mut result = if is_cut { Err(cut_off()) } else { Ok(()) };
                for record in fields::records(&unpacked.bytes) {
                    match record {
                        Ok((op::CHUNK, ..)) => {}
                        Ok((opcode, _, body)) => result = self.take_record(opcode, body).and(result),
                        Err(_) if is_cut => {}
                        Err(_) => result = damaged("a record goes on behind its chunk").and(result),
                    }
                }
                result
            }
            _ => Ok(()),
        }
    }

    fn take_message(&mut self, head: fields::MessageHead, data: &[u8]) {
        let Some(channel) = self.contents.channel(head.channel).cloned() else { return };
        if self.contents.of(&channel.topic).is_empty() {
            self.contents.add(head.channel, Place::outside(0, head.log_time_ns));
        }
        self.packets.push_back(Packet {
            channel,
            sequence: head.sequence,
            log_time_ns: head.log_time_ns,
            publish_time_ns: head.publish_time_ns,
            data: data.to_vec(),
        });
    }

    /// So many bytes, or fewer at the end; room is made as they come.
    fn take(&mut self, count: u64) -> Result<Vec<u8>, ReadError> {
        let mut bytes = Vec::new();
        match (&mut self.reader).take(count).read_to_end(&mut bytes) {
            Ok(_) => Ok(bytes),
            Err(err) => Err(ReadError::File(format!("cannot read the pipe: {err}"))),
        }
    }
}

fn cut_off() -> ReadError {
    ReadError::Damaged("the recording in the pipe ends within a record: its writer was stopped".to_owned())
}
