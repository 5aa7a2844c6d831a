//! Rates and latencies over a sliding window or a whole run.

use std::collections::VecDeque;
use std::fmt;
use std::time::{Duration, Instant};

/// Events per second over a sliding window.
#[derive(Clone, Debug)]
pub struct Rate {
    window: Duration,
    events: VecDeque<Instant>,
}

impl Rate {
    /// Starts a rate over this window.
    pub fn new(window: Duration) -> Self {
        Self { window, events: VecDeque::new() }
    }

    /// Counts an event.
    pub fn record(&mut self, now: Instant) {
        self.events.push_back(now);
        self.forget(now);
    }

    /// Returns the events per second up to `now`; 0 after a window without events. A pause lowers the rate before the next event.
    pub fn per_second(&mut self, now: Instant) -> f64 {
        self.forget(now);
        let (Some(&first), Some(&last)) = (self.events.front(), self.events.back()) else { return 0.0 };
        let intervals = self.events.len() - 1;
        let span = last.saturating_duration_since(first);
        if intervals == 0 || span.is_zero() {
            return 0.0;
        }
        let usual = span / intervals as u32;
        let waiting = now.saturating_duration_since(last);
        if waiting > usual * 2 {
            (intervals + 1) as f64 / (span + waiting).as_secs_f64()
        } else {
            intervals as f64 / span.as_secs_f64()
        }
    }

    fn forget(&mut self, now: Instant) {
        while self.events.front().is_some_and(|&event| now.saturating_duration_since(event) > self.window) {
            self.events.pop_front();
        }
    }
}

impl Default for Rate {
    /// Starts a rate over two seconds.
    fn default() -> Self {
        Self::new(Duration::from_secs(2))
    }
}

/// Event from which the latency of a result counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LatencySince {
    /// Arrival of the pair from a source of this machine.
    #[default]
    Arrival,
    /// Arrival of the pair from another machine, whose clock cannot be compared.
    NetworkArrival,
    /// Capture of the pair on another machine, by the offset of the two clocks.
    Capture,
}

// words behind a latency; empty for the usual event
impl fmt::Display for LatencySince {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Arrival => "",
            Self::NetworkArrival => " since arrival",
            Self::Capture => " since capture",
        })
    }
}

/// Statistics of the most recent latencies.
#[derive(Clone, Debug)]
pub struct Latency {
    keep: usize,
    recent: VecDeque<Duration>,
}

impl Latency {
    /// Keeps the last `keep` latencies, at least one.
    pub fn new(keep: usize) -> Self {
        Self { keep: keep.max(1), recent: VecDeque::new() }
    }

    /// Adds a latency.
    pub fn record(&mut self, latency: Duration) {
        if self.recent.len() == self.keep {
            self.recent.pop_front();
        }
        self.recent.push_back(latency);
    }

    /// Returns the median; `None` before the first latency.
    pub fn median(&self) -> Option<Duration> {
        self.percentile(50)
    }

    /// Returns the 99th percentile; `None` before the first latency.
    pub fn percentile_99(&self) -> Option<Duration> {
        self.percentile(99)
    }

    /// Returns the smallest latency that at least `percent` in a hundred do not exceed.
    fn percentile(&self, percent: usize) -> Option<Duration> {
        let rank = (self.recent.len() * percent).div_ceil(100).checked_sub(1)?;
        let mut sorted: Vec<_> = self.recent.iter().copied().collect();
        Some(*sorted.select_nth_unstable(rank).1)
    }
}

impl Default for Latency {
    /// Keeps the last 200 latencies.
    fn default() -> Self {
        Self::new(200)
    }
}

/// Histogram of the latencies of a whole run, in constant memory: percentiles are at most 2 % too large.
#[derive(Clone, Debug, Default)]
pub struct RunLatency {
    /// Count of each bin: bins of 1 us at first, then 64 per octave.
    counts: Vec<u64>,
    count: u64,
    largest: Duration,
}

/// Log2 of the number of bins per octave.
const STEPS_LOG2: u32 = 6;

impl RunLatency {
    /// Adds a latency.
    pub fn record(&mut self, latency: Duration) {
        let step = step_of(latency);
        if self.counts.len() <= step {
            self.counts.resize(step + 1, 0);
        }
        self.counts[step] += 1;
        self.count += 1;
        self.largest = self.largest.max(latency);
    }

