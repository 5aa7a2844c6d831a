//! Due times of pairs at a fixed rate.

use std::time::{Duration, Instant};

/// Limit of the rate of pairs, which does not catch up after a delay.
#[derive(Debug)]
pub struct Pace {
    period: Option<Duration>,
    due: Option<Instant>,
}

/// Returns the time between two pairs at this rate, Hz; `None` for no rate, or a rate that is not positive.
pub fn period(rate_hz: Option<f64>) -> Option<Duration> {
    let period = rate_hz.and_then(|hz| Duration::try_from_secs_f64(1.0 / hz).ok());
    period.filter(|period| !period.is_zero())
}

impl Pace {
    /// Creates a pace of this rate, Hz; `None`, or a rate that is not positive, means no limit.
    pub fn new(rate_hz: Option<f64>) -> Self {
        Self { period: period(rate_hz), due: None }
    }

    /// Returns the rate, Hz; `None` for no limit.
    pub fn rate_hz(&self) -> Option<f64> {
        self.period.map(|period| 1.0 / period.as_secs_f64())
    }

    /// Waits until the next pair is due, at most `timeout`; returns whether it is due.
    pub fn wait(&self, timeout: Duration) -> bool {
        let wait = self.due.map_or(Duration::ZERO, |due| due.saturating_duration_since(Instant::now()));
        std::thread::sleep(wait.min(timeout));
        wait <= timeout
    }

    /// Records that the due pair was delivered.
    pub fn taken(&mut self) {
        let Some(period) = self.period else { return };
        let now = Instant::now();
        let next = self.due.unwrap_or(now) + period;
        // after a slow reader, continue from now
        self.due = Some(if next + period < now { now } else { next });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_due_at_the_rate() {
        let mut pace = Pace::new(Some(100.0));
        let start = Instant::now();
        for _ in 0..11 {
            while !pace.wait(Duration::from_millis(3)) {}
            pace.taken();
        }
        let seconds = start.elapsed().as_secs_f64();
        assert!((0.099..0.3).contains(&seconds), "{seconds} s for ten periods of 10 ms");
    }

    #[test]
    fn without_a_rate_pairs_are_due_at_once() {
        for rate in [None, Some(f64::INFINITY), Some(-1.0), Some(f64::NAN)] {
            let mut pace = Pace::new(rate);
            pace.taken();
            assert!(pace.wait(Duration::ZERO), "{rate:?}");
        }
    }
}
