//! Which packets are a pair: in our own recordings those of one log time, in those of others the nearest in time.

use super::contents::{Contents, Place};
use super::topics::{Eyes, variants};
use crate::capture::pairing::{Pairing, Side};
use crate::recording::{time, topic};
use std::collections::BTreeSet;
use std::iter::Peekable;
use std::time::{SystemTime, UNIX_EPOCH};

/// One pair of a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PairIndex {
    /// When it was recorded: the wall clock, ns since 1970. Its number at the source and the time at which it was taken are
    /// in its packets.
    pub log_time_ns: u64,
    /// Its pictures, and its note where there is one.
    pub(super) places: Box<[Place]>,
}

/// The pairs of a recording of ours in the order of the file, and how many lack a picture.
///
/// All packets of a pair have one log time. Where several pairs have the same one, because the clock stood still, the first picture
/// of the left eye belongs to the first one of the right eye, and so on; their numbers are compared when they are read.
pub(super) fn ours(contents: &Contents, eyes: &Eyes) -> (Vec<PairIndex>, u64) {
    let by_time = |mut places: Vec<Place>| {
        places.sort_unstable_by_key(|&place| (place.log_time_ns, place));
        places.into_iter().peekable()
    };
    let merged = |name: &str| {
        // a topic may have several channels, and its messages are those of all
        let topics: BTreeSet<&str> = variants(contents, name).map(|channel| channel.topic.as_str()).collect();
        by_time(topics.into_iter().flat_map(|topic| contents.of(topic)).copied().collect())
    };
    let mut notes = by_time(contents.of(topic::PAIRS).to_vec());
    let num_notes = notes.len() as u64;
    let (first, mut second) = match eyes {
        Eyes::Both(both) => (merged(&both.topic), None),
        Eyes::Two { left, right } => (merged(&left.topic), Some(merged(&right.topic))),
    };
    let mut pairs = Vec::with_capacity(first.len());
    let mut alone = 0;
    for place in first {
        let at = place.log_time_ns;
        let mut of_time = |places: &mut Peekable<std::vec::IntoIter<Place>>| {
            while places.next_if(|place| place.log_time_ns < at).is_some() {}
            places.next_if(|place| place.log_time_ns == at)
        };
        let right = second.as_mut().map(&mut of_time);
        if right == Some(None) {
            alone += 1;
            continue;
        }
        pairs.push((place, of_time(&mut notes), right.flatten()));
    }
    pairs.sort_unstable_by_key(|&(place, ..)| place);
    let index = |(place, note, right): (Place, Option<Place>, Option<Place>)| PairIndex {
        log_time_ns: place.log_time_ns,
        places: note.into_iter().chain([place]).chain(right).collect(),
    };
    let pairs: Vec<_> = pairs.into_iter().map(index).collect();
    let without = num_notes.saturating_sub(pairs.len() as u64);
    (pairs, without.max(alone))
}

/// When a picture was taken, as far as somebody says so.
pub(super) struct Said {
    pub(super) place: Place,
    /// By itself; 1970 where it says nothing.
    pub(super) told: SystemTime,
    /// By its writer.
    pub(super) publish_time_ns: u64,
}

/// When the pictures of one topic were taken: by the first clock that goes on, of their own, their writer's and the recorder's.
pub(super) fn stamped(said: &[Said]) -> Vec<Stamped> {
    let by = |clock: fn(&Said) -> SystemTime| said.iter().map(|said| (clock(said), said.place)).collect::<Vec<_>>();
    let goes_on = |stamps: &[Stamped]| match stamps {
        [(alone, _)] => *alone > UNIX_EPOCH,
        _ => stamps.windows(2).any(|two| two[0].0 != two[1].0),
    };
    let clocks: [fn(&Said) -> SystemTime; 2] = [|said| said.told, |said| time::from_ns(said.publish_time_ns)];
    let found = clocks.into_iter().map(by).find(|stamps| goes_on(stamps));
    found.unwrap_or_else(|| by(|said| time::from_ns(said.place.log_time_ns)))
}

/// A message of one eye with the time at which it was taken.
pub(super) type Stamped = (SystemTime, Place);

/// The pairs of two topics: nearest neighbours in time, at most half an interval apart, one to one; and how many messages
/// stay alone.
pub(super) fn nearest(left: Vec<Stamped>, right: Vec<Stamped>) -> (Vec<PairIndex>, u64) {
    let total = (left.len() + right.len()) as u64;
    let mut pairing = Pairing::new(rate_hz(&left), rate_hz(&right));
    let mut all: Vec<_> = left.into_iter().map(|stamped| (stamped, Side::Left)).collect();
    all.extend(right.into_iter().map(|stamped| (stamped, Side::Right)));
    all.sort_by_key(|&((stamp, _), _)| stamp);
    let mut pairs = Vec::new();
    for ((stamp, place), side) in all {
        pairing.push(side, stamp, place);
        pairs.extend(
            std::iter::from_fn(|| pairing.pop())
                .map(|pair| PairIndex { log_time_ns: pair.left.log_time_ns, places: [pair.left, pair.right].into() }),
        );
    }
    let alone = total - 2 * pairs.len() as u64;
    (pairs, alone)
}

/// How many come in a second.
fn rate_hz(stamps: &[Stamped]) -> f64 {
    let times = || stamps.iter().map(|&(stamp, _)| stamp);
    let span = times().max().zip(times().min()).and_then(|(last, first)| last.duration_since(first).ok());
    let span_s = span.map_or(0.0, |span| span.as_secs_f64());
    if span_s > 0.0 { (stamps.len() - 1) as f64 / span_s } else { 1.0 }
}
