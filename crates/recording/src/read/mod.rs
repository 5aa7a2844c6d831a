//! Reads recordings: finished or not, damaged or not, of this program or others.
//!
//! ```text
//!  file ─▶ records ─▶ index of all messages (scan) ─▶ pair index ─▶ packets of a pair; chunks are unpacked and cached (file)
//!  pipe ─▶ records ─▶ packets (packet_stream) ────▶ pairs (pair_stream)
//! ```
//!
//! The index is built from the headers of the records and the message indexes behind the chunks. So opening reads little, and a file without
//! a summary opens like a finished one. Behind a damaged part, the summary gives the offset of the next chunk.

mod camera_info;
mod chunk;
mod file;
mod index;
mod limits;
mod packet_stream;
mod pair_index;
mod pair_stream;
mod records;
mod scan;
mod stereo_topics;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod tests;

pub use camera_info::{calibration_of_cameras, camera_topic};
pub use packet_stream::PacketStream;
pub use pair_index::PairIndex;
pub use pair_stream::PairStream;
pub use stereo_topics::StereoTopics;
pub use stereo_topics::of_ours as pictures_of;

use super::format;
use super::{About, Channel, Packet, time, topic};
use crate::calibration::{CalibrationError, CalibrationNote};
use crate::capture::TopicChoice;
use crate::console::{self, counted, foreign};
use crate::files;
use file::RecordingFile;
use index::{FileIndex, Position};
use mcap::records::{MessageHeader, op};
use pair_index::Stamped;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// Why a recording, or a part of it, cannot be read. The text names the file and the remedy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// The file cannot be read at all, or is no recording of pairs.
    #[error("{0}")]
    File(String),
    /// This part is damaged; others may be readable.
    #[error("{0}")]
    Damaged(String),
}

/// The readable parts of a file.
#[derive(Debug)]
pub struct Recording {
    file: RecordingFile,
    index: FileIndex,
    is_ours: bool,
    about: Option<About>,
    stereo_topics: Option<StereoTopics>,
    pairs: Vec<PairIndex>,
    damage: Option<String>,
    calibration: Result<Option<CalibrationNote>, CalibrationError>,
}

/// The result of a pair is searched among this many messages behind the pair.
const RESULTS_BEHIND: usize = 64;

impl Recording {
    /// Opens a recording of ours, or one of another program with two image topics that differ only by left and right.
    ///
    /// # Errors
    /// As [`Recording::open_with`].
    pub fn open(path: &Path) -> Result<Self, ReadError> {
        Self::open_with(path, &TopicChoice::default())
    }

    /// Opens a recording whose pairs are on these topics. In a recording of another program all pictures are read for their times of
    /// capture.
    ///
    /// # Errors
    /// It cannot be read, is no MCAP file, or lacks these topics; then the text lists the image topics.
    pub fn open_with(path: &Path, topics: &TopicChoice) -> Result<Self, ReadError> {
        let shown = console::path(path);
        let refused =
            |err: io::Error| ReadError::File(format!("cannot read {shown}: {}", files::read_cause(path, &err)));
        let mut file = RecordingFile::open(path).map_err(refused)?;
        let magic = file.read_at(0, mcap::MAGIC.len() as u64).map_err(refused)?;
        if magic != mcap::MAGIC {
            return Err(refused(io::Error::other(if file.len() == 0 {
                "the file is empty: its recording was stopped before anything was written"
            } else {
                "it is no MCAP file"
            })));
        }
        let index = scan::scan(&mut file).map_err(refused)?;
        let is_ours = topics.is_default() && [topic::ABOUT, topic::PAIRS].iter().any(|&name| index.has_topic(name));
        let stereo_topics = if is_ours {
            StereoTopics::ours(&index)
        } else {
            Some(
                StereoTopics::chosen(topics, &index)
                    .map_err(|err| ReadError::File(format!("cannot play {shown}: {err}")))?,
            )
        };
        let (about, pairs, damage, calibration) = (None, Vec::new(), None, Ok(None));
        let mut recording = Self { file, index, is_ours, about, stereo_topics, pairs, damage, calibration };
        recording.about = recording.read_about();
        recording.check_pairs().map_err(refused)?;
        recording.find_pairs();
        recording.calibration = recording.read_calibration();
        Ok(recording)
    }

    /// All channels, in the order of their first appearance.
    pub fn channels(&self) -> &[Arc<Channel>] {
        &self.index.channels
    }

    /// The topics of the two views; `None` for a recording of ours without pictures.
    pub(crate) fn stereo_topics(&self) -> Option<&StereoTopics> {
        self.stereo_topics.as_ref()
    }

    /// The description of a recording of ours; `None` for other recordings.
    pub fn about(&self) -> Option<&About> {
        self.about.as_ref()
    }

