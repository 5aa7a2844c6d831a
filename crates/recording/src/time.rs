//! Wall-clock times as numbers and text.

use jiff::{Timestamp, Zoned};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Returns the nanoseconds since 1970; 0 for an earlier time.
pub fn to_ns(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).map_or(0, |since| u64::try_from(since.as_nanos()).unwrap_or(u64::MAX))
}

/// Returns the time at a number of nanoseconds since 1970.
pub fn from_ns(ns: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_nanos(ns)
}

/// Returns the second time minus the first, s.
pub(crate) fn later_s([first, second]: [SystemTime; 2]) -> f64 {
    let later = second.duration_since(first);
    later.as_ref().map_or_else(|earlier| -earlier.duration().as_secs_f64(), Duration::as_secs_f64)
}

/// Formats a time as `2026-11-21T09:30:05.120Z`.
pub fn rfc3339(time: SystemTime) -> String {
    Timestamp::try_from(time).map_or_else(|_| "unknown".to_owned(), |time| format!("{time:.3}"))
}

/// Formats a time as `2026-11-21_10-30-05` in local time, for file names.
pub fn for_file_name(time: SystemTime) -> String {
    Timestamp::try_from(time).map_or_else(
        |_| "unknown".to_owned(),
        |time| time.to_zoned(Zoned::now().time_zone().clone()).strftime("%Y-%m-%d_%H-%M-%S").to_string(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_nanoseconds_and_formats_utc() {
        let time = from_ns(1_700_000_000_123_456_789);
        assert_eq!(to_ns(time), 1_700_000_000_123_456_789);
        assert_eq!(rfc3339(time), "2023-11-14T22:13:20.123Z");
        assert_eq!(to_ns(UNIX_EPOCH - Duration::from_secs(1)), 0);
        assert_eq!(for_file_name(time).len(), "2023-11-14_22-13-20".len());
    }
}
