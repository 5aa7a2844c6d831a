//! Reasons why an image does not show the board.

use glam::IVec2;

/// Reason why an image does not show the corners of the board that is named.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Mismatch {
    /// No board.
    #[error("no board is seen")]
    Nothing,
    /// Part of a chessboard, whose corners cannot be numbered.
    #[error("{}x{} inner corners seen, {}x{} named: show the whole board, or name the one that is shown", .seen.x, .seen.y, .named.x, .named.y)]
    Part { seen: IVec2, named: IVec2 },
    /// Squares or tags with markers that cannot be read.
    #[error("{0}s are seen, but too few of their markers can be read: come nearer")]
    Unread(&'static str),

    // other boards
    #[error("{}x{} inner corners seen, {}x{} named", .seen.x, .seen.y, .named.x, .named.y)]
    Larger { seen: IVec2, named: IVec2 },
    #[error("the board is seen mirrored: the image is mirrored, or the board is printed so")]
    Mirrored,
    #[error("the markers lie as on a board named {is}:..., and {named}:... is named")]
    Layout { is: &'static str, named: &'static str },
    /// Rows and columns of the named board are exchanged.
    #[error("this board has {}x{} squares, and {}x{} are named", .0.y, .0.x, .0.x, .0.y)]
    Turned(IVec2),
    #[error("the markers of {dictionary} are seen, but not where a board of {}x{} squares has them; count its squares", .named.x, .named.y)]
    MarkersElsewhere { dictionary: &'static str, named: IVec2 },
    #[error("this board has other markers than {named}{}", .family.map_or(String::new(), |family| format!(": they are of {family}...")))]
    OtherMarkers { named: &'static str, family: Option<&'static str> },
    #[error(
        "tags are seen, but not where a board of {}x{} tags has them: from 0 at the lower left, row by row upwards",
        .0.x, .0.y
    )]
    TagsElsewhere(IVec2),
    #[error("this board has {numbered} tags along a row, as their numbers say, and {named} are named")]
    TagsAlongRow { numbered: i64, named: i32 },
    #[error("the tag {tag} is seen, and a board of {}x{} tags has those from 0 to {}; count its tags", .named.x, .named.y, .named.element_product() - 1)]
    TagBeyond { tag: usize, named: IVec2 },
    /// Gaps in sides of a tag.
    #[error("the gaps between the tags measure {measured:.2} of a tag's side, and {named:.2} is named")]
    Gap { measured: f64, named: f64 },
    #[error("this board has other tags than an AprilGrid: those of {0}, and not of DICT_APRILTAG_36h11")]
    OtherTags(&'static str),
}

impl Mismatch {
    /// Returns what says more: another board more than a part of one, and a part more than nothing; of two alike this one.
    pub(super) fn or(self, other: Self) -> Self {
        if other.rank() > self.rank() { other } else { self }
    }

    pub(super) fn rank(&self) -> usize {
        match self {
            Self::Nothing => 0,
            Self::Part { .. } | Self::Unread(_) => 1,
            _ => 2,
        }
    }
}
