//! Which packets are a pair: in our own recordings those of one log time, in those of others the nearest in time.

use super::contents::{Contents, Place};
use super::topics::{Eyes, variants};
use crate::capture::pairing::{Pairing, Side};
use crate::recording::topic;
use std::collections::{BTreeSet, HashMap};
use std::time::SystemTime;

/// One pair of a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PairIndex {
    /// When it was recorded: the wall clock, ns since 1970. Its number at the source and the time at which it was taken are
    /// in its packets.
    pub log_time_ns: u64,
    /// Its pictures, and its note where there is one.
    pub(super) places: Box<[Place]>,
}

/// The pairs of a recording of ours, and how many lack a picture.
pub(super) fn ours(contents: &Contents, eyes: &Eyes) -> (Vec<PairIndex>, u64) {
    let merged = |name: &str| {
        // a topic may have several channels, and its messages are those of all
        let topics: BTreeSet<&str> = variants(contents, name).map(|channel| channel.topic.as_str()).collect();
        let mut places: Vec<Place> = topics.into_iter().flat_map(|topic| contents.of(topic)).copied().collect();
        places.sort_unstable();
        places
    };
    let by_time = |places: &[Place]| places.iter().map(|place| (place.log_time_ns, *place)).collect::<HashMap<_, _>>();
    let notes = contents.of(topic::PAIRS);
    let note_at = by_time(notes);
    let (first, second) = match eyes {
        Eyes::Both(both) => (merged(&both.topic), None),
        Eyes::Two { left, right } => (merged(&left.topic), Some(by_time(&merged(&right.topic)))),
    };
    let mut pairs = Vec::with_capacity(first.len());
    let mut alone = 0;
    for place in first {
        let at = place.log_time_ns;
        let right = second.as_ref().map(|second| second.get(&at).copied());
        if right == Some(None) {
            alone += 1;
            continue;
        }
        let places = note_at.get(&at).copied().into_iter().chain([place]).chain(right.flatten()).collect();
        pairs.push(PairIndex { log_time_ns: at, places });
    }
    let without = (notes.len() as u64).saturating_sub(pairs.len() as u64);
    (pairs, without.max(alone))
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
