//! View of the board by a pair of pictures.

use glam::DVec2;

/// Corner of the board in a picture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Corner {
    /// Number of the corner: see [`super::Board::point_m`].
    pub id: usize,
    /// Position, px; pixel centres have integer coordinates.
    pub at: DVec2,
}

/// Camera of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Eye {
    /// Left camera, as seen from behind.
    Left,
    /// Right camera.
    Right,
}

impl Eye {
    /// Left and right.
    pub const BOTH: [Self; 2] = [Self::Left, Self::Right];
}

/// Corners of the board in both pictures of a pair; empty if it is not visible.
#[derive(Clone, Debug, PartialEq)]
pub struct View {
    /// Name shown to the user, from the left file.
    pub name: String,
    /// Corners in the left and the right picture, ordered by number.
    pub corners: [Vec<Corner>; 2],
}

impl View {
    /// Returns the corners of an eye.
    pub fn of(&self, eye: Eye) -> &[Corner] {
        &self.corners[eye as usize]
    }

    /// Returns the common corners of the left and the right picture.
    pub fn common(&self) -> impl Iterator<Item = (Corner, Corner)> + '_ {
        let in_right = |id| self.corners[1].iter().find(move |corner| corner.id == id).copied();
        self.corners[0].iter().filter_map(move |left| Some((*left, in_right(left.id)?)))
    }
}
