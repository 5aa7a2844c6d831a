//! Reads recordings: files that are finished or not, damaged or not, ours or of others.
//!
//! A file is known by the headers of its records and by the message indexes behind its chunks, so that opening reads little
//! and an unfinished file opens like a finished one. What a finished file says at its end helps past a damaged place.

mod cameras;
mod chunk;
mod contents;
mod fields;
mod file;
mod gather;
mod limits;
mod pairs;
mod stream;
mod topics;
mod walk;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod tests;

pub use gather::PairStream;
pub use pairs::PairIndex;
pub use stream::PacketStream;
pub use topics::Eyes;

use super::format;
use super::message::Body;
use super::{About, Channel, Packet, topic};
use crate::calibration::CalibrationNote;
use crate::capture::TopicChoice;
use crate::console::{self, foreign};
use contents::{Contents, Place};
use fields::MessageHead;
use file::RecordingFile;
use mcap::records::op;
use pairs::{Said, Stamped};
use std::path::Path;
use std::sync::Arc;

/// Why a recording, or a part of it, cannot be read. The text names the file and says what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// The file cannot be read at all, or is no recording of pairs.
    #[error("{0}")]
    File(String),
    /// This part is damaged; others may be readable.
    #[error("{0}")]
    Damaged(String),
}

/// A file, finished or not, damaged or not: what is readable of it.
#[derive(Debug)]
pub struct Recording {
    file: RecordingFile,
    contents: Contents,
    about: Option<About>,
    damage: Option<String>,
    eyes: Option<Eyes>,
    pairs: Vec<PairIndex>,
    is_ours: bool,
    calibration: Option<CalibrationNote>,
    /// Why what it says of its cameras is not used.
    no_calibration: Option<String>,
}

/// Results are looked for among so many behind their pair.
const RESULTS_BEHIND: usize = 64;

impl Recording {
    /// Opens a file of ours, or one of others in which two image topics differ only by left and right.
    ///
    /// # Errors
    /// As [`Recording::open_with`].
    pub fn open(path: &Path) -> Result<Self, ReadError> {
        Self::open_with(path, &TopicChoice::default())
    }

    /// Opens a file whose pairs are on these topics. All pictures of a file of others are read, because only they know when
    /// they were taken.
    ///
    /// # Errors
    /// It cannot be read, is no MCAP file, or has no such topics; then the text lists those that it has.
    pub fn open_with(path: &Path, topics: &TopicChoice) -> Result<Self, ReadError> {
        let shown = console::path(path);
        let refused = |err: std::io::Error| match err.kind() {
            std::io::ErrorKind::NotFound => ReadError::File(format!("cannot read {shown}: there is no such file")),
            _ => ReadError::File(format!("cannot read {shown}: {err}")),
        };
        let mut file = RecordingFile::open(path).map_err(refused)?;
        let magic = file.read_at(0, mcap::MAGIC.len() as u64).map_err(refused)?;
        if magic != mcap::MAGIC {
            let what = if file.len() == 0 {
                "the file is empty: its recording was stopped before anything was written"
            } else {
                "it is no MCAP file"
            };
            return Err(ReadError::File(format!("cannot read {shown}: {what}")));
        }
        let contents = walk::Walk::through(&mut file).map_err(refused)?;
        let is_ours = topics.is_default() && [topic::ABOUT, topic::PAIRS].iter().any(|&name| contents.has_topic(name));
        let eyes = if is_ours {
            Eyes::ours(&contents)
        } else {
            Some(topics.among(&contents).map_err(|err| ReadError::File(format!("cannot play {shown}: {err}")))?)
        };
        let mut recording = Self {
            file,
            contents,
            about: None,
            damage: None,
            eyes,
            pairs: Vec::new(),
            is_ours,
            calibration: None,
            no_calibration: None,
        };
        recording.about = recording.read_about();
        recording.check_pairs().map_err(refused)?;
        recording.find_pairs();
        match recording.read_calibration() {
            Ok(calibration) => recording.calibration = calibration,
            Err(err) => recording.no_calibration = Some(err.to_string()),
        }
        Ok(recording)
    }

    /// All topics, in the order of their first appearance.
    pub fn channels(&self) -> &[Arc<Channel>] {
        &self.contents.channels
    }

    /// The topics whose pictures are the pairs; `None` for a recording of ours that has no pictures.
    pub fn eyes(&self) -> Option<&Eyes> {
        self.eyes.as_ref()
    }

    /// What the file says of itself; `None` for recordings of others.
    pub fn about(&self) -> Option<&About> {
        self.about.as_ref()
    }

