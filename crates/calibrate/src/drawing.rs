//! Drawing of a board: its black parts in mm from the top left corner of its top left square, x right, y down.
//!
//! The layout of ChArUco boards is OpenCV's (`CharucoBoard`): markers with a black border of one cell are centred on the white squares
//! and numbered row by row. Garrido-Jurado et al., "Automatic generation and detection of highly reliable fiducial markers under
//! occlusion", Pattern Recognition 47(6), 2014.
//!
//! An AprilGrid is a chessboard of alternating square sizes, with tags at odd places and small squares between four of them. The layout
//! is Kalibr's: Maye, Furgale and Siegwart, "Self-supervised calibration for robotic systems", IV 2013.

use super::marker::{BORDER, TAG_BORDER, tag_code};
use super::{Board, Pattern};
use glam::DVec2;

/// Rectangle of a drawing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rect {
    /// Top left corner, in drawing units.
    pub at: DVec2,
    /// Width and height, in drawing units.
    pub size: DVec2,
}

struct Marker {
    /// Bits of the code, 1 for black, row by row from the lowest bit.
    code: u64,
    /// Number of cells along a side including the border.
    cells: usize,
    /// Number of cells between rim and code.
    border: usize,
    cell_mm: f64,
    /// Distance between the edges of square and marker, mm.
    inset_mm: f64,
}

impl Marker {
    /// Whether a cell is black, as all border cells are.
    fn is_black(&self, x: usize, y: usize) -> bool {
        let inner = self.border..self.cells - self.border;
        let bit = || (y - self.border) * inner.len() + x - self.border;
        !inner.contains(&x) || !inner.contains(&y) || (self.code >> bit()) & 1 == 1
    }

    /// Returns the black runs of a row of cells as first cell and last + 1.
    fn runs(&self, y: usize) -> Vec<(usize, usize)> {
        let mut runs: Vec<(usize, usize)> = Vec::new();
        for x in (0..self.cells).filter(|&x| self.is_black(x, y)) {
            match runs.last_mut() {
                Some((_, end)) if *end == x => *end = x + 1,
                _ => runs.push((x, x + 1)),
            }
        }
        runs
    }
}

impl Board {
    pub(crate) fn size_mm(&self) -> DVec2 {
        let (columns, rows) = self.squares();
        DVec2::new(self.start_mm(columns), self.start_mm(rows))
    }

    /// Returns the position of the first inner corner along each axis, mm.
    pub(crate) fn origin_mm(&self) -> f64 {
        self.start_mm(1)
    }

    /// Returns the width of the white margin that a board needs, mm.
    pub(crate) fn margin_mm(&self) -> f64 {
        self.square_mm / 2.0
    }

    /// Returns the number of cells along a marker with its border; 0 without markers.
    pub(crate) fn marker_cells(&self) -> usize {
        match self.pattern {
            Pattern::Chessboard => 0,
            Pattern::Charuco { dictionary, .. } => dictionary.marker_size() + 2 * BORDER,
            Pattern::AprilGrid { tags, .. } => tags.marker_size() + 2 * TAG_BORDER,
        }
    }

    /// Returns the numbers of squares drawn along a row and a column.
    fn squares(&self) -> (usize, usize) {
        match self.pattern {
            Pattern::AprilGrid { .. } => (2 * self.columns + 1, 2 * self.rows + 1),
            Pattern::Chessboard | Pattern::Charuco { .. } => (self.columns, self.rows),
        }
    }

    fn start_mm(&self, number: usize) -> f64 {
        match self.pattern {
            Pattern::AprilGrid { gap_mm, .. } => {
                (number / 2) as f64 * (gap_mm + self.square_mm) + (number % 2) as f64 * gap_mm
            }
            Pattern::Chessboard | Pattern::Charuco { .. } => number as f64 * self.square_mm,
        }
    }

    fn side_mm(&self, number: usize) -> f64 {
        self.start_mm(number + 1) - self.start_mm(number)
    }

    /// Returns the black squares, and the black runs of markers.
    pub(crate) fn black_mm(&self) -> Vec<Rect> {
        let (columns, rows) = self.squares();
        let squares = (0..rows).flat_map(|row| (0..columns).map(move |column| (column, row)));
        squares.flat_map(|(column, row)| self.black_of_square(column, row)).collect()
    }

    /// Whether a point is black; outside the squares all is white.
    pub(crate) fn is_black(&self, at_mm: DVec2) -> bool {
        let number = |at_mm: f64| {
            let (period_mm, squares) = match self.pattern {
                Pattern::AprilGrid { gap_mm, .. } => (gap_mm + self.square_mm, 2),
                Pattern::Chessboard | Pattern::Charuco { .. } => (self.square_mm, 1),
            };
            let first = squares * (at_mm / period_mm).max(0.0) as usize;
            first + usize::from(squares == 2 && at_mm >= self.start_mm(first + 1))
        };
        if !(at_mm.cmpge(DVec2::ZERO).all() && at_mm.cmplt(self.size_mm()).all()) {
            return false;
        }
        let (column, row) = (number(at_mm.x), number(at_mm.y));
        let Some(marker) = self.marker(column, row) else { return self.square_is_black(column, row) };
        let at_mm = at_mm - DVec2::new(self.start_mm(column), self.start_mm(row));
        let cell = ((at_mm - marker.inset_mm) / marker.cell_mm).floor();
        let within = 0.0..marker.cells as f64;
        within.contains(&cell.x) && within.contains(&cell.y) && marker.is_black(cell.x as usize, cell.y as usize)
    }

