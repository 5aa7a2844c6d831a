//! Index of a recording: channels, chunks, and the position of each message. It never grows beyond [`limits`].

use super::{limits, records};
use crate::error::{Damage, OpenError};
use crate::part::PartNote;
use crate::{Channel, Schema};
use mcap::records::{ChunkHeader, op};
use std::collections::HashMap;
use std::sync::Arc;

#[derive(Clone, Debug)]
pub(super) struct Chunk {
    /// Offset in the file of the chunk's fields.
    pub(super) start: u64,
    /// Bytes of the chunk's record that the file has.
    pub(super) length: u64,
    /// Whether the file ends within the chunk.
    pub(super) is_cut: bool,
    pub(super) header: ChunkHeader,
}

impl Chunk {
    /// Returns the offset in the file of the chunk's record.
    pub(super) fn record_start(&self) -> u64 {
        self.start - records::RECORD_HEADER
    }
}

/// Position of a message, in 16 bytes: a file may have millions of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Position {
    /// Chunk number above [`Position::OFFSET_BITS`] bits of the offset in its uncompressed bytes; or the offset in the file with the bit
    /// [`Position::IN_FILE`].
    at: u64,
    pub(super) log_time_ns: u64,
}

impl Position {
    const IN_FILE: u64 = 1 << 63;
    const OFFSET_BITS: u32 = 32;

    /// Creates a position in a chunk. [`limits::MAX_CHUNKS`] and [`limits::MAX_CHUNK_BYTES`] bound number and offset.
    pub(super) fn in_chunk(chunk: u32, offset: u64, log_time_ns: u64) -> Self {
        debug_assert!(
            u64::from(chunk) < limits::MAX_CHUNKS as u64 && offset < limits::MAX_CHUNK_BYTES,
            "{chunk} {offset}"
        );
        Self { at: (u64::from(chunk) << Self::OFFSET_BITS) | offset, log_time_ns }
    }

    /// Creates a position outside of all chunks.
    pub(super) fn in_file(offset: u64, log_time_ns: u64) -> Self {
        Self { at: Self::IN_FILE | offset, log_time_ns }
    }

    /// Returns the number of the chunk; `None` outside of chunks.
    pub(super) fn chunk(self) -> Option<u32> {
        (self.at & Self::IN_FILE == 0).then_some((self.at >> Self::OFFSET_BITS) as u32)
    }

    /// Returns the offset of the message's record in the uncompressed chunk, or in the file.
    pub(super) fn offset(self) -> u64 {
        let mask = if self.chunk().is_some() { (1 << Self::OFFSET_BITS) - 1 } else { Self::IN_FILE - 1 };
        self.at & mask
    }
}

/// Channels and schemas of one file, by id.
#[derive(Debug, Default)]
struct IdTable {
    channels: HashMap<u16, Arc<Channel>>,
    schemas: HashMap<u16, Arc<Schema>>,
}

/// Index of a recording's files, with the damage found while it was built.
#[derive(Debug, Default)]
pub(super) struct FileIndex {
    /// Channels in the order of their first appearance.
    pub(super) channels: Vec<Arc<Channel>>,
    /// Distinct schemas.
    schemas: Vec<Arc<Schema>>,
    /// Channels and schemas of the file that is being indexed.
    ids: IdTable,
    /// Channels of the earlier files.
    before: Vec<HashMap<u16, Arc<Channel>>>,
    /// Bytes of all schemas and channels.
    description_bytes: usize,
    pub(super) chunks: Vec<Chunk>,
    /// Positions of the messages of each topic, in the order of the file.
    positions: HashMap<String, Vec<Position>>,
    messages: usize,
    /// Damage, at most [`limits::MAX_SENTENCES`].
    damage: Vec<Arc<Damage>>,
    /// Number of further damages.
    more_damage: u64,
    /// End of a file that was not finished.
    pub(super) unfinished: Option<Damage>,
    /// Newest note on the place of the indexed file in a recording of several.
    pub(super) part: Option<PartNote>,
}