    /// Damage in words, as far as opening finds it. Checksums are compared when a chunk is read.
    pub fn damage(&self) -> Option<&str> {
        self.damage.as_deref()
    }

    /// The parts of the file that are not used and the reasons, in sentences.
    pub fn losses(&self) -> Vec<String> {
        let damage = self.damage.iter().map(|damage| format!("the recording is not whole: {damage}"));
        let calibration = self.calibration.as_ref().err();
        let calibration = calibration.map(|why| format!("what the recording says of its cameras is not used: {why}"));
        damage.chain(calibration).collect()
    }

    /// Calibration of the pairs, where the file has it. In a recording of another program it comes from the first camera message beside
    /// the pictures of each view (`/left/camera_info` beside `/left/image_raw`). Pictures of a topic with `rect` in its last name are
    /// rectified already.
    pub fn calibration(&self) -> Option<&CalibrationNote> {
        self.calibration.as_ref().ok()?.as_ref()
    }

    /// Number of messages of a topic.
    pub fn len(&self, topic: &str) -> u64 {
        self.index.positions(topic).len() as u64
    }

    /// Message `k` of a topic, in the order of recording. Calls in any order return the same bytes.
    ///
    /// # Errors
    /// There is no such message, or its chunk is damaged.
    pub fn packet(&mut self, topic: &str, k: u64) -> Result<Packet, ReadError> {
        let positions = self.index.positions(topic);
        let position = usize::try_from(k).ok().and_then(|k| positions.get(k)).copied();
        let missing = || format!("{} has no message {k} of {}, but {}", self.shown(), foreign(topic), positions.len());
        let position = position.ok_or_else(|| ReadError::File(missing()))?;
        self.read(position)
    }

    /// All pairs with both pictures, in the order of recording.
    pub fn pairs(&self) -> &[PairIndex] {
        &self.pairs
    }

    /// The note of a pair, in recordings of ours, and its pictures.
    ///
    /// # Errors
    /// As [`Recording::packet`].
    pub fn packets_of_pair(&mut self, k: u64) -> Result<Vec<Packet>, ReadError> {
        let positions = self.pair(k)?.positions.clone();
        let packets = positions.iter().map(|&position| self.read(position)).collect::<Result<Vec<_>, _>>()?;
        if self.is_ours && packets.iter().any(|packet| packet.sequence != packets[0].sequence) {
            let shown = self.shown();
            return Err(ReadError::Damaged(format!("{shown}: the pictures of pair {k} do not belong together")));
        }
        Ok(packets)
    }

    /// The recorded result of a pair: its note, depth and disparity, where there are any.
    ///
    /// # Errors
    /// As [`Recording::packet`].
    pub fn packets_of_result(&mut self, k: u64) -> Result<Vec<Packet>, ReadError> {
        let topics = [topic::RESULTS, topic::DEPTH, topic::DISPARITY];
        let positions = topics.map(|topic| self.position_of_result(topic, k));
        let positions = positions.into_iter().collect::<Result<Vec<_>, _>>()?;
        positions.into_iter().flatten().map(|position| self.read(position)).collect()
    }

    /// Whether a pair has recorded depth or disparity.
    ///
    /// # Errors
    /// As [`Recording::packet`].
    pub fn has_depth(&mut self, k: u64) -> Result<bool, ReadError> {
        Ok(self.position_of_result(topic::DEPTH, k)?.is_some()
            || self.position_of_result(topic::DISPARITY, k)?.is_some())
    }

    /// Position of the message about the result of a pair: results come behind their pairs, with their sequence numbers.
    fn position_of_result(&mut self, topic: &str, k: u64) -> Result<Option<Position>, ReadError> {
        let PairIndex { log_time_ns, positions } = self.pair(k)?;
        let (log_time_ns, first) = (*log_time_ns, positions.first().copied());
        let results = self.index.positions(topic);
        let behind = results.partition_point(|position| position.log_time_ns < log_time_ns);
        let behind: Vec<Position> = results[behind..].iter().take(RESULTS_BEHIND).copied().collect();
        let Some(first) = first.filter(|_| self.is_ours && !behind.is_empty()) else { return Ok(None) };
        let sequence = self.sequence(first)?;
        for position in behind {
            match self.sequence(position)? {
                found if found == sequence => return Ok(Some(position)),
                // that of a later pair: this one has none
                later if (1..u32::MAX / 2).contains(&later.wrapping_sub(sequence)) => return Ok(None),
                _ => {}
            }
        }
        Ok(None)
    }

    fn pair(&self, k: u64) -> Result<&PairIndex, ReadError> {
        let pair = usize::try_from(k).ok().and_then(|k| self.pairs.get(k));
        pair.ok_or_else(|| ReadError::File(format!("{} has no pair {k}, but {}", self.shown(), self.pairs.len())))
    }

    fn shown(&self) -> String {
        self.file.shown()
    }

