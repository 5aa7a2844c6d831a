//! What one pair of pictures shows of the board.

use glam::DVec2;

/// A corner of the board, seen in a picture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Corner {
    /// Number of the corner: see [`super::Board::point_m`].
    pub id: usize,
    /// Where it is seen, px; pixel centres lie at whole numbers.
    pub at: DVec2,
}

/// One of the two cameras.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Eye {
    /// The left one, as seen from behind.
    Left,
    /// The right one.
    Right,
}

impl Eye {
    /// Left and right.
    pub const BOTH: [Self; 2] = [Self::Left, Self::Right];
}

/// The board in both pictures of a pair. A picture that does not show it has no corners.
#[derive(Clone, Debug, PartialEq)]
pub struct View {
    /// Name for the user, as of the left file.
    pub name: String,
    /// Corners in the left and the right picture, in order of their numbers.
    pub corners: [Vec<Corner>; 2],
}

impl View {
    /// Corners that an eye sees.
    pub fn of(&self, eye: Eye) -> &[Corner] {
        &self.corners[eye as usize]
    }

    /// Corners that both eyes see: those of the left and those of the right picture.
    pub fn common(&self) -> impl Iterator<Item = (Corner, Corner)> + '_ {
        let in_right = |id| self.corners[1].iter().find(move |corner| corner.id == id).copied();
        self.corners[0].iter().filter_map(move |left| Some((*left, in_right(left.id)?)))
    }
}
