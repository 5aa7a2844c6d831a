//! Errors of a board calibration: each names its cause, and the texts say it with the next step for the user.

use super::{Board, Paper};
use std::io;
use std::path::PathBuf;
use stereopsis_base::console;
use stereopsis_base::files::WriteError;
use stereopsis_base::remedy::{Part, Remedy, option};
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
    /// The words are those of no board.
    #[error(
        "the board '{words}' is not understood: {fault}; boards are named chessboard:9x6:25mm (inner corners, side of a square), \
         charuco:11x8:30mm:23mm:DICT_5X5_100 (squares, side of a square, side of a marker, dictionary) or \
         aprilgrid:6x6:88mm:26.4mm (tags, side of a tag, gap between tags)"
    )]
    Board {
        /// Words of the user.
        words: String,
        /// Fault.
        fault: BoardFault,
    },
    /// A size is none of a board.
    #[error(transparent)]
    BoardSize(#[from] BoardFault),
    /// Kalibr's description of a target has a fault.
    #[error("Kalibr's target is not understood: {0}")]
    Target(#[from] TargetFault),
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
    NoReadablePair(String),
    /// No image shows the board.
    #[error("no image shows the board {board}: {}; is it the board that was printed?", .reasons.join("; "))]
    NoBoardSeen {
        /// Board.
        board: Board,
        /// Boards that the images show instead, most frequent first.
        reasons: Vec<String>,
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
    #[error("the paper '{0}' is unknown; choose A4, A3, letter, or a screen's size in pixels, like 1920x1080")]
    Paper(String),
    /// The words are those of no screen.
    #[error("a screen of {0} pixels is none; a side has 320 to 16384 of them")]
    Screen(String),
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

/// Fault of the description of a board.
#[derive(Debug, thiserror::Error)]
pub enum BoardFault {
    #[error("it begins with none of chessboard:, charuco: and aprilgrid:")]
    Kind,
    #[error(
        "grids of circles are not found in images; print a ChArUco board instead ({}), or a chessboard ({})",
        Remedy::Run(vec![Part::Word("calibrate".into()), Part::Option("print-board"), Part::Word("board.pdf".into())]),
        Remedy::set("kind", "chessboard")
    )]
    Circles,
    #[error("{board} has {parts} parts behind its name")]
    Parts { board: &'static str, parts: &'static str },
    #[error("'{0}' are no two counts like 9x6")]
    Counts(String),
    #[error("'{0}' is no length like 25mm")]
    Length(String),
    #[error("there is no dictionary '{0}'; DICT_4X4_50 is one")]
    Dictionary(String),
    #[error("a marker of {marker_mm} mm does not fit into a square of {square_mm} mm")]
    Marker { marker_mm: f64, square_mm: f64 },
    #[error("it needs {needed} {of}, and {name} has {has}")]
    Few { needed: usize, of: &'static str, name: String, has: usize },
    #[error("a gap of {gap_mm} mm between tags of {tag_mm} mm is none: 0.1 to 1 of a tag's side are possible")]
    Gap { gap_mm: f64, tag_mm: f64 },
    #[error("the tags {0} are missing")]
    NoTags(&'static str),
    #[error("it has {columns}x{rows} {word}s, and {least} to {most} are possible")]
    Size { columns: usize, rows: usize, word: &'static str, least: usize, most: usize },
    #[error("a {word} of {mm} mm is none of a board; 1 to 1000 mm are possible")]
    Side { word: &'static str, mm: f64 },
}

/// Fault of Kalibr's description of a target.
#[derive(Debug, thiserror::Error)]
pub enum TargetFault {
    #[error("it has no {0}")]
    Missing(&'static str),
    #[error("{key} '{text}' is no length in m")]
    Length { key: &'static str, text: String },
    #[error("its tags begin with another number than 0 (codeOffset), which no board does here")]
    CodeOffset,
    #[error("its squares are {across_mm} mm wide and {down_mm} mm high, and those of a board are square")]
    NotSquare { across_mm: f64, down_mm: f64 },
    #[error("target_type '{0}' is none of aprilgrid and checkerboard")]
    Type(String),
}

/// Error of a word that is no lens model.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is no lens model; radtan, pinhole, rational and fisheye are")]
pub struct LensKindError(pub(crate) String);
