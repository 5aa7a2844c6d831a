//! Pairs of the running source for an estimate of its rig: recent ones, far enough apart in time for the scene to change.

use crossbeam_channel::{Receiver, Sender, bounded};
use std::sync::Arc;
use std::time::{Duration, Instant};
use stereopsis_frame::RawPair;
use stereopsis_sources::{ESTIMATE_PAIRS, PAIR_INTERVAL};

/// Time without a new pair after which the source counts as still.
const TIMEOUT: Duration = Duration::from_millis(700);

/// Sender of pairs during the collection for an estimate.
#[derive(Default)]
pub(crate) struct EstimatePairs {
    collecting: Option<PairSender>,
}

struct PairSender {
    sender: Sender<Arc<RawPair>>,
    last: (Arc<RawPair>, Instant),
}

pub(crate) struct Collector {
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
        Collector { first, pairs, is_still }
    }

    /// Sends the newest pair if an estimate collects pairs.
    pub(crate) fn offer(&mut self, pair: &Arc<RawPair>) {
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
        let mut found = vec![self.first];
        while !self.is_still && found.len() < ESTIMATE_PAIRS {
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
        let still = pair(0);
        let collector = pairs.begin(Arc::clone(&still), false);
        let collecting =
            std::thread::Builder::new().name("collector".into()).spawn(move || collector.collect().len()).unwrap();
        while !collecting.is_finished() {
            pairs.offer(&still);
            std::thread::sleep(Duration::from_millis(20));
        }
        assert_eq!(collecting.join().unwrap(), 1);
    }
}
