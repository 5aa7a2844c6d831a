//! Unit of a calibration file's lengths; OpenCV's files do not state it.

use std::fmt;
use std::str::FromStr;
use stereopsis_base::console::foreign;
use stereopsis_base::remedy::{Remedy, option};

/// Length of one unit in a calibration file.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum LengthUnit {
    /// Metres.
    #[default]
    Metre,
    /// Centimetres.
    Centimetre,
    /// Millimetres.
    Millimetre,
    /// Number of metres, such as the side of a chessboard square, if the board was given as squares of side 1.
    Metres(f64),
}

impl LengthUnit {
    /// Returns the length of one unit, m.
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
/// Baselines of nearly all rigs, m; others are doubted.
const COMMON_BASELINE_M: std::ops::RangeInclusive<f64> = 0.015..=1.5;
/// Baselines of endoscopes, m: files with millimetres that are no common baseline are theirs.
const ENDOSCOPE_BASELINE_M: std::ops::RangeInclusive<f64> = 0.002..=0.015;

/// Units that files often have by mistake, with the user's mistake.
const MISTAKEN_UNITS: [(LengthUnit, &str); 6] = [
    (LengthUnit::Metre, ""),
    (LengthUnit::Millimetre, ""),
    (LengthUnit::Centimetre, ""),
    (LengthUnit::Metres(0.025), " (the side of a square of the chessboard in metres, where squares were given as 1)"),
    (LengthUnit::Metres(1000.0), " (where metres were divided by 1000)"),
    (LengthUnit::Metres(1e-6), " (where millimetres were multiplied by 1000)"),
];

impl LengthUnit {
    /// Returns the unit with a plausible baseline: metres, else millimetres; else metres.
    pub(super) fn guess(baseline: f64) -> Self {
        let plausible = |unit: &Self| PLAUSIBLE_BASELINE_M.contains(&(baseline * unit.metres()));
        [Self::Metre, Self::Millimetre].into_iter().find(plausible).unwrap_or_default()
    }

    /// Returns a doubt if hardly any rig has this baseline, with the units that would make it common. `is_stated` is true if the file names
    /// its unit.
    pub(super) fn doubt(self, baseline: f64, is_stated: bool) -> Option<String> {
        let baseline_m = baseline * self.metres();
        if COMMON_BASELINE_M.contains(&baseline_m) {
            return None;
        }
        let cause = if is_stated || PLAUSIBLE_BASELINE_M.contains(&baseline_m) {
            format!(
                "a baseline of {} is {} than that of nearly all rigs, as if the squares of the board had been given in \
                 another unit",
                ruler(baseline_m),
                size_of(baseline_m)
            )
        } else {
            format!(
                "the file does not say its unit of length, and {baseline:.4} is a plausible baseline neither in m nor in mm"
            )
        };
        Some(format!("{cause}: {}", self.remedies(baseline)))
    }

    /// Returns other units that make the baseline a common one.
    fn remedies(self, baseline: f64) -> String {
        let mut units: Vec<_> = MISTAKEN_UNITS
            .into_iter()
            .filter(|(unit, _)| *unit != self && COMMON_BASELINE_M.contains(&(baseline * unit.metres())))
            .map(|(unit, why)| format!("{unit}{why} if it says {}", ruler(baseline * unit.metres())))
            .collect();
        let in_mm = baseline * Self::Millimetre.metres();
        if self != Self::Millimetre && ENDOSCOPE_BASELINE_M.contains(&in_mm) {
            units.push(format!("mm if it is an endoscope of {}", ruler(in_mm)));
        }
        let (listed, otherwise) = match units.join(", ") {
            none if none.is_empty() => (none, "with"),
            listed => (format!("{listed}; "), "otherwise"),
        };
        format!(
            "measure between the lenses with a ruler, and give {} {listed}{otherwise} the metres that it says divided by {}, such as \
             {} for 65 mm",
            option("calibration-unit"),
            number(baseline),
            number(0.065 / baseline)
        )
    }
}

/// Returns a doubt about a baseline that the user has typed, m, if hardly any rig has it.
pub(super) fn typed_baseline_doubt(baseline_m: f64) -> Option<String> {
    if COMMON_BASELINE_M.contains(&baseline_m) {
        return None;
    }
    let units = [
        (LengthUnit::Millimetre, format!("it is {} mm", number(baseline_m))),
        (LengthUnit::Centimetre, format!("it is {} cm", number(baseline_m))),
        (LengthUnit::Metres(1000.0), "metres were divided by 1000".to_owned()),
    ];
    let cures: Vec<_> = units
        .into_iter()
        .map(|(unit, why)| (baseline_m * unit.metres(), why))
        .filter(|(other_m, _)| COMMON_BASELINE_M.contains(other_m))
        .map(|(other_m, why)| format!("{} if {why}", Remedy::set("baseline-m", number(other_m))))
        .collect();
    let cure = match cures.join(", ") {
        none if none.is_empty() => {
            format!("measure between the lenses with a ruler, and give the metres ({})", option("baseline-m"))
        }
        listed => listed,
    };
    Some(format!("a baseline of {} is {} than that of nearly all rigs: {cure}", ruler(baseline_m), size_of(baseline_m)))
}

fn size_of(baseline_m: f64) -> &'static str {
    if baseline_m < 1.0 { "smaller" } else { "larger" }
}

