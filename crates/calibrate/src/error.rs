//! Errors of a board calibration: each names its cause, and the texts say it with the next step for the user.

use super::board::{Board, BoardError, BoardFault};
use super::detect::Mismatch;
use super::print::{Paper, PaperError};
use std::io;
use std::path::PathBuf;
use stereopsis_base::console::{self, counted};
use stereopsis_base::files::WriteError;
use stereopsis_base::remedy::option;
use stereopsis_calibration::CalibrationError;
use stereopsis_frame::CaptureError;

/// Error of a board calibration.
#[derive(Debug, thiserror::Error)]
pub enum CalibrateError {
    /// Error of a rig or of its file.
    #[error(transparent)]
    Calibration(#[from] CalibrationError),
    /// An image cannot be read.
    #[error(transparent)]
    Capture(#[from] CaptureError),
    /// A file cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// A description is that of no board.
    #[error(transparent)]
    Board(#[from] BoardError),
    /// A size is none of a board.
    #[error(transparent)]
    BoardSize(#[from] BoardFault),
    /// The board has no detector.
    #[error("no detector for the board '{board}': {why}")]
    NoDetector {
        /// Board.
        board: Board,
        /// Reason of the detector.
        why: String,
    },
    /// The markers of the board are too large, or too many for its dictionary.
    #[error(
        "the board '{board}' cannot be printed: its markers are larger than its squares, or more than the {has} of {dictionary}"
    )]
    Markers {
        /// Board.
        board: Board,
        /// Number of markers in the dictionary.
        has: usize,
        /// Name of the dictionary.
        dictionary: &'static str,
    },
    /// The list of pairs is empty.
    #[error("there is no pair of images to look for the board in")]
    NoPair,
    /// No pair can be read.
    #[error("no pair of images can be read: {0}")]
    NoReadablePair(CaptureError),
    /// No image shows the board.
    #[error("no image shows the board {board}: {}; is it the board that was printed?", instead(.reasons, .unreadable.as_ref()))]
    NoBoardSeen {
        /// Board.
        board: Board,
        /// Reasons why images do not show the board, each with the number of images, the most frequent first.
        reasons: Vec<(Mismatch, usize)>,
        /// First reason why a pair cannot be read, and the number of such pairs.
        unreadable: Option<(CaptureError, usize)>,
    },
    /// A camera has too few views.
    #[error(
        "the {side} camera sees the board in {views} views; at least 3 are needed for a first solution, and 8 for a good one"
    )]
    FewViews {
        /// Side of the camera.
        side: &'static str,
        /// Number of its views.
        views: usize,
    },
    /// No focal length fits the views of this camera.
    #[error("no focal length explains what the {0} camera sees: is the board described as it is printed?")]
    NoFocalLength(&'static str),
    /// No view shows the board to both cameras.
    #[error(
        "no view shows the board to both cameras: hold it where both see it, and check that both images are of the same moment"
    )]
    NoCommonView,
    /// Cameras that are to be kept have no lens model that can be solved.
    #[error(
        "the cameras that are to be kept have no lens model in common with {}, or more numbers than any model",
        option("model")
    )]
    KeptCameras,
    /// The system cannot start a thread.
    #[error("no thread for the calibration: {0}")]
    Thread(io::Error),
    /// A rectified pair cannot be encoded for the report.
    #[error("its images cannot be encoded as PNG")]
    Png,
    /// A view cannot be encoded for its file.
    #[error("cannot write {}: {cause}", console::path(.path))]
    View {
        /// File.
        path: PathBuf,
        /// Fault of the encoder.
        cause: image::ImageError,
    },
    /// The file ending is that of no kind of calibration.
    #[error("{} names no kind of calibration: end it with .toml, .yml or .xml", console::path(.0))]
    NoKind(PathBuf),
    /// The views of a refused calibration cannot be moved.
    #[error("{cause}; the views are in {}", console::path(.views))]
    Refused {
        /// Fault.
        cause: WriteError,
        /// Folder of the views.
        views: PathBuf,
    },
    /// Kalibr's four coefficients fit worse than the five of the calibration.
    #[error("with the four coefficients that Kalibr knows the errors are {four_px:.2} px, with five {five_px:.2} px")]
    FourCoefficients {
        /// Errors with four coefficients, px.
        four_px: f64,
        /// Errors with five coefficients, px.
        five_px: f64,
    },
    /// The words are those of no paper.
    #[error(transparent)]
    Paper(#[from] PaperError),
    /// The file ending is none of a page.
    #[error("a board is written as PDF or SVG, and '{}' is neither; end its name in .pdf or .svg", .0.display())]
    PageFormat(PathBuf),
    /// A page for a screen is to be a PDF.
    #[error("a PDF has no pixels for a screen of {0}; end the file's name in .svg, or name a paper: A4, A3 or letter")]
    PdfOfScreen(Paper),
    /// The board is too large for the paper.
    #[error(
        "{board} does not fit on {paper} with its margin: at most {most_mm} mm per {word} fit for {columns}x{rows} {word}s; choose \
         smaller {word}s, fewer of them, or a larger sheet",
        word = .board.square_word(), columns = .board.columns, rows = .board.rows
    )]
    TooLarge {
        /// Board.
        board: Board,
        /// Paper.
        paper: Paper,
        /// Largest side of a square that fits, mm.
        most_mm: f64,
    },
    /// The board has too many squares for the paper.
    #[error(
        "{columns}x{rows} {word}s are too many for {paper}; choose fewer of them, or a larger sheet",
        word = .board.square_word(), columns = .board.columns, rows = .board.rows
    )]
    TooMany {
        /// Board.
        board: Board,
        /// Paper.
        paper: Paper,
    },
    /// The size of a square is to be chosen on a screen.
    #[error(
        "a square of {mm} mm cannot be asked of a screen of {screen}, whose size is unknown; leave the size out, and measure a square \
         that is shown"
    )]
    SquareOfScreen {
        /// Side of a square, mm.
        mm: f64,
        /// Screen.
        screen: Paper,
    },
    /// No board fits on the paper.
    #[error("no board fits on a page of {0}; choose a larger one")]
    SmallPaper(Paper),
    /// No dictionary has enough markers.
    #[error(
        "{columns}x{rows} squares of {mm} mm would need {} markers on {paper}, and no dictionary has as many; choose larger squares",
        .columns * .rows / 2
    )]
    NoDictionary {
        /// Squares along a row.
        columns: usize,
        /// Squares along a column.
        rows: usize,
        /// Side of a square, mm.
        mm: f64,
        /// Paper.
        paper: Paper,
    },
}

fn instead(reasons: &[(Mismatch, usize)], unreadable: Option<&(CaptureError, usize)>) -> String {
    let shown = reasons.iter().map(|(why, count)| format!("{why} (in {})", counted(*count as u64, "image")));
    let left_out = unreadable.map(|(why, count)| format!("{why} ({} left out)", counted(*count as u64, "pair")));
    shown.chain(left_out).collect::<Vec<_>>().join("; ")
}

/// Error of a word that is no lens model.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is no lens model; radtan, pinhole, rational and fisheye are")]
pub struct LensKindError(pub(crate) String);
