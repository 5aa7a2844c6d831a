//! Page layout: a board, rulers along the bottom and a side because printers scale both directions differently, and instructions.

use super::super::drawing::Rect;
use super::super::{Board, Pattern};
use super::paper::{Format, Paper};
use crate::CalibrateError;
use glam::DVec2;
use stereopsis_base::remedy::Remedy;

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Line {
    /// Left end of the base line, in page units.
    pub(super) at: DVec2,
    pub(super) text: String,
}

/// Page of black rectangles and text lines, from its top left corner in mm or in px of a screen.
#[derive(Clone, Debug)]
pub(super) struct Sheet {
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) is_screen: bool,
    pub(super) font: f64,
    pub(super) black: Vec<Rect>,
    pub(super) lines: Vec<Line>,
    #[cfg(test)]
    pub(super) board_at: DVec2,
    pub(super) square: f64,
}

/// Width of a letter relative to its height, since substitutes of Helvetica are wider.
const LETTER: f64 = 0.58;
const LEADING: f64 = 1.25;
/// Longest ruler and distance of its ticks, mm.
const RULER_MM: (f64, f64) = (100.0, 10.0);
/// Width of a ruler's lines and length of its ticks, mm.
const TICK_MM: (f64, f64) = (0.2, 2.5);

impl Sheet {
    /// Places a board on a page, in portrait only if landscape does not fit.
    ///
    /// # Errors
    /// The board does not fit; the text has the possible square sizes.
    pub(super) fn new(board: &Board, paper: Paper) -> Result<Self, CalibrateError> {
        Self::find(board, paper).ok_or_else(|| {
            let fits = |mm: &f64| Self::find(&board.with_square_mm(*mm), paper).is_some();
            let fitting = match paper {
                Paper::Screen { .. } => None,
                _ => (1..1000).map(f64::from).take_while(fits).last(),
            };
            match fitting {
                Some(most_mm) => CalibrateError::TooLarge { board: *board, paper, most_mm },
                None => CalibrateError::TooMany { board: *board, paper },
            }
        })
    }

    pub(super) fn find(board: &Board, paper: Paper) -> Option<Self> {
        let mut formats = paper.formats();
        if board.rows > board.columns {
            formats.reverse();
        }
        let lay_out = |format: &Format| match paper {
            Paper::Screen { .. } => on_screen(format, board),
            _ => on_paper(format, board),
        };
        formats.iter().find_map(lay_out)
    }
}

fn on_paper(format: &Format, board: &Board) -> Option<Sheet> {
    let (squares, length) = measured(board);
    let (length, word) = (mm(length), board.square_word());
    let text = format!(
        "Print at 100 %, without 'fit to page'. Measure {squares} with a ruler across and down: both must be {length} mm; if \
         they are not, give the measured side of a {word}. Glue the sheet to something flat and stiff. This is {}",
        Remedy::set("board", board)
    );
    let mut sheet = lay_out(format, board, 1.0, &text)?;
    sheet.add_rulers(format);
    Some(sheet)
}

/// Returns the distance to measure on a print, in words and in mm.
fn measured(board: &Board) -> (String, f64) {
    let count = board.columns.min(board.rows);
    let side = count as f64 * board.square_mm;
    match board.pattern {
        Pattern::AprilGrid { gap_mm, .. } => {
            (format!("{count} tags and the gaps between them"), side + (count - 1) as f64 * gap_mm)
        }
        Pattern::Chessboard | Pattern::Charuco { .. } => (format!("{count} squares"), side),
    }
}

