//! Pairs the frames of two free-running cameras by capture time, one to one: frames go in, in order on each side, and pairs of nearest
//! neighbours come out, at most about half a frame interval apart. The interval is measured, because cameras lower their rate in dim
//! light without notice.

use crate::{Side, Skew};
use std::collections::VecDeque;
use std::time::{Duration, SystemTime};

/// Pair of frames taken at nearly the same time.
#[derive(Clone, Debug, PartialEq)]
pub struct Paired<T> {
    /// Frame of the left camera.
    pub left: T,
    /// Frame of the right camera.
    pub right: T,
    /// Capture time of the left frame.
    pub time: SystemTime,
    /// Skew: capture time of the right frame minus that of the left one, s.
    pub skew_s: f64,
}

/// Frames of two cameras that wait for a partner.
#[derive(Debug)]
pub struct Pairing<T> {
    /// Frames of each camera, in the order of [`Side`].
    waiting: [WaitingFrames<T>; 2],
    unpaired: u64,
    /// Time and skew of the newest pairs.
    skews_s: VecDeque<(SystemTime, f64)>,
}

const SKEW_WINDOW: Duration = Duration::from_secs(2);
const MAX_SKEWS: usize = 600;
const MIN_SKEWS: usize = 3;
/// Maximum number of frames of one camera that wait for a partner.
const MAX_WAITING: usize = 8;
/// Number of measured intervals; their median tolerates missing frames.
const INTERVALS: usize = 7;
/// Maximum skew of a pair, in intervals. More than one half, so that cameras half an interval apart keep their partners despite jitter.
const MAX_SKEW_INTERVALS: f64 = 0.55;

#[derive(Debug)]
struct WaitingFrames<T> {
    frames: VecDeque<(SystemTime, T)>,
    last: Option<SystemTime>,
    intervals_s: VecDeque<f64>,
    nominal_s: f64,
}

impl<T> Pairing<T> {
    /// Creates a pairing without frames; `rates_hz` are the nominal frame rates of both cameras.
    pub fn new(left_rate_hz: f64, right_rate_hz: f64) -> Self {
        let waiting = [left_rate_hz, right_rate_hz].map(WaitingFrames::new);
        Self { waiting, unpaired: 0, skews_s: VecDeque::new() }
    }

    /// Adds the next frame of one camera.
    pub fn push(&mut self, side: Side, time: SystemTime, frame: T) {
        self.unpaired += self.waiting[side as usize].push(time, frame);
    }

    /// Counts a frame without a capture time, which can have no partner.
    pub fn skip_frame(&mut self) {
        self.unpaired += 1;
    }

    /// Drops the frames, intervals and skews of one camera that was opened again or whose clock has changed.
    pub fn reset(&mut self, side: Side) {
        let waiting = &mut self.waiting[side as usize];
        let given_up = waiting.frames.len() as u64;
        *waiting = WaitingFrames { nominal_s: waiting.nominal_s, ..WaitingFrames::new(1.0) };
        self.unpaired += given_up;
        self.reset_skew();
    }

    /// Forgets the skews of earlier pairs.
    pub fn reset_skew(&mut self) {
        self.skews_s.clear();
    }

    /// Takes the oldest complete pair.
    pub fn pop(&mut self) -> Option<Paired<T>> {
        loop {
            let [left, right] = &mut self.waiting;
            let skew_s = seconds_from(left.frames.front()?.0, right.frames.front()?.0);
            if skew_s.abs() > MAX_SKEW_INTERVALS * left.interval_s().min(right.interval_s()) {
                let older = if skew_s >= 0.0 { left } else { right };
                older.frames.pop_front();
                self.unpaired += 1;
                continue;
            }
            let (time, left) = left.frames.pop_front()?;
            let (_, right) = right.frames.pop_front()?;
            self.record_skew(time, skew_s);
            return Some(Paired { left, right, time, skew_s });
        }
    }

    fn record_skew(&mut self, time: SystemTime, skew_s: f64) {
        self.skews_s.push_back((time, skew_s));
        let too_old = |&(old, _): &(SystemTime, f64)| time.duration_since(old).map_or(true, |age| age > SKEW_WINDOW);
        while self.skews_s.len() > MAX_SKEWS || self.skews_s.front().is_some_and(too_old) {
            self.skews_s.pop_front();
        }
    }

    /// Returns the skew of the newest pairs; `None` without enough pairs.
    pub fn skew(&self) -> Option<Skew> {
        if self.skews_s.len() < MIN_SKEWS {
            return None;
        }
        let skews = || self.skews_s.iter().map(|&(_, skew_s)| skew_s);
        let spread_s = skews().fold(f64::MIN, f64::max) - skews().fold(f64::MAX, f64::min);
        Some(Skew { mean_s: skews().sum::<f64>() / self.skews_s.len() as f64, spread_s })
    }

