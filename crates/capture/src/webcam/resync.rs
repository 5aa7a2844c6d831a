//! Aligns two free-running cameras, so that they take their images at nearly the same time.
//!
//! Without a common trigger, the phase of a camera's images depends on the start of its stream. So the right camera is restarted at a
//! chosen time between two images of the left one: at a random phase first, then at a phase corrected by the measured skew, which
//! succeeds if the camera's start-up delay is constant. Otherwise the camera stays at its best attempt.

use std::hash::{BuildHasher, RandomState};
use std::time::{Duration, Instant, SystemTime};

/// Maximum acceptable skew, in frame intervals.
const MAX_SKEW: f64 = 0.1;
/// Maximum number of attempts before the best one is repeated.
const MAX_ATTEMPTS: u32 = 8;
const PAIRS_PER_ATTEMPT: usize = 6;
/// Time without enough pairs after which an attempt counts as failed.
const MEASUREMENT_TIMEOUT: Duration = Duration::from_secs(4);
/// Time that a driver may need to stop a stream before a restart.
const STOP_TIME: Duration = Duration::from_millis(250);

#[derive(Debug)]
pub(super) struct Resync {
    attempts: u32,
    /// Time from a left image to the start of the stream, in intervals, 0 to 1.
    phase: f64,
    /// Absolute skew and phase of the best attempt, in intervals.
    best: Option<(f64, f64)>,
    repeats_best: bool,
    skews_s: Vec<f64>,
    /// Arrival time before which images belong to an earlier attempt.
    from: SystemTime,
    since: Instant,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Step {
    /// Measurement of more pairs.
    Measure,
    /// Restart of the right camera's stream at this time.
    Restart(SystemTime),
    /// Success with this skew, s.
    Aligned(f64),
    /// Failure with this absolute skew, s; `None` if there were no pairs.
    Failed(Option<f64>),
}

impl Resync {
    pub(super) fn new() -> Self {
        Self {
            attempts: 0,
            phase: 0.0,
            best: None,
            repeats_best: false,
            skews_s: Vec::new(),
            from: SystemTime::now(),
            since: Instant::now(),
        }
    }

    /// Adds a pair whose right image arrived at `arrival`.
    pub(super) fn observe(&mut self, arrival: SystemTime, skew_s: f64) {
        if arrival >= self.from {
            self.skews_s.push(skew_s);
        }
    }

