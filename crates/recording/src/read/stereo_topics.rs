//! Choice of the topics of a recording that contain the left and the right images, by name or by the user's flags.

use super::index::FileIndex;
use crate::error::TopicError;
use crate::format::{self, Kind};
use crate::{About, Channel, Stream, topic};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use stereopsis_base::console::foreign;
use stereopsis_frame::{Orientation, TopicChoice};

/// Topics of the images of both sides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StereoTopics {
    /// Topic of each side.
    Separate {
        /// Channel of the left images.
        left: Arc<Channel>,
        /// Channel of the right images.
        right: Arc<Channel>,
    },
    /// Topic of images that show both sides.
    SideBySide(Arc<Channel>),
}

/// Maximum topics listed in a message.
const MAX_LISTED: usize = 24;
/// Maximum pairs of topics listed in a message.
const MAX_PAIRS_LISTED: usize = 8;
/// Spellings of left and right in the names of topics.
const SIDES: [(&str, &str); 3] = [("left", "right"), ("Left", "Right"), ("LEFT", "RIGHT")];
/// Topics of the left and the right side in a recording of this program, preferred ones first.
const OURS: [[&str; 2]; 3] = [
    [topic::LEFT_UNTURNED, topic::RIGHT_UNTURNED],
    [topic::LEFT_RAW, topic::RIGHT_RAW],
    [topic::LEFT_RECTIFIED, topic::RIGHT_RECTIFIED],
];

/// Channels of one camera's images: uncompressed and compressed.
type Variants<'a> = [Option<&'a Arc<Channel>>; 2];

/// Image channels of a file by the plain names of their topics.
struct ImageChannels<'a>(BTreeMap<&'a str, Variants<'a>>);

impl<'a> ImageChannels<'a> {
    fn of(index: &'a FileIndex) -> Self {
        let mut by_name = BTreeMap::<_, Variants>::new();
        for channel in images(index) {
            let name = topic::plain(&channel.topic);
            // the first of several channels with one topic is used
            by_name.entry(name).or_default()[usize::from(name != channel.topic)].get_or_insert(channel);
        }
        Self(by_name)
    }

    /// Returns the channel of a topic with exactly this name.
    fn named(&self, name: &str) -> Option<&'a Arc<Channel>> {
        let plain = topic::plain(name);
        self.0.get(plain)?[usize::from(plain != name)]
    }

    /// Returns the plain name of the other side's topic.
    fn beside(&self, plain: &str, of_left: bool) -> Option<&'a str> {
        names_beside(plain, of_left).find_map(|name| self.0.get_key_value(name.as_str()).map(|(name, _)| *name))
    }

    /// Returns the plain name of the other side's topic, which differs by the numbers of cameras alone: `infra1` and `infra2`. A third
    /// topic of such a name would be a third camera.
    fn beside_by_number(&self, plain: &str, of_left: bool) -> Option<&'a str> {
        let words = words_and_numbers(plain).0;
        let mut alike = self.0.keys().filter(|name| words_and_numbers(name).0 == words);
        let [first, second] = [*alike.next()?, *alike.next()?];
        let other = if first == plain { second } else { first };
        let (left, right) = if of_left { (plain, other) } else { (other, plain) };
        (alike.next().is_none() && are_numbered(left, right)).then_some(other)
    }

    /// Returns the channel of the other side's topic, compressed where this one is, if possible.
    fn channel_beside(&self, name: &str, of_left: bool) -> Option<&'a Arc<Channel>> {
        let plain = topic::plain(name);
        let beside = self.beside(plain, of_left).or_else(|| self.beside_by_number(plain, of_left));
        let [raw, compressed] = self.0.get(beside?)?;
        if plain == name { raw.or(*compressed) } else { compressed.or(*raw) }
    }

    /// Returns the channels of each left topic and its right one: both uncompressed if possible, else both compressed, else mixed.
    fn pairs(&self) -> Vec<StereoTopics> {
        let by_word: Vec<_> = self.0.keys().filter_map(|left| Some((*left, self.beside(left, true)?))).collect();
        let rights: BTreeSet<&str> = by_word.iter().map(|(_, right)| *right).collect();
        let names = if by_word.is_empty() {
            self.0.keys().filter_map(|left| Some((*left, self.beside_by_number(left, true)?))).collect()
        } else {
            by_word
        };
        // "/left_arm/right" is right of "/left_arm/left", and so not left of "/right_arm/right"
        let names = names.into_iter().filter(|(left, _)| !rights.contains(left));
        let channels = |(left, right)| {
            let (left, right) = (self.0.get(left)?, self.0.get(right)?);
            let both = left.iter().zip(right).find_map(|(left, right)| left.zip(*right));
            both.or_else(|| left.iter().flatten().next().copied().zip(right.iter().flatten().next().copied()))
        };
        let topics = |(left, right): (&Arc<Channel>, &Arc<Channel>)| StereoTopics::Separate {
            left: Arc::clone(left),
            right: Arc::clone(right),
        };
        names.filter_map(channels).map(topics).collect()
    }
}

