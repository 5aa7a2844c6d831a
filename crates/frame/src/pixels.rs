//! Decoded parts of encoded pictures.

/// Parts of pictures that a reader decodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pixels {
    /// Luma, and RGB where the picture has colours.
    #[default]
    Color,
    /// Luma alone.
    Luma,
    /// Nothing, for a reader that passes pictures on unchanged: a camera's JPEG is checked for its two ends, and represented by a black
    /// picture; pictures without an encoded form are decoded in colour.
    Unread,
}

impl Pixels {
    /// Returns whether colours of camera formats are decoded.
    pub fn has_color(self) -> bool {
        self == Self::Color
    }

    /// Returns whether colours of formats without an encoded form are kept.
    pub fn keeps_rgb(self) -> bool {
        self != Self::Luma
    }
}
