//! A source limited to a number of pairs or a duration.

use super::{CaptureError, Next, PairSource, SourceInfo, SourceState, Transport};
use crate::calibration::CalibrationNote;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A source that ends after a number of pairs or a duration.
pub struct LimitedSource {
    source: Box<dyn PairSource>,
    /// Remaining number of pairs.
    pairs: Option<u64>,
    /// Duration, counted from the first pair.
    time: Option<Duration>,
    first: Option<Instant>,
}

impl LimitedSource {
    /// Ends `source` after a number of pairs, or when a duration has passed since the first one; whichever comes first.
    pub fn new(source: Box<dyn PairSource>, pairs: Option<u64>, time: Option<Duration>) -> Self {
        Self { source, pairs, time, first: None }
    }
}

impl PairSource for LimitedSource {
    fn info(&self) -> SourceInfo {
        self.source.info()
    }

    fn next(&mut self, timeout: Duration) -> Result<Next, CaptureError> {
        let passed = self.first.map_or(Duration::ZERO, |first| first.elapsed());
        if self.pairs == Some(0) || self.time.is_some_and(|time| passed >= time) {
            return Ok(Next::End);
        }
        let next = self.source.next(timeout)?;
        if let Next::Pair(_) = next {
            self.first.get_or_insert_with(Instant::now);
            self.pairs = self.pairs.map(|pairs| pairs - 1);
        }
        Ok(next)
    }

    fn state(&self) -> SourceState {
        self.source.state()
    }

    fn resync(&mut self) {
        self.source.resync();
    }

    fn calibration(&self) -> Option<&CalibrationNote> {
        self.source.calibration()
    }

    fn transport(&self) -> Option<Arc<Transport>> {
        self.source.transport()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture::scene::{SceneOptions, SceneSource};

    fn pairs_of(until: &mut LimitedSource) -> usize {
        let mut pairs = 0;
        while !matches!(until.next(Duration::from_millis(50)).unwrap(), Next::End) {
            pairs += 1;
        }
        pairs
    }

    fn scene(rate_hz: Option<f64>) -> Box<dyn PairSource> {
        let options = SceneOptions { width: 32, height: 24, ..SceneOptions::default() };
        Box::new(SceneSource::new(options, rate_hz, false).unwrap())
    }

    #[test]
    fn it_ends_after_pairs_or_time() {
        assert_eq!(pairs_of(&mut LimitedSource::new(scene(None), Some(7), None)), 7);
        let start = Instant::now();
        pairs_of(&mut LimitedSource::new(scene(Some(100.0)), Some(1_000_000), Some(Duration::from_millis(200))));
        assert!((0.2..5.0).contains(&start.elapsed().as_secs_f64()), "{:?}", start.elapsed());
    }
}
