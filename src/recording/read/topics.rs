//! Which topics of a recording show the eyes.

use super::ReadError;
use super::contents::Contents;
use crate::capture::{Orientation, TopicChoice};
use crate::console::foreign;
use crate::recording::format::{self, Kind};
use crate::recording::{About, Channel, Stream, topic};
use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::Arc;

/// The topics that show the eyes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Eyes {
    /// One for each.
    Two {
        /// The left eye's.
        left: Arc<Channel>,
        /// The right eye's.
        right: Arc<Channel>,
    },
    /// One picture of both.
    Both(Arc<Channel>),
}

/// So many topics are named where one has to be chosen.
const LISTED: usize = 24;
/// The names that a word for the left side has, with the right one's.
const SIDES: [(&str, &str); 3] = [("left", "right"), ("Left", "Right"), ("LEFT", "RIGHT")];
/// What a recording of ours has of each eye, the pictures as they came first.
const OURS: [[&str; 2]; 3] = [
    [topic::LEFT_UNTURNED, topic::RIGHT_UNTURNED],
    [topic::LEFT_RAW, topic::RIGHT_RAW],
    [topic::LEFT_RECTIFIED, topic::RIGHT_RECTIFIED],
];

impl TopicChoice {
    /// The topics of a recording of others.
    pub(super) fn among(&self, contents: &Contents) -> Result<Eyes, ReadError> {
        let images = images(contents);
        let mut by_name: HashMap<&str, &Arc<Channel>> = HashMap::new();
        for &channel in &images {
            by_name.entry(&channel.topic).or_insert(channel);
        }
        let named = |name: &str| {
            let found = by_name.get(name).map(|&channel| Arc::clone(channel));
            found.ok_or_else(|| {
                let name = foreign(name);
                ReadError::File(format!("topic {name} has no pictures that can be read; {}", list(contents)))
            })
        };
        let beside = |name: &str, of_left: bool| {
            names_beside(name, of_left).find_map(|name| by_name.get(name.as_str()).map(|&channel| Arc::clone(channel)))
        };
        let other = |name: &str, of_left: bool| -> Result<Arc<Channel>, ReadError> {
            beside(name, of_left).ok_or_else(|| {
                let (side, flag) = if of_left { ("right", "--right-topic") } else { ("left", "--left-topic") };
                let name = foreign(name);
                ReadError::File(format!("no topic is the {side} side of {name}: give {flag}; {}", list(contents)))
            })
        };
        match (&self.both, &self.left, &self.right) {
            (Some(both), ..) => Ok(Eyes::Both(named(both)?)),
            (None, Some(left), Some(right)) => Ok(Eyes::Two { left: named(left)?, right: named(right)? }),
            (None, Some(left), None) => Ok(Eyes::Two { left: named(left)?, right: other(left, true)? }),
            (None, None, Some(right)) => Ok(Eyes::Two { left: other(right, false)?, right: named(right)? }),
            (None, None, None) => {
                let mut pairs = images
                    .iter()
                    .filter_map(|left| Some(Eyes::Two { left: Arc::clone(left), right: beside(&left.topic, true)? }));
                match (pairs.next(), pairs.next()) {
                    (Some(eyes), None) => Ok(eyes),
                    (None, _) if images.is_empty() => Err(ReadError::File(list(contents))),
                    (first, _) => {
                        let found = if first.is_some() { "more than one pair" } else { "no pair" };
                        Err(ReadError::File(format!(
                            "{found} of image topics whose names differ only by left and right: give --left-topic and \
                             --right-topic, or --topic for pictures of both eyes; {}",
                            list(contents)
                        )))
                    }
                }
            }
        }
    }
}

impl Eyes {
    /// Those of a recording of ours: the pictures as they came, else the eyes' or the rectified ones.
    pub(super) fn ours(contents: &Contents) -> Option<Self> {
        let first = |names: &[&str]| names.iter().find_map(|name| variants(contents, name).next().cloned());
        if let Some(both) = first(&[topic::BOTH_UNSPLIT]) {
            return Some(Self::Both(both));
        }
        let of_eye = |eye: usize| first(&[OURS[0][eye], OURS[1][eye]]);
        if let (Some(left), Some(right)) = (of_eye(0), of_eye(1)) {
            return Some(Self::Two { left, right });
        }
        Some(Self::Two { left: first(&[OURS[2][0]])?, right: first(&[OURS[2][1]])? })
    }

    /// Whether the pictures are those that were rectified, at working size.
    pub fn are_rectified(&self) -> bool {
        matches!(self, Self::Two { left, .. } if left.topic.starts_with(topic::LEFT_RECTIFIED))
    }
}

/// The topics of a pair's pictures in a recording that says this of itself; each may be one of pictures in a file format.
pub(super) fn of_ours(about: &About) -> Vec<&'static str> {
    let has = |stream| about.streams.has(stream);
    if !has(Stream::Raw) && !has(Stream::Eyes) {
        return OURS[2].to_vec();
    }
    let rule = &about.raw;
    match (has(Stream::Raw), rule.side_by_side) {
        (true, true) => vec![topic::BOTH_UNSPLIT],
        (true, false) => {
            let of_eye =
                |eye: usize| if rule.orientation[eye] == Orientation::default() { OURS[1][eye] } else { OURS[0][eye] };
            vec![of_eye(0), of_eye(1)]
        }
        (false, _) => OURS[1].to_vec(),
    }
}

/// A topic and its pictures in a file format of their own, as far as they are there.
pub(super) fn variants<'a>(contents: &'a Contents, name: &str) -> impl Iterator<Item = &'a Arc<Channel>> {
    let plain = topic::plain(name).to_owned();
    let has_it = move |channel: &&Arc<Channel>| topic::plain(&channel.topic) == plain;
    contents.channels.iter().filter(has_it).filter(|channel| !contents.of(&channel.topic).is_empty())
}

/// The names that differ from this one only by left and right.
fn names_beside(name: &str, of_left: bool) -> impl Iterator<Item = String> {
    SIDES.iter().filter_map(move |&(left, right)| {
        let (from, to) = if of_left { (left, right) } else { (right, left) };
        name.contains(from).then(|| name.replace(from, to))
    })
}

fn images(contents: &Contents) -> Vec<&Arc<Channel>> {
    let is_image = |channel: &Channel| matches!(format::kind(channel), Some(Kind::Image | Kind::Compressed));
    contents.channels.iter().filter(|channel| is_image(channel) && !contents.of(&channel.topic).is_empty()).collect()
}

/// All image topics with what they hold.
fn list(contents: &Contents) -> String {
    let images = images(contents);
    if images.is_empty() {
        return "the file has no pictures that can be read".to_owned();
    }
    let mut text = "image topics are".to_owned();
    for (number, channel) in images.iter().take(LISTED).enumerate() {
        let schema = channel.schema.as_ref().map_or("no schema", |schema| schema.name.as_str());
        let comma = if number > 0 { "," } else { "" };
        let (name, schema) = (foreign(&channel.topic), foreign(schema));
        let _ = write!(text, "{comma} {name} ({schema}, {})", contents.of(&channel.topic).len());
    }
    if images.len() > LISTED {
        let _ = write!(text, " and {} more", images.len() - LISTED);
    }
    text
}
