//! Unit of a calibration file's lengths; OpenCV's files do not state it.

use crate::console::foreign;
use std::fmt;
use std::str::FromStr;

/// The length of one unit in a calibration file.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum LengthUnit {
    /// Metres.
    #[default]
    Metre,
    /// Centimetres.
    Centimetre,
    /// Millimetres.
    Millimetre,
    /// This number of metres: the side of a chessboard square, where the board was given as squares of side 1.
    Metres(f64),
}

impl LengthUnit {
    /// Length of one unit, m.
    pub fn metres(self) -> f64 {
        match self {
            Self::Metre => 1.0,
            Self::Centimetre => 0.01,
            Self::Millimetre => 0.001,
            Self::Metres(size) => size,
        }
    }
}

/// Plausible baselines, m.
pub(super) const PLAUSIBLE_BASELINE_M: std::ops::RangeInclusive<f64> = 0.01..=1.5;

impl LengthUnit {
    /// The unit that makes the file's baseline plausible: metres, else millimetres; else metres, with a warning
    /// as text.
    pub(super) fn guess(baseline: f64) -> (Self, Option<String>) {
        let plausible = |unit: &Self| PLAUSIBLE_BASELINE_M.contains(&(baseline * unit.metres()));
        match [Self::Metre, Self::Millimetre].into_iter().find(plausible) {
            Some(unit) => (unit, None),
            None => (Self::Metre, Some(Self::doubt(baseline))),
        }
    }

    fn doubt(baseline: f64) -> String {
        let mut text = format!(
            "the file does not say its unit of length, and {baseline:.4} is a plausible baseline neither in m nor in mm: give \
             --calibration-unit with the side of a square of the chessboard in metres, such as 0.025"
        );
        if PLAUSIBLE_BASELINE_M.contains(&(baseline * 0.01)) {
            text.push_str(", or cm");
        }
        text
    }
}

impl fmt::Display for LengthUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Metre => f.write_str("m"),
            Self::Centimetre => f.write_str("cm"),
            Self::Millimetre => f.write_str("mm"),
            Self::Metres(size) => size.fmt(f),
        }
    }
}

impl FromStr for LengthUnit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "m" => Ok(Self::Metre),
            "cm" => Ok(Self::Centimetre),
            "mm" => Ok(Self::Millimetre),
            _ => match text.parse::<f64>() {
                Ok(size) if size.is_finite() && size > 0.0 => Ok(Self::Metres(size)),
                _ => Err(format!(
                    "'{}': expected m, cm, mm, or the length of one unit in metres, such as 0.025 for a board whose \
                     squares of 25 mm were given as 1",
                    foreign(text)
                )),
            },
        }
    }
}

crate::stands_as_its_word!(LengthUnit);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_sizes_are_understood_and_written_back() {
        for (text, metres) in [("m", 1.0), ("cm", 0.01), ("mm", 0.001), ("0.025", 0.025)] {
            let unit: LengthUnit = text.parse().unwrap();
            assert!((unit.metres() - metres).abs() < 1e-12);
            assert_eq!(unit.to_string(), text);
        }
    }

    #[test]
    fn the_unit_is_the_one_that_makes_a_plausible_baseline() {
        for (baseline, unit) in [(0.06, LengthUnit::Metre), (1.2, LengthUnit::Metre), (60.0, LengthUnit::Millimetre)] {
            assert_eq!(LengthUnit::guess(baseline), (unit, None), "{baseline}");
        }
        for (baseline, cm) in [(0.003, false), (3.34, true), (6.0, true), (2000.0, false)] {
            let (unit, doubt) = LengthUnit::guess(baseline);
            let doubt = doubt.unwrap();
            assert_eq!(unit, LengthUnit::Metre);
            assert!(doubt.contains("--calibration-unit") && doubt.contains("or cm") == cm, "{doubt}");
        }
    }

    #[test]
    fn others_are_refused_with_what_there_is() {
        for text in ["inch", "0", "-1", "nan", ""] {
            let error = text.parse::<LengthUnit>().unwrap_err();
            assert!(error.contains("m, cm, mm") && error.contains("0.025"), "{error}");
        }
    }
}
