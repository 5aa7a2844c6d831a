//! What a file holds, as far as it was found: topics, chunks, and where each message lies.

use super::fields::{self, ChunkHead};
use super::limits;
use crate::recording::{Channel, Schema};
use mcap::records::op;
use std::collections::HashMap;
use std::io;
use std::sync::Arc;

/// A chunk in the file.
#[derive(Clone, Debug)]
pub(super) struct Chunk {
    /// Where its fields begin.
    pub(super) start: u64,
    /// How many bytes of it there are.
    pub(super) length: u64,
    /// The file ends within it.
    pub(super) is_cut: bool,
    pub(super) head: ChunkHead,
}

/// Where a message lies: a file has millions of these, so that each is small.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    /// Which chunk, and behind that [`Place::OFFSET_BITS`] for where its record begins in the unpacked chunk; or with
    /// [`Place::OUTSIDE`] where it begins in the file.
    at: u64,
    pub(super) log_time_ns: u64,
}

impl Place {
    const OUTSIDE: u64 = 1 << 63;
    const OFFSET_BITS: u32 = 32;

    /// In a chunk, of which [`limits::CHUNKS`] and [`limits::CHUNK_BYTES`] are the largest number and offset.
    pub(super) fn inside(chunk: u32, offset: u64, log_time_ns: u64) -> Self {
        debug_assert!(u64::from(chunk) < limits::CHUNKS as u64 && offset < limits::CHUNK_BYTES, "{chunk} {offset}");
        Self { at: (u64::from(chunk) << Self::OFFSET_BITS) | offset, log_time_ns }
    }

    /// In no chunk.
    pub(super) fn outside(offset: u64, log_time_ns: u64) -> Self {
        Self { at: Self::OUTSIDE | offset, log_time_ns }
    }

    /// In which chunk it is; `None` for none.
    pub(super) fn chunk(self) -> Option<u32> {
        (self.at & Self::OUTSIDE == 0).then_some((self.at >> Self::OFFSET_BITS) as u32)
    }

    /// Where its record begins in the unpacked chunk, or in the file.
    pub(super) fn offset(self) -> u64 {
        let mask = if self.chunk().is_some() { (1 << Self::OFFSET_BITS) - 1 } else { Self::OUTSIDE - 1 };
        self.at & mask
    }
}

/// What a number of the file means, as indexes into [`Contents`].
#[derive(Clone, Copy, Debug)]
struct Numbered {
    channel: usize,
    topic: usize,
}

/// What a file holds.
#[derive(Debug, Default)]
pub(super) struct Contents {
    /// In the order of their first appearance.
    pub(super) channels: Vec<Arc<Channel>>,
    numbers: HashMap<u16, Numbered>,
    schemas: HashMap<u16, Arc<Schema>>,
    /// Bytes of all descriptions that are kept.
    description_bytes: usize,
    pub(super) chunks: Vec<Chunk>,
    topics: HashMap<String, usize>,
    /// The messages of each topic in the order of the file.
    places: Vec<Vec<Place>>,
    messages: usize,
    /// What is missing, in words.
    damage: Vec<String>,
    /// Sentences that had no room there.
    more_damage: u64,
    /// The file has no end.
    pub(super) unfinished: Option<String>,
}

impl Contents {
    /// Takes the record of a schema or of a channel; false if it makes no sense. What was defined first holds.
    ///
    /// # Errors
    /// There are too many.
    pub(super) fn define(&mut self, opcode: u8, body: &[u8]) -> io::Result<bool> {
        let Some(id) = fields::id(body) else { return Ok(false) };
        let is_known =
            if opcode == op::SCHEMA { self.schemas.contains_key(&id) } else { self.numbers.contains_key(&id) };
        if is_known {
            return Ok(true);
        }
        if body.len() > limits::DESCRIPTION_BYTES - self.description_bytes {
            return Err(limits::exceeded("bytes that describe its topics", limits::DESCRIPTION_BYTES));
        }
        let makes_sense =
            if opcode == op::SCHEMA { self.define_schema(id, body)? } else { self.define_channel(id, body)? };
        if makes_sense {
            self.description_bytes += body.len();
        }
        Ok(makes_sense)
    }

    fn define_schema(&mut self, id: u16, body: &[u8]) -> io::Result<bool> {
        if self.schemas.len() == limits::SCHEMAS {
            return Err(limits::exceeded("kinds of messages (schemas)", limits::SCHEMAS));
        }
        let schema = fields::schema(body).map(|schema| self.schemas.insert(id, Arc::new(schema)));
        Ok(schema.is_some())
    }

    fn define_channel(&mut self, id: u16, body: &[u8]) -> io::Result<bool> {
        let Some(record) = fields::channel(body) else { return Ok(false) };
        let schema = self.schemas.get(&record.schema).cloned();
        if record.schema != 0 && schema.is_none() {
            return Ok(false);
        }
        if self.channels.len() == limits::CHANNELS {
            return Err(limits::exceeded("topics (channels)", limits::CHANNELS));
        }
        let fields::ChannelRecord { topic, message_encoding, metadata, .. } = record;
        let topic_index = *self.topics.entry(topic.clone()).or_insert_with(|| {
            self.places.push(Vec::new());
            self.places.len() - 1
        });
        self.numbers.insert(id, Numbered { channel: self.channels.len(), topic: topic_index });
        self.channels.push(Arc::new(Channel { topic, message_encoding, schema, metadata }));
        Ok(true)
    }

