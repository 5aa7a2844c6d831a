//! Pairs of the running source for an estimate of its rig: those of the last minute and new ones, far enough apart in time for the scene
//! to change. All count together.

use crossbeam_channel::{Receiver, Sender, bounded};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};
use stereopsis_frame::RawPair;
use stereopsis_sources::{ESTIMATE_PAIRS, PAIR_INTERVAL};

/// Time without a new pair after which the source counts as still.
const TIMEOUT: Duration = Duration::from_millis(700);

/// Time between the pairs that are kept for the next estimate.
const KEEP_INTERVAL: Duration = Duration::from_secs(5);
/// Largest number of pairs that are kept: those of a minute.
const MAX_KEPT: usize = 12;
/// Largest size of the pixels of the pairs that are kept.
const MAX_KEPT_BYTES: u64 = 128 << 20;

/// Pairs kept of the last minute, and the sender of new ones during the collection for an estimate.
#[derive(Default)]
pub(crate) struct EstimatePairs {
    kept: VecDeque<Arc<RawPair>>,
    kept_at: Option<Instant>,
    collecting: Option<PairSender>,
}

struct PairSender {
    sender: Sender<Arc<RawPair>>,
    last: (Arc<RawPair>, Instant),
}

pub(crate) struct Collector {
    kept: Vec<Arc<RawPair>>,
    first: Arc<RawPair>,
    pairs: Receiver<Arc<RawPair>>,
    /// Whether the source holds its pair.
    is_still: bool,
}

impl EstimatePairs {
    /// Starts the collection with the newest pair.
    pub(crate) fn begin(&mut self, first: Arc<RawPair>, is_still: bool) -> Collector {
        let (sender, pairs) = bounded(ESTIMATE_PAIRS);
        self.collecting = Some(PairSender { sender, last: (Arc::clone(&first), Instant::now()) });
        let is_another = |pair: &&Arc<RawPair>| !Arc::ptr_eq(pair, &first);
        let kept = self.kept.iter().filter(is_another).cloned().collect();
        Collector { kept, first, pairs, is_still }
    }

    /// Forgets the pairs of another source.
    pub(crate) fn source_changed(&mut self) {
        *self = Self::default();
    }

    /// Returns the number of pairs kept for the next estimate.
    pub(crate) fn kept(&self) -> usize {
        self.kept.len()
    }

    fn keep(&mut self, pair: &Arc<RawPair>) {
        if self.kept_at.is_some_and(|at| at.elapsed() < KEEP_INTERVAL)
            || self.kept.back().is_some_and(|last| Arc::ptr_eq(last, pair))
        {
            return;
        }
        self.kept_at = Some(Instant::now());
        self.kept.push_back(Arc::clone(pair));
        let bytes = pair.left.bytes() + pair.right.bytes();
        while self.kept.len() > MAX_KEPT || self.kept.len() as u64 * bytes > MAX_KEPT_BYTES {
            self.kept.pop_front();
        }
    }

    /// Keeps the newest pair from time to time, and sends it if an estimate collects pairs.
    pub(crate) fn offer(&mut self, pair: &Arc<RawPair>) {
        self.keep(pair);
        if let Some(PairSender { sender, last }) = &mut self.collecting
            && !Arc::ptr_eq(&last.0, pair)
            && last.1.elapsed() >= PAIR_INTERVAL
        {
            *last = (Arc::clone(pair), Instant::now());
            if sender.send_timeout(Arc::clone(pair), Duration::ZERO).is_err() {
                self.collecting = None; // the collector is full or gone
            }
        }
    }
}

impl Collector {
    /// Waits for the pairs and returns at least one.
    pub(crate) fn collect(self) -> Vec<Arc<RawPair>> {
        let mut found = self.kept;
        found.push(self.first);
        let enough = found.len() + ESTIMATE_PAIRS - 1;
        while !self.is_still && found.len() < enough {
            match self.pairs.recv_timeout(TIMEOUT) {
                Ok(pair) => found.push(pair),
                Err(_) => break,
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stereopsis_frame::SceneOptions;
    use stereopsis_scene::render;

    #[test]
    fn a_still_is_one_pair_and_a_stream_gives_several() {
        let pair =
            |frame| Arc::new(render(&SceneOptions { width: 32, height: 24, ..SceneOptions::default() }, frame, false));
        let mut pairs = EstimatePairs::default();
        assert_eq!(pairs.begin(pair(0), true).collect().len(), 1);
        let collector = pairs.begin(pair(0), false);
        let collecting =
            std::thread::Builder::new().name("collector".into()).spawn(move || collector.collect().len()).unwrap();
        let mut number = 1;
        while pairs.collecting.is_some() {
            pairs.offer(&pair(number));
            number += 1;
            std::thread::sleep(Duration::from_millis(20));
        }
        assert_eq!(collecting.join().unwrap(), ESTIMATE_PAIRS);
        pairs.source_changed();
        let still = pair(0);
        let collector = pairs.begin(Arc::clone(&still), false);
        let collecting =
            std::thread::Builder::new().name("collector".into()).spawn(move || collector.collect().len()).unwrap();
        while !collecting.is_finished() {
            pairs.offer(&still);
            std::thread::sleep(Duration::from_millis(20));
        }
        assert_eq!(collecting.join().unwrap(), 1);
        // pairs of the last minute count too, each once
        for number in 0..20 {
            pairs.kept_at = None;
            pairs.offer(&pair(number));
        }
        assert_eq!(pairs.kept(), MAX_KEPT);
        let newest = Arc::clone(pairs.kept.back().unwrap());
        assert_eq!(pairs.begin(newest, true).collect().len(), MAX_KEPT);
        assert_eq!(pairs.begin(pair(20), true).collect().len(), MAX_KEPT + 1);
    }
}
