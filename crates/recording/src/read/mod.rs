//! Reads recordings: finished or not, damaged or not, of this program or others. No file may panic it or exhaust memory.
//!
//! ```text
//!  file ─▶ records ─▶ index of all messages (scan) ─▶ pair index ─▶ packets of a pair; chunks are unpacked and cached (file)
//!  pipe ─▶ records ─▶ packets (packet_stream) ────▶ pairs (pair_stream)
//! ```
//!
//! The index is built from the headers of records and the message indexes behind chunks, so opening reads little, and a file without a
//! summary opens like a finished one. Behind a damaged part, the summary gives the offset of the next chunk.

mod camera_info;
mod chunk;
#[cfg(feature = "db3")]
mod db3;
#[cfg(not(feature = "db3"))]
#[path = "no_db3.rs"]
mod db3;
mod file;
mod frames;
mod index;
mod limits;
mod packet_stream;
mod pair_index;
mod pair_stream;
mod parts;
mod records;
mod scan;
mod skew;
mod stereo_topics;
mod unpacked;
mod unread;
#[cfg(all(test, feature = "db3"))]
mod bags;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod others;
#[cfg(test)]
mod tests;

pub use crate::error::RecordedCameraError;
pub use camera_info::{calibration_of_cameras, camera_topic};
pub use packet_stream::PacketStream;
pub use pair_index::PairIndex;
pub use pair_stream::PairStream;
pub use skew::PairSkew;
pub use stereo_topics::{StereoTopics, of_ours as pictures_of};

use super::{About, Channel, Packet, PairNote, ResultNote, format, time, topic};
use crate::error::{Damage, FileError, OpenError, ReadError, TopicError};
use camera_info::CamerasFrom;
use file::RecordingFile;
use index::{FileIndex, Position};
use mcap::records::{MessageHeader, op};
use pair_index::{FoundPairs, TimedImage};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use stereopsis_calibration::CalibrationNote;
use stereopsis_frame::player::median_interval;
use stereopsis_frame::{PairBy, TopicChoice};

/// Open recording with its readable parts.
#[derive(Debug)]
pub struct Recording {
    file: RecordingFile,
    index: FileIndex,
    is_ours: bool,
    /// Whether another program gave the messages new sequence numbers, as ROS 1's bags do: then their stamps say what belongs together.
    is_renumbered: bool,
    about: Option<About>,
    stereo_topics: Option<StereoTopics>,
    pairs: Vec<PairIndex>,
    damage: Vec<Arc<Damage>>,
    skew: Option<PairSkew>,
    calibration: Result<Option<CalibrationNote>, RecordedCameraError>,
    /// Cameras after a change, in the order of their pairs.
    later_cameras: Vec<CamerasFrom>,
    /// First fault of camera messages, where others can be used.
    unused_cameras: Option<RecordedCameraError>,
}

/// Number of messages behind a pair among which its result is searched.
const RESULTS_BEHIND: usize = 64;
/// Number of notes that are read at opening for the skew: each may lie in a chunk of its own.
const SKEW_NOTES: usize = 16;
/// Maximum difference of stamps that count as equal, s: notes have them as fractions of seconds.
const SAME_STAMP_S: f64 = 1e-6;

impl Recording {
    /// Opens a recording of this program, or one of another program with two image topics that differ only by left and right.
    ///
    /// # Errors
    /// Errors of [`Recording::open_with`].
    pub fn open(path: &Path) -> Result<Self, ReadError> {
        Self::open_with(path, &TopicChoice::default())
    }

