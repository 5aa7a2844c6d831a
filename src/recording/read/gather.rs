//! Which packets of a stream are a pair, as they come.

use super::limits::CHUNK_BYTES;
use super::topics::{Eyes, of_ours};
use super::{PacketStream, ReadError};
use crate::capture::TopicChoice;
use crate::capture::pairing::{Pairing, Side};
use crate::recording::message::Body;
use crate::recording::{About, Packet, format, time, topic};
use std::collections::VecDeque;
use std::io::Read;
use std::time::{SystemTime, UNIX_EPOCH};

/// So many packets wait at most until it is known which topics are the eyes.
const MOST_EARLY: usize = 64;
/// Rate of two topics until it is measured, Hz.
const USUAL_RATE_HZ: f64 = 30.0;

/// Makes pairs of the packets of a stream.
#[derive(Debug)]
pub struct PairStream<R> {
    stream: PacketStream<R>,
    topics: TopicChoice,
    about: Option<About>,
    /// In recordings of others, once they are known.
    eyes: Option<Eyes>,
    /// Topics that had messages when these were looked for.
    topics_seen: usize,
    /// What came before the eyes were known: the other eye's first picture comes behind this one's.
    early: VecDeque<Packet>,
    pairing: Pairing<Packet>,
    ready: VecDeque<Vec<Packet>>,
    /// Of the pair that is coming.
    gathered: Vec<Packet>,
    incomplete: u64,
}

impl<R: Read> PairStream<R> {
    /// Pairs of the topics that are chosen, or by themselves belong together.
    pub fn new(reader: R, topics: TopicChoice) -> Self {
        Self {
            stream: PacketStream::new(reader),
            topics,
            about: None,
            eyes: None,
            topics_seen: 0,
            early: VecDeque::new(),
            pairing: Pairing::new(USUAL_RATE_HZ, USUAL_RATE_HZ),
            ready: VecDeque::new(),
            gathered: Vec::new(),
            incomplete: 0,
        }
    }

    /// The packets that come.
    pub fn stream(&self) -> &PacketStream<R> {
        &self.stream
    }

    /// What a recording of ours says of itself, before its first pair.
    pub fn about(&self) -> Option<&About> {
        self.about.as_ref()
    }

    /// Pairs that lacked a picture, and pictures without a partner.
    pub fn incomplete(&self) -> u64 {
        self.incomplete + self.pairing.unpaired()
    }

    /// The note of the next pair, in recordings of ours, and its pictures; waits for them. `None` at the end.
    ///
    /// # Errors
    /// As [`PacketStream::next_packet`]; and at the end if no two topics belong together.
    pub fn next_pair(&mut self) -> Result<Option<Vec<Packet>>, ReadError> {
        loop {
            if let Some(pair) = self.ready.pop_front() {
                return Ok(Some(pair));
            }
            let Some(packet) = self.stream.next_packet()? else {
                return if self.about.is_none() && self.eyes.is_none() { self.no_topics() } else { Ok(None) };
            };
            if packet.channel.topic == topic::ABOUT && self.topics.is_default() {
                self.about = about_of(&packet).or(self.about.take());
            } else if self.about.is_some() {
                self.take_ours(packet);
            } else {
                self.take_other(packet);
            }
        }
    }

    fn no_topics(&self) -> Result<Option<Vec<Packet>>, ReadError> {
        self.topics.among(self.stream.contents()).map(|_| None)
    }

    /// All packets of a pair have one log time; whatever comes with another one begins the next pair.
    fn take_ours(&mut self, packet: Packet) {
        let Some(about) = &self.about else { return };
        let pictures = of_ours(about);
        let name = topic::plain(&packet.channel.topic);
        if name != topic::PAIRS && !pictures.contains(&name) {
            return;
        }
        if self.gathered.first().is_some_and(|first| first.log_time_ns != packet.log_time_ns) {
            self.gathered.clear();
            self.incomplete += 1;
        }
        let is_note = name == topic::PAIRS;
        // a pair has one of each, whatever comes
        self.gathered.retain(|other| topic::plain(&other.channel.topic) != topic::plain(&packet.channel.topic));
        self.gathered.push(packet);
        let notes = self.gathered.iter().filter(|packet| packet.channel.topic == topic::PAIRS).count();
        if !is_note && self.gathered.len() - notes == pictures.len() {
            // the note first, then left and right
            let place = |packet: &Packet| {
                let name = topic::plain(&packet.channel.topic);
                pictures.iter().position(|picture| *picture == name).map_or(0, |place| place + 1)
            };
            self.gathered.sort_by_key(place);
            self.ready.push_back(std::mem::take(&mut self.gathered));
        }
    }

    fn take_other(&mut self, packet: Packet) {
        let topics = self.stream.contents().messages();
        if self.eyes.is_none() && self.topics_seen != topics {
            // more topics may still come
            self.topics_seen = topics;
            self.eyes = self.topics.among(self.stream.contents()).ok();
        }
        self.early.push_back(packet);
        if self.eyes.is_none() {
            let bytes = |early: &VecDeque<Packet>| early.iter().map(|packet| packet.data.len() as u64).sum::<u64>();
            while self.early.len() > MOST_EARLY || bytes(&self.early) > CHUNK_BYTES {
                self.early.pop_front();
            }
            return;
        }
        while let Some(packet) = self.early.pop_front() {
            self.take_of_eyes(packet);
        }
    }

    fn take_of_eyes(&mut self, packet: Packet) {
        let (left, right) = match &self.eyes {
            None => return,
            Some(Eyes::Both(both)) => {
                if packet.channel == *both {
                    self.ready.push_back(vec![packet]);
                }
                return;
            }
            Some(Eyes::Two { left, right }) => (left, right),
        };
        let side = match &packet.channel {
            channel if channel == left => Side::Left,
            channel if channel == right => Side::Right,
            _ => return,
        };
        self.pairing.push(side, stamp(&packet), packet);
        self.ready.extend(std::iter::from_fn(|| self.pairing.pop()).map(|pair| vec![pair.left, pair.right]));
    }
}

/// What a recording says of itself, if this packet says it.
fn about_of(packet: &Packet) -> Option<About> {
    match format::decode(&packet.channel, &packet.data).ok()?.body {
        Body::Json(value) => serde_json::from_value(value).ok().map(|about: About| about.sound().0),
        _ => None,
    }
}

/// When a picture was taken as it says itself; 1970 where it says nothing.
pub(super) fn told(packet: &Packet) -> SystemTime {
    format::decode(&packet.channel, &packet.data).map_or(UNIX_EPOCH, |message| message.stamp)
}

/// When a picture was taken: as it says itself, or as the file says.
fn stamp(packet: &Packet) -> SystemTime {
    Some(told(packet)).filter(|&stamp| stamp > UNIX_EPOCH).unwrap_or_else(|| time::from_ns(packet.publish_time_ns))
}