    /// Returns the measured frame intervals of the left and the right camera, s; `None` without enough frames.
    pub fn intervals_s(&self) -> Option<[f64; 2]> {
        let are_measured = self.waiting.iter().all(|waiting| waiting.intervals_s.len() == INTERVALS);
        are_measured.then(|| self.waiting.each_ref().map(WaitingFrames::interval_s))
    }

    /// Returns the number of frames without a partner so far.
    pub fn unpaired(&self) -> u64 {
        self.unpaired
    }
}

impl<T> WaitingFrames<T> {
    fn new(rate_hz: f64) -> Self {
        Self { frames: VecDeque::new(), last: None, intervals_s: VecDeque::new(), nominal_s: 1.0 / rate_hz.max(1.0) }
    }

    /// Adds a frame; returns the number of dropped frames.
    fn push(&mut self, time: SystemTime, frame: T) -> u64 {
        let mut given_up = 0;
        if let Some(last) = self.last {
            let interval_s = seconds_from(last, time);
            if interval_s > 0.0 {
                self.intervals_s.push_back(interval_s);
                if self.intervals_s.len() > INTERVALS {
                    self.intervals_s.pop_front();
                }
            } else {
                // the clock was set back: the waiting frames can no longer be compared
                given_up += self.frames.len() as u64;
                self.frames.clear();
            }
        }
        self.last = Some(time);
        self.frames.push_back((time, frame));
        if self.frames.len() > MAX_WAITING {
            self.frames.pop_front();
            given_up += 1;
        }
        given_up
    }

    fn interval_s(&self) -> f64 {
        if self.intervals_s.len() < INTERVALS {
            return self.nominal_s;
        }
        let mut sorted: Vec<f64> = self.intervals_s.iter().copied().collect();
        sorted.sort_by(f64::total_cmp);
        sorted[INTERVALS / 2]
    }
}