    /// Opens a recording whose pairs are on these topics. In a recording of another program all images are read for their capture times.
    ///
    /// # Errors
    /// The file cannot be read, is no MCAP file, or lacks these topics; then the text lists the image topics.
    pub fn open_with(path: &Path, topics: &TopicChoice) -> Result<Self, ReadError> {
        let refused = |why: OpenError| FileError::Read { path: path.to_owned(), why };
        let (file, index) = parts::open(path).map_err(refused)?;
        let is_ours = topics.is_default() && [topic::ABOUT, topic::PAIRS].iter().any(|&name| index.has_topic(name));
        let mut recording = Self {
            file,
            index,
            is_ours,
            is_renumbered: false,
            about: None,
            stereo_topics: None,
            pairs: Vec::new(),
            damage: Vec::new(),
            skew: None,
            calibration: Ok(None),
            later_cameras: Vec::new(),
            unused_cameras: None,
        };
        recording.stereo_topics = recording.choose(topics)?;
        recording.about = recording.read_about();
        recording.is_renumbered = is_ours && recording.is_renumbered();
        recording.check_pairs().map_err(refused)?;
        let images = recording.find_pairs(topics.pair_by);
        recording.calibration = recording.read_calibration(&images);
        Ok(recording)
    }

    /// Returns the paths of the files: one, or those of a folder of `ros2 bag record`.
    pub fn files(&self) -> Vec<PathBuf> {
        self.file.paths()
    }

    /// Returns the size of all files, bytes.
    pub fn bytes(&self) -> u64 {
        self.file.bytes()
    }

    /// Returns all channels, in the order of their first appearance.
    pub fn channels(&self) -> &[Arc<Channel>] {
        &self.index.channels
    }

    /// Returns the topics of both sides; `None` for a recording of this program without images.
    pub(crate) fn stereo_topics(&self) -> Option<&StereoTopics> {
        self.stereo_topics.as_ref()
    }

    /// Returns the description of a recording of this program; `None` for other recordings.
    pub fn about(&self) -> Option<&About> {
        self.about.as_ref()
    }

    /// Returns the damage that opening found, in sentences. Checksums are compared when a chunk is read.
    pub fn damage(&self) -> Option<String> {
        let damage: Vec<_> = self.damage.iter().map(ToString::to_string).collect();
        (!damage.is_empty()).then(|| damage.join("; "))
    }

    /// Returns the skew: of all pairs in a recording of another program, of some otherwise; `None` without pairs of two images.
    pub fn skew(&self) -> Option<&PairSkew> {
        self.skew.as_ref()
    }

    /// Returns the skew of a pair that has no note, s.
    pub(super) fn skew_of_pair(&self, k: u64) -> Option<f64> {
        self.pair(k).ok()?.skew_s.map(f64::from)
    }

    /// Returns sentences on the parts of the file that are not used, with the reasons, and on a skew that matters.
    pub fn losses(&self) -> Vec<String> {
        let damage = self.damage().map(|damage| format!("the recording is not whole: {damage}"));
        let calibration = self.calibration.as_ref().err();
        let calibration = calibration.map(|why| format!("what the recording says of its cameras is not used: {why}"));
        let skew = self.skew.as_ref().and_then(PairSkew::remark);
        let stereo_topics = self.stereo_topics.as_ref().filter(|_| !self.is_ours);
        let left_out = stereo_topics.and_then(|topics| topics.left_out(&self.index));
        damage.into_iter().chain(left_out).chain(calibration).chain(self.camera_changes()).chain(skew).collect()
    }

    /// Returns the calibration of the pairs, where the file has it. In a recording of another program it comes from the first camera
    /// message beside the images of each side (`/left/camera_info` beside `/left/image_raw`). Images of a topic with `rect` in its last
    /// name are rectified already.
    pub fn calibration(&self) -> Option<&CalibrationNote> {
        self.calibration.as_ref().ok()?.as_ref()
    }

    /// Returns the number of messages of a topic.
    pub fn len(&self, topic: &str) -> u64 {
        self.index.positions(topic).len() as u64
    }

    /// Reads message `k` of a topic, in the order of recording. Calls in any order return the same bytes.
    ///
    /// # Errors
    /// There is no such message, or its chunk is damaged.
    pub fn packet(&mut self, topic: &str, k: u64) -> Result<Packet, ReadError> {
        let positions = self.index.positions(topic);
        let position = usize::try_from(k).ok().and_then(|k| positions.get(k)).copied();
        let (path, count) = (&self.file.path, positions.len());
        let missing = || FileError::NoMessage { path: path.clone(), topic: topic.to_owned(), k, count };
        self.read(position.ok_or_else(missing)?)
    }

