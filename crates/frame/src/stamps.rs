//! Validation of a camera's time stamps. Some drivers provide none, use another clock, repeat a time or go back. Such time stamps are
//! rejected; the caller then uses the arrival time of the image.

use std::time::{Duration, SystemTime};

/// Fault of a camera's time stamps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StampFault {
    /// No time stamp.
    Missing,
    /// Too different from the wall clock.
    OtherClock,
    /// Repeated or going back.
    Unordered,
}

impl StampFault {
    /// Returns the description, which continues a sentence that begins with `its time stamps`.
    pub fn words(self) -> &'static str {
        match self {
            Self::Missing => "are missing",
            Self::OtherClock => "are far from this computer's clock",
            Self::Unordered => "stand still or go back",
        }
    }
}

/// Check of the time stamps of one camera.
#[derive(Clone, Debug, Default)]
pub struct Stamps {
    last: Option<SystemTime>,
    last_arrival: Option<SystemTime>,
    /// Counter that rises by [`FAULT_WEIGHT`] with each bad stamp and falls by 1 with each good one.
    doubt: u32,
    fault: Option<StampFault>,
}

/// Maximum age of a frame at its arrival.
const MAX_AGE: Duration = Duration::from_secs(5);
/// Tolerance of stamps in the future: clocks are read one after the other, and some drivers stamp the end of a frame in advance.
const MAX_LEAD: Duration = Duration::from_millis(50);
/// Number of good stamps that compensate one bad stamp: an occasional one is tolerated, three in a second are not.
const FAULT_WEIGHT: u32 = 12;
const FAULT_LIMIT: u32 = 3 * FAULT_WEIGHT - 8;

impl Stamps {
    /// Returns the capture time of a frame that came at `arrival`; `None` if its stamp cannot be used.
    pub fn check(&mut self, stamp: Option<SystemTime>, arrival: SystemTime) -> Option<SystemTime> {
        if self.last_arrival.is_some_and(|last| arrival < last) {
            // the clock was set back: earlier stamps cannot be compared any more
            self.last = None;
        }
        self.last_arrival = Some(arrival);
        let judged = validate(stamp, arrival, self.last);
        match judged {
            Ok(stamp) => {
                self.last = Some(stamp);
                self.doubt = self.doubt.saturating_sub(1);
            }
            Err(fault) => {
                self.doubt += FAULT_WEIGHT;
                if self.doubt >= FAULT_LIMIT && self.fault.is_none() {
                    self.fault = Some(fault);
                }
            }
        }
        judged.ok().filter(|_| self.fault.is_none())
    }

    /// Returns the fault for which the stamps are no longer used.
    pub fn fault(&self) -> Option<StampFault> {
        self.fault
    }
}

fn validate(
    stamp: Option<SystemTime>,
    arrival: SystemTime,
    last: Option<SystemTime>,
) -> Result<SystemTime, StampFault> {
    let stamp = stamp.ok_or(StampFault::Missing)?;
    let near = match arrival.duration_since(stamp) {
        Ok(age) => age <= MAX_AGE,
        Err(ahead) => ahead.duration() <= MAX_LEAD,
    };
    if !near {
        return Err(StampFault::OtherClock);
    }
    if last.is_some_and(|last| stamp <= last) { Err(StampFault::Unordered) } else { Ok(stamp) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::UNIX_EPOCH;

    fn at(seconds: f64) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs_f64(seconds)
    }

    /// Checks frames at 30/s that arrive 20 ms late; `stamp` computes the stamp of a frame from its number and true time, s.
    fn watch(count: u32, stamp: impl Fn(u32, f64) -> Option<f64>) -> (Stamps, usize) {
        let mut stamps = Stamps::default();
        let used = (0..count).filter(|&n| {
            let time = 100.0 + f64::from(n) / 30.0;
            stamps.check(stamp(n, time).map(at), at(time + 0.02)).is_some()
        });
        let used = used.count();
        (stamps, used)
    }

    #[test]
    fn accepts_good_stamps_even_of_late_frames() {
        for delay in [0.0, 0.5, 4.0, -0.05] {
            let (stamps, used) = watch(100, |_, time| Some(time - delay));
            assert_eq!((stamps.fault(), used), (None, 100), "{delay}");
        }
    }

    #[test]
    fn tolerates_occasional_bad_stamps() {
        let (stamps, used) = watch(300, |n, time| Some(if n % 50 == 49 { time - 3.0 } else { time }));
        assert_eq!((stamps.fault(), used), (None, 294));
    }

    #[test]
    fn reports_the_fault_of_persistently_bad_stamps() {
        type Stamp = fn(u32, f64) -> Option<f64>;
        let cases: [(StampFault, Stamp); 5] = [
            (StampFault::Missing, |_, _| None),
            (StampFault::OtherClock, |_, time| Some(time - 90.0)),
            (StampFault::OtherClock, |_, time| Some(time + 3600.0)),
            (StampFault::Unordered, |_, _| Some(99.0)),
            (StampFault::Unordered, |n, time| Some(if n % 2 == 1 { time - 0.2 } else { time })),
        ];
        for (fault, stamp) in cases {
            let (stamps, used) = watch(60, stamp);
            assert_eq!(stamps.fault(), Some(fault));
            assert!(used < 10, "{fault:?}: {used}");
        }
    }

    #[test]
    fn a_clock_set_back_is_no_fault() {
        let mut stamps = Stamps::default();
        for n in 0..100 {
            let time = f64::from(n) / 30.0 + if n < 50 { 5000.0 } else { 1000.0 };
            assert!(stamps.check(Some(at(time)), at(time + 0.02)).is_some());
        }
    }
}
