//! The wall clock beside one that never jumps.

use std::time::{Duration, Instant, SystemTime};

/// One moment by both clocks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment {
    /// By the wall clock, which people and other computers set.
    pub(super) wall: SystemTime,
    /// By the clock that only goes on.
    pub(super) steady: Instant,
}

/// Tells moments; tests have one of their own.
pub(super) type Clock = Box<dyn Fn() -> Moment + Send + Sync>;

/// A wall clock that goes back further than this has jumped.
const BACK: Duration = Duration::from_secs(1);
/// A wall clock that gains more than this has jumped: a computer that had no time yet, or slept.
const AHEAD: Duration = Duration::from_mins(1);

/// The clocks of this computer.
pub(super) fn of_system() -> Clock {
    Box::new(|| Moment { wall: SystemTime::now(), steady: Instant::now() })
}

/// Watches for jumps.
#[derive(Default)]
pub(super) struct Jumps {
    last: Option<Moment>,
}

impl Jumps {
    /// What the wall clock did since the moment before, in words, if that was a jump.
    pub(super) fn look(&mut self, now: Moment) -> Option<String> {
        let last = self.last.replace(now)?;
        let expected = last.wall + now.steady.saturating_duration_since(last.steady);
        match now.wall.duration_since(expected) {
            Ok(ahead) => {
                (ahead > AHEAD).then(|| format!("the wall clock jumped ahead by {:.3} s", ahead.as_secs_f64()))
            }
            Err(err) => {
                let back = err.duration();
                (back > BACK).then(|| format!("the wall clock went back by {:.3} s", back.as_secs_f64()))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_jumps_are_told() {
        let start = Moment { wall: SystemTime::now(), steady: Instant::now() };
        let mut jumps = Jumps::default();
        // what the wall and the steady clock show, s
        let mut at = |wall: f64, steady: f64| {
            let wall = start.wall + Duration::from_secs(10_000) + Duration::from_secs_f64(wall);
            jumps.look(Moment { wall, steady: start.steady + Duration::from_secs_f64(steady) })
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