    /// Returns all pairs with both images, in the order of recording.
    pub fn pairs(&self) -> &[PairIndex] {
        &self.pairs
    }

    /// Reads the images of a pair, after its note in recordings of this program.
    ///
    /// # Errors
    /// Errors of [`Recording::packet`].
    pub fn packets_of_pair(&mut self, k: u64) -> Result<Vec<Packet>, ReadError> {
        let positions = self.pair(k)?.positions.clone();
        let packets = positions.iter().map(|&position| self.read(position)).collect::<Result<Vec<_>, _>>()?;
        if self.is_ours && !self.belong_together(&packets) {
            return Err(Damage::Pair { path: self.file.path.clone(), k }.into());
        }
        Ok(packets)
    }

    /// Returns whether these are the messages of one pair.
    fn belong_together(&self, packets: &[Packet]) -> bool {
        if !self.is_renumbered {
            return packets.iter().all(|packet| packet.sequence == packets[0].sequence);
        }
        let note = packets.iter().find_map(|packet| format::decode_json::<PairNote>(packet).ok());
        let skew_s = note.map_or(0.0, |note| note.skew_s);
        let images = packets.iter().filter(|packet| packet.channel.topic != topic::PAIRS);
        let stamps: Vec<_> = images.map(pair_stream::stamp).collect();
        let [left, right] = stamps[..] else { return true };
        // rectified images have one stamp
        [skew_s, 0.0].iter().any(|apart_s| (time::later_s([left, right]) - apart_s).abs() < SAME_STAMP_S)
    }

    /// Returns whether messages have other sequence numbers than their notes say.
    fn is_renumbered(&mut self) -> bool {
        [topic::PAIRS, topic::RESULTS].into_iter().any(|name| {
            let last = self.len(name).saturating_sub(1);
            [0, last].into_iter().any(|k| {
                let packet = self.packet(name, k).ok();
                packet.is_some_and(|packet| number_of(&packet).is_some_and(|number| number as u32 != packet.sequence))
            })
        })
    }

    /// Reads the recorded result of a pair: its note, depth and disparity, where there are any.
    ///
    /// # Errors
    /// Errors of [`Recording::packet`].
    pub fn packets_of_result(&mut self, k: u64) -> Result<Vec<Packet>, ReadError> {
        let topics = [topic::RESULTS, self.depth_topic(), topic::DISPARITY];
        let positions = topics.map(|topic| self.position_of_result(topic, k));
        let positions = positions.into_iter().collect::<Result<Vec<_>, _>>()?;
        positions.into_iter().flatten().map(|position| self.read(position)).collect()
    }

    /// Returns whether a pair has recorded depth or disparity.
    ///
    /// # Errors
    /// Errors of [`Recording::packet`].
    pub fn has_depth(&mut self, k: u64) -> Result<bool, ReadError> {
        Ok(self.position_of_result(self.depth_topic(), k)?.is_some()
            || self.position_of_result(topic::DISPARITY, k)?.is_some())
    }