impl StereoTopics {
    /// Returns the topics in a recording of another program: the named ones, and their counterparts by name.
    pub(super) fn chosen(choice: &TopicChoice, index: &FileIndex) -> Result<Self, TopicError> {
        let images = ImageChannels::of(index);
        let named = |name: &str| {
            let no_images = || TopicError::NoImages { name: name.to_owned(), topics: list(index) };
            images.named(name).cloned().ok_or_else(no_images)
        };
        let other = |name: &str, of_left: bool| -> Result<Arc<Channel>, TopicError> {
            let side = if of_left { "right" } else { "left" };
            let no_other = || TopicError::NoOther { side, name: name.to_owned(), topics: list(index) };
            images.channel_beside(name, of_left).cloned().ok_or_else(no_other)
        };
        match (&choice.both, &choice.left, &choice.right) {
            (Some(both), ..) => Ok(Self::SideBySide(named(both)?)),
            (None, Some(left), Some(right)) => Ok(Self::Separate { left: named(left)?, right: named(right)? }),
            (None, Some(left), None) => Ok(Self::Separate { left: named(left)?, right: other(left, true)? }),
            (None, None, Some(right)) => Ok(Self::Separate { left: other(right, false)?, right: named(right)? }),
            (None, None, None) => {
                let mut pairs = images.pairs();
                match pairs.len() {
                    1 => Ok(pairs.remove(0)),
                    0 if images.0.is_empty() => Err(TopicError::None(list(index))),
                    0 => Err(TopicError::NoPair(list(index))),
                    count => {
                        let names = pairs.iter().take(MAX_PAIRS_LISTED).filter_map(|pair| match pair {
                            Self::Separate { left, right } => Some([left.topic.clone(), right.topic.clone()]),
                            Self::SideBySide(_) => None,
                        });
                        let more = count.saturating_sub(MAX_PAIRS_LISTED);
                        Err(TopicError::Several { pairs: names.collect(), more })
                    }
                }
            }
        }
    }

    /// Returns a sentence on topics that are left out because they show the same images as the chosen ones.
    pub(super) fn left_out(&self, index: &FileIndex) -> Option<String> {
        let Self::Separate { left, right } = self else { return None };
        let taken = [&left.topic, &right.topic];
        let same = taken.into_iter().flat_map(|name| variants(index, name));
        let names: BTreeSet<String> =
            same.filter(|other| !taken.contains(&&other.topic)).map(|other| foreign(&other.topic)).collect();
        let names: Vec<String> = names.into_iter().collect();
        (!names.is_empty()).then(|| {
            let (left, right) = (foreign(&left.topic), foreign(&right.topic));
            format!("images are those of {left} and {right}; {}, of the same cameras, left out", names.join(" and "))
        })
    }

    /// Returns the topics in a recording of this program: raw images where there are any, else rectified ones.
    pub(super) fn ours(index: &FileIndex) -> Option<Self> {
        let first = |names: &[&str]| names.iter().find_map(|name| variants(index, name).next().cloned());
        if let Some(both) = first(&[topic::BOTH_UNSPLIT]) {
            return Some(Self::SideBySide(both));
        }
        let of_side = |side: usize| first(&[OURS[0][side], OURS[1][side]]);
        if let (Some(left), Some(right)) = (of_side(0), of_side(1)) {
            return Some(Self::Separate { left, right });
        }
        Some(Self::Separate { left: first(&[OURS[2][0]])?, right: first(&[OURS[2][1]])? })
    }

