//! The topics of a recording that hold the pictures of the left and the right view.

use super::ReadError;
use super::index::FileIndex;
use crate::capture::{Orientation, TopicChoice};
use crate::console::foreign;
use crate::format::{self, Kind};
use crate::{About, Channel, Stream, topic};
use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::Arc;

/// The topics of the two views.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StereoTopics {
    /// One topic each.
    Separate {
        /// The left view.
        left: Arc<Channel>,
        /// The right view.
        right: Arc<Channel>,
    },
    /// One topic of side-by-side pictures.
    SideBySide(Arc<Channel>),
}

/// Topics listed in a message.
const MAX_LISTED: usize = 24;
/// Spellings of left and right in the names of topics.
const SIDES: [(&str, &str); 3] = [("left", "right"), ("Left", "Right"), ("LEFT", "RIGHT")];
/// Topics of the left and the right view in a recording of ours, preferred ones first.
const OURS: [[&str; 2]; 3] = [
    [topic::LEFT_UNTURNED, topic::RIGHT_UNTURNED],
    [topic::LEFT_RAW, topic::RIGHT_RAW],
    [topic::LEFT_RECTIFIED, topic::RIGHT_RECTIFIED],
];

impl StereoTopics {
    /// The topics in a recording of another program: the named ones, and their counterparts by name.
    pub(super) fn chosen(choice: &TopicChoice, index: &FileIndex) -> Result<Self, ReadError> {
        let images = images(index);
        // the first of several channels with one topic
        let by_name: HashMap<&str, &Arc<Channel>> =
            images.iter().rev().map(|&image| (&image.topic[..], image)).collect();
        let named = |name: &str| {
            by_name.get(name).map(|&channel| Arc::clone(channel)).ok_or_else(|| {
                let name = foreign(name);
                ReadError::File(format!("topic {name} has no pictures that can be read; {}", list(index)))
            })
        };
        let beside = |name: &str, of_left: bool| {
            names_beside(name, of_left).find_map(|name| by_name.get(name.as_str()).map(|&channel| Arc::clone(channel)))
        };
        let other = |name: &str, of_left: bool| -> Result<Arc<Channel>, ReadError> {
            beside(name, of_left).ok_or_else(|| {
                let (side, flag) = if of_left { ("right", "--right-topic") } else { ("left", "--left-topic") };
                let name = foreign(name);
                ReadError::File(format!("no topic is the {side} side of {name}: give {flag}; {}", list(index)))
            })
        };
        match (&choice.both, &choice.left, &choice.right) {
            (Some(both), ..) => Ok(Self::SideBySide(named(both)?)),
            (None, Some(left), Some(right)) => Ok(Self::Separate { left: named(left)?, right: named(right)? }),
            (None, Some(left), None) => Ok(Self::Separate { left: named(left)?, right: other(left, true)? }),
            (None, None, Some(right)) => Ok(Self::Separate { left: other(right, false)?, right: named(right)? }),
            (None, None, None) => {
                let mut pairs = images.iter().filter_map(|left| {
                    Some(Self::Separate { left: Arc::clone(left), right: beside(&left.topic, true)? })
                });
                match (pairs.next(), pairs.next()) {
                    (Some(topics), None) => Ok(topics),
                    (None, _) if images.is_empty() => Err(ReadError::File(list(index))),
                    (first, _) => {
                        let found = if first.is_some() { "more than one pair" } else { "no pair" };
                        Err(ReadError::File(format!(
                            "{found} of image topics whose names differ only by left and right: give --left-topic and \
                             --right-topic, or --topic for pictures of both eyes; {}",
                            list(index)
                        )))
                    }
                }
            }
        }
    }

    /// The topics in a recording of ours: raw pictures where there are any, else rectified ones.
    pub(super) fn ours(index: &FileIndex) -> Option<Self> {
        let first = |names: &[&str]| names.iter().find_map(|name| variants(index, name).next().cloned());
        if let Some(both) = first(&[topic::BOTH_UNSPLIT]) {
            return Some(Self::SideBySide(both));
        }
        let of_eye = |eye: usize| first(&[OURS[0][eye], OURS[1][eye]]);
        if let (Some(left), Some(right)) = (of_eye(0), of_eye(1)) {
            return Some(Self::Separate { left, right });
        }
        Some(Self::Separate { left: first(&[OURS[2][0]])?, right: first(&[OURS[2][1]])? })
    }

    /// Whether these are rectified pictures at working size.
    pub fn are_rectified(&self) -> bool {
        matches!(self, Self::Separate { left, .. } if left.topic.starts_with(topic::LEFT_RECTIFIED))
    }
}

/// The topics of a pair's pictures in a recording of ours, without [`topic::COMPRESSED`].
pub fn of_ours(about: &About) -> Vec<&'static str> {
    if !about.streams.has_unrectified() {
        return OURS[2].to_vec();
    }
    let layout = &about.raw;
    match (about.streams.has(Stream::Raw), layout.side_by_side) {
        (true, true) => vec![topic::BOTH_UNSPLIT],
        (true, false) => {
            let of_eye = |eye: usize| {
                if layout.orientation[eye] == Orientation::default() { OURS[1][eye] } else { OURS[0][eye] }
            };
            vec![of_eye(0), of_eye(1)]
        }
        (false, _) => OURS[1].to_vec(),
    }
}

/// The channels of a topic, compressed or not, that have messages.
pub(super) fn variants<'a>(index: &'a FileIndex, name: &str) -> impl Iterator<Item = &'a Arc<Channel>> {
    let plain = topic::plain(name).to_owned();
    let has_topic = move |channel: &&Arc<Channel>| topic::plain(&channel.topic) == plain;
    index.channels.iter().filter(has_topic).filter(|channel| !index.positions(&channel.topic).is_empty())
}

/// Names of the other view's topic: this name with left and right exchanged.
fn names_beside(name: &str, of_left: bool) -> impl Iterator<Item = String> {
    SIDES.iter().filter_map(move |&(left, right)| {
        let (from, to) = if of_left { (left, right) } else { (right, left) };
        name.contains(from).then(|| name.replace(from, to))
    })
}

fn images(index: &FileIndex) -> Vec<&Arc<Channel>> {
    let is_image = |channel: &Channel| matches!(format::kind(channel), Some(Kind::Image | Kind::Compressed));
    index.channels.iter().filter(|channel| is_image(channel) && !index.positions(&channel.topic).is_empty()).collect()
}

/// All image topics in words, with their types and numbers of messages.
fn list(index: &FileIndex) -> String {
    let images = images(index);
    if images.is_empty() {
        return "the file has no pictures that can be read".to_owned();
    }
    let mut text = "image topics are".to_owned();
    for (number, channel) in images.iter().take(MAX_LISTED).enumerate() {
        let schema = channel.schema.as_ref().map_or("no schema", |schema| schema.name.as_str());
        let comma = if number > 0 { "," } else { "" };
        let (name, schema) = (foreign(&channel.topic), foreign(schema));
        let _ = write!(text, "{comma} {name} ({schema}, {})", index.positions(&channel.topic).len());
    }
    if images.len() > MAX_LISTED {
        let _ = write!(text, " and {} more", images.len() - MAX_LISTED);
    }
    text
}