    /// Returns the topic with the depth: the compressed one where the recording has that alone.
    pub(crate) fn depth_topic(&self) -> &'static str {
        let has = |name: &str| !self.index.positions(name).is_empty();
        if !has(topic::DEPTH) && has(topic::COMPRESSED_DEPTH) { topic::COMPRESSED_DEPTH } else { topic::DEPTH }
    }

    /// Returns the position of a message of a pair's result: results come after their pairs, with their sequence numbers.
    fn position_of_result(&mut self, topic: &str, k: u64) -> Result<Option<Position>, ReadError> {
        let PairIndex { log_time_ns, positions, .. } = self.pair(k)?;
        let (log_time_ns, first) = (*log_time_ns, positions.first().copied());
        let results = self.index.positions(topic);
        let behind = results.partition_point(|position| position.log_time_ns < log_time_ns);
        let behind: Vec<Position> = results[behind..].iter().take(RESULTS_BEHIND).copied().collect();
        let Some(first) = first.filter(|_| self.is_ours && !behind.is_empty()) else { return Ok(None) };
        if self.is_renumbered {
            return self.position_by_stamp(topic, k, behind);
        }
        let sequence = self.sequence(first)?;
        for position in behind {
            match self.sequence(position)? {
                found if found == sequence => return Ok(Some(position)),
                // a result of a later pair: this pair has none
                later if (1..u32::MAX / 2).contains(&later.wrapping_sub(sequence)) => return Ok(None),
                _ => {}
            }
        }
        Ok(None)
    }

    /// Returns the position of a message of a pair's result: the note with the number in the pair's note, or the image with its stamp.
    fn position_by_stamp(&mut self, topic: &str, k: u64, behind: Vec<Position>) -> Result<Option<Position>, ReadError> {
        let packets = self.packets_of_pair(k)?;
        let number = packets.iter().find_map(number_of);
        let stamp = packets.iter().find(|packet| packet.channel.topic != topic::PAIRS).map(pair_stream::stamp);
        for position in behind {
            let packet = self.read(position)?;
            let (is_same, is_later) = if topic == topic::RESULTS {
                let found = number_of(&packet);
                (found.is_some() && found == number, found > number)
            } else {
                let found = Some(pair_stream::stamp(&packet));
                (found == stamp, found > stamp)
            };
            if is_same {
                return Ok(Some(position));
            }
            if is_later {
                break;
            }
        }
        Ok(None)
    }

    fn pair(&self, k: u64) -> Result<&PairIndex, ReadError> {
        let pair = usize::try_from(k).ok().and_then(|k| self.pairs.get(k));
        pair.ok_or_else(|| FileError::NoPair { path: self.file.path.clone(), k, count: self.pairs.len() }.into())
    }

    fn read(&mut self, position: Position) -> Result<Packet, ReadError> {
        let (header, data) = self.message(position, |header, data| (header, data.to_vec()))?;
        let at = match position.chunk().and_then(|number| self.index.chunks.get(number as usize)) {
            Some(chunk) => chunk.start,
            None => position.offset(),
        };
        let channel = self.index.channel_of(self.file.part(at), header.channel_id).cloned();
        let channel = channel.ok_or_else(|| Damage::Channel(self.file.path.clone()))?;
        let data = chunk::unpack_message(&channel, data).map_err(|why| why.of(&channel.topic))?;
        Ok(Packet::new(channel, &header, data))
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
            None => Err(Damage::Index(self.file.path.clone()).into()),
        }
    }

    /// Returns the topics of both sides; `None` for a recording of this program without images.
    fn choose(&mut self, topics: &TopicChoice) -> Result<Option<StereoTopics>, ReadError> {
        if self.is_ours {
            return Ok(StereoTopics::ours(&self.index));
        }
        StereoTopics::chosen(topics, &self.index).map(Some).map_err(|why| {
            let channels: Vec<Channel> = unread::channels(&self.index).cloned().collect();
            let coding =
                |channel: &Channel| format::coding_of_video(channel, &self.packet(&channel.topic, 0).ok()?.data);
            let mut unread = unread::list(channels.iter(), coding);
            if unread.is_empty() && matches!(why, TopicError::None(_)) {
                unread.extend(unread::all(&self.index));
            }
            FileError::Topics { path: Some(self.file.path.clone()), why, unread }.into()
        })
    }

    fn read_about(&mut self) -> Option<About> {
        if !self.is_ours || self.len(topic::ABOUT) == 0 {
            return None;
        }
        let about = self.packet(topic::ABOUT, 0).and_then(|packet| Ok(format::decode_json::<About>(&packet)?));
        let (about, wrong) = match about.map(About::validated) {
            Ok((about, wrong)) => (Some(about), wrong),
            Err(why) => (None, Some(Damage::About(Box::new(why)))),
        };
        if let Some(why) = wrong {
            self.index.add_damage(why);
        }
        about
    }

    fn check_pairs(&self) -> Result<(), OpenError> {
        let names = match &self.stereo_topics {
            None => vec![],
            Some(StereoTopics::SideBySide(both)) => vec![both.topic.as_str()],
            Some(StereoTopics::Separate { left, right }) => vec![left.topic.as_str(), right.topic.as_str()],
        };
        let max = names.into_iter().chain([topic::PAIRS]).map(|name| self.index.positions(name).len()).max();
        if max > Some(limits::MAX_PAIRS) { Err(limits::exceeded("pairs", limits::MAX_PAIRS)) } else { Ok(()) }
    }

    /// Finds the pairs, and returns the images of both sides in a recording of another program.
    fn find_pairs(&mut self, pair_by: PairBy) -> [Vec<TimedImage>; 2] {
        let mut images = [Vec::new(), Vec::new()];
        let FoundPairs { pairs, unpaired, interval, clocks } = match self.stereo_topics.clone() {
            None => FoundPairs::default(),
            Some(stereo_topics) if self.is_ours => {
                let (pairs, unpaired) = pair_index::ours(&self.index, &stereo_topics);
                FoundPairs { pairs, unpaired, ..FoundPairs::default() }
            }
            Some(StereoTopics::SideBySide(both)) => {
                let positions = self.index.positions(&both.topic).iter();
                let pair =
                    |&at: &Position| PairIndex { log_time_ns: at.log_time_ns, positions: [at].into(), skew_s: None };
                FoundPairs { pairs: positions.map(pair).collect(), ..FoundPairs::default() }
            }
            Some(StereoTopics::Separate { left, right }) => {
                images = [self.timed_images(&left.topic), self.timed_images(&right.topic)];
                pair_index::nearest([&images[0], &images[1]], pair_by)
            }
        };
        self.pairs = pairs;
        let skews_s: Vec<f64> = self.pairs.iter().filter_map(|pair| pair.skew_s.map(f64::from)).collect();
        self.skew = if self.is_ours { self.skew_of_notes() } else { PairSkew::of(&skews_s, interval) };
        let mut damage = self.index.take_damage();
        let one_or_more = if self.is_ours {
            ["pair lacks an image", "pairs lack an image"]
        } else {
            ["image has no partner", "images have no partner"]
        };
        let of_pairs = (unpaired > 0).then_some(Damage::Several { count: unpaired, one_or_more });
        damage.extend(self.index.unfinished.take().into_iter().chain(of_pairs).chain(clocks).map(Arc::new));
        self.damage = damage;
        images
    }

    /// Returns the skew in the notes of some pairs, evenly spread over the file.
    fn skew_of_notes(&mut self) -> Option<PairSkew> {
        let first_ns = self.pairs.first()?.log_time_ns;
        let since_first = |pair: &PairIndex| Duration::from_nanos(pair.log_time_ns.saturating_sub(first_ns));
        let interval = median_interval(&self.pairs.iter().map(since_first).collect::<Vec<_>>());
        let every = self.pairs.len().div_ceil(SKEW_NOTES);
        // a pair with a note and two images
        let note = |pair: &PairIndex| pair.positions.first().copied().filter(|_| pair.positions.len() == 3);
        let notes: Vec<Position> = self.pairs.iter().step_by(every).filter_map(note).collect();
        let skew_s = |position| {
            let packet = self.read(position).ok()?;
            format::decode_json::<PairNote>(&packet).ok().map(|note| note.skew_s)
        };
        let skews_s: Vec<f64> = notes.into_iter().filter_map(skew_s).collect();
        PairSkew::of(&skews_s, interval)
    }

    /// Reads the times of a topic's images.
    fn timed_images(&mut self, topic: &str) -> Vec<TimedImage> {
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
            self.index.add_damage(Damage::Images { count: lost as u64, topic: topic.to_owned() });
        }
        pictures
    }
}

/// Returns the number of the pair that a note of it or of its result has.
fn number_of(packet: &Packet) -> Option<u64> {
    match packet.channel.topic.as_str() {
        topic::PAIRS => Some(format::decode_json::<PairNote>(packet).ok()?.sequence),
        topic::RESULTS => Some(format::decode_json::<ResultNote>(packet).ok()?.sequence),
        _ => None,
    }
}
