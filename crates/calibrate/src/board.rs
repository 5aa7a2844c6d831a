//! The printed board, and the words that describe it.

use crate::calibration::CalibrationError;
use calib_targets_charuco::{Dictionary, resolve_dictionary};
use glam::DVec3;
use std::fmt;
use std::str::FromStr;

/// A flat board with a pattern of squares of one size.
#[derive(Clone, Copy, Debug)]
pub struct Board {
    /// What is printed.
    pub pattern: Pattern,
    /// Squares along a row of the board.
    pub columns: usize,
    /// Squares along a column of the board.
    pub rows: usize,
    /// Side of a square, mm.
    pub square_mm: f64,
}

/// What is printed on a board.
#[derive(Clone, Copy, Debug)]
pub enum Pattern {
    /// Black and white squares. They look alike, so a picture must show all of them before corners can be numbered.
    Chessboard,
    /// Each white square has an ArUco marker, so parts of the board suffice (OpenCV's ChArUco board).
    Charuco {
        /// Side of a marker, mm.
        marker_mm: f64,
        /// The set of markers, numbered from 0 on, row by row.
        dictionary: Dictionary,
        /// The layout of OpenCV before 4.6, whose first square is white where the number of rows is even.
        legacy: bool,
    },
}

/// Fewest and most squares along a side.
const SQUARES: std::ops::RangeInclusive<usize> = 3..=100;
/// Sizes of a square, mm: from a tablet's screen to a wall.
const SQUARE_MM: std::ops::RangeInclusive<f64> = 1.0..=1000.0;

impl Board {
    /// Inner corners along a row and along a column of the board.
    pub fn inner(&self) -> (usize, usize) {
        (self.columns - 1, self.rows - 1)
    }

    /// Number of inner corners, which is the number of points of the board.
    pub fn corner_count(&self) -> usize {
        (self.columns - 1) * (self.rows - 1)
    }

    /// Whether squares have markers, so that a part of the board suffices.
    pub(crate) fn has_markers(&self) -> bool {
        matches!(self.pattern, Pattern::Charuco { .. })
    }

    /// Position of inner corner `id` on the board, m: numbered row by row from the top left one, which is the origin; x to the right,
    /// y down, z away from the camera.
    pub fn point_m(&self, id: usize) -> DVec3 {
        let (across, _) = self.inner();
        DVec3::new((id % across) as f64, (id / across) as f64, 0.0) * self.square_mm * 1e-3
    }
}

impl fmt::Display for Board {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { pattern, columns, rows, square_mm } = self;
        match pattern {
            Pattern::Chessboard => write!(f, "chessboard:{}x{}:{square_mm}mm", columns - 1, rows - 1),
            Pattern::Charuco { marker_mm, dictionary, legacy } => {
                let word = if *legacy { "charuco-legacy" } else { "charuco" };
                write!(f, "{word}:{columns}x{rows}:{square_mm}mm:{marker_mm}mm:{}", dictionary.name())
            }
        }
    }
}

impl FromStr for Board {
    type Err = CalibrationError;