    /// Returns the number of latencies.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the exact maximum; `None` before the first latency.
    pub fn largest(&self) -> Option<Duration> {
        (self.count > 0).then_some(self.largest)
    }

    /// Returns a percentile, 1 to 100; `None` before the first latency.
    pub fn percentile(&self, percent: u64) -> Option<Duration> {
        let rank = (self.count * percent).div_ceil(100);
        let mut passed = 0;
        let step = self.counts.iter().position(|&count| {
            passed += count;
            passed >= rank
        })?;
        Some(end_of(step).min(self.largest))
    }
}

/// Returns the bin of a latency: its leading bits in us, and the number of bits below them.
fn step_of(latency: Duration) -> usize {
    let us = u64::try_from(latency.as_micros()).unwrap_or(u64::MAX);
    let shift = (u64::BITS - us.leading_zeros()).saturating_sub(STEPS_LOG2 + 1);
    ((u64::from(shift) << STEPS_LOG2) + (us >> shift)) as usize
}

fn end_of(step: usize) -> Duration {
    let shift = (step >> STEPS_LOG2).saturating_sub(1);
    let leading = step - (shift << STEPS_LOG2);
    Duration::from_micros(((leading as u128 + 1) << shift).min(u128::from(u64::MAX)) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn steady_events_give_their_rate_and_a_pause_lowers_it() {
        let start = Instant::now();
        let mut rate = Rate::default();
        assert!(rate.per_second(start) == 0.0);
        for i in 0..=60 {
            rate.record(start + MS * 25 * i);
        }
        let end = start + MS * 1500;
        assert!((rate.per_second(end) - 40.0).abs() < 0.01);
        let in_pause = rate.per_second(end + MS * 400);
        assert!(in_pause < 35.0 && in_pause > 20.0, "{in_pause}");
        assert!(rate.per_second(end + MS * 2500) == 0.0);
    }

    #[test]
    fn old_events_are_forgotten() {
        let start = Instant::now();
        let mut rate = Rate::new(MS * 1000);
        for i in 0..100 {
            rate.record(start + MS * 10 * i);
        }
        for i in 0..=20 {
            rate.record(start + MS * 1000 + MS * 100 * i);
        }
        assert!((rate.per_second(start + MS * 3000) - 10.0).abs() < 0.01);
        assert!(rate.events.len() < 12);
    }

    #[test]
    fn latency_has_a_median_and_a_tail() {
        let mut latency = Latency::new(100);
        assert_eq!(latency.median(), None);
        for ms in (1..=100).rev() {
            latency.record(MS * ms);
        }
        assert_eq!(latency.median(), Some(MS * 50));
        assert_eq!(latency.percentile_99(), Some(MS * 99));
        for _ in 0..100 {
            latency.record(MS * 7);
        }
        assert_eq!(latency.percentile_99(), Some(MS * 7), "only the last hundred count");
    }

    #[test]
    fn run_latency_is_within_two_per_cent() {
        let mut run = RunLatency::default();
        assert_eq!((run.percentile(50), run.largest()), (None, None));
        for us in 1..=100_000 {
            run.record(Duration::from_micros(us * 7));
        }
        for percent in [1, 50, 99, 100] {
            let (exact, found) = (MS * 7 * percent as u32, run.percentile(percent).unwrap());
            assert!((exact..=exact * 51 / 50).contains(&found), "{percent} %: {found:?} for {exact:?}");
        }
        assert_eq!((run.count(), run.largest()), (100_000, Some(MS * 700)));
        assert!(run.counts.len() < 1000, "{}", run.counts.len());
        run.record(Duration::MAX);
        run.record(Duration::ZERO);
        assert_eq!((run.percentile(100), run.largest()), (Some(end_of(step_of(Duration::MAX))), Some(Duration::MAX)));
    }

    #[test]
    fn steps_follow_each_other_without_gaps() {
        for us in (0..5000).chain([u64::from(u32::MAX), u64::MAX / 3]) {
            let latency = Duration::from_micros(us);
            let step = step_of(latency);
            assert!(latency < end_of(step), "{us} us ends at {:?}", end_of(step));
            assert!(step == 0 || latency >= end_of(step - 1), "{us} us is in step {step}");
        }
    }
}
