//! Detection of a steady device clock. A device that is partly idle lowers its clock, on an H100 to a quarter within seconds at half the
//! load, and raises it only after some time under full load: times from before then are too long.

use std::time::{Duration, Instant};
use stereopsis_frame::engine::{Engine, EngineError, Job, Output, poll_output};

/// Time under load after which an idle device may have raised its clock; before, all pairs are slow.
pub const RESTED: Duration = Duration::from_millis(400);
/// Time under load for a device that is loaded already.
pub(super) const LOADED: Duration = Duration::from_millis(50);
/// Maximum time under load.
const MAX_LOAD: Duration = Duration::from_secs(1);
/// Share of the best time by which a pair has to be quicker to count as quicker.
const QUICKER: f64 = 0.01;

/// Clock of a device under load, observed pair after pair.
pub struct Clock {
    began: Instant,
    least: Duration,
    best_ms: f64,
    /// Number of pairs since the last quicker one.
    alike: usize,
}

impl Clock {
    /// Starts before the first pair; pairs count after `least` under load.
    pub fn start(least: Duration) -> Self {
        Self { began: Instant::now(), least, best_ms: f64::INFINITY, alike: 0 }
    }

    /// Whether the clock is steady after another pair: `pairs` of them in a row were no quicker than the best before.
    pub fn is_steady(&mut self, pair_ms: f64, pairs: usize) -> bool {
        self.judge(pair_ms, pairs, self.began.elapsed())
    }

    fn judge(&mut self, pair_ms: f64, pairs: usize, loaded: Duration) -> bool {
        self.alike = if pair_ms < (1.0 - QUICKER) * self.best_ms { 0 } else { self.alike + 1 };
        self.best_ms = self.best_ms.min(pair_ms);
        loaded >= MAX_LOAD || loaded >= self.least && self.alike >= pairs
    }
}

/// Matches the jobs in turn, `pairs` in all, with as many in flight as the engine takes, so that the device is never idle. The times of
/// stages are meaningful then; the time of a pair contains its wait for others.
///
/// # Errors
/// Errors of [`Engine::submit`] and [`Engine::collect`].
pub fn burst(engine: &mut dyn Engine, jobs: &[Job], pairs: usize) -> Result<Vec<Output>, EngineError> {
    let mut waiting = jobs.iter().cycle().take(pairs);
    let (mut in_flight, mut outputs) = (0, Vec::with_capacity(pairs));
    loop {
        while in_flight < engine.slots()
            && let Some(job) = waiting.next()
        {
            engine.submit(job.clone())?;
            in_flight += 1;
        }
        if in_flight == 0 {
            return Ok(outputs);
        }
        outputs.push(poll_output(engine)?);
        in_flight -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clock_is_steady_when_pairs_get_no_quicker_or_after_a_second() {
        // 5 ms a pair at first, 1 ms from 100 ms of load on
        let pair_ms = |loaded: u32| if loaded < 100 { 5.0 - f64::from(loaded) / 25.0 } else { 1.0 };
        let mut clock = Clock::start(LOADED);
        let steady = (0..2000).find(|&at| clock.judge(pair_ms(at), 5, Duration::from_millis(at.into()))).unwrap();
        assert!((100..120).contains(&steady), "{steady} ms");
        let mut clock = Clock::start(LOADED);
        let mut ms = 5.0;
        let limit = (0..2000).find(|&at| {
            ms *= 0.98;
            clock.judge(ms, 5, Duration::from_millis(at))
        });
        assert_eq!(limit, Some(1000));
        let mut clock = Clock::start(LOADED);
        assert_eq!((0..2000).find(|&at| clock.judge(1.0, 5, Duration::from_millis(at))), Some(50));
    }
}