    fn black_of_square(&self, column: usize, row: usize) -> Vec<Rect> {
        let at = DVec2::new(self.start_mm(column), self.start_mm(row));
        let Some(marker) = self.marker(column, row) else {
            let size = DVec2::new(self.side_mm(column), self.side_mm(row));
            return if self.square_is_black(column, row) { vec![Rect { at, size }] } else { Vec::new() };
        };
        let run = |y: usize, (start, end): (usize, usize)| Rect {
            at: at + marker.inset_mm + DVec2::new(start as f64, y as f64) * marker.cell_mm,
            size: DVec2::new((end - start) as f64, 1.0) * marker.cell_mm,
        };
        (0..marker.cells).flat_map(|y| marker.runs(y).into_iter().map(move |cells| run(y, cells))).collect()
    }

    fn starts_white(&self) -> bool {
        matches!(self.pattern, Pattern::Charuco { legacy: true, .. }) && self.rows.is_multiple_of(2)
    }

    fn square_is_black(&self, column: usize, row: usize) -> bool {
        (column + row).is_multiple_of(2) != self.starts_white()
    }

    /// Returns the marker on a square, if it has one in the dictionary.
    fn marker(&self, column: usize, row: usize) -> Option<Marker> {
        match self.pattern {
            Pattern::Charuco { marker_mm, dictionary, .. } if !self.square_is_black(column, row) => {
                let above = row * self.columns;
                let white_above = if self.starts_white() { above.div_ceil(2) } else { above / 2 };
                let code = *dictionary.codes().get(white_above + column / 2)?;
                let cells = self.marker_cells();
                let inset_mm = (self.square_mm - marker_mm) / 2.0;
                Some(Marker { code, cells, border: BORDER, cell_mm: marker_mm / cells as f64, inset_mm })
            }
            Pattern::AprilGrid { tags, .. } if column % 2 == 1 && row % 2 == 1 => {
                let number = (self.rows - 1 - row / 2) * self.columns + column / 2;
                let code = tag_code(*tags.codes().get(number)?, &tags);
                let cells = self.marker_cells();
                Some(Marker { code, cells, border: TAG_BORDER, cell_mm: self.square_mm / cells as f64, inset_mm: 0.0 })
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rectangles_are_the_black_points() {
        for text in [
            "chessboard:4x3:10mm",
            "charuco:5x4:21mm:14mm:DICT_5X5_100",
            "charuco-legacy:5x4:21mm:14mm:DICT_5X5_100",
            "charuco-legacy:4x5:20mm:12mm:DICT_4X4_50",
            "aprilgrid:3x2:21mm:6mm",
        ] {
            let board: Board = text.parse().unwrap();
            let black = board.black_mm();
            let holds = |rect: &Rect, at: DVec2| {
                let inside = at - rect.at;
                inside.cmpge(DVec2::ZERO).all() && inside.cmplt(rect.size).all()
            };
            let steps = (board.size_mm() / 0.7).as_ivec2() + 10;
            for y in 0..steps.y {
                for x in 0..steps.x {
                    let at = DVec2::new(f64::from(x), f64::from(y)) * 0.7 - 3.01;
                    let count = black.iter().filter(|rect| holds(rect, at)).count();
                    assert_eq!(count, usize::from(board.is_black(at)), "{text} at {at}");
                }
            }
        }
    }

    #[test]
    fn legacy_board_with_even_rows_starts_white() {
        let first_is_black = |text: &str| text.parse::<Board>().unwrap().is_black(DVec2::splat(0.5));
        assert!(first_is_black("charuco:5x4:21mm:14mm:DICT_5X5_100"));
        assert!(first_is_black("charuco-legacy:4x5:21mm:14mm:DICT_5X5_100"));
        assert!(!first_is_black("charuco-legacy:5x4:21mm:14mm:DICT_5X5_100"));
    }

    /// Checks marker 0 of `DICT_4X4_50` in OpenCV: 1011, 0101, 0011, 0010, with 1 for white.
    #[test]
    fn the_first_marker_is_opencvs() {
        let board: Board = "charuco:5x4:8mm:6mm:DICT_4X4_50".parse().unwrap();
        let cell = |x: u32, y: u32| board.is_black(DVec2::new(8.0 + 1.5 + f64::from(x), 1.5 + f64::from(y)));
        let rows: Vec<String> = (0..6).map(|y| (0..6).map(|x| if cell(x, y) { '#' } else { '.' }).collect()).collect();
        assert_eq!(rows, ["######", "#.#..#", "##.#.#", "###..#", "###.##", "######"]);
    }

    /// Checks tag 0 of tag36h11 in Kalibr, with a black border of two cells, and its surroundings.
    #[test]
    fn the_tag_at_the_lower_left_is_kalibrs_first() {
        let board: Board = "aprilgrid:3x2:10mm:3mm".parse().unwrap();
        assert_eq!(board.size_mm(), DVec2::new(42.0, 29.0));
        let rows = |at: DVec2, count: DVec2| -> Vec<String> {
            let cell = |x: usize, y: usize| board.is_black(at + DVec2::new(x as f64, y as f64) + 0.5);
            (0..count.y as usize)
                .map(|y| (0..count.x as usize).map(|x| if cell(x, y) { '#' } else { '.' }).collect())
                .collect()
        };
        let tag = rows(DVec2::new(3.0, 16.0), DVec2::splat(10.0));
        assert_eq!(
            tag,
            [
                "##########",
                "##########",
                "##..#.#.##",
                "###...#.##",
                "###..#####",
                "##.#.#####",
                "###.#..###",
                "#####.####",
                "##########",
                "##########"
            ]
        );
        let small = rows(DVec2::new(0.0, 26.0), DVec2::new(16.0, 3.0));
        assert_eq!(small, ["###..........###"; 3]);
        assert_eq!(rows(DVec2::new(0.0, 16.0), DVec2::new(3.0, 10.0)), ["..."; 10]);
    }
}