    /// What is missing, in words, as far as opening finds it. Checksums are looked at when a part is read.
    pub fn damage(&self) -> Option<&str> {
        self.damage.as_deref()
    }

    /// What of the file is not used, and why, in sentences.
    pub fn losses(&self) -> Vec<String> {
        let damage = self.damage.iter().map(|damage| format!("the recording is not whole: {damage}"));
        let cameras = self.no_calibration.iter();
        damage.chain(cameras.map(|why| format!("what the recording says of its cameras is not used: {why}"))).collect()
    }

    /// How pairs become rectified and metric, as far as the file says it: in a recording of others by the first message that
    /// describes a camera beside each eye's pictures (`/left/camera_info` beside `/left/image_raw`). Pictures of a topic with
    /// `rect` in its last name are rectified already.
    pub fn calibration(&self) -> Option<&CalibrationNote> {
        self.calibration.as_ref()
    }

    /// How many messages of a topic there are.
    pub fn len(&self, topic: &str) -> u64 {
        self.contents.of(topic).len() as u64
    }

    /// Message `k` of a topic, in the order in which it was recorded; in any order, the same bytes each time.
    ///
    /// # Errors
    /// There is none, or the part in which it lies is damaged.
    pub fn packet(&mut self, topic: &str, k: u64) -> Result<Packet, ReadError> {
        let places = self.contents.of(topic);
        let place = usize::try_from(k).ok().and_then(|k| places.get(k)).copied();
        let missing = || format!("{} has no message {k} of {}, but {}", self.shown(), foreign(topic), places.len());
        let place = place.ok_or_else(|| ReadError::File(missing()))?;
        self.read(place)
    }

    /// All pairs of which both pictures are there, in the order in which they were recorded.
    pub fn pairs(&self) -> &[PairIndex] {
        &self.pairs
    }

    /// The note of a pair, in files of ours, and its pictures.
    ///
    /// # Errors
    /// As [`Recording::packet`].
    pub fn packets_of_pair(&mut self, k: u64) -> Result<Vec<Packet>, ReadError> {
        let places = self.pair(k)?.places.clone();
        let packets = places.iter().map(|&place| self.read(place)).collect::<Result<Vec<_>, _>>()?;
        if self.is_ours && packets.iter().any(|packet| packet.sequence != packets[0].sequence) {
            let shown = self.shown();
            return Err(ReadError::Damaged(format!("{shown}: the pictures of pair {k} do not belong together")));
        }
        Ok(packets)
    }

    /// What was recorded of a pair's result: depth, disparity and their note, as far as there are any.
    ///
    /// # Errors
    /// As [`Recording::packet`].
    pub fn packets_of_result(&mut self, k: u64) -> Result<Vec<Packet>, ReadError> {
        let PairIndex { log_time_ns, places } = self.pair(k)?.clone();
        let Some(&first) = places.first().filter(|_| self.is_ours) else { return Ok(Vec::new()) };
        let sequence = self.message(first, |head, _| head.sequence)?;
        let mut packets = Vec::new();
        for topic in [topic::RESULTS, topic::DEPTH, topic::DISPARITY] {
            let places = self.contents.of(topic);
            let behind = places.partition_point(|place| place.log_time_ns < log_time_ns);
            let behind: Vec<Place> = places[behind..].iter().take(RESULTS_BEHIND).copied().collect();
            for place in behind {
                match self.message(place, |head, _| head.sequence)? {
                    found if found == sequence => {
                        packets.push(self.read(place)?);
                        break;
                    }
                    // the next pair's: this one has none
                    later if (1..u32::MAX / 2).contains(&later.wrapping_sub(sequence)) => break,
                    _ => {}
                }
            }
        }
        Ok(packets)
    }

    fn pair(&self, k: u64) -> Result<&PairIndex, ReadError> {
        let pair = usize::try_from(k).ok().and_then(|k| self.pairs.get(k));
        pair.ok_or_else(|| ReadError::File(format!("{} has no pair {k}, but {}", self.shown(), self.pairs.len())))
    }

    fn shown(&self) -> String {
        self.file.shown()
    }

    fn read(&mut self, place: Place) -> Result<Packet, ReadError> {
        let (head, data) = self.message(place, |head, data| (head, data.to_vec()))?;
        let channel = self.contents.channel(head.channel).cloned();
        let unknown = || ReadError::Damaged(format!("{}: a message is of no known topic", self.shown()));
        Ok(Packet {
            channel: channel.ok_or_else(unknown)?,
            sequence: head.sequence,
            log_time_ns: head.log_time_ns,
            publish_time_ns: head.publish_time_ns,
            data,
        })
    }