/// Places a board on a screen with squares of whole pixels, and marker cells of whole pixels where that costs little.
fn on_screen(format: &Format, board: &Board) -> Option<Sheet> {
    let word = board.square_word();
    let text = format!(
        "Show this image at its full size, one pixel for one pixel. Measure {} with a ruler across and down: both \
         must be the same; give the measured side of a {word}, since the size of a screen is unknown. This is {}",
        measured(board).0,
        Remedy::set("board", board)
    );
    let attempt = |px: u32| lay_out(format, board, f64::from(px) / board.square_mm, &text);
    // two pixels for each cell of a marker, so that it can be read
    let fewest = (2 * board.marker_cells() as u32).max(8);
    let largest = format.width.min(format.height) as u32 / board.columns.min(board.rows) as u32;
    let largest = (fewest..=largest).rev().find(|&px| attempt(px).is_some())?;
    let crisp = (fewest.max(largest * 3 / 4)..=largest).rev().find(|&px| has_whole_cells(board, px));
    attempt(crisp.unwrap_or(largest))
}

/// Whether all cell edges lie between pixels for squares of `px` pixels.
fn has_whole_cells(board: &Board, px: u32) -> bool {
    let (px, side, cells) = (f64::from(px), board.square_mm, board.marker_cells() as f64);
    let is_whole = |length: f64| (length - length.round()).abs() < 1e-6;
    match board.pattern {
        Pattern::Chessboard => true,
        Pattern::Charuco { marker_mm, .. } => {
            let marker = marker_mm * px / side;
            is_whole(marker / cells) && is_whole((px - marker) / 2.0)
        }
        Pattern::AprilGrid { gap_mm, .. } => is_whole(px / cells) && is_whole(gap_mm * px / side),
    }
}

/// Places a board with `scale` units per mm, a white margin of half a square, and the text at the bottom.
fn lay_out(format: &Format, board: &Board, scale: f64, text: &str) -> Option<Sheet> {
    let Format { width, height, edge, font, ruler } = *format;
    let strip = ruler.unwrap_or(0.0);
    let lines = wrap(text, ((width - 2.0 * edge) / (font * LETTER)) as usize);
    let text_height = lines.len() as f64 * font * LEADING;
    let (size, white) = (board.size_mm() * scale, board.margin_mm() * scale);
    // the white margin may reach the page's edge
    let first = DVec2::new(white + edge + strip, white.max(edge));
    let last = DVec2::new(width - white.max(edge), height - edge - strip - text_height - white) - size;
    if !first.cmple(last).all() {
        return None;
    }
    let mut at = ((DVec2::new(width, height) - size) / 2.0).clamp(first, last);
    if ruler.is_none() {
        at = at.floor();
    }
    let place = |rect: Rect| Rect { at: at + rect.at * scale, size: rect.size * scale };
    let base = |line: usize| height - edge - (lines.len() - 1 - line) as f64 * font * LEADING - font * 0.25;
    Some(Sheet {
        width,
        height,
        is_screen: ruler.is_none(),
        font,
        black: board.black_mm().into_iter().map(place).collect(),
        lines: lines
            .iter()
            .enumerate()
            .map(|(i, text)| Line { at: DVec2::new(edge, base(i)), text: text.clone() })
            .collect(),
        #[cfg(test)]
        board_at: at,
        square: board.square_mm * scale,
    })
}

impl Sheet {
    /// Adds a ruler above the text and one along the left side.
    fn add_rulers(&mut self, format: &Format) {
        let Some(strip) = format.ruler else { return };
        let text_height = self.lines.len() as f64 * format.font * LEADING;
        let across = DVec2::new(format.edge + strip, format.height - format.edge - text_height - strip + 0.5);
        let down = DVec2::new(format.edge, format.edge + format.font);
        let (thick, tick) = TICK_MM;
        for (at, along, out, room) in [
            (across, DVec2::X, DVec2::Y, format.width - format.edge - across.x),
            (down, DVec2::Y, DVec2::X, across.y - 5.0 - down.y),
        ] {
            let count = (room.min(RULER_MM.0) / RULER_MM.1).floor();
            let length = count * RULER_MM.1;
            let half = along * thick / 2.0;
            self.black.push(Rect { at: at - half, size: along * (length + thick) + out * thick });
            for i in 0..=count as u32 {
                self.black
                    .push(Rect { at: at + along * f64::from(i) * RULER_MM.1 - half, size: along * thick + out * tick });
            }
            let below = format.font * LEADING;
            // labels stay in their strips outside the white margin
            let labels = if along == DVec2::X {
                vec![(-2.0, tick, "0".to_owned()), (length + 1.0, tick, format!("{length} mm"))]
            } else {
                let end = length + format.font;
                vec![(0.0, -1.0, "0".to_owned()), (0.0, end, length.to_string()), (0.0, end + below, "mm".to_owned())]
            };
            self.lines.extend(labels.into_iter().map(|(x, y, text)| Line { at: at + DVec2::new(x, y), text }));
        }
    }
}

