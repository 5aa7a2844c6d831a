//! What one unit of a calibration file's lengths is; OpenCV's files do not say.

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
    /// So many metres: the side of a chessboard's square, where the board was given as squares of side 1.
    Metres(f64),
}

impl LengthUnit {
    /// One unit in metres.
    pub fn metres(self) -> f64 {
        match self {
            Self::Metre => 1.0,
            Self::Centimetre => 0.01,
            Self::Millimetre => 0.001,
            Self::Metres(size) => size,
        }
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
                    "'{text}': expected m, cm, mm, or the length of one unit in metres, such as 0.025 for a board whose \
                     squares of 25 mm were given as 1"
                )),
            },
        }
    }
}

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
    fn others_are_refused_with_what_there_is() {
        for text in ["inch", "0", "-1", "nan", ""] {
            let error = text.parse::<LengthUnit>().unwrap_err();
            assert!(error.contains("m, cm, mm") && error.contains("0.025"), "{error}");
        }
    }
}
