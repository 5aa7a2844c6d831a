//! One point of a scene in both images.

use glam::DVec2;

/// Match of one scene point in both images.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Match {
    /// Position in the left image, px.
    pub left: DVec2,
    /// Position in the right image, px.
    pub right: DVec2,
    /// Normalised correlation of the two patches, up to 1; independent of brightness and contrast.
    pub score: f64,
}

impl Match {
    /// Returns the disparity, left column minus right column, px.
    pub fn disparity_px(&self) -> f64 {
        self.left.x - self.right.x
    }

    /// Returns the row offset, right minus left, px; positive: lower in the right image.
    pub(crate) fn row_offset_px(&self) -> f64 {
        self.right.y - self.left.y
    }
}
