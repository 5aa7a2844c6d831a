//! Estimates the clock offset of another machine from four time stamps per exchange, as in NTP (Mills, RFC 5905). The error is at most
//! half the delay of the exchange. The best exchange of the last minute is used; its error bound grows with its age because of drift.

use super::error::NetworkError;
use super::key::RigTopic;
use super::outlet::now_ns;
use super::session::Network;
use std::collections::VecDeque;
use std::fmt;
use std::time::{Duration, Instant, SystemTime};
use stereopsis_base::rate::LatencySince;

const MAX_EXCHANGE_AGE: Duration = Duration::from_mins(1);
/// Maximum relative drift between two clocks: crystals are within 50 ppm each.
const MAX_DRIFT: f64 = 100e-6;

/// Times of a clock's answer, ns since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct ClockAnswer {
    /// Arrival time of the query.
    pub received_ns: u64,
    /// Departure time of the answer.
    pub sent_ns: u64,
    /// Number of the head's run.
    #[serde(default)]
    pub boot: Option<u64>,
}

/// Offset of a clock from this machine's.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ClockOffset {
    /// Remote time minus local time, s.
    pub offset_s: f64,
    /// Bound of the error, s.
    pub uncertainty_s: f64,
}

impl ClockOffset {
    /// Converts a remote time (ns since 1970) to local time; `None` if it cannot be represented.
    pub(super) fn here(&self, there_ns: u64) -> Option<SystemTime> {
        let ns = i128::from(there_ns) - (self.offset_s * 1e9) as i128;
        SystemTime::UNIX_EPOCH.checked_add(Duration::from_nanos(u64::try_from(ns).ok()?))
    }
}

impl fmt::Display for ClockOffset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "clocks differ by {:.1} ± {:.1} ms", 1e3 * self.offset_s, 1e3 * self.uncertainty_s)
    }
}

/// Estimator of one clock's offset.
#[derive(Clone, Debug, Default)]
pub struct ClockEstimate {
    /// Local time, half the delay (s), offset (s) of each exchange.
    exchanges: VecDeque<(Instant, f64, f64)>,
    /// Run of the head that answered them.
    boot: Option<u64>,
}

impl ClockEstimate {
    /// Queries the clock of a rig's head; with `boot`, only of this run, because another machine may have a head of the same name.
    ///
    /// # Errors
    /// The session has ended.
    pub fn ask(
        &mut self,
        network: &Network,
        rig: &str,
        boot: Option<u64>,
        timeout: Duration,
    ) -> Result<(), NetworkError> {
        if boot.is_some() && std::mem::replace(&mut self.boot, boot) != boot {
            self.exchanges.clear();
        }
        let asked_ns = now_ns();
        let answers = network.ask_json::<ClockAnswer>(&RigTopic::Clock.rig(rig), timeout)?;
        let answered_ns = now_ns();
        let is_its = |answer: &ClockAnswer| boot.is_none() || answer.boot.is_none() || answer.boot == boot;
        if let Some(answer) = answers.into_iter().map(|(_, answer)| answer).find(is_its) {
            self.add(asked_ns, answer, answered_ns, Instant::now());
        }
        Ok(())
    }

    /// Adds an exchange with its local send and receive times, ns since 1970.
    fn add(&mut self, asked_ns: u64, answer: ClockAnswer, answered_ns: u64, now: Instant) {
        let between = |from: u64, to: u64| (i128::from(to) - i128::from(from)) as f64 / 1e9;
        let delay = between(asked_ns, answered_ns) - between(answer.received_ns, answer.sent_ns);
        let offset = f64::midpoint(between(asked_ns, answer.received_ns), between(answered_ns, answer.sent_ns));
        if delay >= 0.0 && delay.is_finite() {
            self.exchanges.push_back((now, delay / 2.0, offset));
        }
        while self.exchanges.front().is_some_and(|(at, ..)| now.saturating_duration_since(*at) > MAX_EXCHANGE_AGE) {
            self.exchanges.pop_front();
        }
    }

