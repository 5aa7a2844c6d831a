//! Pairs of a file: in recordings of this program the packets of one log time, in others the images nearest in time.

use super::index::{FileIndex, Position};
use super::stereo_topics::{StereoTopics, variants};
use crate::error::Damage;
use crate::time::later_s;
use crate::topic;
use std::collections::BTreeSet;
use std::iter::Peekable;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use stereopsis_frame::pairing::Pairing;
use stereopsis_frame::player::median_interval;
use stereopsis_frame::{PairBy, Side};

/// Index entry of one pair of a recording.
#[derive(Clone, Debug, PartialEq)]
pub struct PairIndex {
    /// Log time by the wall clock, ns since 1970. Sequence number and capture time are in the packets.
    pub log_time_ns: u64,
    /// Positions of the note, where there is one, and of the images.
    pub(super) positions: Box<[Position]>,
    /// Time of the right image minus that of the left one, by the clock that paired them, s; `None` where a note has it.
    pub(super) skew_s: Option<f32>,
}

/// Returns the pairs of a recording of this program in the order of the file, and the number of pairs that lack an image.
///
/// All packets of a pair have one log time. If the clock stood still, several pairs have the same one: then left and right images are
/// paired in their order, and reading compares their sequence numbers.
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
        skew_s: None,
    };
    let pairs: Vec<_> = pairs.into_iter().map(index).collect();
    let without_pictures = num_notes.saturating_sub(pairs.len() as u64);
    (pairs, without_pictures.max(unpaired))
}

/// Image with its times by three clocks: its own stamp (1970 for none), the publish time, and the log time.
pub(super) type TimedImage = (Position, [SystemTime; 3]);

/// Index of the log time in [`TimedImage`].
const LOG_TIME: usize = 2;
/// Maximum time between the recording of both images of a pair, unless their clocks differ, s.
const MAX_RECORDING_GAP_S: f64 = 1.0;

/// Pairs of two topics, and what was noticed while pairing.
#[derive(Debug, Default)]
pub(super) struct FoundPairs {
    pub(super) pairs: Vec<PairIndex>,
    /// Number of images without a partner.
    pub(super) unpaired: u64,
    /// Median time from one left image to the next.
    pub(super) interval: Duration,
    /// Damage of cameras whose clocks differ.
    pub(super) clocks: Option<Damage>,
}

/// Pairs the images of two topics: nearest neighbours in time, at most half an interval apart, one to one.
pub(super) fn nearest(views: [&[TimedImage]; 2], pair_by: PairBy) -> FoundPairs {
    let clocks = match pair_by {
        PairBy::Stamp => views.map(advancing),
        PairBy::LogTime => [LOG_TIME; 2],
    };
    let pairs = neighbours(views, clocks);
    let [left, right] = views;
    let mut times: Vec<Duration> =
        left.iter().map(|(_, times)| times[clocks[0]].duration_since(UNIX_EPOCH).unwrap_or_default()).collect();
    times.sort_unstable();
    let differing = (pair_by == PairBy::Stamp).then(|| differing_clocks(views, clocks, &pairs)).flatten();
    let total = (left.len() + right.len()) as u64;
    let unpaired = total - 2 * pairs.len() as u64;
    let index = |Neighbours { of: [l, r], skew_s }: Neighbours| PairIndex {
        log_time_ns: left[l].0.log_time_ns,
        positions: [left[l].0, right[r].0].into(),
        skew_s: Some(skew_s as f32),
    };
    FoundPairs {
        pairs: pairs.into_iter().map(index).collect(),
        unpaired,
        interval: median_interval(&times),
        clocks: differing,
    }
}

/// Indices of a left and a right image that are nearest in time.
struct Neighbours {
    of: [usize; 2],
    skew_s: f64,
}

/// Returns the neighbours by these clocks of the left and the right images, in the order of their times.
fn neighbours(views: [&[TimedImage]; 2], clocks: [usize; 2]) -> Vec<Neighbours> {
    let stamped = |side: Side| {
        let clock = clocks[side as usize];
        views[side as usize].iter().enumerate().map(move |(number, (_, times))| (times[clock], side, number))
    };
    let mut all: Vec<_> = Side::ALL.into_iter().flat_map(stamped).collect();
    all.sort_by_key(|&(time, ..)| time);
    let mut pairing = Pairing::new(rate_hz(views[0], clocks[0]), rate_hz(views[1], clocks[1]));
    let mut pairs = Vec::new();
    for (time, side, number) in all {
        pairing.push(side, time, number);
        let popped = std::iter::from_fn(|| pairing.pop());
        pairs.extend(popped.map(|pair| Neighbours { of: [pair.left, pair.right], skew_s: pair.skew_s }));
    }
    pairs
}

/// Returns the damage if the clocks of two cameras differ: either images find no partners by their stamps, but do by their log times,
/// or partners by stamps were recorded more than [`MAX_RECORDING_GAP_S`] apart.
fn differing_clocks(views: [&[TimedImage]; 2], clocks: [usize; 2], pairs: &[Neighbours]) -> Option<Damage> {
    let [left, right] = views;
    let apart_s = |pairs: &[Neighbours], clocks: [usize; 2]| {
        let of = |pair: &Neighbours| later_s([left[pair.of[0]].1[clocks[0]], right[pair.of[1]].1[clocks[1]]]);
        let mut apart: Vec<f64> = pairs.iter().map(of).collect();
        let middle = apart.len() / 2;
        (!apart.is_empty()).then(|| apart.select_nth_unstable_by(middle, f64::total_cmp).1.abs())
    };
    let most = left.len().min(right.len());
    if 2 * pairs.len() < most {
        let together = neighbours(views, [LOG_TIME; 2]);
        let apart_s = apart_s(&together, clocks).filter(|_| 2 * together.len() >= most)?;
        return Some(Damage::Stamps(apart_s));
    }
    apart_s(pairs, [LOG_TIME; 2]).filter(|&apart_s| apart_s > MAX_RECORDING_GAP_S).map(Damage::Clocks)
}

/// Returns the index of the first clock that advances.
fn advancing(pictures: &[TimedImage]) -> usize {
    let advances = |&clock: &usize| match pictures {
        [(_, times)] => times[clock] > UNIX_EPOCH,
        _ => pictures.windows(2).any(|two| two[0].1[clock] != two[1].1[clock]),
    };
    (0..LOG_TIME).find(advances).unwrap_or(LOG_TIME)
}

fn rate_hz(pictures: &[TimedImage], clock: usize) -> f64 {
    let times = || pictures.iter().map(|&(_, times)| times[clock]);
    let span = times().max().zip(times().min()).and_then(|(last, first)| last.duration_since(first).ok());
    let span_s = span.map_or(0.0, |span| span.as_secs_f64());
    if span_s > 0.0 { (pictures.len() - 1) as f64 / span_s } else { 1.0 }
}