    /// Returns whether these are rectified images at working size.
    pub fn are_rectified(&self) -> bool {
        matches!(self, Self::Separate { left, .. } if left.topic.starts_with(topic::LEFT_RECTIFIED))
    }
}

/// Returns the topics of a pair's images in a recording of this program, without [`topic::COMPRESSED`].
pub fn of_ours(about: &About) -> Vec<&'static str> {
    if !about.streams.has_unrectified() {
        return OURS[2].to_vec();
    }
    let layout = &about.raw;
    match (about.streams.has(Stream::Raw), layout.side_by_side) {
        (true, true) => vec![topic::BOTH_UNSPLIT],
        (true, false) => {
            let of_side = |side: usize| {
                if layout.orientation[side] == Orientation::default() { OURS[1][side] } else { OURS[0][side] }
            };
            vec![of_side(0), of_side(1)]
        }
        (false, _) => OURS[1].to_vec(),
    }
}

/// Returns the channels of a topic, compressed or not, that have messages.
pub(super) fn variants<'a>(index: &'a FileIndex, name: &str) -> impl Iterator<Item = &'a Arc<Channel>> {
    let plain = topic::plain(name).to_owned();
    let has_topic = move |channel: &&Arc<Channel>| topic::plain(&channel.topic) == plain;
    index.channels.iter().filter(has_topic).filter(|channel| !index.positions(&channel.topic).is_empty())
}

/// Returns names of the other side's topic: left and right exchanged in one place, the last one first, or in all.
fn names_beside(name: &str, of_left: bool) -> impl Iterator<Item = String> {
    SIDES.iter().flat_map(move |&(left, right)| {
        let (from, to) = if of_left { (left, right) } else { (right, left) };
        let in_place = move |(at, _): (usize, &str)| {
            let (before, after) = (name.get(..at).unwrap_or(""), name.get(at + from.len()..).unwrap_or(""));
            format!("{before}{to}{after}")
        };
        let is_several = name.matches(from).nth(1).is_some();
        name.rmatch_indices(from).map(in_place).chain(is_several.then(|| name.replace(from, to)))
    })
}

/// Splits a name into its words, joined by a character that no name has, and its numbers.
fn words_and_numbers(name: &str) -> (String, Vec<&str>) {
    let is_digit = |c: char| c.is_ascii_digit();
    let words: Vec<&str> = name.split(is_digit).filter(|word| !word.is_empty()).collect();
    (words.join("\0"), name.split(|c| !is_digit(c)).filter(|number| !number.is_empty()).collect())
}

/// Returns whether names of the same words have the numbers of a left and a right camera: 1 and 2, or 0 and 1, wherever they differ.
fn are_numbered(left: &str, right: &str) -> bool {
    let [left, right] = [left, right].map(|name| words_and_numbers(name).1);
    let differing: Vec<_> = left.iter().zip(&right).filter(|(left, right)| left != right).collect();
    left.len() == right.len()
        && !differing.is_empty()
        && differing.into_iter().all(|two| matches!(two, (&"1", &"2") | (&"0", &"1") | (&"01", &"02") | (&"00", &"01")))
}

fn images(index: &FileIndex) -> Vec<&Arc<Channel>> {
    let is_image = |channel: &Channel| matches!(format::kind(channel), Some(Kind::Image | Kind::Compressed));
    index.channels.iter().filter(|channel| is_image(channel) && !index.positions(&channel.topic).is_empty()).collect()
}

/// Returns all image topics with their types and numbers of messages.
fn list(index: &FileIndex) -> Vec<String> {
    let images = images(index);
    let topic = |channel: &&Arc<Channel>| {
        let schema = channel.schema.as_ref().map_or("no schema", |schema| schema.name.as_str());
        format!("{} ({}, {})", foreign(&channel.topic), foreign(schema), index.positions(&channel.topic).len())
    };
    let mut listed: Vec<_> = images.iter().take(MAX_LISTED).map(topic).collect();
    if let (Some(last), more @ 1..) = (listed.last_mut(), images.len().saturating_sub(MAX_LISTED)) {
        *last = format!("{last} and {more} more");
    }
    listed
}
