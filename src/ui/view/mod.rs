//! The pictures: which there are, how they share the room, how they are drawn with cross-hair and colour bar.

mod bar;
mod grid;
mod tile;
mod zoom;

use crate::choices;
pub(crate) use bar::metres;
pub(crate) use grid::arrange;
pub(crate) use tile::{Crosshair, Tile};
pub(crate) use zoom::Zoom;

choices! {
    /// What the window can show of a pair.
    pub enum ViewKind {
        /// Left picture, rectified: the reference.
        Left = "left",
        /// Depth in metres, near = the map's last colour.
        Depth = "depth",
        /// Right picture, rectified.
        Right = "right",
        /// Disparity in px.
        Disparity = "disparity",
    }
}

impl ViewKind {
    /// Maps have a colour bar; pictures have none.
    pub(crate) fn is_map(self) -> bool {
        matches!(self, Self::Depth | Self::Disparity)
    }
}
