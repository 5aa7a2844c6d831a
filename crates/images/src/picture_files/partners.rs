//! Pairs images of the left and of the right view: by equal keys, otherwise by the nearest times in their keys.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};
use stereopsis_base::console;
use stereopsis_frame::source::names::time_in;

/// Image of one view with its key.
#[derive(Debug)]
pub(super) struct KeyedPicture {
    /// Key that its partner shares.
    pub(super) key: String,
    pub(super) path: PathBuf,
}

/// Result of the pairing.
#[derive(Debug, Default)]
pub(super) struct Partners {
    pub(super) pairs: Vec<(PathBuf, PathBuf)>,
    pub(super) unpaired: Vec<PathBuf>,
    pub(super) remark: Option<String>,
}

/// Maximum skew of a pair if there is only one left image, ns.
const MAX_SKEW_OF_ONE_NS: i128 = 100_000_000;
/// Skew from which on there is a remark, ns.
const LARGE_SKEW_NS: i128 = 2_000_000;

/// Pairs the images of both views. Of several images of one view with the same key, the first is used.
pub(super) fn pair_up(lefts: Vec<KeyedPicture>, rights: Vec<KeyedPicture>) -> Partners {
    let mut partners = Partners::default();
    let interval_ns = median_interval_ns(&lefts);
    let mut by_key: HashMap<String, PathBuf> = HashMap::new();
    for KeyedPicture { key, path } in rights {
        match by_key.entry(key) {
            Entry::Vacant(place) => _ = place.insert(path),
            Entry::Occupied(_) => partners.unpaired.push(path),
        }
    }
    let mut alone = Vec::new();
    for left in lefts {
        match by_key.remove(&left.key) {
            Some(right) => partners.pairs.push((left.path, right)),
            None => alone.push(left),
        }
    }
    let rights: Vec<_> = by_key.into_iter().map(|(key, path)| KeyedPicture { key, path }).collect();
    let max_skew_ns = interval_ns.map_or(MAX_SKEW_OF_ONE_NS, |interval| interval / 2);
    partners.pair_by_time(Timeline::of(alone), Timeline::of(rights), max_skew_ns);
    partners
}

/// Returns the skew of a pair by the times in its names, right minus left, s; 0 for names without times.
pub(super) fn skew_s(left: &Path, right: &Path) -> f64 {
    let time =
        |path: &Path| time_in(&path.file_stem().unwrap_or_default().to_string_lossy()).map(|(time_ns, _)| time_ns);
    let skew_ns = time(left).zip(time(right)).map_or(0, |(left, right)| right - left);
    skew_ns as f64 / 1e9
}

/// Images by the rest of their keys and by their times, ns.
#[derive(Debug, Default)]
struct Timeline {
    times: BTreeMap<String, BTreeMap<i128, PathBuf>>,
    others: Vec<PathBuf>,
}

impl Timeline {
    fn of(pictures: Vec<KeyedPicture>) -> Self {
        let mut timeline = Self::default();
        for KeyedPicture { key, path } in pictures {
            match time_in(&key) {
                Some((time_ns, rest)) => {
                    let before = timeline.times.entry(rest).or_default().insert(time_ns, path);
                    timeline.others.extend(before);
                }
                None => timeline.others.push(path),
            }
        }
        timeline
    }
}

fn nearest_ns(times: &BTreeMap<i128, PathBuf>, to_ns: i128) -> Option<i128> {
    let before = times.range(..=to_ns).next_back().map(|(time, _)| *time);
    let after = times.range(to_ns..).next().map(|(time, _)| *time);
    before.into_iter().chain(after).min_by_key(|time| (time - to_ns).abs())
}

impl Partners {
    /// Pairs images that are mutually nearest in time, at most `max_skew_ns` apart.
    fn pair_by_time(&mut self, lefts: Timeline, mut rights: Timeline, max_skew_ns: i128) {
        let (mut largest_ns, mut shift_ns) = (0, None::<(i128, PathBuf)>);
        for (rest, lefts) in lefts.times {
            let theirs = rights.times.entry(rest).or_default();
            let nearest: Vec<_> = lefts.keys().map(|&left| (left, nearest_ns(theirs, left))).collect();
            for ((left_ns, right_ns), path) in nearest.into_iter().zip(lefts.values()) {
                let Some(right_ns) = right_ns else {
                    self.unpaired.push(path.clone());
                    continue;
                };
                let skew_ns = (right_ns - left_ns).abs();
                let is_mutual = nearest_ns(&lefts, right_ns) == Some(left_ns);
                if let Some(right) = theirs.get(&right_ns).filter(|_| is_mutual && skew_ns <= max_skew_ns) {
                    self.pairs.push((path.clone(), right.clone()));
                    largest_ns = largest_ns.max(skew_ns);
                } else {
                    self.unpaired.push(path.clone());
                    shift_ns = shift_ns.into_iter().chain([(skew_ns, path.clone())]).min();
                }
            }
        }
        let paired: HashSet<_> = self.pairs.iter().map(|(_, right)| right.clone()).collect();
        let late = rights.times.into_values().flat_map(BTreeMap::into_values).filter(|path| !paired.contains(path));
        self.unpaired.extend(late.chain(lefts.others).chain(rights.others));
        self.remark = if largest_ns >= LARGE_SKEW_NS {
            Some(format!(
                "images are paired by the nearest times in their names, which are up to {:.1} ms apart: what moves by then has a \
                 wrong depth",
                largest_ns as f64 / 1e6
            ))
        } else {
            let apart = shift_ns.filter(|_| self.pairs.is_empty());
            apart.map(|(skew_ns, path)| {
                format!(
                    "the right image nearest in time to {} is {:.3} s away: are the times those of two clocks? Give both images of \
                     a pair one name",
                    console::path(&path),
                    skew_ns as f64 / 1e9
                )
            })
        };
    }
}

fn median_interval_ns(pictures: &[KeyedPicture]) -> Option<i128> {
    let mut times: Vec<i128> = pictures.iter().filter_map(|picture| Some(time_in(&picture.key)?.0)).collect();
    times.sort_unstable();
    let mut intervals: Vec<i128> = times.windows(2).map(|two| two[1] - two[0]).collect();
    intervals.sort_unstable();
    intervals.get(intervals.len() / 2).copied()
}
