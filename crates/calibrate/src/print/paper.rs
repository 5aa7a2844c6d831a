//! Paper or screen of a board.

use std::fmt;
use std::str::FromStr;

/// Sheet of paper or screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paper {
    /// 297 x 210 mm.
    A4,
    /// 420 x 297 mm.
    A3,
    /// 279.4 x 215.9 mm.
    Letter,
    /// Screen of unknown physical size.
    Screen {
        /// Width, px.
        width: usize,
        /// Height, px.
        height: usize,
    },
}

/// Error of words that are those of no paper.
#[derive(Debug, thiserror::Error)]
pub enum PaperError {
    /// The words are those of no paper.
    #[error("the paper '{0}' is unknown; choose A4, A3, letter, or a screen's size in pixels, like 1920x1080")]
    Unknown(String),
    /// The words are those of no screen.
    #[error("a screen of {0} pixels is none; a side has 320 to 16384 of them")]
    Screen(String),
}

/// Range of a screen's sides, px.
const SCREEN_PX: std::ops::RangeInclusive<usize> = 320..=16384;

/// Orientation of a sheet, and sizes around its board; lengths in mm, on screens in px.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Format {
    pub(super) width: f64,
    pub(super) height: f64,
    /// Unprintable margin.
    pub(super) edge: f64,
    pub(super) font: f64,
    /// Width of the ruler strips, which screens lack.
    pub(super) ruler: Option<f64>,
}

impl Format {
    fn paper(width: f64, height: f64) -> Self {
        Self { width, height, edge: 5.0, font: 2.6, ruler: Some(5.0) }
    }
}

impl Paper {
    /// Returns the orientations, landscape before portrait.
    pub(super) fn formats(self) -> Vec<Format> {
        let both = |long, short| vec![Format::paper(long, short), Format::paper(short, long)];
        match self {
            Self::A4 => both(297.0, 210.0),
            Self::A3 => both(420.0, 297.0),
            Self::Letter => both(279.4, 215.9),
            Self::Screen { width, height } => {
                let (width, height) = (width as f64, height as f64);
                vec![Format { width, height, edge: 8.0, font: 14.0, ruler: None }]
            }
        }
    }
}

impl fmt::Display for Paper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::A4 => f.write_str("A4"),
            Self::A3 => f.write_str("A3"),
            Self::Letter => f.write_str("letter"),
            Self::Screen { width, height } => write!(f, "{width}x{height}"),
        }
    }
}

impl FromStr for Paper {
    type Err = PaperError;

    /// Parses `A4`, `A3`, `letter` or the size of a screen in px, such as `1920x1080`.
    fn from_str(text: &str) -> Result<Self, PaperError> {
        let screen = || {
            let (width, height) = text.trim_end_matches("px").split_once('x')?;
            Some(Self::Screen { width: width.parse().ok()?, height: height.parse().ok()? })
        };
        let paper = match text.to_ascii_lowercase().as_str() {
            "a4" => Some(Self::A4),
            "a3" => Some(Self::A3),
            "letter" => Some(Self::Letter),
            _ => screen(),
        };
        match paper {
            Some(Self::Screen { width, height }) if !(SCREEN_PX.contains(&width) && SCREEN_PX.contains(&height)) => {
                Err(PaperError::Screen(text.to_owned()))
            }
            Some(paper) => Ok(paper),
            None => Err(PaperError::Unknown(text.to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn papers_are_read_as_they_are_written() {
        for paper in [Paper::A4, Paper::A3, Paper::Letter, Paper::Screen { width: 1920, height: 1080 }] {
            assert_eq!(paper.to_string().parse::<Paper>().unwrap(), paper);
        }
        assert_eq!("a4".parse::<Paper>().unwrap(), Paper::A4);
        assert_eq!("800x600px".parse::<Paper>().unwrap(), Paper::Screen { width: 800, height: 600 });
    }

    #[test]
    fn a_wrong_paper_is_refused_with_its_reason() {
        for (text, reason) in
            [("A5", "choose A4"), ("", "choose A4"), ("0x5", "320"), ("99999x800", "16384"), ("ax5", "choose A4")]
        {
            let error = text.parse::<Paper>().unwrap_err().to_string();
            assert!(error.contains(reason), "{text}: {error}");
        }
    }
}