/// Breaks text between words into lines of at most `letters` letters where possible.
fn wrap(text: &str, letters: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.len() + 1 + word.len() <= letters => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// Rounds a length to remove floating-point digits.
fn mm(length: f64) -> f64 {
    (length * 1000.0).round() / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sheet(board: &str, paper: &str) -> Result<Sheet, CalibrateError> {
        Sheet::new(&board.parse().unwrap(), paper.parse().unwrap())
    }

    #[test]
    fn half_a_square_around_the_board_is_white() {
        for (text, paper) in [
            ("charuco:10x7:24mm:18mm:DICT_5X5_100", "A4"),
            ("charuco:7x10:24mm:18mm:DICT_5X5_100", "A4"),
            ("chessboard:9x6:35mm", "A3"),
            ("chessboard:3x2:49mm", "letter"),
            ("charuco:12x7:27mm:21mm:DICT_5X5_100", "1920x1080"),
            ("charuco:7x9:27mm:20mm:DICT_5X5_100", "600x800"),
            ("aprilgrid:6x4:28mm:8mm", "A4"),
            ("aprilgrid:4x6:28mm:8mm", "A4"),
            ("aprilgrid:6x4:28mm:8mm", "1920x1080"),
        ] {
            let board: Board = text.parse().unwrap();
            let sheet = Sheet::new(&board, paper.parse().unwrap()).unwrap();
            let (at, side) = (sheet.board_at, sheet.square);
            let size = board.size_mm() * side / board.square_mm;
            let of_board = board.black_mm().len();
            for rect in &sheet.black[of_board..] {
                let (from, to) = (at - side / 2.0, at + size + side / 2.0);
                let apart = rect.at.cmpge(to) | (rect.at + rect.size).cmple(from);
                assert!(apart.any(), "{text} on {paper}: {rect:?}");
            }
            for line in &sheet.lines {
                let is_below = line.at.y - sheet.font >= at.y + size.y + side / 2.0 - 1e-9;
                assert!(
                    is_below || line.at.x + line.text.len() as f64 * sheet.font * LETTER <= at.x - side / 2.0 + 1e-9,
                    "{text} on {paper}: {line:?}"
                );
                assert!(line.at.y <= sheet.height - 4.0 && line.at.y >= sheet.font, "{line:?}");
            }
            assert!((at.x - side / 2.0).min(at.y - side / 2.0) >= 0.0, "{text} on {paper}: {at}");
            assert!((at + size + side / 2.0).cmple(DVec2::new(sheet.width, sheet.height)).all());
            assert_eq!(sheet.width > sheet.height, board.columns > board.rows, "{text}");
        }
    }

    #[test]
    fn a_board_that_does_not_fit_is_refused_with_what_fits() {
        let error = sheet("charuco:10x7:25mm:18mm:DICT_5X5_100", "A4").unwrap_err().to_string();
        assert!(error.contains("at most 24 mm per square fit for 10x7 squares"), "{error}");
        assert!(sheet("charuco:10x7:24mm:18mm:DICT_5X5_100", "A4").is_ok());
        let error = sheet("aprilgrid:6x6:88mm:26.4mm", "A4").unwrap_err().to_string();
        assert!(error.contains("at most 21 mm per tag fit for 6x6 tags; choose smaller tags"), "{error}");
        let error = sheet("charuco:40x31:24mm:18mm:DICT_4X4_1000", "480x320").unwrap_err().to_string();
        assert!(error.contains("too many for 480x320"), "{error}");
    }

    #[test]
    fn a_screen_has_whole_pixels() {
        for (board, paper) in [
            ("charuco:12x7:27mm:21mm:DICT_5X5_100", "1920x1080"),
            ("chessboard:9x6:20mm", "1366x768"),
            ("aprilgrid:6x4:20mm:6mm", "1920x1080"),
        ] {
            let sheet = sheet(board, paper).unwrap();
            assert!(sheet.square >= 60.0, "{}", sheet.square);
            for rect in &sheet.black {
                let edges = [rect.at, rect.at + rect.size];
                assert!(edges.iter().all(|edge| (edge - edge.round()).length() < 1e-6), "{board}: {rect:?}");
            }
        }
    }

    #[test]
    fn both_rulers_are_as_long_as_they_say() {
        for paper in ["A4", "letter", "A3"] {
            let sheet = sheet("chessboard:9x6:24mm", paper).unwrap();
            let thin: Vec<&Rect> = sheet.black[70 / 2..].iter().collect();
            for along in [DVec2::X, DVec2::Y] {
                let ticks: Vec<f64> = thin
                    .iter()
                    .filter(|rect| (rect.size.dot(along) - TICK_MM.0).abs() < 1e-9 && rect.size.max_element() < 3.0)
                    .map(|rect| (rect.at + rect.size / 2.0).dot(along))
                    .collect();
                assert_eq!(ticks.len(), 11, "{paper}");
                assert!(ticks.windows(2).all(|pair| (pair[1] - pair[0] - 10.0).abs() < 1e-9), "{paper}: {ticks:?}");
            }
            assert_eq!(sheet.lines.iter().filter(|line| line.text == "100 mm" || line.text == "100").count(), 2);
        }
    }

    #[test]
    fn the_page_says_how_it_is_checked() {
        let sheet = sheet("charuco:10x7:24mm:18mm:DICT_5X5_100", "A4").unwrap();
        let text = sheet.lines.iter().map(|line| line.text.as_str()).collect::<Vec<_>>().join(" ");
        for part in
            ["board charuco:10x7:24mm:18mm:DICT_5X5_100", "Print at 100 %", "Measure 7 squares", "both must be 168 mm"]
        {
            assert!(text.contains(part), "{part} in {text}");
        }
    }

    #[test]
    fn the_tags_of_an_april_grid_have_their_size_and_are_measured() {
        let sheet = sheet("aprilgrid:6x4:28mm:8mm", "A4").unwrap();
        // the top row of a tag is black from edge to edge
        let mut tops: Vec<f64> = sheet
            .black
            .iter()
            .filter(|rect| (rect.size - DVec2::new(28.0, 2.8)).length() < 1e-9)
            .map(|rect| rect.at.x)
            .collect();
        tops.sort_by(f64::total_cmp);
        tops.dedup_by(|a, b| (*a - *b).abs() < 1e-9);
        assert!(tops.len() == 6 && tops.windows(2).all(|pair| (pair[1] - pair[0] - 36.0).abs() < 1e-9), "{tops:?}");
        let small = sheet.black.iter().filter(|rect| (rect.size - 8.0).length() < 1e-9).count();
        assert_eq!(small, 7 * 5);
        let text = sheet.lines.iter().map(|line| line.text.as_str()).collect::<Vec<_>>().join(" ");
        for part in [
            "Measure 4 tags and the gaps between them",
            "both must be 136 mm",
            "side of a tag",
            "board aprilgrid:6x4:28mm:8mm",
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
    }
}
