//! Printed board: its pattern, its textual description, and the positions of its corners.

mod error;
mod kalibr;

use super::marker::TAGS;
use calib_targets_charuco::{Dictionary, resolve_dictionary};
use glam::DVec3;
use std::fmt;
use std::str::FromStr;

pub use error::{BoardError, BoardFault, TargetFault};

/// Flat board with a pattern of equal squares or tags.
#[derive(Clone, Copy, Debug)]
pub struct Board {
    /// Printed pattern.
    pub pattern: Pattern,
    /// Squares (of an AprilGrid: tags) along a row.
    pub columns: usize,
    /// Squares (of an AprilGrid: tags) along a column.
    pub rows: usize,
    /// Side of a square (of an AprilGrid: a tag), mm.
    pub square_mm: f64,
}

/// Pattern of a board.
#[derive(Clone, Copy, Debug)]
pub enum Pattern {
    /// Black and white squares, whose equal corners can be numbered only if an image contains all of them.
    Chessboard,
    /// Squares with an ArUco marker in each white one, so that a part of the board suffices (OpenCV's ChArUco board).
    Charuco {
        /// Side of a marker, mm.
        marker_mm: f64,
        /// Set of markers, numbered from 0, row by row.
        dictionary: Dictionary,
        /// Whether the layout is that of OpenCV before 4.6, whose first square is white if the number of rows is even.
        legacy: bool,
    },
    /// Tags of the family tag36h11, numbered from 0 at the lower left row by row upwards, with small black squares at their corners.
    /// A part of the board suffices (Kalibr's AprilGrid).
    AprilGrid {
        /// White gap between two tags, equal to the side of a small square, mm.
        gap_mm: f64,
        /// Family of the tags.
        tags: Dictionary,
    },
}

/// Range of squares along a side.
const SQUARES: std::ops::RangeInclusive<usize> = 3..=100;
/// Range of tags along a side of an AprilGrid.
const TAGS_ALONG: std::ops::RangeInclusive<usize> = 2..=100;
/// Range of gaps of an AprilGrid in tag sides: smaller ones contain no corner, and the limits allow for rounded lengths.
const GAPS: std::ops::RangeInclusive<f64> = 0.099..=1.001;
/// Range of square sizes from a tablet's screen to a wall, mm.
const SQUARE_MM: std::ops::RangeInclusive<f64> = 1.0..=1000.0;

impl Board {
    /// Returns the numbers of inner corners along a row and a column; of an AprilGrid all corners of its tags.
    pub fn inner(&self) -> (usize, usize) {
        match self.pattern {
            Pattern::AprilGrid { .. } => (2 * self.columns, 2 * self.rows),
            Pattern::Chessboard | Pattern::Charuco { .. } => (self.columns - 1, self.rows - 1),
        }
    }

    /// Returns the number of inner corners, the points of the board.
    pub fn corner_count(&self) -> usize {
        let (across, down) = self.inner();
        across * down
    }

    /// Whether the board has markers, so that a part of it suffices.
    pub(crate) fn has_markers(&self) -> bool {
        !matches!(self.pattern, Pattern::Chessboard)
    }

    /// Returns the word for the shape whose side is [`Self::square_mm`].
    pub fn square_word(&self) -> &'static str {
        if matches!(self.pattern, Pattern::AprilGrid { .. }) { "tag" } else { "square" }
    }

    /// Returns the position of inner corner `id` on the board, m: row by row from the origin at the top left, x right, y down, z away.
    pub fn point_m(&self, id: usize) -> DVec3 {
        let (across, _) = self.inner();
        let along = |number: usize| match self.pattern {
            Pattern::AprilGrid { gap_mm, .. } => {
                (number / 2) as f64 * (self.square_mm + gap_mm) + (number % 2) as f64 * self.square_mm
            }
            Pattern::Chessboard | Pattern::Charuco { .. } => number as f64 * self.square_mm,
        };
        DVec3::new(along(id % across), along(id / across), 0.0) * 1e-3
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
            Pattern::AprilGrid { gap_mm, .. } => write!(f, "aprilgrid:{columns}x{rows}:{square_mm}mm:{gap_mm}mm"),
        }
    }
}

impl FromStr for Board {
    type Err = BoardError;

    /// Parses `chessboard:9x6:25mm` (inner corners), `charuco:11x8:30mm:23mm:DICT_5X5_100` (squares; the second length is the
    /// marker's) or `aprilgrid:6x6:88mm:26.4mm` (tags and gap, also as a share of a tag's side: `0.3`).
    fn from_str(words: &str) -> Result<Self, BoardError> {
        parsed(words).map_err(|fault| BoardError::Words { words: words.to_owned(), fault })
    }
}