/// Returns the shared description: an equal one of an earlier file if `may_repeat`, else a new one. Fails beyond the limit, with its
/// name.
fn shared_description<T: PartialEq>(
    known: &mut Vec<Arc<T>>,
    description: T,
    may_repeat: bool,
    (what, limit): (&'static str, usize),
) -> Result<Arc<T>, OpenError> {
    if let Some(same) = known.iter().find(|known| may_repeat && ***known == description) {
        return Ok(Arc::clone(same));
    }
    if known.len() == limit {
        return Err(limits::exceeded(what, limit));
    }
    let description = Arc::new(description);
    known.push(Arc::clone(&description));
    Ok(description)
}

impl FileIndex {
    /// Begins the file with this number, from 0. Each file has its own ids.
    pub(super) fn begin_file(&mut self, number: usize) {
        while self.before.len() < number {
            self.before.push(std::mem::take(&mut self.ids).channels);
        }
    }

    /// Adds the record of a schema or channel; returns false if it is malformed. The first definition of an id is kept.
    pub(super) fn define(&mut self, opcode: u8, body: &[u8]) -> Result<bool, OpenError> {
        let Some(id) = records::id(body) else { return Ok(false) };
        let is_schema = opcode == op::SCHEMA;
        let is_known = if is_schema { self.ids.schemas.contains_key(&id) } else { self.has_channel(id) };
        if is_known {
            return Ok(true);
        }
        if is_schema { self.define_schema(id, body) } else { self.define_channel(id, body) }
    }

    /// Counts the bytes of a new description.
    fn count_bytes(&mut self, bytes: usize) -> Result<(), OpenError> {
        if bytes > limits::MAX_DESCRIPTION_BYTES - self.description_bytes {
            return Err(limits::exceeded("bytes that describe its topics", limits::MAX_DESCRIPTION_BYTES));
        }
        self.description_bytes += bytes;
        Ok(())
    }

    fn define_schema(&mut self, id: u16, body: &[u8]) -> Result<bool, OpenError> {
        let Some(schema) = records::schema(body) else { return Ok(false) };
        let schema = self.add_schema(schema, body.len())?;
        self.ids.schemas.insert(id, schema);
        Ok(true)
    }

    /// Adds a schema that is described by this number of bytes, and returns the shared one.
    pub(super) fn add_schema(&mut self, schema: Schema, bytes: usize) -> Result<Arc<Schema>, OpenError> {
        let is_repeated = self.is_repeated();
        let known = self.schemas.len();
        let schema = shared_description(
            &mut self.schemas,
            schema,
            is_repeated,
            ("kinds of messages (schemas)", limits::MAX_SCHEMAS),
        )?;
        if self.schemas.len() > known {
            self.count_bytes(bytes)?;
        }
        Ok(schema)
    }

    /// Returns whether descriptions may equal those of an earlier file: files of one recording repeat them.
    fn is_repeated(&self) -> bool {
        !self.before.is_empty()
    }

    fn define_channel(&mut self, id: u16, body: &[u8]) -> Result<bool, OpenError> {
        let Some(record) = records::channel(body) else { return Ok(false) };
        let schema = self.ids.schemas.get(&record.schema_id).cloned();
        if record.schema_id != 0 && schema.is_none() {
            return Ok(false);
        }
        let mcap::records::Channel { topic, message_encoding, metadata, .. } = record;
        self.add_channel(id, Channel { topic, message_encoding, schema, metadata }, body.len())?;
        Ok(true)
    }

    /// Adds the channel with an id in the file that is being indexed, described by this number of bytes.
    pub(super) fn add_channel(&mut self, id: u16, channel: Channel, bytes: usize) -> Result<(), OpenError> {
        let is_repeated = self.is_repeated();
        let known = self.channels.len();
        let channel =
            shared_description(&mut self.channels, channel, is_repeated, ("topics (channels)", limits::MAX_CHANNELS))?;
        if self.channels.len() > known {
            self.count_bytes(bytes)?;
            self.positions.entry(channel.topic.clone()).or_default();
        }
        self.ids.channels.insert(id, channel);
        Ok(())
    }

    pub(super) fn has_channel(&self, id: u16) -> bool {
        self.ids.channels.contains_key(&id)
    }

    /// Returns the channel with an id in the file that is being indexed.
    pub(super) fn channel(&self, id: u16) -> Option<&Arc<Channel>> {
        self.ids.channels.get(&id)
    }

    /// Returns the channel with an id in the file with this number.
    pub(super) fn channel_of(&self, file: usize, id: u16) -> Option<&Arc<Channel>> {
        self.before.get(file).unwrap_or(&self.ids.channels).get(&id)
    }

    /// Adds a chunk and returns its number.
    pub(super) fn add_chunk(&mut self, chunk: Chunk) -> Result<u32, OpenError> {
        if self.chunks.len() == limits::MAX_CHUNKS {
            return Err(limits::exceeded("chunks", limits::MAX_CHUNKS));
        }
        self.chunks.push(chunk);
        Ok(self.chunks.len() as u32 - 1)
    }

    pub(super) fn messages(&self) -> usize {
        self.messages
    }

    /// Checks that a number of further messages fits the limit.
    pub(super) fn check_room(&self, messages: usize) -> Result<(), OpenError> {
        if messages > limits::MAX_MESSAGES - self.messages {
            return Err(limits::exceeded("messages", limits::MAX_MESSAGES));
        }
        Ok(())
    }

    /// Adds a message; returns false if its channel is unknown.
    pub(super) fn add_message(&mut self, channel_id: u16, position: Position) -> Result<bool, OpenError> {
        let Some(channel) = self.ids.channels.get(&channel_id) else { return Ok(false) };
        self.check_room(1)?;
        if let Some(positions) = self.positions.get_mut(&channel.topic) {
            positions.push(position);
            self.messages += 1;
        }
        Ok(true)
    }

    pub(super) fn positions(&self, topic: &str) -> &[Position] {
        self.positions.get(topic).map_or(&[], Vec::as_slice)
    }

    pub(super) fn has_topic(&self, topic: &str) -> bool {
        self.positions.contains_key(topic)
    }

    pub(super) fn add_damage(&mut self, damage: impl Into<Arc<Damage>>) {
        if self.damage.len() < limits::MAX_SENTENCES {
            self.damage.push(damage.into());
        } else {
            self.more_damage += 1;
        }
    }

    pub(super) fn take_damage(&mut self) -> Vec<Arc<Damage>> {
        let mut damage = std::mem::take(&mut self.damage);
        let more = std::mem::take(&mut self.more_damage);
        let one_or_more = ["more part is damaged", "more parts are damaged"];
        damage.extend((more > 0).then(|| Damage::Several { count: more, one_or_more }.into()));
        damage
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn channel(id: u16, topic: &str) -> Vec<u8> {
        let text = |text: &str| [&(text.len() as u32).to_le_bytes()[..], text.as_bytes()].concat();
        [&id.to_le_bytes()[..], &[0, 0], &text(topic), &text("json"), &[0; 4]].concat()
    }

    #[test]
    fn a_position_is_packed_into_sixteen_bytes() {
        for (chunk, offset) in [(0, 0), (7, 31), (limits::MAX_CHUNKS as u32 - 1, limits::MAX_CHUNK_BYTES - 1)] {
            let position = Position::in_chunk(chunk, offset, u64::MAX);
            assert_eq!((position.chunk(), position.offset(), position.log_time_ns), (Some(chunk), offset, u64::MAX));
        }
        let position = Position::in_file(1 << 60, 5);
        assert_eq!((position.chunk(), position.offset(), size_of::<Position>()), (None, 1 << 60, 16));
    }

    #[test]
    fn rejects_more_messages_than_the_limit() {
        let mut index = FileIndex::default();
        assert!(index.define(op::CHANNEL, &channel(1, "a")).unwrap());
        index.messages = limits::MAX_MESSAGES - 1;
        assert!(
            index.add_message(1, Position::in_file(9, 9)).unwrap()
                && !index.add_message(2, Position::in_file(9, 9)).unwrap()
        );
        let text = index.add_message(1, Position::in_file(9, 9)).unwrap_err().to_string();
        assert!(text.contains("more than 33554432 messages") && text.contains("split it"), "{text}");
        assert_eq!(index.positions("a").len(), 1);
    }

    #[test]
    fn only_some_sentences_about_damage_are_kept() {
        let mut index = FileIndex::default();
        (0..60_000).for_each(|k| index.add_damage(Damage::Unfinished { bytes: k, in_record: false }));
        let damage = index.take_damage();
        assert!(damage.len() == limits::MAX_SENTENCES + 1 && matches!(*damage[0], Damage::Unfinished { bytes: 0, .. }));
        assert_eq!(damage[limits::MAX_SENTENCES].to_string(), "59988 more parts are damaged");
    }
}
