//! What a file holds, as far as it was found: topics, chunks, and where each message lies.

use super::fields::{self, ChunkHead};
use crate::recording::{Channel, Schema};
use mcap::records::op;
use std::collections::{BTreeMap, HashMap};
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

/// Where a message lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    /// In which chunk, or [`Place::OUTSIDE`].
    pub(super) chunk: u32,
    /// Where its record begins in the uncompressed chunk, or in the file.
    pub(super) offset: u64,
    pub(super) log_time_ns: u64,
}

impl Place {
    /// In no chunk.
    pub(super) const OUTSIDE: u32 = u32::MAX;

    pub(super) fn outside(offset: u64, log_time_ns: u64) -> Self {
        Self { chunk: Self::OUTSIDE, offset, log_time_ns }
    }
}

/// What a file holds.
#[derive(Debug, Default)]
pub(super) struct Contents {
    /// In the order of their first appearance.
    pub(super) channels: Vec<Arc<Channel>>,
    /// Which of them a number of the file means.
    numbers: HashMap<u16, usize>,
    schemas: HashMap<u16, Schema>,
    pub(super) chunks: Vec<Chunk>,
    /// The messages of each topic in the order of the file.
    pub(super) places: BTreeMap<String, Vec<Place>>,
    /// What is missing, in words.
    pub(super) damage: Vec<String>,
    /// The file has no end.
    pub(super) unfinished: Option<String>,
}

impl Contents {
    /// Takes the record of a schema or of a channel; false if it makes no sense. What was defined first holds.
    pub(super) fn define(&mut self, opcode: u8, body: &[u8]) -> bool {
        if opcode == op::SCHEMA {
            let schema = fields::schema(body);
            let makes_sense = schema.is_some();
            if let Some((id, schema)) = schema {
                self.schemas.entry(id).or_insert(schema);
            }
            return makes_sense;
        }
        let Some(record) = fields::channel(body) else { return false };
        let schema = self.schemas.get(&record.schema).cloned();
        if record.schema != 0 && schema.is_none() {
            return false;
        }
        if !self.numbers.contains_key(&record.id) {
            self.numbers.insert(record.id, self.channels.len());
            let fields::ChannelRecord { topic, message_encoding, metadata, .. } = record;
            self.places.entry(topic.clone()).or_default();
            self.channels.push(Arc::new(Channel { topic, message_encoding, schema, metadata }));
        }
        true
    }

    pub(super) fn knows(&self, number: u16) -> bool {
        self.numbers.contains_key(&number)
    }

    /// The topic that this number means in the file.
    pub(super) fn channel(&self, number: u16) -> Option<&Arc<Channel>> {
        self.numbers.get(&number).and_then(|&index| self.channels.get(index))
    }

    /// Notes a message; false if its topic is not known.
    pub(super) fn add(&mut self, number: u16, place: Place) -> bool {
        let Some(channel) = self.numbers.get(&number).and_then(|&index| self.channels.get(index)) else { return false };
        self.places.entry(channel.topic.clone()).or_default().push(place);
        true
    }

    /// Messages of a topic.
    pub(super) fn of(&self, topic: &str) -> &[Place] {
        self.places.get(topic).map_or(&[], Vec::as_slice)
    }
}