fn parsed(words: &str) -> Result<Board, BoardFault> {
    let parts: Vec<&str> = words.split(':').collect();
    let board = match parts[..] {
        ["chessboard", count, square] => {
            let (across, down) = counts(count)?;
            let square_mm = length_mm(square)?;
            Board { pattern: Pattern::Chessboard, columns: across + 1, rows: down + 1, square_mm }
        }
        [word @ ("charuco" | "charuco-legacy"), count, square, marker, name] => {
            let (columns, rows) = counts(count)?;
            let (square_mm, marker_mm) = (length_mm(square)?, length_mm(marker)?);
            let dictionary = resolve_dictionary(name).ok_or_else(|| BoardFault::Dictionary(name.to_owned()))?;
            let (needed, has) = (columns * rows / 2, dictionary.codes().len());
            if marker_mm >= square_mm {
                return Err(BoardFault::Marker { marker_mm, square_mm });
            }
            if has < needed {
                return Err(BoardFault::Few { needed, of: "markers", name: name.to_owned(), has });
            }
            let pattern = Pattern::Charuco { marker_mm, dictionary, legacy: word != "charuco" };
            Board { pattern, columns, rows, square_mm }
        }
        ["aprilgrid", count, tag, gap] => {
            let (columns, rows) = counts(count)?;
            april_grid((columns, rows), length_mm(tag)?, gap)?
        }
        ["chessboard", ..] => return Err(BoardFault::Parts { board: "a chessboard", parts: "two" }),
        ["charuco" | "charuco-legacy", ..] => {
            return Err(BoardFault::Parts { board: "a ChArUco board", parts: "four" });
        }
        ["aprilgrid", ..] => return Err(BoardFault::Parts { board: "an AprilGrid", parts: "three" }),
        [word, ..] if word.contains("circle") => return Err(BoardFault::Circles),
        _ => return Err(BoardFault::Kind),
    };
    let (word, limits) = match board.pattern {
        Pattern::AprilGrid { .. } => ("tag", TAGS_ALONG),
        Pattern::Chessboard | Pattern::Charuco { .. } => ("square", SQUARES),
    };
    let Board { columns, rows, square_mm, .. } = board;
    if !limits.contains(&columns) || !limits.contains(&rows) {
        let (least, most) = limits.into_inner();
        return Err(BoardFault::Size { columns, rows, word, least, most });
    }
    if !SQUARE_MM.contains(&square_mm) {
        return Err(BoardFault::Side { word, mm: square_mm });
    }
    Ok(board)
}

fn april_grid((columns, rows): (usize, usize), square_mm: f64, gap: &str) -> Result<Board, BoardFault> {
    let gap_mm = match gap.parse::<f64>() {
        // rounded to a nm, so that the length stays short
        Ok(share) => (share * square_mm * 1e6).round() / 1e6,
        Err(_) => length_mm(gap)?,
    };
    if !GAPS.contains(&(gap_mm / square_mm)) {
        return Err(BoardFault::Gap { gap_mm, tag_mm: square_mm });
    }
    let tags = resolve_dictionary(TAGS).ok_or(BoardFault::NoTags(TAGS))?;
    let (needed, has) = (columns * rows, tags.codes().len());
    if needed > has {
        return Err(BoardFault::Few { needed, of: "tags", name: "tag36h11".to_owned(), has });
    }
    Ok(Board { pattern: Pattern::AprilGrid { gap_mm, tags }, columns, rows, square_mm })
}

fn counts(text: &str) -> Result<(usize, usize), BoardFault> {
    let both = text.split_once('x').and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
    both.filter(|&(a, b): &(usize, usize)| a.max(b) <= 1000).ok_or_else(|| BoardFault::Counts(text.to_owned()))
}

fn length_mm(text: &str) -> Result<f64, BoardFault> {
    let units = [("mm", 1.0), ("cm", 10.0), ("m", 1000.0)];
    let read = units.iter().find_map(|(unit, mm)| Some(text.strip_suffix(unit)?.trim().parse::<f64>().ok()? * mm));
    read.filter(|length| length.is_finite() && *length > 0.0).ok_or_else(|| BoardFault::Length(text.to_owned()))
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
            "aprilgrid:6x6:88mm:26.4mm",
        ] {
            assert_eq!(text.parse::<Board>().unwrap().to_string(), text);
        }
        let board: Board = "chessboard:9x6:2.5cm".parse().unwrap();
        assert_eq!((board.columns, board.rows, board.square_mm, board.corner_count()), (10, 7, 25.0, 54));
        assert_eq!(board.point_m(10), DVec3::new(0.025, 0.025, 0.0));
        let board: Board = "aprilgrid:6x7:8.8cm:0.3".parse().unwrap();
        assert_eq!(board.to_string(), "aprilgrid:6x7:88mm:26.4mm");
        assert_eq!((board.inner(), board.corner_count()), ((12, 14), 168));
        let ids = [0, 1, 2, 13, 24];
        let points = ids.map(|id| (board.point_m(id) * 1e4).round().truncate());
        let [a, b, c, d, e] =
            [(0.0, 0.0), (880.0, 0.0), (1144.0, 0.0), (880.0, 880.0), (0.0, 1144.0)].map(glam::DVec2::from);
        assert_eq!(points, [a, b, c, d, e]);
    }

    #[test]
    fn a_wrong_board_is_refused_with_its_reason() {
        for (text, reason) in [
            ("", "none of chessboard"),
            ("aprilgrid:6x6:88mm", "three parts"),
            ("aprilgrid:6x6:88mm:0.05", "a gap of 4.4 mm between tags of 88 mm"),
            ("aprilgrid:6x6:88mm:nan", "a gap of NaN mm"),
            ("aprilgrid:6x6:88mm:26.4", "a gap of 2323.2 mm"),
            ("aprilgrid:1x6:88mm:0.3", "1x6 tags, and 2 to 100"),
            ("aprilgrid:30x20:20mm:0.3", "needs 600 tags, and tag36h11 has 587"),
            ("circles:4x11:20mm", "print a ChArUco board instead (calibrate print-board"),
            ("acircles:4x11:20mm", "grids of circles are not found"),
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
