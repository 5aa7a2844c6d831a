//! Boards that fill a page.

use super::super::board::{Board, BoardFault, Pattern};
use super::paper::Paper;
use super::sheet::Sheet;
use crate::CalibrateError;
use calib_targets_charuco::{Dictionary, resolve_dictionary};
use stereopsis_base::parameter::choices;

choices! {
    /// Kind of a board for a page.
    pub enum BoardKind, default Charuco {
        /// squares with markers: a part of the board in the image suffices
        Charuco = "charuco",
        /// squares alone: the whole board must be in the image
        Chessboard = "chessboard",
    }
}

/// Dictionaries `DICT_5X5_…` by size, of which a smaller one is confused less.
const DICTIONARIES: [&str; 3] = ["DICT_5X5_100", "DICT_5X5_250", "DICT_5X5_1000"];
const ROWS: usize = 7;
/// Assumed pixel size of a screen until a user measures it, mm.
const NOMINAL_PX_MM: f64 = 0.25;
/// Number of cells along a screen's square: 5 + 2 of a marker, and one on each side.
const SCREEN_CELLS: f64 = 9.0;

impl Board {
    /// Rescales the board to another square size, with its markers or gaps, for a print of wrong scale.
    #[must_use]
    pub fn with_square_mm(&self, square_mm: f64) -> Self {
        let scale = square_mm / self.square_mm;
        let pattern = match self.pattern {
            Pattern::Chessboard => Pattern::Chessboard,
            Pattern::Charuco { marker_mm, dictionary, legacy } => {
                Pattern::Charuco { marker_mm: marker_mm * scale, dictionary, legacy }
            }
            Pattern::AprilGrid { gap_mm, tags } => Pattern::AprilGrid { gap_mm: gap_mm * scale, tags },
        };
        Self { pattern, square_mm, ..*self }
    }

    /// Returns the board that fills a page with 7 rows of squares of whole mm, or with as many squares of the given size as fit.
    ///
    /// One count is even and the other odd, so that a chessboard has a unique orientation. A marker has about 0.75 of a square's side.
    ///
    /// # Errors
    /// Squares of this size are too large or too small for the page, or the page is a screen of unknown size.
    pub fn for_paper(paper: Paper, square_mm: Option<f64>, kind: BoardKind) -> Result<Self, CalibrateError> {
        match (paper, square_mm) {
            (Paper::Screen { .. }, Some(mm)) => Err(CalibrateError::SquareOfScreen { mm, screen: paper }),
            (_, None) => largest(paper, kind),
            (_, Some(square_mm)) => most_squares(paper, kind, square_mm),
        }
    }
}

fn board(paper: Paper, kind: BoardKind, (columns, rows): (usize, usize), square_mm: f64) -> Option<Board> {
    let pattern = match kind {
        BoardKind::Chessboard => Pattern::Chessboard,
        BoardKind::Charuco => {
            let has_enough = |dictionary: &Dictionary| dictionary.codes().len() >= columns * rows / 2;
            let dictionary = DICTIONARIES.iter().filter_map(|name| resolve_dictionary(name)).find(has_enough)?;
            let marker_mm = match paper {
                Paper::Screen { .. } => square_mm * (SCREEN_CELLS - 2.0) / SCREEN_CELLS,
                _ => (square_mm * 0.75 * 2.0).round() / 2.0,
            };
            Pattern::Charuco { marker_mm, dictionary, legacy: false }
        }
    };
    Some(Board { pattern, columns, rows, square_mm })
}

/// Returns the board with seven rows and the number of columns that covers most of the page.
fn largest(paper: Paper, kind: BoardKind) -> Result<Board, CalibrateError> {
    let is_tall = paper.formats().first().is_some_and(|format| format.height > format.width);
    let with_columns = |columns: usize| {
        let counts = if is_tall { (ROWS, columns) } else { (columns, ROWS) };
        match paper {
            Paper::Screen { .. } => of_screen(paper, kind, counts),
            _ => (1..).map_while(|mm| fitting(paper, board(paper, kind, counts, f64::from(mm))?)).last(),
        }
    };
    let boards: Vec<Board> = [8, 10, 12, 14].into_iter().filter_map(with_columns).collect();
    let covered = boards.iter().map(area).fold(0.0, f64::max);
    // of similar boards, one with fewer and larger squares is visible from farther away
    let chosen = boards.into_iter().find(|board| area(board) >= 0.95 * covered);
    chosen.ok_or(CalibrateError::SmallPaper(paper))
}

