//! Descriptions of boards that are not understood.

use stereopsis_base::remedy::{Part, Remedy};

/// Error of a description that is that of no board.
#[derive(Debug, thiserror::Error)]
pub enum BoardError {
    /// The words are those of no board.
    #[error(
        "the board '{words}' is not understood: {fault}; boards are named chessboard:9x6:25mm (inner corners, side of a square), \
         charuco:11x8:30mm:23mm:DICT_5X5_100 (squares, side of a square, side of a marker, dictionary) or \
         aprilgrid:6x6:88mm:26.4mm (tags, side of a tag, gap between tags)"
    )]
    Words {
        /// Words of the user.
        words: String,
        /// Fault.
        fault: BoardFault,
    },
    /// Kalibr's description of a target has a fault.
    #[error("Kalibr's target is not understood: {0}")]
    Target(#[from] TargetFault),
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