    /// Looks at the message that should lie here.
    fn message<T>(&mut self, place: Place, look: impl FnOnce(MessageHead, &[u8]) -> T) -> Result<T, ReadError> {
        let record;
        let chunk;
        let number = place.chunk();
        let found =
            if let Some((number, of_chunk)) = number.and_then(|n| Some((n, self.contents.chunks.get(n as usize)?))) {
                chunk = self.file.chunk(number, of_chunk)?;
                fields::record_at(&chunk, place.offset())
            } else {
                record = self.file.record_at(place.offset())?;
                fields::record_at(&record, 0)
            };
        let found = found.filter(|&(opcode, _)| opcode == op::MESSAGE).and_then(|(_, body)| fields::message(body));
        match found.filter(|(head, _)| head.log_time_ns == place.log_time_ns) {
            Some((head, data)) => Ok(look(head, data)),
            None => Err(ReadError::Damaged(format!("{}: there is no message where its index says", self.shown()))),
        }
    }

    /// The first message of the topic that says what the recording is of.
    fn read_about(&mut self) -> Option<About> {
        if !self.is_ours || self.len(topic::ABOUT) == 0 {
            return None;
        }
        let about =
            self.packet(topic::ABOUT, 0).map_err(|err| err.to_string()).and_then(|packet| {
                match format::decode(&packet.channel, &packet.data).map_err(|err| err.to_string())?.body {
                    Body::Json(value) => serde_json::from_value::<About>(value).map_err(|err| err.to_string()),
                    _ => Err("it is no JSON".to_owned()),
                }
            });
        match about.map(About::sound) {
            Ok((about, wrong)) => {
                if let Some(why) = wrong {
                    self.contents.damaged(why);
                }
                Some(about)
            }
            Err(why) => {
                self.contents.damaged(format!("what it says of itself cannot be read: {why}"));
                None
            }
        }
    }

    /// Whether there are not more pictures of an eye than are read.
    fn check_pairs(&self) -> std::io::Result<()> {
        let names = match &self.eyes {
            None => vec![],
            Some(Eyes::Both(both)) => vec![both.topic.as_str()],
            Some(Eyes::Two { left, right }) => vec![left.topic.as_str(), right.topic.as_str()],
        };
        let most = names.into_iter().chain([topic::PAIRS]).map(|name| self.contents.of(name).len()).max();
        if most > Some(limits::PAIRS) { Err(limits::exceeded("pairs", limits::PAIRS)) } else { Ok(()) }
    }

    fn find_pairs(&mut self) {
        let (pairs, alone) = match self.eyes.clone() {
            None => (Vec::new(), 0),
            Some(eyes) if self.is_ours => pairs::ours(&self.contents, &eyes),
            Some(Eyes::Both(both)) => {
                let places = self.contents.of(&both.topic).iter();
                let pair = |&place: &Place| PairIndex { log_time_ns: place.log_time_ns, places: [place].into() };
                (places.map(pair).collect(), 0)
            }
            Some(Eyes::Two { left, right }) => {
                let (left, right) = (self.stamps(&left.topic), self.stamps(&right.topic));
                pairs::nearest(left, right)
            }
        };
        self.pairs = pairs;
        let mut damage = self.contents.take_damage();
        damage.extend(self.contents.unfinished.take());
        if alone > 0 {
            let text = match (self.is_ours, alone) {
                (true, 1) => "1 pair lacks a picture".to_owned(),
                (true, _) => format!("{alone} pairs lack a picture"),
                (false, 1) => "1 picture has no partner".to_owned(),
                (false, _) => format!("{alone} pictures have no partner"),
            };
            damage.push(text);
        }
        self.damage = (!damage.is_empty()).then(|| damage.join("; "));
    }

    /// When the pictures of a topic were taken.
    fn stamps(&mut self, topic: &str) -> Vec<Stamped> {
        let places = self.contents.of(topic).to_vec();
        let mut lost = 0_u64;
        let mut said = Vec::with_capacity(places.len());
        for place in places {
            let Ok(packet) = self.read(place) else {
                lost += 1;
                continue;
            };
            said.push(Said { place, told: gather::told(&packet), publish_time_ns: packet.publish_time_ns });
        }
        if lost > 0 {
            self.contents.damaged(format!("{lost} pictures of {} are damaged", foreign(topic)));
        }
        pairs::stamped(&said)
    }
}