fn of_screen(paper: Paper, kind: BoardKind, counts: (usize, usize)) -> Option<Board> {
    let shown = Sheet::find(&board(paper, kind, counts, SCREEN_CELLS)?, paper)?;
    board(paper, kind, counts, shown.square * NOMINAL_PX_MM)
}

fn most_squares(paper: Paper, kind: BoardKind, square_mm: f64) -> Result<Board, CalibrateError> {
    if !(1.0..=1000.0).contains(&square_mm) {
        return Err(BoardFault::Side { word: "square", mm: square_mm }.into());
    }
    let fits = |counts| fitting(paper, board(paper, BoardKind::Chessboard, counts, square_mm)?);
    let most =
        |rows: usize| (rows + 1..=100).step_by(2).take_while(move |&columns| fits((columns, rows)).is_some()).last();
    let counts = (3..100).filter_map(|rows| Some((most(rows)?, rows))).max_by_key(|(columns, rows)| columns * rows);
    let Some(counts) = counts else {
        let smallest = Board { pattern: Pattern::Chessboard, columns: 4, rows: 3, square_mm };
        return Sheet::new(&smallest, paper).map(|_| smallest);
    };
    // a ChArUco board's longer name may need one more line
    let (columns, rows) = counts;
    let made = [(columns, rows), (columns, rows.saturating_sub(2).max(3))]
        .into_iter()
        .find_map(|counts| fitting(paper, board(paper, kind, counts, square_mm)?));
    made.ok_or(CalibrateError::NoDictionary { columns, rows, mm: square_mm, paper })
}

fn fitting(paper: Paper, board: Board) -> Option<Board> {
    Sheet::find(&board, paper).map(|_| board)
}

fn area(board: &Board) -> f64 {
    board.size_mm().element_product()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAPERS: [Paper; 4] = [Paper::A4, Paper::A3, Paper::Letter, Paper::Screen { width: 1920, height: 1080 }];

    #[test]
    fn each_page_has_its_board() {
        let words = PAPERS.map(|paper| Board::for_paper(paper, None, BoardKind::Charuco).unwrap().to_string());
        assert_eq!(
            words,
            [
                "charuco:10x7:24mm:18mm:DICT_5X5_100",
                "charuco:10x7:35mm:26.5mm:DICT_5X5_100",
                "charuco:10x7:24mm:18mm:DICT_5X5_100",
                "charuco:14x7:31.5mm:24.5mm:DICT_5X5_100",
            ]
        );
        let board = Board::for_paper(Paper::A4, None, BoardKind::Chessboard).unwrap();
        assert_eq!(board.to_string(), "chessboard:9x6:24mm");
    }

    #[test]
    fn asked_squares_fill_the_page() {
        for paper in &PAPERS[..3] {
            for mm in [8.0, 12.5, 20.0, 31.0, 40.0] {
                for kind in [BoardKind::Charuco, BoardKind::Chessboard] {
                    let board = Board::for_paper(*paper, Some(mm), kind).unwrap();
                    assert_eq!((board.square_mm, (board.columns + board.rows) % 2), (mm, 1), "{board}");
                    assert!(Sheet::find(&board, *paper).is_some(), "{board}");
                    let page = paper.formats()[0];
                    assert!(area(&board) > 0.25 * page.width * page.height, "{board} on {paper}");
                    assert_eq!(board.to_string().parse::<Board>().unwrap().to_string(), board.to_string());
                }
            }
        }
    }

    #[test]
    fn impossible_squares_are_refused_with_what_is_possible() {
        let refused = |paper, mm| Board::for_paper(paper, Some(mm), BoardKind::Charuco).unwrap_err().to_string();
        assert!(refused(Paper::A4, 70.0).contains("at most 48 mm per square"), "{}", refused(Paper::A4, 70.0));
        assert!(refused(Paper::A3, 3.0).contains("markers"), "{}", refused(Paper::A3, 3.0));
        assert!(refused(Paper::A4, 0.1).contains("1 to 1000"));
        assert!(refused(Paper::A4, f64::NAN).contains("1 to 1000"));
        assert!(refused(PAPERS[3], 25.0).contains("whose size is unknown"));
    }

    #[test]
    fn a_measured_board_is_scaled_with_its_markers() {
        let board: Board = "charuco:10x7:24mm:18mm:DICT_5X5_100".parse().unwrap();
        assert_eq!(board.with_square_mm(12.0).to_string(), "charuco:10x7:12mm:9mm:DICT_5X5_100");
        let board: Board = "aprilgrid:6x6:24mm:6mm".parse().unwrap();
        assert_eq!(board.with_square_mm(12.0).to_string(), "aprilgrid:6x6:12mm:3mm");
    }
}
