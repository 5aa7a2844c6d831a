//! View of the board by a pair of images.

use glam::DVec2;
use stereopsis_frame::Side;

/// Corner of the board in an image.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Corner {
    /// Number of the corner ([`super::Board::point_m`]).
    pub id: usize,
    /// Position, px; pixel centres have integer coordinates.
    pub at: DVec2,
}

/// Corners of the board in both images of a pair, none where it is invisible.
#[derive(Clone, Debug, PartialEq)]
pub struct View {
    /// Name shown to the user, from the left file.
    pub name: String,
    /// Corners in the left and the right image, ordered by number.
    pub corners: [Vec<Corner>; 2],
}

impl View {
    /// Returns the corners of a side.
    pub fn of(&self, side: Side) -> &[Corner] {
        &self.corners[side as usize]
    }

    /// Returns the corners common to the left and the right image.
    pub fn common(&self) -> impl Iterator<Item = (Corner, Corner)> + '_ {
        let in_right = |id| self.corners[1].iter().find(move |corner| corner.id == id).copied();
        self.corners[0].iter().filter_map(move |left| Some((*left, in_right(left.id)?)))
    }
}