    /// Returns the current offset; `None` before the first exchange and a minute after the last.
    pub fn offset(&self, now: Instant) -> Option<ClockOffset> {
        let bound =
            |(at, half, _): &(Instant, f64, f64)| half + MAX_DRIFT * now.saturating_duration_since(*at).as_secs_f64();
        let best = self.exchanges.iter().min_by(|a, b| bound(a).total_cmp(&bound(b)))?;
        (now.saturating_duration_since(best.0) <= MAX_EXCHANGE_AGE)
            .then(|| ClockOffset { offset_s: best.2, uncertainty_s: bound(best) })
    }
}

/// Returns the time from which the latency of a pair's result counts, and the event at that time: its capture, in this machine's time, or
/// its arrival where that is unknown.
pub(super) fn latency_begin(taken: Option<SystemTime>, arrived: Instant) -> (Instant, LatencySince) {
    // a future time, an error of the clocks, becomes now
    let age = taken.map(|taken| SystemTime::now().duration_since(taken).unwrap_or_default());
    let taken = age.and_then(|age| Instant::now().checked_sub(age));
    taken.map_or((arrived, LatencySince::NetworkArrival), |taken| (taken, LatencySince::Capture))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latencies_count_from_capture_if_the_clock_is_known() {
        let now = Instant::now();
        assert_eq!(latency_begin(None, now), (now, LatencySince::NetworkArrival));
        let of = |taken| latency_begin(Some(taken), now);
        let (known, since) = of(SystemTime::now() - Duration::from_secs(5));
        assert_eq!(since, LatencySince::Capture);
        assert!((5..8).contains(&known.elapsed().as_secs()), "{known:?}");
        // a clock that is slightly wrong puts no capture into the future
        let (ahead, since) = of(SystemTime::now() + Duration::from_secs(1));
        assert!(since == LatencySince::Capture && ahead <= Instant::now() && ahead >= now, "{ahead:?}");
    }

    /// Simulates one exchange a second with a drifting clock over random, asymmetric delays.
    fn watch(seconds: u32, ahead_s: f64, drift: f64) -> Vec<(f64, ClockOffset)> {
        let mut random = fastrand::Rng::with_seed(3);
        let (start, mut estimate) = (Instant::now(), ClockEstimate::default());
        let ns = |s: f64| (1_700_000_000.0 + s).mul_add(1e9, 0.0) as u64;
        (0..seconds)
            .map(|second| {
                let asked = f64::from(second);
                let ways = [0.000_2, 0.000_2].map(|least| least + 0.02 * random.f64().powi(4));
                let there = |s: f64| s + ahead_s + drift * s;
                let (received, answered) = (asked + ways[0], asked + ways[0] + 0.000_1 + ways[1]);
                let answer = ClockAnswer {
                    received_ns: ns(there(received)),
                    sent_ns: ns(there(received + 0.000_1)),
                    boot: None,
                };
                let now = start + Duration::from_secs_f64(answered);
                estimate.add(ns(asked), answer, ns(answered), now);
                (there(answered) - answered, estimate.offset(now).unwrap())
            })
            .collect()
    }

    #[test]
    fn the_offset_is_within_its_bound() {
        for (ahead_s, drift) in [(0.0, 0.0), (3.7, 0.0), (-120.0, 0.0), (0.25, 80e-6), (-0.1, -80e-6)] {
            for (second, (truth, found)) in watch(200, ahead_s, drift).into_iter().enumerate().skip(10) {
                let error = (found.offset_s - truth).abs();
                assert!(error <= found.uncertainty_s + 1e-6, "{ahead_s} {drift} {second}: {error} {found:?}");
                assert!(found.uncertainty_s < 0.005, "{second}: {found:?}");
            }
        }
    }

    #[test]
    fn ignores_old_exchanges_and_impossible_answers() {
        let now = Instant::now();
        let mut estimate = ClockEstimate::default();
        estimate.add(1000, ClockAnswer { received_ns: 0, sent_ns: 9000, boot: None }, 2000, now);
        assert_eq!(estimate.offset(now), None, "the answer took longer than the whole exchange");
        estimate.add(1_000_000, ClockAnswer { received_ns: 3_000_000, sent_ns: 3_000_000, boot: None }, 1_200_000, now);
        let offset = estimate.offset(now).unwrap();
        assert_eq!(offset.to_string(), "clocks differ by 1.9 ± 0.1 ms");
        assert_eq!(estimate.offset(now + Duration::from_secs(61)), None);
    }
}