    fn read(&mut self, position: Position) -> Result<Packet, ReadError> {
        let (header, data) = self.message(position, |header, data| (header, data.to_vec()))?;
        let channel = self.index.channel(header.channel_id).cloned();
        let unknown = || ReadError::Damaged(format!("{}: a message is of no known topic", self.shown()));
        Ok(Packet::new(channel.ok_or_else(unknown)?, &header, data))
    }

    fn sequence(&mut self, position: Position) -> Result<u32, ReadError> {
        self.message(position, |header, _| header.sequence)
    }

    /// Calls `read` with header and data of the message at a position.
    fn message<T>(&mut self, position: Position, read: impl FnOnce(MessageHeader, &[u8]) -> T) -> Result<T, ReadError> {
        let chunk = position.chunk().and_then(|number| Some((number, self.index.chunks.get(number as usize)?)));
        let (bytes, offset) = match chunk {
            Some((number, chunk)) => (self.file.chunk(number, chunk)?, position.offset()),
            None => (Arc::new(self.file.record_at(position.offset())?), 0),
        };
        let record = records::record_at(&bytes, offset).filter(|&(opcode, _)| opcode == op::MESSAGE);
        let message = record.and_then(|(_, body)| records::message(body));
        match message.filter(|(header, _)| header.log_time == position.log_time_ns) {
            Some((header, data)) => Ok(read(header, data)),
            None => Err(ReadError::Damaged(format!("{}: there is no message where its index says", self.shown()))),
        }
    }

    fn read_about(&mut self) -> Option<About> {
        if !self.is_ours || self.len(topic::ABOUT) == 0 {
            return None;
        }
        let packet = self.packet(topic::ABOUT, 0).map_err(|err| err.to_string());
        let about = packet.and_then(|packet| format::decode_json::<About>(&packet));
        let (about, wrong) = match about.map(About::validated) {
            Ok((about, wrong)) => (Some(about), wrong),
            Err(why) => (None, Some(format!("what it says of itself cannot be read: {why}"))),
        };
        if let Some(why) = wrong {
            self.index.add_damage(why);
        }
        about
    }

    /// Checks that no view has more pictures than [`limits::PAIRS`].
    fn check_pairs(&self) -> io::Result<()> {
        let names = match &self.stereo_topics {
            None => vec![],
            Some(StereoTopics::SideBySide(both)) => vec![both.topic.as_str()],
            Some(StereoTopics::Separate { left, right }) => vec![left.topic.as_str(), right.topic.as_str()],
        };
        let max = names.into_iter().chain([topic::PAIRS]).map(|name| self.index.positions(name).len()).max();
        if max > Some(limits::PAIRS) { Err(limits::exceeded("pairs", limits::PAIRS)) } else { Ok(()) }
    }

    fn find_pairs(&mut self) {
        let (pairs, unpaired) = match self.stereo_topics.clone() {
            None => (Vec::new(), 0),
            Some(stereo_topics) if self.is_ours => pair_index::ours(&self.index, &stereo_topics),
            Some(StereoTopics::SideBySide(both)) => {
                let positions = self.index.positions(&both.topic).iter();
                let pair = |&at: &Position| PairIndex { log_time_ns: at.log_time_ns, positions: [at].into() };
                (positions.map(pair).collect(), 0)
            }
            Some(StereoTopics::Separate { left, right }) => {
                let (left, right) = (self.stamps(&left.topic), self.stamps(&right.topic));
                pair_index::nearest(left, right)
            }
        };
        self.pairs = pairs;
        let mut damage = self.index.take_damage();
        damage.extend(self.index.unfinished.take());
        if unpaired > 0 {
            damage.push(match (self.is_ours, unpaired) {
                (true, 1) => "1 pair lacks a picture".to_owned(),
                (true, _) => format!("{unpaired} pairs lack a picture"),
                (false, 1) => "1 picture has no partner".to_owned(),
                (false, _) => format!("{unpaired} pictures have no partner"),
            });
        }
        self.damage = (!damage.is_empty()).then(|| damage.join("; "));
    }

    /// Times of capture of a topic's pictures.
    fn stamps(&mut self, topic: &str) -> Vec<Stamped> {
        let positions = self.index.positions(topic).to_vec();
        let mut pictures = Vec::with_capacity(positions.len());
        for &position in &positions {
            if let Ok(packet) = self.read(position) {
                let [publish_time, log_time] = [packet.publish_time_ns, packet.log_time_ns].map(time::from_ns);
                pictures.push((position, [pair_stream::stamp(&packet), publish_time, log_time]));
            }
        }
        let lost = positions.len() - pictures.len();
        if lost > 0 {
            self.index.add_damage(format!("{} of {} cannot be read", counted(lost as u64, "picture"), foreign(topic)));
        }
        pair_index::stamped(&pictures)
    }
}