    pub(super) fn knows(&self, number: u16) -> bool {
        self.numbers.contains_key(&number)
    }

    /// The topic that this number means in the file.
    pub(super) fn channel(&self, number: u16) -> Option<&Arc<Channel>> {
        self.numbers.get(&number).and_then(|numbered| self.channels.get(numbered.channel))
    }

    /// Notes a chunk, of which the number comes back.
    ///
    /// # Errors
    /// There are too many.
    pub(super) fn add_chunk(&mut self, chunk: Chunk) -> io::Result<u32> {
        if self.chunks.len() == limits::CHUNKS {
            return Err(limits::exceeded("chunks", limits::CHUNKS));
        }
        self.chunks.push(chunk);
        Ok(self.chunks.len() as u32 - 1)
    }

    /// How many messages are noted.
    pub(super) fn messages(&self) -> usize {
        self.messages
    }

    /// Whether so many more messages can be noted.
    ///
    /// # Errors
    /// They cannot.
    pub(super) fn check_room(&self, messages: usize) -> io::Result<()> {
        if messages > limits::MESSAGES - self.messages {
            return Err(limits::exceeded("messages", limits::MESSAGES));
        }
        Ok(())
    }

    /// Notes a message; false if its topic is not known.
    ///
    /// # Errors
    /// There are too many.
    pub(super) fn add(&mut self, number: u16, place: Place) -> io::Result<bool> {
        let Some(numbered) = self.numbers.get(&number).copied() else { return Ok(false) };
        self.check_room(1)?;
        self.messages += 1;
        self.places[numbered.topic].push(place);
        Ok(true)
    }

    /// Messages of a topic.
    pub(super) fn of(&self, topic: &str) -> &[Place] {
        self.topics.get(topic).map_or(&[], |&index| &self.places[index])
    }

    /// Whether a topic is described.
    pub(super) fn has_topic(&self, topic: &str) -> bool {
        self.topics.contains_key(topic)
    }

    /// Notes that something is missing, in words.
    pub(super) fn damaged(&mut self, what: String) {
        if self.damage.len() < limits::SENTENCES {
            self.damage.push(what);
        } else {
            self.more_damage += 1;
        }
    }

    /// All that is missing, in words; it is forgotten here.
    pub(super) fn take_damage(&mut self) -> Vec<String> {
        let mut damage = std::mem::take(&mut self.damage);
        match std::mem::take(&mut self.more_damage) {
            0 => {}
            1 => damage.push("1 more part is damaged".to_owned()),
            more => damage.push(format!("{more} more parts are damaged")),
        }
        damage
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A topic without a schema.
    fn channel(id: u16, topic: &str) -> Vec<u8> {
        let text = |text: &str| [&(text.len() as u32).to_le_bytes()[..], text.as_bytes()].concat();
        [&id.to_le_bytes()[..], &[0, 0], &text(topic), &text("json"), &[0; 4]].concat()
    }

    #[test]
    fn places_come_back_from_their_few_bytes() {
        for (chunk, offset) in [(0, 0), (7, 31), (limits::CHUNKS as u32 - 1, limits::CHUNK_BYTES - 1)] {
            let place = Place::inside(chunk, offset, u64::MAX);
            assert_eq!((place.chunk(), place.offset(), place.log_time_ns), (Some(chunk), offset, u64::MAX));
        }
        let place = Place::outside(1 << 60, 5);
        assert_eq!((place.chunk(), place.offset(), size_of::<Place>()), (None, 1 << 60, 16));
    }

    #[test]
    fn more_messages_and_chunks_than_are_read_are_refused_with_their_number() {
        let mut contents = Contents::default();
        assert!(contents.define(op::CHANNEL, &channel(1, "a")).unwrap());
        contents.messages = limits::MESSAGES - 1;
        assert!(contents.add(1, Place::outside(9, 9)).unwrap() && !contents.add(2, Place::outside(9, 9)).unwrap());
        let text = contents.add(1, Place::outside(9, 9)).unwrap_err().to_string();
        assert!(text.contains("more than 33554432 messages") && text.contains("split it"), "{text}");
        assert_eq!(contents.of("a").len(), 1);
    }

    #[test]
    fn only_some_sentences_about_damage_are_kept() {
        let mut contents = Contents::default();
        (0..60_000).for_each(|k| contents.damaged(format!("part {k}")));
        let damage = contents.take_damage();
        assert_eq!((damage.len(), damage[0].as_str()), (limits::SENTENCES + 1, "part 0"));
        assert_eq!(damage[limits::SENTENCES], "59988 more parts are damaged");
    }
}