    /// Reads `chessboard:9x6:25mm` (inner corners) or `charuco:11x8:30mm:23mm:DICT_5X5_100` (squares; the second length is the
    /// marker's).
    fn from_str(text: &str) -> Result<Self, CalibrationError> {
        let refused = |reason: String| {
            CalibrationError(format!(
                "the board '{text}' is not understood: {reason}; boards are named chessboard:9x6:25mm (inner corners, side of a \
                 square) or charuco:11x8:30mm:23mm:DICT_5X5_100 (squares, side of a square, side of a marker, dictionary)"
            ))
        };
        let parts: Vec<&str> = text.split(':').collect();
        let board = match parts[..] {
            ["chessboard", count, square] => {
                let (across, down) = counts(count).map_err(refused)?;
                let square_mm = length_mm(square).map_err(refused)?;
                Self { pattern: Pattern::Chessboard, columns: across + 1, rows: down + 1, square_mm }
            }
            [word @ ("charuco" | "charuco-legacy"), count, square, marker, name] => {
                let (columns, rows) = counts(count).map_err(refused)?;
                let (square_mm, marker_mm) = (length_mm(square).map_err(refused)?, length_mm(marker).map_err(refused)?);
                let dictionary = resolve_dictionary(name)
                    .ok_or_else(|| refused(format!("there is no dictionary '{name}'; DICT_4X4_50 is one")))?;
                let needed = columns * rows / 2;
                if marker_mm >= square_mm {
                    return Err(refused(format!(
                        "a marker of {marker_mm} mm does not fit into a square of {square_mm} mm"
                    )));
                }
                if dictionary.codes().len() < needed {
                    let has = dictionary.codes().len();
                    return Err(refused(format!("it needs {needed} markers, and {name} has {has}")));
                }
                Self {
                    pattern: Pattern::Charuco { marker_mm, dictionary, legacy: word != "charuco" },
                    columns,
                    rows,
                    square_mm,
                }
            }
            ["chessboard", ..] => return Err(refused("a chessboard has two parts behind its name".to_owned())),
            ["charuco" | "charuco-legacy", ..] => {
                return Err(refused("a ChArUco board has four parts behind its name".to_owned()));
            }
            _ => return Err(refused("it begins with neither chessboard: nor charuco:".to_owned())),
        };
        if !SQUARES.contains(&board.columns) || !SQUARES.contains(&board.rows) {
            return Err(refused(format!("it has {}x{} squares, and 3 to 100 are possible", board.columns, board.rows)));
        }
        if !SQUARE_MM.contains(&board.square_mm) {
            return Err(refused(format!(
                "a square of {} mm is none of a board; 1 to 1000 mm are possible",
                board.square_mm
            )));
        }
        Ok(board)
    }
}

/// Reads `9x6`.
fn counts(text: &str) -> Result<(usize, usize), String> {
    let both = text.split_once('x').and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
    both.filter(|&(a, b): &(usize, usize)| a.max(b) <= 1000)
        .ok_or_else(|| format!("'{text}' are no two counts like 9x6"))
}

/// Reads `25mm`, `2.5cm` or `0.025m`.
fn length_mm(text: &str) -> Result<f64, String> {
    let units = [("mm", 1.0), ("cm", 10.0), ("m", 1000.0)];
    let read = units.iter().find_map(|(unit, mm)| Some(text.strip_suffix(unit)?.trim().parse::<f64>().ok()? * mm));
    read.filter(|length| length.is_finite() && *length > 0.0).ok_or_else(|| format!("'{text}' is no length like 25mm"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boards_are_read_as_they_are_written() {
        for text in [
            "chessboard:9x6:25mm",
            "charuco:11x8:30mm:23mm:DICT_5X5_100",
            "charuco-legacy:31x16:49.33mm:38.46mm:DICT_4X4_250",
        ] {
            assert_eq!(text.parse::<Board>().unwrap().to_string(), text);
        }
        let board: Board = "chessboard:9x6:2.5cm".parse().unwrap();
        assert_eq!((board.columns, board.rows, board.square_mm, board.corner_count()), (10, 7, 25.0, 54));
        assert_eq!(board.point_m(10), DVec3::new(0.025, 0.025, 0.0));
    }

    #[test]
    fn a_wrong_board_is_refused_with_its_reason() {
        for (text, reason) in [
            ("", "neither chessboard"),
            ("chessboard:9x6", "two parts"),
            ("chessboard:9:25mm", "'9' are no two counts"),
            ("chessboard:9x6:25", "'25' is no length"),
            ("chessboard:1x6:25mm", "2x7 squares"),
            ("chessboard:9x6:25m", "25000 mm"),
            ("charuco:11x8:30mm:23mm", "four parts"),
            ("charuco:11x8:30mm:31mm:DICT_5X5_100", "does not fit"),
            ("charuco:11x8:30mm:23mm:DICT_5X5_101", "no dictionary"),
            ("charuco:31x16:30mm:23mm:DICT_4X4_50", "needs 248 markers"),
        ] {
            let error = text.parse::<Board>().unwrap_err().to_string();
            assert!(error.contains(reason) && error.contains("chessboard:9x6:25mm"), "{text}: {error}");
        }
    }
}
