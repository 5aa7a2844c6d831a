//! Views: images and maps, their layout, and their drawing with cross-hair and colour bar.

mod bar;
mod grid;
mod marks;
mod tile;
mod zoom;

pub(crate) use bar::{metres, paint_over, range_text};
pub(crate) use grid::{BAR, HEADER, ViewRects, arrange, arrange_around};
pub(crate) use marks::Marks;
use stereopsis_base::parameter::choices;
pub(crate) use stereopsis_images::screen::{anaglyph, rows};
pub(crate) use tile::{Crosshair, Tile, TitleClick, show_title};
pub(crate) use zoom::Zoom;

choices! {
    /// Image or map of a pair.
    pub enum ViewKind {
        /// Left image, rectified: the reference.
        Left = "left",
        /// Depth in metres, near = the map's last colour.
        Depth = "depth",
        /// Right image, rectified.
        Right = "right",
        /// Disparity in px.
        Disparity = "disparity",
        /// How clearly each disparity won over the best other one: 0 % if just so, 100 % if nothing came near.
        Confidence = "confidence",
        /// Depth, or else disparity, as it was recorded with the pair.
        Recorded = "recorded",
        /// By how much the disparity differs from the recorded one, or else from the truth, px.
        Difference = "difference",
        /// Both images in one: the left one red, the right one blue and green.
        Anaglyph = "anaglyph",
        /// Both images side by side under common lines: rows agree where things meet the same line.
        Rows = "rows",
        /// The points of the result in space, to be turned and walked through.
        Space = "3d",
    }
}

impl ViewKind {
    pub(crate) const AT_FIRST: [Self; 4] = [Self::Left, Self::Depth, Self::Right, Self::Disparity];

    pub(crate) const AT_FIRST_NARROW: [Self; 2] = [Self::Left, Self::Depth];

    /// Returns whether the view is a map, which has a colour bar.
    pub(crate) fn is_map(self) -> bool {
        matches!(self, Self::Depth | Self::Disparity | Self::Confidence | Self::Recorded | Self::Difference)
    }
}
