//! Page with a board, to print or to show on a screen.

mod paper;
mod pdf;
mod sheet;
mod sizing;
mod svg;

pub use paper::{Paper, PaperError};
pub use sizing::BoardKind;

use super::{Board, CalibrateError};
use std::path::Path;

/// File format of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PrintFormat {
    /// SVG, for browsers, drawing programs and screens.
    Svg,
    /// PDF, for printers.
    Pdf,
}

impl PrintFormat {
    /// Returns the format of a file extension in any case.
    ///
    /// # Errors
    /// The extension is neither `svg` nor `pdf`.
    pub fn of_path(path: &Path) -> Result<Self, CalibrateError> {
        match path.extension().and_then(|extension| extension.to_str()).map(str::to_ascii_lowercase).as_deref() {
            Some("svg") => Ok(Self::Svg),
            Some("pdf") => Ok(Self::Pdf),
            _ => Err(CalibrateError::PageFormat(path.to_owned())),
        }
    }
}

/// Returns a page with a board in true size, a white margin of at least half a square, rulers across and down, and instructions.
///
/// On a screen the squares are as large as whole pixels permit.
///
/// # Errors
/// The board does not fit on the paper (the text has one that does), or a screen's page is not SVG.
pub fn page(board: &Board, paper: Paper, format: PrintFormat) -> Result<Vec<u8>, CalibrateError> {
    let sheet = sheet::Sheet::new(board, paper)?;
    match format {
        PrintFormat::Svg => Ok(svg::svg(&sheet)),
        PrintFormat::Pdf if sheet.is_screen => Err(CalibrateError::PdfOfScreen(paper)),
        PrintFormat::Pdf => Ok(pdf::pdf(&sheet)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pdf_has_its_page_in_points_and_its_offsets_right() {
        let board = "chessboard:9x6:24mm".parse().unwrap();
        let bytes = page(&board, Paper::A4, PrintFormat::Pdf).unwrap();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let lengths = text.split_once("/MediaBox [").unwrap().1.split_once(']').unwrap().0.split_whitespace();
        let lengths: Vec<f64> = lengths.map(|length| length.parse().unwrap()).collect();
        assert!((lengths[2] - 297.0 / 25.4 * 72.0).abs() < 0.001 && (lengths[3] - 210.0 / 25.4 * 72.0).abs() < 0.001);
        assert!(text.contains("/PrintScaling /None") && text.contains("This is board chessboard:9x6:24mm)"));
        let table: usize = text.rsplit_once("startxref").unwrap().1.split_whitespace().next().unwrap().parse().unwrap();
        assert!(bytes[table..].starts_with(b"xref"));
    }

    #[test]
    fn an_svg_has_its_page_in_mm_or_pixels() {
        let board = "chessboard:9x6:24mm".parse().unwrap();
        let text = |paper| String::from_utf8(page(&board, paper, PrintFormat::Svg).unwrap()).unwrap();
        assert!(text(Paper::A4).contains("width=\"297mm\" height=\"210mm\" viewBox=\"0 0 297 210\""));
        assert!(text(Paper::A4).contains("h24v24h-24z"));
        let screen = Paper::Screen { width: 1920, height: 1080 };
        assert!(text(screen).contains("width=\"1920\" height=\"1080\" viewBox=\"0 0 1920 1080\""));
        let error = page(&board, screen, PrintFormat::Pdf).unwrap_err().to_string();
        assert!(error.contains(".svg"), "{error}");
    }

    #[test]
    fn the_extension_names_the_kind() {
        assert_eq!(PrintFormat::of_path(Path::new("a/board.PDF")).unwrap(), PrintFormat::Pdf);
        assert_eq!(PrintFormat::of_path(Path::new("board.svg")).unwrap(), PrintFormat::Svg);
        assert!(PrintFormat::of_path(Path::new("board.png")).unwrap_err().to_string().contains("'board.png'"));
    }
}
