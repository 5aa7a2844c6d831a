//! Decoded parts of encoded images.

/// Parts of images that a reader decodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pixels {
    /// Luma, and RGB where the image has colours.
    #[default]
    Color,
    /// Luma alone.
    Luma,
    /// Nothing, for a reader that passes images on unchanged: a camera's JPEG is checked for its two ends, and represented by a black
    /// image; images without an encoded form are decoded in colour.
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