/// Returns the time from `a` to `b`, s, negative if `b` is earlier.
fn seconds_from(a: SystemTime, b: SystemTime) -> f64 {
    b.duration_since(a).as_ref().map_or_else(|earlier| -earlier.duration().as_secs_f64(), Duration::as_secs_f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::UNIX_EPOCH;

    const INTERVAL_S: f64 = 1.0 / 30.0;

    /// Pushes frames in order of their times, numbered on each side; returns the pairs.
    fn run(pairing: &mut Pairing<usize>, left_s: &[f64], right_s: &[f64]) -> Vec<Paired<usize>> {
        let left = left_s.iter().enumerate().map(|(i, &t)| (t, Side::Left, i));
        let right = right_s.iter().enumerate().map(|(i, &t)| (t, Side::Right, i));
        let mut arrivals: Vec<_> = left.chain(right).collect();
        arrivals.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut pairs = Vec::new();
        for (time_s, side, number) in arrivals {
            pairing.push(side, UNIX_EPOCH + Duration::from_secs_f64(100.0 + time_s), number);
            pairs.extend(std::iter::from_fn(|| pairing.pop()));
        }
        pairs
    }

    fn times(count: usize, interval_s: f64, offset_s: f64) -> Vec<f64> {
        (0..count).map(|i| offset_s + i as f64 * interval_s).collect()
    }

    #[test]
    fn pairs_every_frame_up_to_half_an_interval() {
        for offset in [-0.5, -0.3, -0.01, 0.0, 0.1, 0.25, 0.49, 0.5] {
            let mut pairing = Pairing::new(30.0, 30.0);
            let offset_s = offset * INTERVAL_S;
            let pairs = run(&mut pairing, &times(30, INTERVAL_S, 0.0), &times(30, INTERVAL_S, offset_s));
            assert_eq!(pairs.len(), 30, "offset {offset}");
            assert_eq!(pairing.unpaired(), 0);
            for pair in pairs {
                assert_eq!(pair.left, pair.right);
                assert!((pair.skew_s - offset_s).abs() < 1e-6, "{} {offset_s}", pair.skew_s);
            }
        }
    }

    #[test]
    fn beyond_half_an_interval_pairs_the_nearer_neighbour() {
        let mut pairing = Pairing::new(30.0, 30.0);
        let pairs = run(&mut pairing, &times(10, INTERVAL_S, 0.0), &times(10, INTERVAL_S, 0.7 * INTERVAL_S));
        assert_eq!(pairs.len(), 9);
        assert!(pairs.iter().all(|p| p.left == p.right + 1 && (p.skew_s + 0.3 * INTERVAL_S).abs() < 1e-6), "{pairs:?}");
        assert_eq!(pairing.unpaired(), 1);
    }

    #[test]
    fn jitter_does_not_change_partners() {
        let mut random = fastrand::Rng::with_seed(3);
        let mut jitter = |times: Vec<f64>| -> Vec<f64> {
            times.into_iter().map(|t| 1.0 + t + 0.1 * INTERVAL_S * (random.f64() - 0.5)).collect()
        };
        let (left, right) = (jitter(times(200, INTERVAL_S, 0.0)), jitter(times(200, INTERVAL_S, 0.4 * INTERVAL_S)));
        let mut pairing = Pairing::new(30.0, 30.0);
        let pairs = run(&mut pairing, &left, &right);
        assert_eq!(pairs.len(), 200);
        assert!(pairs.iter().all(|p| p.left == p.right));
    }

    #[test]
    fn a_frame_without_its_partner_stays_unpaired() {
        let mut right = times(12, INTERVAL_S, 0.2 * INTERVAL_S);
        right.remove(5);
        right.remove(5);
        let mut pairing = Pairing::new(30.0, 30.0);
        let pairs = run(&mut pairing, &times(12, INTERVAL_S, 0.0), &right);
        let left: Vec<usize> = pairs.iter().map(|p| p.left).collect();
        assert_eq!(left, [0, 1, 2, 3, 4, 7, 8, 9, 10, 11]);
        assert_eq!(pairing.unpaired(), 2);
        assert!(pairs.iter().all(|p| (p.skew_s - 0.2 * INTERVAL_S).abs() < 1e-6));
    }

    #[test]
    fn a_camera_at_half_the_rate_is_paired_with_nearest_frames() {
        for offset in [0.1, 0.4, 0.6, 0.9] {
            let mut pairing = Pairing::new(30.0, 15.0);
            let right = times(20, 2.0 * INTERVAL_S, offset * INTERVAL_S);
            let pairs = run(&mut pairing, &times(41, INTERVAL_S, 0.0), &right);
            assert_eq!(pairs.len(), 20, "offset {offset}");
            let nearest = usize::from(offset > 0.5);
            assert!(pairs.iter().all(|p| p.left == 2 * p.right + nearest), "offset {offset}: {pairs:?}");
            assert!(pairing.unpaired() >= 19);
        }
    }

    #[test]
    fn pairs_cameras_that_slow_down_in_the_dark() {
        // nominal 30/s, real 10/s, 40 ms apart: more than half of 1/30 s
        let mut pairing = Pairing::new(30.0, 30.0);
        let pairs = run(&mut pairing, &times(30, 0.1, 0.0), &times(30, 0.1, 0.04));
        assert!(pairs.len() >= 22, "{}", pairs.len());
        assert!(pairs.iter().all(|p| p.left == p.right));
    }

    #[test]
    fn bounds_the_frames_that_wait_for_a_silent_camera() {
        let mut pairing = Pairing::new(30.0, 30.0);
        assert_eq!(run(&mut pairing, &times(1000, INTERVAL_S, 0.0), &[]), []);
        assert_eq!(pairing.waiting[0].frames.len(), MAX_WAITING);
        assert_eq!(pairing.unpaired(), 1000 - MAX_WAITING as u64);
    }

    #[test]
    fn a_clock_set_back_drops_the_waiting_frames() {
        let mut pairing = Pairing::new(30.0, 30.0);
        run(&mut pairing, &times(5, INTERVAL_S, 50.0), &times(4, INTERVAL_S, 50.0));
        let pairs = run(&mut pairing, &times(5, INTERVAL_S, 0.0), &times(5, INTERVAL_S, 0.001));
        assert_eq!(pairs.len(), 5);
        assert_eq!(pairing.unpaired(), 1);
    }

    #[test]
    fn skew_covers_the_last_two_seconds() {
        let mut pairing = Pairing::new(30.0, 30.0);
        assert_eq!(pairing.skew(), None);
        // 4 ms apart for three seconds, then 8 and 10 ms in turn
        let skew = |i: usize| if i < 90 { 0.004 } else { 0.008 + 0.002 * (i % 2) as f64 };
        let left = times(180, INTERVAL_S, 0.0);
        let right: Vec<f64> = left.iter().enumerate().map(|(i, t)| t + skew(i)).collect();
        run(&mut pairing, &left[..60], &right[..60]);
        let early = pairing.skew().expect("many pairs");
        assert!((early.mean_s - 0.004).abs() < 1e-6 && early.spread_s < 1e-6, "{early:?}");
        run(&mut pairing, &left[60..], &right[60..]);
        let late = pairing.skew().expect("many pairs");
        assert!((late.mean_s - 0.009).abs() < 1e-4 && (late.spread_s - 0.002).abs() < 1e-6, "{late:?}");
        assert!(pairing.intervals_s().expect("measured").iter().all(|s| (s - INTERVAL_S).abs() < 0.003));
        pairing.reset_skew();
        assert_eq!(pairing.skew(), None);
    }

    #[test]
    fn a_reset_drops_the_waiting_frames() {
        let mut pairing = Pairing::new(30.0, 30.0);
        run(&mut pairing, &times(5, INTERVAL_S, 0.0), &times(3, INTERVAL_S, 0.0));
        pairing.reset(Side::Left);
        assert_eq!(pairing.unpaired(), 2);
        let pairs = run(&mut pairing, &times(4, INTERVAL_S, 100.0), &times(4, INTERVAL_S, 100.0));
        assert_eq!(pairs.len(), 4);
        assert_eq!(pairing.unpaired(), 2);
    }
}
