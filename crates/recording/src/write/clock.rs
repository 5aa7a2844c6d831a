//! Wall clock and monotonic clock together, and detection of jumps of the wall clock.

use std::time::{Duration, Instant, SystemTime};

/// Time by both clocks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment {
    /// Time by the wall clock, which may be set.
    pub(super) wall: SystemTime,
    pub(super) steady: Instant,
}

/// Function that returns the time; tests replace it.
pub(super) type Clock = Box<dyn Fn() -> Moment + Send + Sync>;

/// Minimum step back of the wall clock that counts as a jump.
const MIN_BACK: Duration = Duration::from_secs(1);
/// Minimum step ahead that counts as a jump, as of a computer that slept or was not yet synchronized.
const MIN_AHEAD: Duration = Duration::from_mins(1);

pub(super) fn system_clock() -> Clock {
    Box::new(|| Moment { wall: SystemTime::now(), steady: Instant::now() })
}

#[derive(Default)]
pub(super) struct JumpDetector {
    last: Option<Moment>,
}

impl JumpDetector {
    /// Returns a sentence on a jump since the last call.
    pub(super) fn check(&mut self, now: Moment) -> Option<String> {
        let last = self.last.replace(now)?;
        let expected = last.wall + now.steady.saturating_duration_since(last.steady);
        match now.wall.duration_since(expected) {
            Ok(ahead) => {
                (ahead > MIN_AHEAD).then(|| format!("the wall clock jumped ahead by {:.3} s", ahead.as_secs_f64()))
            }
            Err(err) => {
                let back = err.duration();
                (back > MIN_BACK).then(|| format!("the wall clock went back by {:.3} s", back.as_secs_f64()))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_only_jumps() {
        let start = Moment { wall: SystemTime::now(), steady: Instant::now() };
        let mut jumps = JumpDetector::default();
        // time of the wall and the monotonic clock, s
        let mut at = |wall: f64, steady: f64| {
            let wall = start.wall + Duration::from_secs(10_000) + Duration::from_secs_f64(wall);
            jumps.check(Moment { wall, steady: start.steady + Duration::from_secs_f64(steady) })
        };
        assert_eq!(at(0.0, 0.0), None);
        assert_eq!(at(0.1, 0.1), None);
        assert_eq!(at(0.0, 0.2), None, "set back by less than a second");
        assert_eq!(at(30.0, 0.3), None, "half a minute ahead");
        assert_eq!(at(3629.7, 3600.0), None, "nothing came for an hour");
        assert_eq!(at(3730.7, 3601.0).unwrap(), "the wall clock jumped ahead by 100.000 s");
        assert_eq!(at(100.7, 3602.0).unwrap(), "the wall clock went back by 3631.000 s");
        assert_eq!(at(100.8, 3602.1), None);
    }
}