fn ruler(length_m: f64) -> String {
    if length_m < 1.0 { format!("{} mm", number(length_m * 1e3)) } else { format!("{} m", number(length_m)) }
}

/// Formats a number with three digits, or all before the point; one that no ruler shows with its power of ten.
pub(super) fn number(value: f64) -> String {
    if !(1e-9..1e15).contains(&value.abs()) {
        return format!("{value:.2e}");
    }
    let digits = (2 - value.abs().log10().floor() as i32).max(0);
    let text = format!("{value:.*}", digits as usize);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
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

/// Error of a word that is no unit.
#[derive(Debug, thiserror::Error)]
#[error(
    "'{}': expected m, cm, mm, or the length of one unit in metres, such as 0.025 for a board whose squares of 25 mm were given as 1",
    foreign(.0)
)]
pub struct UnitError(String);

impl FromStr for LengthUnit {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        match text {
            "m" => Ok(Self::Metre),
            "cm" => Ok(Self::Centimetre),
            "mm" => Ok(Self::Millimetre),
            _ => match text.parse::<f64>() {
                Ok(size) if size.is_finite() && size > 0.0 => Ok(Self::Metres(size)),
                _ => Err(UnitError(text.to_owned())),
            },
        }
    }
}

stereopsis_base::parameter::stands_as_its_word!(LengthUnit);

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
            assert_eq!(LengthUnit::guess(baseline), unit, "{baseline}");
            assert_eq!(unit.doubt(baseline, false), None, "{baseline}");
        }
        for (baseline, cm) in [(0.003, false), (3.34, true), (6.0, true), (2000.0, false)] {
            let unit = LengthUnit::guess(baseline);
            assert_eq!(unit, LengthUnit::Metre);
            let doubt = unit.doubt(baseline, false).unwrap();
            assert!(doubt.contains("does not say its unit") && doubt.contains("unit cm if it says") == cm, "{doubt}");
        }
    }

    #[test]
    fn baselines_beyond_every_ruler_are_doubted_in_numbers() {
        for (baseline, words) in
            [(1e-320, ["baseline", "divided by 1.00e-320"]), (f64::MAX, ["as 3.62e-310", "for 65 mm"])]
        {
            for is_stated in [false, true] {
                let doubt = LengthUnit::Metre.doubt(baseline, is_stated).unwrap();
                assert!(words.iter().all(|word| doubt.contains(word)), "{doubt}");
            }
        }
    }

    #[test]
    fn doubts_name_units_with_a_common_baseline() {
        for (baseline, is_stated, words) in [
            (
                74.8,
                true,
                &["a baseline of 74.8 m is larger", "calibration-unit mm if it says 74.8 mm, cm if it says 748 mm"][..],
            ),
            (
                0.0001,
                true,
                &["a baseline of 0.1 mm is smaller", "calibration-unit 1000 (where metres were", "says 100 mm"],
            ),
            (0.0001, false, &["0.0001 is a plausible baseline neither", "unit 1000 (where metres were"]),
            (
                0.013,
                false,
                &[
                    "a baseline of 13 mm is smaller",
                    "calibration-unit with the metres that it says divided by 0.013, such as 5 for 65 mm",
                ],
            ),
            (
                13.0,
                false,
                &["a baseline of 13 mm is smaller", "unit cm if it says 130 mm, 0.025 (the side of a square"],
            ),
            (
                5.4,
                false,
                &["neither in m nor in mm", "if it says 135 mm, mm if it is an endoscope of 5.4 mm; otherwise"],
            ),
            (74800.0, false, &["neither in m nor in mm", "unit 0.000001 (where millimetres were", "says 74.8 mm"]),
        ] {
            let unit = if is_stated { LengthUnit::Metre } else { LengthUnit::guess(baseline) };
            let doubt = unit.doubt(baseline, is_stated).unwrap();
            for word in words {
                assert!(doubt.contains(word), "{baseline}: '{word}' is not in: {doubt}");
            }
        }
        assert_eq!(LengthUnit::Metre.doubt(0.11, true), None);
    }

    #[test]
    fn unknown_units_are_refused_with_the_known_ones() {
        for text in ["inch", "0", "-1", "nan", ""] {
            let error = text.parse::<LengthUnit>().unwrap_err().to_string();
            assert!(error.contains("m, cm, mm") && error.contains("0.025"), "{error}");
        }
    }
}
