//! Sizes at which a recording goes on in another file.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// Largest part of a recording in one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Split {
    /// Bytes of a file; a file with a single larger pair exceeds them.
    Bytes(u64),
    /// Time from the first pair of a file.
    Time(Duration),
}

/// Smallest size, which holds descriptions and summary of a file, bytes.
const MIN_BYTES: f64 = 1e5;
/// Largest size, bytes.
const MAX_BYTES: f64 = 1e18;
/// Smallest and largest time, s.
const MIN_MAX_S: (f64, f64) = (1.0, 1e9);

/// Units of size with their bytes, from the largest on.
const SIZES: [(&str, f64); 7] = [
    ("TB", 1e12),
    ("GiB", (1_u64 << 30) as f64),
    ("GB", 1e9),
    ("MiB", (1_u64 << 20) as f64),
    ("MB", 1e6),
    ("KiB", 1024.0),
    ("kB", 1e3),
];
/// Units of time with their seconds, from the largest on.
const TIMES: [(&str, f64); 3] = [("h", 3600.0), ("min", 60.0), ("s", 1.0)];

/// Reason why a text is no part of a recording.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SplitError {
    /// The text is neither a size nor a time.
    #[error(
        "'{0}' is no size (kB, MB, GB, TB, KiB, MiB, GiB) and no time (s, min, h): write 4GB or 10min, for example"
    )]
    Unclear(String),
    /// The size is too small or too large.
    #[error("'{0}': a file takes from 100kB to 1000000TB")]
    Size(String),
    /// The time is too short or too long.
    #[error("'{0}': a file takes from 1s to 277777h")]
    Time(String),
}

impl FromStr for Split {
    type Err = SplitError;

    fn from_str(text: &str) -> Result<Self, SplitError> {
        let unclear = || SplitError::Unclear(text.to_owned());
        let unit = text.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
        let number = text[..text.len() - unit.len()].parse::<f64>().map_err(|_| unclear())?;
        let of = |units: &[(&str, f64)]| {
            let unit = unit.trim_start();
            units.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit)).map(|(_, each)| number * each)
        };
        match (of(&SIZES), of(&TIMES)) {
            (Some(bytes), _) if (MIN_BYTES..=MAX_BYTES).contains(&bytes) => Ok(Self::Bytes(bytes.round() as u64)),
            (Some(_), _) => Err(SplitError::Size(text.to_owned())),
            (_, Some(s)) if (MIN_MAX_S.0..=MIN_MAX_S.1).contains(&s) => Ok(Self::Time(Duration::from_secs_f64(s))),
            (_, Some(_)) => Err(SplitError::Time(text.to_owned())),
            (None, None) => Err(unclear()),
        }
    }
}

/// Writes the words that [`Split::from_str`] reads, in the largest unit with a whole number.
impl fmt::Display for Split {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (number, units) = match self {
            Self::Bytes(bytes) => (*bytes as f64, &SIZES[..]),
            Self::Time(time) => (time.as_secs_f64(), &TIMES[..]),
        };
        let whole = units.iter().find(|(_, each)| number % each == 0.0);
        let Some((unit, each)) = whole.or(units.last()) else { return Ok(()) };
        write!(f, "{}{unit}", number / each)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_sizes_and_times_and_writes_them_again() {
        let sizes = [
            ("4GB", 4_000_000_000),
            ("4GiB", 1 << 32),
            ("1.5 MB", 1_500_000),
            ("200kb", 200_000),
            ("123.457kB", 123_457),
        ];
        for (text, bytes) in sizes {
            assert_eq!(text.parse(), Ok(Split::Bytes(bytes)), "{text}");
        }
        for (text, s) in [("10min", 600), ("90s", 90), ("2h", 7200), ("0.5 h", 1800)] {
            assert_eq!(text.parse(), Ok(Split::Time(Duration::from_secs(s))), "{text}");
        }
        for text in ["4GB", "4GiB", "1500kB", "123.457kB", "10min", "90s", "2h", "1.5s"] {
            assert_eq!(text.parse::<Split>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn refuses_other_words_with_what_can_be_written() {
        for text in ["", "4", "GB", "4 apples", "-4GB", "4GB5", "1e3MB", "10m", "infGB", "4Gb/s"] {
            let why = text.parse::<Split>().unwrap_err().to_string();
            assert!(why.contains("4GB or 10min"), "{text}: {why}");
        }
        for text in ["0GB", "99kB", "0.5s", "0min", "99999999999999TB", "999999h"] {
            let why = text.parse::<Split>().unwrap_err().to_string();
            assert!(why.contains("a file takes from 1"), "{text}: {why}");
        }
    }
}