    /// Decides the next step, given the left frame interval, s, and the capture time of a left image.
    pub(super) fn step(&mut self, interval_s: f64, left_time: SystemTime) -> Step {
        if self.skews_s.len() < PAIRS_PER_ATTEMPT && self.since.elapsed() < MEASUREMENT_TIMEOUT {
            return Step::Measure;
        }
        let measured = (self.skews_s.len() >= PAIRS_PER_ATTEMPT).then(|| median(&mut self.skews_s) / interval_s);
        let skew = measured.unwrap_or(0.5);
        if measured.is_some() && skew.abs() < MAX_SKEW {
            return Step::Aligned(skew * interval_s);
        }
        if self.attempts > 0 && self.best.is_none_or(|(best, _)| skew.abs() < best) {
            self.best = Some((skew.abs(), self.phase));
        }
        let at_best = self.best.is_some_and(|(best, _)| skew.abs() <= best);
        if self.attempts >= MAX_ATTEMPTS && (at_best || self.repeats_best) {
            return Step::Failed(measured.map(|skew| skew.abs() * interval_s));
        }
        let random = random();
        self.phase = match self.best {
            Some((_, phase)) if self.attempts >= MAX_ATTEMPTS => {
                self.repeats_best = true;
                phase
            }
            // every third phase is random, because the start-up delay may vary more than the correction assumes
            Some(_) if measured.is_some() && !self.attempts.is_multiple_of(3) => {
                self.phase - skew + 0.02 * (random - 0.5)
            }
            _ => random,
        };
        self.phase = self.phase.rem_euclid(1.0);
        self.attempts += 1;
        let at = next_at(SystemTime::now() + STOP_TIME, left_time, interval_s, self.phase);
        self.skews_s.clear();
        self.from = at;
        self.since = Instant::now();
        Step::Restart(at)
    }
}

/// Returns the first time from `earliest` on that is `phase` intervals after a left image.
fn next_at(earliest: SystemTime, left_time: SystemTime, interval_s: f64, phase: f64) -> SystemTime {
    let since_s = earliest.duration_since(left_time).map_or(0.0, |since| since.as_secs_f64());
    let intervals = (since_s / interval_s - phase).ceil().max(0.0) + phase;
    left_time + Duration::from_secs_f64((intervals * interval_s).min(since_s + interval_s))
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn random() -> f64 {
    (RandomState::new().hash_one(0) >> 11) as f64 / (1_u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    const INTERVAL_S: f64 = 1.0 / 30.0;

    /// Runs the search on a simulated camera: `started` returns the skew after a start, given the number of the start and its phase.
    /// Returns the last step, the number of starts, and the final skew, in intervals.
    fn search(mut started: impl FnMut(u32, f64) -> f64) -> (Step, u32, f64) {
        let left_time = SystemTime::now();
        let mut resync = Resync::new();
        let (mut skew, mut starts) = (0.31, 0);
        loop {
            for _ in 0..PAIRS_PER_ATTEMPT {
                resync.observe(SystemTime::now() + Duration::from_hours(1), skew * INTERVAL_S);
            }
            match resync.step(INTERVAL_S, left_time) {
                Step::Restart(at) => {
                    let after = at.duration_since(left_time).unwrap().as_secs_f64() / INTERVAL_S;
                    starts += 1;
                    let raw = started(starts, after.fract());
                    skew = raw - raw.round();
                }
                Step::Measure => panic!("has enough pairs"),
                end => return (end, starts, skew),
            }
        }
    }

    #[test]
    fn aligns_a_camera_with_constant_delay_in_few_starts() {
        for delay in [0.0, 0.2, 0.45, 0.9] {
            let (end, starts, skew) = search(|_, phase| phase + delay);
            assert!(matches!(end, Step::Aligned(_)) && skew.abs() < MAX_SKEW, "{end:?}");
            assert!(starts <= 3, "{starts} starts");
        }
    }

    #[test]
    fn gives_up_on_a_camera_with_a_fixed_phase() {
        let (end, starts, _) = search(|_, _| 0.31);
        assert_eq!(starts, MAX_ATTEMPTS);
        assert!(matches!(end, Step::Failed(Some(s)) if (s - 0.31 * INTERVAL_S).abs() < 1e-9), "{end:?}");
    }

    #[test]
    fn repeats_the_best_attempt_at_the_end() {
        let mut phases = Vec::new();
        let (end, starts, skew) = search(|start, phase| {
            phases.push(phase);
            if start == 3 || start == MAX_ATTEMPTS + 1 { 0.12 } else { 0.4 }
        });
        assert_eq!(starts, MAX_ATTEMPTS + 1);
        assert!((phases[2] - phases[MAX_ATTEMPTS as usize]).abs() < 1e-3, "{phases:?}");
        assert!((skew - 0.12).abs() < 1e-9 && matches!(end, Step::Failed(Some(_))), "{end:?}");
    }

    #[test]
    fn aligned_cameras_are_not_restarted() {
        let mut resync = Resync::new();
        let now = SystemTime::now() + Duration::from_secs(1);
        assert_eq!(resync.step(INTERVAL_S, now), Step::Measure);
        for _ in 0..PAIRS_PER_ATTEMPT {
            resync.observe(now, 0.001);
        }
        assert_eq!(resync.step(INTERVAL_S, now), Step::Aligned(0.001));
    }
}
