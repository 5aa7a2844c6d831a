//! Pairs of a file: in our recordings the packets of one log time, in recordings of other programs the pictures nearest in time.

use super::index::{FileIndex, Position};
use super::stereo_topics::{StereoTopics, variants};
use crate::capture::pairing::{Pairing, Side};
use crate::topic;
use std::collections::BTreeSet;
use std::iter::Peekable;
use std::time::{SystemTime, UNIX_EPOCH};

/// One pair of a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PairIndex {
    /// Time of recording by the wall clock, ns since 1970. Its sequence number and time of capture are in its packets.
    pub log_time_ns: u64,
    /// Its note, where there is one, and its pictures.
    pub(super) positions: Box<[Position]>,
}

/// The pairs of a recording of ours in the order of the file, and the number of pairs that lack a picture.
///
/// All packets of a pair have one log time. Several pairs have the same one if the clock stood still: then the left pictures belong to
/// the right ones in their order, and reading compares their sequence numbers.
pub(super) fn ours(index: &FileIndex, stereo_topics: &StereoTopics) -> (Vec<PairIndex>, u64) {
    let by_time = |mut positions: Vec<Position>| {
        positions.sort_unstable_by_key(|&position| (position.log_time_ns, position));
        positions.into_iter().peekable()
    };
    let merged = |name: &str| {
        // several channels may have the same topic, which the index joins
        let topics: BTreeSet<&str> = variants(index, name).map(|channel| channel.topic.as_str()).collect();
        by_time(topics.into_iter().flat_map(|topic| index.positions(topic)).copied().collect())
    };
    let mut notes = by_time(index.positions(topic::PAIRS).to_vec());
    let num_notes = notes.len() as u64;
    let (first, mut second) = match stereo_topics {
        StereoTopics::SideBySide(both) => (merged(&both.topic), None),
        StereoTopics::Separate { left, right } => (merged(&left.topic), Some(merged(&right.topic))),
    };
    let mut pairs = Vec::with_capacity(first.len());
    let mut unpaired = 0;
    for picture in first {
        let time = picture.log_time_ns;
        let mut next_of_time = |positions: &mut Peekable<std::vec::IntoIter<Position>>| {
            while positions.next_if(|position| position.log_time_ns < time).is_some() {}
            positions.next_if(|position| position.log_time_ns == time)
        };
        let right = second.as_mut().map(&mut next_of_time);
        if right == Some(None) {
            unpaired += 1;
            continue;
        }
        pairs.push((picture, next_of_time(&mut notes), right.flatten()));
    }
    pairs.sort_unstable_by_key(|&(picture, ..)| picture);
    let index = |(picture, note, right): (Position, Option<Position>, Option<Position>)| PairIndex {
        log_time_ns: picture.log_time_ns,
        positions: note.into_iter().chain([picture]).chain(right).collect(),
    };
    let pairs: Vec<_> = pairs.into_iter().map(index).collect();
    let without_pictures = num_notes.saturating_sub(pairs.len() as u64);
    (pairs, without_pictures.max(unpaired))
}

/// A picture with its times by three clocks: its own stamp (1970 for none), the publish time, and the log time.
pub(super) type Clocked = (Position, [SystemTime; 3]);

/// A picture with its time of capture.
pub(super) type Stamped = (SystemTime, Position);

/// Times of capture of one topic's pictures: by the first clock that advances.
pub(super) fn stamped(pictures: &[Clocked]) -> Vec<Stamped> {
    let advances = |&clock: &usize| match pictures {
        [(_, times)] => times[clock] > UNIX_EPOCH,
        _ => pictures.windows(2).any(|two| two[0].1[clock] != two[1].1[clock]),
    };
    let clock = (0..2).find(advances).unwrap_or(2);
    pictures.iter().map(|&(position, times)| (times[clock], position)).collect()
}

/// The pairs of two topics: nearest neighbours in time, at most half an interval apart, one to one; and the number of unpaired pictures.
pub(super) fn nearest(left: Vec<Stamped>, right: Vec<Stamped>) -> (Vec<PairIndex>, u64) {
    let total = (left.len() + right.len()) as u64;
    let mut pairing = Pairing::new(rate_hz(&left), rate_hz(&right));
    let mut all: Vec<_> = left.into_iter().map(|stamped| (stamped, Side::Left)).collect();
    all.extend(right.into_iter().map(|stamped| (stamped, Side::Right)));
    all.sort_by_key(|&((stamp, _), _)| stamp);
    let mut pairs = Vec::new();
    for ((stamp, position), side) in all {
        pairing.push(side, stamp, position);
        while let Some(pair) = pairing.pop() {
            pairs.push(PairIndex { log_time_ns: pair.left.log_time_ns, positions: [pair.left, pair.right].into() });
        }
    }
    let unpaired = total - 2 * pairs.len() as u64;
    (pairs, unpaired)
}

fn rate_hz(stamps: &[Stamped]) -> f64 {
    let times = || stamps.iter().map(|&(stamp, _)| stamp);
    let span = times().max().zip(times().min()).and_then(|(last, first)| last.duration_since(first).ok());
    let span_s = span.map_or(0.0, |span| span.as_secs_f64());
    if span_s > 0.0 { (stamps.len() - 1) as f64 / span_s } else { 1.0 }
}
