//! Assigns the packets of a stream to pairs as they arrive, for recordings that are read through a pipe.

use super::limits::MAX_CHUNK_BYTES;
use super::stereo_topics::{StereoTopics, of_ours};
use super::{PacketStream, unread};
use crate::error::{FileError, ReadError};
use crate::{About, Packet, format, time, topic};
use std::collections::VecDeque;
use std::io::Read;
use std::time::{SystemTime, UNIX_EPOCH};
use stereopsis_frame::pairing::Pairing;
use stereopsis_frame::{PairBy, Side, TopicChoice};

/// Maximum packets that wait until the topics of both sides are known.
const MAX_EARLY: usize = 64;
/// Rate of two topics until it is measured, Hz.
const DEFAULT_RATE_HZ: f64 = 30.0;

/// Reader of the pairs of a stream of packets.
#[derive(Debug)]
pub struct PairStream<R> {
    stream: PacketStream<R>,
    topics: TopicChoice,
    about: Option<About>,
    /// Topics of both sides in a recording of another program, once they are known.
    stereo_topics: Option<StereoTopics>,
    /// Number of topics with messages at the last search for `stereo_topics`.
    topics_seen: usize,
    /// Packets from before `stereo_topics` was known: the first image of one side arrives after that of the other.
    early: VecDeque<Packet>,
    pairing: Pairing<Packet>,
    /// Complete pairs, with the skew of those that `pairing` has found.
    ready: VecDeque<(Vec<Packet>, Option<f64>)>,
    /// Skew of the pair that was returned last, s.
    skew_s: Option<f64>,
    /// Packets of the next pair of a recording of this program.
    gathered: Vec<Packet>,
    incomplete: u64,
}

impl<R: Read> PairStream<R> {
    /// Creates a stream of the pairs of the chosen topics, or of the only two topics that belong together.
    pub fn new(reader: R, topics: TopicChoice) -> Self {
        Self {
            stream: PacketStream::new(reader),
            topics,
            about: None,
            stereo_topics: None,
            topics_seen: 0,
            early: VecDeque::new(),
            pairing: Pairing::new(DEFAULT_RATE_HZ, DEFAULT_RATE_HZ),
            ready: VecDeque::new(),
            skew_s: None,
            gathered: Vec::new(),
            incomplete: 0,
        }
    }

    /// Returns the description of a recording of this program, which comes before its first pair.
    pub fn about(&self) -> Option<&About> {
        self.about.as_ref()
    }

    /// Returns the number of pairs that lacked an image, and of unpaired images.
    pub fn incomplete(&self) -> u64 {
        self.incomplete + self.pairing.unpaired()
    }

    /// Returns a sentence on topics that show the same images as the chosen ones and have arrived so far.
    pub fn left_out(&self) -> Option<String> {
        self.stereo_topics.as_ref()?.left_out(self.stream.index())
    }

    /// Returns the skew of the pair that was returned last, where no note has it, s.
    pub fn skew_s(&self) -> Option<f64> {
        self.skew_s
    }

    /// Waits for the next pair: its images, after its note in recordings of this program. `None` at the end.
    ///
    /// # Errors
    /// Errors of [`PacketStream::next_packet`]; at the end also if no two topics belong together.
    pub fn next_pair(&mut self) -> Result<Option<Vec<Packet>>, ReadError> {
        loop {
            if let Some((pair, skew_s)) = self.ready.pop_front() {
                self.skew_s = skew_s;
                return Ok(Some(pair));
            }
            let Some(packet) = self.stream.next_packet()? else {
                if self.about.is_none() && self.stereo_topics.is_none() {
                    StereoTopics::chosen(&self.topics, self.stream.index()).map_err(|why| {
                        let unread = unread::list(unread::channels(self.stream.index()), |_| None);
                        FileError::Topics { path: None, why, unread }
                    })?;
                }
                return Ok(None);
            };
            if packet.channel.topic == topic::ABOUT && self.topics.is_default() {
                let about = format::decode_json(&packet).ok();
                self.about = about.map(|about: About| about.validated().0).or(self.about.take());
            } else if let Some(about) = &self.about {
                let pictures = of_ours(about);
                self.gather(packet, &pictures);
            } else {
                self.pair(packet);
            }
        }
    }

    /// Adds a packet of a recording of this program. Another log time begins the next pair.
    fn gather(&mut self, packet: Packet, pictures: &[&str]) {
        // order: the note, then left and right
        let place = |packet: &Packet| match topic::plain(&packet.channel.topic) {
            topic::PAIRS => Some(0),
            name => pictures.iter().position(|picture| *picture == name).map(|place| place + 1),
        };
        let Some(own_place) = place(&packet) else { return };
        if self.gathered.first().is_some_and(|first| first.log_time_ns != packet.log_time_ns) {
            self.gathered.clear();
            self.incomplete += 1;
        }
        // of several packets of one topic the last one is used
        self.gathered.retain(|other| place(other) != Some(own_place));
        self.gathered.push(packet);
        let gathered = self.gathered.iter().filter(|packet| place(packet) != Some(0)).count();
        if own_place > 0 && gathered == pictures.len() {
            self.gathered.sort_by_key(place);
            self.ready.push_back((std::mem::take(&mut self.gathered), None));
        }
    }

    /// Adds a packet of a recording of another program.
    fn pair(&mut self, packet: Packet) {
        let topics = self.stream.index().messages();
        if self.stereo_topics.is_none() && self.topics_seen != topics {
            // more topics may still arrive
            self.topics_seen = topics;
            self.stereo_topics = StereoTopics::chosen(&self.topics, self.stream.index()).ok();
        }
        self.early.push_back(packet);
        let Some(stereo_topics) = &self.stereo_topics else {
            let bytes = |early: &VecDeque<Packet>| early.iter().map(|packet| packet.data.len() as u64).sum::<u64>();
            while self.early.len() > MAX_EARLY || bytes(&self.early) > MAX_CHUNK_BYTES {
                self.early.pop_front();
            }
            return;
        };
        for packet in self.early.drain(..) {
            let side = match stereo_topics {
                StereoTopics::SideBySide(both) => {
                    self.ready.extend((packet.channel == *both).then(|| (vec![packet], None)));
                    continue;
                }
                StereoTopics::Separate { left, .. } if packet.channel == *left => Side::Left,
                StereoTopics::Separate { right, .. } if packet.channel == *right => Side::Right,
                StereoTopics::Separate { .. } => continue,
            };
            let time = match self.topics.pair_by {
                PairBy::Stamp => packet.capture_time(stamp(&packet)),
                PairBy::LogTime => time::from_ns(packet.log_time_ns),
            };
            self.pairing.push(side, time, packet);
            let pairs = std::iter::from_fn(|| self.pairing.pop());
            self.ready.extend(pairs.map(|pair| (vec![pair.left, pair.right], Some(pair.skew_s))));
        }
    }
}

/// Returns the stamp in an image's message; 1970 for none.
pub(super) fn stamp(packet: &Packet) -> SystemTime {
    format::decode(&packet.channel, &packet.data).map_or(UNIX_EPOCH, |message| message.stamp)
}
